"""Folders that a run, a kill, a full disk or somebody left marks on; tables and curves on disk."""

from __future__ import annotations

import csv
import json
import os
import resource
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.command import refusal, started, valmatch
from tests.support.folders import everything, results
from valmatch.config.loading import load_config
from valmatch.errors import InputError
from valmatch.execution.shards import WHOLE, Shard
from valmatch.experiments.combine import combine, combine_designs
from valmatch.experiments.replicate import Plan, open_run, replicate
from valmatch.experiments.simulate import simulate
from valmatch.game_logs import rating_files
from valmatch.game_logs.rating import rate_games
from valmatch.statistics.curves import CurveSums
from valmatch.storage import run_folder
from valmatch.storage.output import ROWS_AT_ONCE, cell, write_bytes, write_csv, write_csv_parts
from valmatch.storage.run_folder import RunFolder
from valmatch.storage.store import SUMS, RowFormat, read_sums, write_sums

LOG = "game,player,score\n" + "".join(
    f"g{game},p{(game + k) % 7},{k}\n" for game in range(40) for k in range(2)
)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    path.write_text(LOG)
    return path


# Ratings


def test_a_rating_is_made_again_but_never_replaced(log: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    rate_games(log, "elo", out=out)
    before = everything(out)
    assert set(before) == {"history.csv", "manifest.json", "ratings.csv", "summary.json"}
    others: list[dict[str, Any]] = [
        {"system": "zonestats"},
        {"system": "elo", "parameters": {"K": 5.0}},
        {"system": "elo", "burn_in": 3},
        {"system": "elo", "ratings": out / "ratings.csv"},
        {"system": "elo", "tune": "K"},
    ]
    for options in others:
        with pytest.raises(InputError, match=r"holds the results of another run|is read"):
            rate_games(log, out=out, **options)
        assert everything(out) == before
    again = rate_games(log, "elo", out=out)
    assert again.folder == out
    log.write_text(LOG + "g40,p0,1\ng40,p1,2\n")
    with pytest.raises(
        InputError, match=r"another run \(its games differ from those of this run\)"
    ):
        rate_games(log, "elo", out=out)
    assert results(out) == {name: before[name] for name in results(out)}


def test_a_rating_is_complete_when_it_says_so(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*arguments: object, **named: object) -> None:
        assert (tmp_path / "out" / "history.csv").exists()
        assert json.loads((tmp_path / "out" / "manifest.json").read_text())["status"] == "running"
        raise ValueError("a defect")

    monkeypatch.setattr(rating_files, "write_json", fails)
    with pytest.raises(ValueError, match="a defect"):
        rate_games(log, out=tmp_path / "out")
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["status"] == "failed"


@pytest.mark.slow
def test_games_have_a_largest_size(tmp_path: Path) -> None:
    def write(players: int) -> Path:
        path = tmp_path / "large.csv"
        rows = "".join(f"g,p{k},{k}\n" for k in range(players))
        path.write_text("game,player,score\n" + rows + "h,a,1\nh,b,2\n")
        return path

    assert rate_games(write(5_000), "elo").games == 2
    with pytest.raises(InputError, match=r"large.csv:2:1: game: game 'g' has too many players"):
        rate_games(write(5_001), "elo")
    with pytest.raises(InputError, match="allowed: 500, as all pairs"):
        rate_games(write(501), "openskill")
    left = rate_games(write(5_001), "elo", max_bad_rows=0.5)
    assert (left.games, left.skipped_games) == (1, {"too many players": 1})


# Combinations


def design(folder: Path, *options: object, code: int = 0) -> None:
    sweep = ("--sweep", "team_diff=300,400", "--out", folder)
    assert valmatch("replicate", "valorant", "-n", 6, *options, *sweep).code == code


@pytest.mark.slow
def test_an_unfinished_design_is_completed(tmp_path: Path) -> None:
    design(tmp_path / "alone")
    for index in range(2):
        design(tmp_path / str(index), "--shard", f"{index}/2")
    ids = [path.name for path in (tmp_path / "alone" / "points").iterdir()]
    late = tmp_path / "late"
    late.mkdir()
    for index in range(2):
        (tmp_path / str(index) / "points" / ids[1]).rename(late / str(index))
    combined = combine_designs(tmp_path / "all", [tmp_path / "0", tmp_path / "1"])
    assert combined.shortfalls == [f"point {ids[1]}: no replications at all"]
    assert combined.result.status == "incomplete"
    for index in range(2):
        (late / str(index)).rename(tmp_path / str(index) / "points" / ids[1])
    combine_designs(tmp_path / "all", [tmp_path / "0", tmp_path / "1"])
    assert results(tmp_path / "all") == results(tmp_path / "alone")


def test_nothing_of_a_design_is_written_before_all_is_checked(tmp_path: Path) -> None:
    design(tmp_path / "0", "--shard", "0/2")
    last = max((tmp_path / "0" / "points").iterdir()) / "replications-0-of-2.csv"
    for damage in ("x", "x\n" * 2):
        rows = last.read_text().splitlines(keepends=True)
        last.write_text(rows[0] + damage + "".join(rows[1:]))
        with pytest.raises(InputError, match=r"replications-0-of-2.csv:2: damaged"):
            combine_designs(tmp_path / "all", [tmp_path / "0"])
        assert not (tmp_path / "all").exists()


def test_a_shard_keeps_out_who_makes_the_same_or_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_folder, "WAIT", 0.1)
    config = load_config("valorant")

    def opened(shard: Shard) -> RunFolder:
        return open_run(tmp_path, config, Plan(10, shard=shard), resume=True)

    def refused_shards(*shards: Shard) -> None:
        for shard in shards:
            with pytest.raises(InputError, match="in use by"), opened(shard):
                pass

    with opened(Shard(0, 2)), opened(Shard(1, 2)), opened(Shard(0, 3)) as third:
        refused_shards(Shard(0, 2), Shard(1, 2), WHOLE)
        third.close("out of time")
    with opened(WHOLE):
        refused_shards(Shard(0, 2))
        third.close("complete")  # cannot say so now, and does no harm
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["shards"] == {"0/3": "out of time"}


