"""The next part of a log is read while the last one is worked on: that changes no result."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.game_logs import random_rows, write
from valmatch.errors import InputError
from valmatch.game_logs.rating import rate_games
from valmatch.game_logs.reading import log as log_module
from valmatch.game_logs.reading.log import Ahead
from valmatch.ratings.registry import NAMES


def test_the_next_part_is_read_meanwhile() -> None:
    begun = [threading.Event() for _ in range(3)]

    def parts() -> Iterator[int]:
        for number, event in enumerate(begun):
            event.set()
            yield number

    ahead = Ahead()
    taken = ahead.over(parts())
    for number in range(2):
        assert next(taken) == number
        assert begun[number + 1].wait(10.0)
    assert list(taken) == [2]
    ahead.close()


def test_an_error_comes_in_its_turn() -> None:
    def parts() -> Iterator[int]:
        yield 0
        yield 1
        raise InputError("the third")

    ahead = Ahead()
    taken = ahead.over(parts())
    assert [next(taken), next(taken)] == [0, 1]
    with pytest.raises(InputError, match="the third"):
        next(taken)
    ahead.close()


@pytest.mark.parametrize("system", NAMES)
def test_a_log_of_many_parts_is_rated_as_one_of_one_part(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "log.csv", random_rows(3, games=200))
    files = []
    for block in (1 << 20, 500):
        monkeypatch.setattr(log_module, "BLOCK", block)
        out = tmp_path / str(block)
        rate_games(path, system, out=out)
        files.append({name: (out / name).read_bytes() for name in ("history.csv", "ratings.csv")})
    assert files[0] == files[1]


def test_who_rates_is_told_of_all_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "log.csv", random_rows(3))
    monkeypatch.setattr(log_module, "BLOCK", 500)
    told: list[tuple[int, int]] = []
    rate_games(path, progress=lambda done: told.append((done, threading.get_ident())))
    assert sum(done for done, _ in told) == path.stat().st_size
    assert len(told) > 5
    assert {thread for _, thread in told} == {threading.get_ident()}


def test_a_bad_game_further_on_ends_the_reading(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "log.csv", [*random_rows(3), [["g99", "a", "t0", "x", "20"]]])
    monkeypatch.setattr(log_module, "BLOCK", 500)
    before = threading.active_count()
    with pytest.raises(InputError, match="'x'"):
        rate_games(path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert threading.active_count() == before
