"""Sequential tests of two players of a log, and of counts, on the command line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import valmatch as library
from tests.support.command import refusal, success, valmatch
from valmatch.statistics import sequential_test

LOG = """player_a,player_b,result,opening
ann,bob,1-0,o1
bob,ann,1/2-1/2,o1
ann,bob,0-1,o2
bob,ann,0-1,o2
ann,cy,1-0,o3
ann,bob,1-0,o3
bob,ann,1-0,o4
ann,bob,1-0,o4
bob,ann,1-0,o4
"""


ANN_BOB = ("--player", "ann", "--against", "bob")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


def document(*arguments: object) -> dict[str, Any]:
    done = valmatch("sprt", *arguments, "--json")
    assert (done.code, done.err) == (0, ""), done.err
    found: dict[str, Any] = json.loads(done.out)
    return found


def test_games_between_the_two_are_counted_from_either_side(log: Path) -> None:
    found = document(log, "--player", "ann", "--against", "bob")
    assert (found["counts"], found["left_out"]) == ([3, 1, 4], 0)
    assert document(log, "--player", "bob", "--against", "ann")["counts"] == [4, 1, 3]
    assert document(log, "--player", "cy", "--against", "ann")["counts"] == [1, 0, 0]


def test_pairs_are_of_exactly_two_games_between_them(log: Path) -> None:
    found = document(log, "--player", "ann", "--against", "bob", "--pairs-by", "opening")
    assert found["counts"] == [0, 0, 1, 1, 0]
    assert (found["games"], found["left_out"]) == (4, 4)
    said = success("sprt", log, *ANN_BOB, "--pairs-by", "opening").out
    assert "4 games left out: not in a pair of two" in said
    turned = document(log, "--player", "bob", "--against", "ann", "--pairs-by", "opening")
    assert turned["counts"] == [0, 1, 1, 0, 0]
    assert turned["elo"] == pytest.approx(-found["elo"], rel=1e-12)


def test_counts_are_those_of_a_plain_count_of_random_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    names = ["ann", "bob", "cy"]
    rows, games = [], []
    for _ in range(500):
        first, second = rng.permutation(3)[:2]
        result, pair = rng.choice(["1-0", "0-1", "1/2-1/2"]), f"p{rng.integers(150)}"
        games.append((names[first], names[second], str(result), pair))
        rows.append(",".join(games[-1]))
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["player_a,player_b,result,pair", *rows, ""]))
    points: list[tuple[float, str]] = []
    for a, b, result, pair in games:
        if {a, b} == {"bob", "cy"}:
            own = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}[result]
            points.append((own if a == "bob" else 1.0 - own, pair))
    found = library.sprt_games(path, "bob", "cy")
    assert list(found.counts) == [sum(p == s for p, _ in points) for s in (0.0, 0.5, 1.0)]
    by_pair: dict[str, list[float]] = {}
    for own, pair in points:
        by_pair.setdefault(pair, []).append(own)
    sums = [sum(own) for own in by_pair.values() if len(own) == 2]
    found = library.sprt_games(path, "bob", "cy", pairs_by="pair")
    assert list(found.counts) == [sums.count(s) for s in (0.0, 0.5, 1.0, 1.5, 2.0)]
    assert found.left_out == len(points) - 2 * len(sums)


def test_teams_and_games_of_more_sides_are_no_games_between_two(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text(
        "game,player,team,score\n1,ann,x,1\n1,bob,y,0\n2,ann,x,1\n2,cy,x,1\n2,bob,y,0\n"
        "3,ann,,3\n3,bob,,2\n3,cy,,1\n4,bob,,2\n4,ann,,1\n"
    )
    assert document(log, "--player", "ann", "--against", "bob")["counts"] == [1, 0, 1]


def test_the_command_is_the_function(log: Path) -> None:
    given = ("--elo0", "-10", "--elo1", "10", "--alpha", ".1", "--beta", "0.02")
    found = document("--counts", "3,1,4", *given)
    assert found == sequential_test([3, 1, 4], -10, 10, 0.1, 0.02).as_dict()
    assert found == document(log, "--player", "ann", "--against", "bob", *given)
    assert found["elo0"] == -10.0


@pytest.mark.parametrize("counts", ["170,600,230", "230,600,170", "20,60,22", "0,0,9"])
def test_the_exit_code_is_0_whatever_is_decided(counts: str) -> None:
    done = valmatch("sprt", "--counts", counts, "--elo1", "10")
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert not any(line.endswith(" ") for line in done.out.splitlines())


def test_what_rests_on_no_result_is_said() -> None:
    said = "all results are the same: the Elo and the games to expect rest on the .001"
    assert said in valmatch("sprt", "--counts", "0,0,9").out.replace("\n  ", " ")
    assert said not in valmatch("sprt", "--counts", "0,1,9").out.replace("\n  ", " ")


def test_bad_games_are_named_or_left_out(log: Path) -> None:
    log.write_text(LOG.replace("ann,bob,0-1,o2", "ann,bob,2?2,o2"))
    assert "log.csv:4:9: result: '2?2'" in refusal("sprt", log, *ANN_BOB)
    done = success("sprt", log, *ANN_BOB, "--max-bad-rows", "0.5", "--json")
    assert json.loads(done.out)["counts"] == [2, 1, 4]