def test_a_thousand_million_are_counted(tmp_path: Path) -> None:
    replicate(load_config("valorant"), 4, shard=Shard(1, 2), out=tmp_path / "1")
    combined = combine(tmp_path / "all", [tmp_path / "1"], expect=10**9, check=True)
    assert combined.summary()["missing_counts"] == {
        "shard 0/2": 5 * 10**8,
        "shard 1/2": 5 * 10**8 - 2,
    }
    assert combined.summary()["missing"]["shard 1/2"][:2] == [5, 7]
    assert combined.shortfalls[1] == (
        "shard 1/2 owes 499,999,998 replications: 5, 7, 9, 11, 13, 15, 17, 19, ..."
    )


# Manifests and arrays


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a short run with curves."""
    folder = tmp_path_factory.mktemp("run") / "run"
    arguments = ("n_opponents=4", "n_games=8", "rank=1")
    replicate(load_config("kg-fig1-top", arguments), 4, out=folder)
    return folder


@pytest.fixture
def copy(run: Path, tmp_path: Path) -> Path:
    """Return a copy of it."""
    for name, content in everything(run).items():
        write_bytes(tmp_path / name, content)
    return tmp_path


def refused(copy: Path) -> str:
    """Return what both commands that go on with a run say to a damaged one."""
    before = everything(copy)
    sets = [f"--set={text}" for text in ("n_opponents=4", "n_games=8", "rank=1")]
    resume = ("replicate", "kg-fig1-top", *sets, "-n", 6, "--resume", "--out", copy)
    refusals = []
    for command in (("combine", copy / "all", copy), resume):
        refusals.append(refusal(*command))
        assert everything(copy) == before
    return refusals[0]


@pytest.mark.parametrize("content", [b"\x7fELF\x00\x01", b"a" * 2**21])
def test_another_file_is_no_torn_one(copy: Path, content: bytes) -> None:
    (copy / "replications.csv").write_bytes(content)
    assert "replications.csv:1: not the header of this run" in refused(copy)


def test_a_compared_run_is_checked_before_the_other_goes_on(tmp_path: Path) -> None:
    command = ("compare", "valorant", "--set", "team_diff=300", "--out", tmp_path / "c")
    assert valmatch(*command, "-n", 4).code == 0
    rows = tmp_path / "c" / "b" / "replications.csv"
    rows.write_text(rows.read_text().replace(",2,", ",x,", 1))
    before = everything(tmp_path)
    assert "b/replications.csv:4: damaged" in refusal(*command, "-n", 6, "--resume")
    assert everything(tmp_path) == before


# What a run leaves


@pytest.mark.parametrize("at_once", [False, True])
def test_nothing_but_results_is_left(copy: Path, at_once: bool) -> None:
    for name in (".manifest.json.abcd1234.part", ".replications.csv.x_1y2z3w.part", ".lock"):
        (copy / name).write_text("left by a kill")
    if at_once:  # before there was a manifest
        shutil.rmtree(copy)
        copy.mkdir()
        (copy / ".lock").touch()
        (copy / ".manifest.json.abcd1234.part").touch()
    replicate(load_config("kg-fig1-top", ("n_opponents=4", "n_games=8", "rank=1")), 5, out=copy)
    assert not [name for name in everything(copy) if name.startswith(".")]
    before = everything(copy)
    with pytest.raises(InputError, match="another run"):
        replicate(load_config("valorant"), 1, out=copy)
    assert everything(copy) == before


def test_a_killed_second_run_may_be_made_again(tmp_path: Path) -> None:
    config = load_config("kg-fig1-top", ("n_opponents=4", "n_games=8", "rank=1"))
    simulate(config, out=tmp_path)
    complete = results(tmp_path)
    killed = RunFolder(tmp_path, "simulate", config, {"seed": 1, "replication": 0})
    killed.__enter__()
    killed._lock.release()
    simulate(config, out=tmp_path)
    assert results(tmp_path) == complete


def start(*arguments: object, **streams: Any) -> tuple[int, str]:  # noqa: ANN401
    """Run a command to its end; return its exit code and what it says on stderr."""
    done = started(*arguments, **{"stdout": None, **streams})
    _, err = done.communicate(timeout=120)
    return done.returncode, err or ""


@pytest.mark.slow
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000))

    command = ("optimize", "valorant-20min", "--budget", 200, "--out", tmp_path / "out")
    # Python itself would take the part of its bytecode that fits for the whole.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    code, err = start(*command, "--solver", "random", preexec_fn=full, env=environment)
    # Kernels that are not compiled yet, and cannot be kept either, are spoken of before.
    last = err.splitlines()[-1]
    path = tmp_path / "out" / "evaluations.csv"
    assert (code, last) == (1, f"{path}: cannot be written: File too large")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")  # noqa: PTH110
def test_full_standard_output_is_named() -> None:
    with open("/dev/full", "w") as full:  # noqa: PTH123
        failed = start("replicate", "valorant", "-n", 2, stdout=full)
    assert failed == (1, "standard output: cannot be written: No space left on device\n")


@pytest.mark.slow
def test_a_broken_pipe_is_silent() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    for streams in ({"stdout": writer}, {"stdout": writer, "stderr": writer}):
        assert start("factors", "valorant", **streams) == (0, "")
    os.close(writer)


def columns_of(n: int) -> dict[str, Any]:
    """Return columns of all kinds, with values that are hard to write."""
    rng = np.random.default_rng(5)
    odd = np.array([0.1, -0.0, 1e300, 5e-324, np.nan, np.inf, -np.inf, 3.0])
    names = np.array(["a", "=b", "-1", 'c"d', "e,f", "", "-x"])
    mixed = [None, 1, "-inf", float("-inf"), float("nan"), True, "=1", -2.5]
    return {
        "floats": odd[rng.integers(odd.size, size=n)],
        "whole": np.array([1.0, np.nan, -7.0])[rng.integers(3, size=n)],
        "numbers": rng.integers(-9, 9, size=n),
        "yes": rng.random(n) < 0.5,
        "names": names[rng.integers(names.size, size=n)],
        "objects": names.astype(np.object_)[rng.integers(names.size, size=n)],
        "mixed": [mixed[k] for k in rng.integers(len(mixed), size=n)],
    }


@pytest.mark.parametrize("n", [0, 1, 7, ROWS_AT_ONCE, 2 * ROWS_AT_ONCE + 3])
def test_a_table_of_many_rows_is_written_as_cell_by_cell(tmp_path: Path, n: int) -> None:
    columns = columns_of(n)
    write_csv(tmp_path / "a.csv", columns)
    with (tmp_path / "b.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        plain = [v.tolist() if isinstance(v, np.ndarray) else v for v in columns.values()]
        for row in zip(*plain, strict=True):
            writer.writerow(map(cell, row))
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_whole_numbers_are_written_without_a_point(tmp_path: Path) -> None:
    values = np.array([1.0, np.nan, -7.0])
    write_csv_parts(tmp_path / "a.csv", ["a", "b"], [{"a": values, "b": values}], ["a"])
    assert (tmp_path / "a.csv").read_text() == "a,b\n1,1.0\n,\n-7,-7.0\n"


def test_columns_of_unequal_length_leave_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="shorter"):
        write_csv(tmp_path / "a.csv", {"a": np.zeros(3), "b": [1, 2]})
    assert list(tmp_path.iterdir()) == []


def test_lines_hold_the_shortest_text_of_each_number() -> None:
    rng = np.random.default_rng(1)
    form = RowFormat("0123456789ab", 7, ["a", "b", "c", "d"], [False, False, True, False])
    usual = 10.0 ** rng.uniform(-4, 15, (2000, 4)) * rng.choice([-1.0, 1.0], (2000, 4))
    usual[:, 2] = rng.integers(0, 10**15, 2000)
    usual[rng.random((2000, 4)) < 0.1] = 0.0
    usual[:5] = [-0.0, 1e-4, 3, 100.0], [np.nan, np.nan, 0, np.nan], *usual[2:5].round()
    unusual = [1e-5, 5e-324, 1e16, 1e100, -1e22, np.nan]
    for rows in (usual, usual[:1], *(np.vstack([usual[:9], [1.0, 2.0, x, x]]) for x in unusual)):
        if not np.isnan(rows[:, 2]).any():
            rows[:, 2] = np.rint(rows[:, 2])
        numbers = range(5, 5 + 3 * len(rows), 3)
        lines = []
        for number, (a, b, c, d) in zip(numbers, rows.tolist(), strict=True):
            cells = ["" if x != x else repr(x) for x in (a, b)]
            cells += ["" if c != c else str(int(c)), "" if d != d else repr(d)]
            lines.append(f"0123456789ab,7,{number},{','.join(cells)}\n")
        assert form.lines(numbers, rows) == "".join(lines)


SHAPE = (1, 2, 3)


def written(folder: Path) -> CurveSums:
    """Write sums over five replications, and return them."""
    sums = CurveSums(5, np.arange(6).reshape(SHAPE), np.arange(6).reshape(SHAPE))
    write_sums(folder / SUMS, sums, [range(5)])
    return sums


def test_sums_are_read_back(tmp_path: Path) -> None:
    sums = written(tmp_path)
    known, over = read_sums(tmp_path / SUMS, SHAPE, warn=lambda text: None)
    assert (known.n, over) == (5, [range(5)])
    assert np.array_equal(known.total, sums.total)


def test_a_torn_file_counts_for_nothing_wherever_it_is_torn(tmp_path: Path) -> None:
    """A crash of the machine may leave zeros where its last bytes were."""
    written(tmp_path)
    path = tmp_path / SUMS
    content = path.read_bytes()
    for cut in {*range(1, 40), *range(40, len(content) + 1, 7), len(content)}:
        for tail in (b"", bytes(cut)):
            torn = content[: len(content) - cut] + tail
            if torn == content:
                continue
            path.write_bytes(torn)
            warnings: list[str] = []
            known, over = read_sums(tmp_path / SUMS, SHAPE, warnings.append)
            if warnings:
                assert (known.n, over) == (0, []), (cut, tail[:1])
            else:  # what is torn is not read, such as the length of a comment
                assert (known.n, over) == (5, [range(5)]), (cut, tail[:1])
