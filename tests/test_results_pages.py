"""The scripts that make the pages of results; the queue log of a shipped problem."""

from __future__ import annotations

import csv
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from results import capacity, living_matchmakers, pages
from tests.support.command import valmatch
from valmatch.config.loading import load, shipped_configs
from valmatch.draws.streams import Streams
from valmatch.execution import simulator
from valmatch.models.tickets.model import TicketsModel
from valmatch.optimization.best_known import best_known, shipped_problems
from valmatch.ratings import registry

RESULTS = Path(__file__).parent.parent / "results"
PAGES = "optimum-gap", "solver-comparison"
UNSEEN = "ladder-duos", "ladder-pairs", "valorant-fours", "valorant-log"


def make(page: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run the script of a page."""
    command = [sys.executable, str(page / "make.py"), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return [*csv.DictReader(file)]


def test_texts_stand_between_their_marks(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("<!-- a -->\nold\n<!-- end -->\nof <!-- b -->1<!-- end -->, <!-- c -->\n")
    pages.fill(page, {"b": "3", "a": pages.table(["x", "y"], [["1", "2"]])})
    assert page.read_text() == (
        "<!-- a -->\n| x | y |\n|---|---|\n| 1 | 2 |\n<!-- end -->\n"
        "of <!-- b -->3<!-- end -->, <!-- c -->\n"
    )
    for missing in ("c", "d"):
        before = page.read_text()
        with pytest.raises(ValueError, match=f"<!-- {missing} -->"):
            pages.fill(page, {missing: "4"})
        assert page.read_text() == before


@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(path.parent.name for path in RESULTS.glob("*/make.py")))
def test_every_script_says_how_long_it_takes(folder: str) -> None:
    script = RESULTS / folder / "make.py"
    if folder == "chess-1":
        pytest.importorskip("simopt", reason="needs the extra `simopt`")
    said = subprocess.run(
        [sys.executable, str(script), "--help"], capture_output=True, text=True, check=False
    )
    assert said.returncode == 0, said.stderr
    assert re.search("minute|hour", said.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder",
    [
        *("batch-coverage", "equal-waits", "ladder", "living-matchmakers", "policies"),
        *("population-kg", "targeting", "tickets"),
    ],
)
def test_pages_hold_the_tables_of_their_files(folder: str, tmp_path: Path) -> None:
    page = tmp_path / folder
    shutil.copytree(RESULTS / folder, page)
    made = make(page, "page")
    assert made.returncode == 0, made.stderr
    assert made.stderr.startswith("parts made: 1 of 1 after ")
    assert (page / "README.md").read_bytes() == (RESULTS / folder / "README.md").read_bytes()
    wrong = make(page, "pages")
    assert wrong.returncode == 2
    assert "no part 'pages'" in wrong.stderr


def test_the_index_says_of_each_folder_how_long_its_script_takes() -> None:
    index = (RESULTS / "README.md").read_text("utf-8")
    told = dict(re.findall(r"^\| \[`([\w-]+)/(?:make.py)?`\].*\| ([^|]+) \|$", index, re.M))
    scripts = {path.parent.name: path for path in RESULTS.glob("*/make.py")}
    assert told.keys() == {*scripts, "readme"}  # whose page has the one command
    for folder, script in scripts.items():
        said = re.sub(r"\s+", " ", script.read_text("utf-8").split('"""')[1])
        assert told[folder].lower() in said.lower(), folder
    assert pages.typed(RESULTS / "README.md") == []


def test_numbers_of_sentences_are_those_of_their_files(tmp_path: Path) -> None:
    (tmp_path / "a-b.csv").write_text("kind,rule,x\nold,1,2.25\nnew,1,3.5\nnew,2,-4\n")
    page = tmp_path / "README.md"
    marks = {
        "a-b[kind=old] x .1f": "2.2",
        "a-b[kind=new & rule=2] x +.2f": "-4.00",
        "a-b[rule=1] mean of x .3f": "2.875",
        "a-b[] least of x g": "-4",
        "a-b[] largest of x .0%": "350%",
        "a-b[kind=new] count of x d": "2",
        "a-b[rule=1] sum of rule d": "2",
    }
    page.write_text(", ".join(f"<!-- {mark} -->?<!-- end -->" for mark in marks) + "\n")
    pages.fill(page, {})
    assert page.read_text() == (
        ", ".join(f"<!-- {mark} -->{text}<!-- end -->" for mark, text in marks.items()) + "\n"
    )
    for wrong, rows in (("a-b[kind=new] x d", 2), ("a-b[kind=odd] mean of x d", 0)):
        page.write_text(f"<!-- {wrong} -->1<!-- end -->\n")
        with pytest.raises(ValueError, match=f"{rows} rows for"):
            pages.fill(page, {})
        assert page.read_text() == f"<!-- {wrong} -->1<!-- end -->\n"


def test_numbers_of_two_columns_or_of_several_texts_are_found(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("kind,of the day,y\nold,0.25,0.5\nnew,0.75,0.25\nodd,,8\n")
    page = tmp_path / "README.md"
    marks = {
        "t[kind=old|new] median of of the day .2f": "0.50",
        "t[kind=old|new] largest of of the day / y .1f": "3.0",
        "t[kind=old] y - of the day .2f": "0.25",
        "t[kind=old] y + of the day .2f": "0.75",
        "t[kind=new] 1 - y .0%": "75%",
    }
    page.write_text(", ".join(f"<!-- {mark} -->?<!-- end -->" for mark in marks) + "\n")
    pages.fill(page, {})
    assert page.read_text() == (
        ", ".join(f"<!-- {mark} -->{text}<!-- end -->" for mark, text in marks.items()) + "\n"
    )


TYPED_PAGE = """# Made with 24 copies

Of 1,234 runs 57% won; 0.35 of <!-- t[] x d -->987<!-- end --> and `543`, [x](654.html), p90, 3.2.1.

```sh
run 876
```

    run 765

| a | b |
|---|---|
| 12.25 | <!-- y -->7.5<!-- end --> |

With 4,000 paths, 30, a share of 0.05, or 5 %, and 12 more; 64 and 128 of a list,
515.8 by a config, 1.5s, 7%.
"""


def test_numbers_that_are_typed_are_found(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text(TYPED_PAGE)
    (tmp_path / "make.py").write_text("N, ALPHA = 4_000, 0.05\nSIZES = [30,64,128]\n")
    found = [said.removeprefix(f"{page}:").partition(" is typed")[0] for said in pages.typed(page)]
    assert found == [
        *("1: 24", "3: 1,234", "3: 57%", "3: 0.35", "13: 12.25"),
        *("16: 515.8", "16: 1.5", "16: 7%"),
    ]
    plan = "24 copies of 1,234 runs of `chess-1`; 57 %, 12.25\n"
    (tmp_path / "PLAN.md").write_text(plan)
    found = [said.removeprefix(f"{page}:").partition(" is typed")[0] for said in pages.typed(page)]
    assert found == ["3: 0.35", "16: 1.5", "16: 7%"]
    (tmp_path / "PLAN.md").unlink()
    (tmp_path / "t.csv").write_text("x\n987\n")
    with pytest.raises(SystemExit, match=r"README.md:1: 24 is typed: take it .*TYPED of"):
        pages.check(page, lambda: pages.fill(page, {"y": "7.5"}))
    assert page.read_text() == TYPED_PAGE


def test_a_mark_that_nothing_fills_is_found(tmp_path: Path) -> None:
    page = tmp_path / "README.md"
    page.write_text("<!-- a -->1<!-- end --> of <!-- b -->93<!-- end -->\n")
    pages.check(page, lambda: pages.fill(page, {"a": "1", "b": "93"}))
    with pytest.raises(SystemExit, match="is not what its files say"):
        pages.check(page, lambda: pages.fill(page, {"a": "1"}))
    assert page.read_text() == "<!-- a -->1<!-- end --> of <!-- b -->93<!-- end -->\n"


@pytest.mark.parametrize("folder", sorted(path.parent.name for path in RESULTS.glob("*/README.md")))
def test_pages_type_no_results(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = RESULTS / folder / "README.md"
    assert pages.typed(page) == []
    excused = pages.TYPED.get(folder, {})
    for number, reason in excused.items():
        if reason != pages.WANTED:
            without = {name: why for name, why in excused.items() if name != number}
            monkeypatch.setattr(pages, "TYPED", {folder: without})
            assert pages.typed(page) != [], f"{number} needs no reason"


UNCHECKED = {"speed"}
"""Scripts whose numbers stand in no file: what they measure is of the machine."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "folder", sorted({path.parent.name for path in RESULTS.glob("*/make.py")} - UNCHECKED)
)
def test_a_page_that_is_not_what_its_files_say_is_found(folder: str, tmp_path: Path) -> None:
    if folder == "chess-1":
        pytest.importorskip("simopt", reason="needs the extra `simopt`")
    page = tmp_path / folder
    shutil.copytree(RESULTS / folder, page)
    checked = make(page, "--check")
    assert checked.returncode == 0, checked.stderr
    text = (page / "README.md").read_text(encoding="utf-8")
    filled = re.search(r"<!-- (?!end )[^>]+ -->[^<>]*?\d\.\d+", text)
    assert filled is not None
    end = filled.end()
    wrong = f"{text[:end]}9{text[end:]}"
    (page / "README.md").write_text(wrong, encoding="utf-8")
    checked = make(page, "--check")
    assert checked.returncode == 1
    assert "is not what its files say" in checked.stderr
    assert (page / "README.md").read_text(encoding="utf-8") == wrong


@pytest.mark.parametrize("cell", ["duels", "twos", "threes", "eight"])
def test_living_matchmakers_are_compared_on_the_same_players(cell: str) -> None:
    known = []
    for run in living_matchmakers.CELLS[cell]:
        config = load(run.configs, (*run.settings, "arrivals.per_hour=60"))
        inputs = TicketsModel(config.factors).draw(Streams(run.seed), 0)  # type: ignore[arg-type]
        centre, point = living_matchmakers.SCALES[run.name]
        known.append(
            [
                inputs.times,
                inputs.cancels,
                inputs.sizes,
                inputs.homes,
                inputs.latencies,
                (inputs.skills - centre) * point,
                (inputs.seen - centre) * point,
            ]
        )
    assert len(known) >= 3
    for own in known[1:]:
        for one, other in zip(known[0], own, strict=True):
            # Settings have ten digits.
            np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-4)
    assert 300.0 < np.std(known[0][5]) < 400.0


RECIPES = {
    "halo": "moment,game,sides,variant,player,team,score\n"
    "07 August 2004 02:17:45,7,2,50,ann,0,2\n07 August 2004 02:17:45,7,2,50,bob,1,-1\n"
    "07 August 2004 02:18:57,9,2,50,bob,1,5\n07 August 2004 02:18:57,9,2,50,cy,0,5\n",
}
"""Logs as the page says that they are."""

A_YEAR = (
    "tourney_id,tourney_date,winner_id,winner_name,loser_id,loser_name,score,minutes\n"
    "m1,20190101,1,ann,2,bob,6-3,\nm1,20190101,3,cy,2,bob,6-4,95\n"
)
"""Rows of tennis as their source writes them."""


@pytest.mark.slow
def test_logs_are_read_as_the_page_says(tmp_path: Path) -> None:
    script = runpy.run_path(str(RESULTS / "rating-benchmark" / "make.py"))
    text = (RESULTS / "rating-benchmark" / "README.md").read_text(encoding="utf-8")
    recipe = re.search(r"python -c '\n(.*?)' > LOGS/tennis.csv", text, re.S)
    assert recipe
    (tmp_path / "atp_matches_2019.csv").write_text(A_YEAR)
    (tmp_path / "atp_matches_doubles_2019.csv").write_text("no such row\n")
    tennis = subprocess.check_output(
        [sys.executable, "-c", recipe[1]], text=True, encoding="utf-8", cwd=tmp_path
    )
    found = {}
    for name, text in {**RECIPES, "tennis": tennis}.items():
        path = tmp_path / f"{name}.csv"
        path.write_text(text)
        found[name] = script["read"](path, script["LOGS"][name])
    assert found["halo"].names == found["tennis"].names == ["ann", "bob", "cy"]
    assert found["halo"].pairs.tolist() == [[0, 1], [1, 2]]
    assert found["halo"].scores.tolist() == [1.0, 0.5]
    assert found["tennis"].pairs[1].tolist() in ([1, 2], [2, 1])


def test_games_are_read_back_as_the_benchmark_writes_them(tmp_path: Path) -> None:
    script = runpy.run_path(str(RESULTS / "rating-benchmark" / "make.py"))
    results = "ann,bob,1-0,no", "bob,ann,1-0,no", "bob,ann,1/2-1/2,no", "bob,ann,0-1,yes"
    path, again = tmp_path / "log.csv", tmp_path / "again.csv"
    path.write_text("\n".join(["home,away,result,neutral", *results]) + "\n")
    log = script["read"](path, {})
    assert log.games.homes.tolist() == [0, 1, 1, -1]
    script["_write"](log, 0, 4, again)
    copy = script["read"](again, {})
    assert copy.games.homes.tolist() == log.games.homes.tolist()
    assert [copy.names[k] for k in copy.pairs.ravel()] == [log.names[k] for k in log.pairs.ravel()]
    assert copy.scores.tolist() == log.scores.tolist() == [1.0, 0.0, 0.5, 1.0]


@pytest.mark.long
def test_a_benchmark_of_one_log_leaves_the_others(tmp_path: Path) -> None:
    page = tmp_path / "rating-benchmark"
    shutil.copytree(RESULTS / page.name, page)
    before = rows(page / "scores.csv")
    lines = ["player_a,player_b,result"]
    lines += [
        f"p{k % 5},p{(k + 1 + k // 5 % 4) % 5},{'1-0' if k % 3 else '0-1'}" for k in range(60)
    ]
    (tmp_path / "votes.csv").write_text("\n".join(lines) + "\n")
    made = make(page, tmp_path)
    assert made.returncode == 0, made.stderr
    after = rows(page / "scores.csv")
    kept = [row for row in before if row["log"] != "votes"]
    assert [row for row in after if row["log"] != "votes"] == kept
    fresh = {row["system"]: row for row in after if row["log"] == "votes"}
    assert {f"valmatch {system.name}" for system in registry.systems_of_results()} < set(fresh)
    scored = [system.name for system in registry.all_systems() if system.needs_scores]
    assert not {f"valmatch {name}" for name in scored} & set(fresh)
    assert {"valmatch bradley_terry, prior 350", "coin", "better record"} < set(fresh)
    assert {row["games"] for row in fresh.values()} == {"60"}
    assert "of 60 games" in (page / "README.md").read_text(encoding="utf-8")


def test_the_overview_lists_every_folder() -> None:
    text = (RESULTS / "README.md").read_text(encoding="utf-8")
    folders = [
        path.name for path in RESULTS.iterdir() if path.is_dir() and path.name[0] not in "._"
    ]
    found = {
        cells[0]: cells[1:]
        for line in re.findall(r"^\| \[`(.*) \|$", text, re.M)
        for cells in [line.split(" | ")]
    }
    told = {name.partition("/")[0]: cells for name, cells in found.items()}
    assert sorted(told) == sorted(folders)
    questions = [question for question, *_ in told.values()]
    assert [one for one in questions if not one.endswith("?")] == []
    assert {len([cell for cell in cells if cell.strip()]) for cells in told.values()} == {3}


@pytest.mark.slow
def test_worlds_of_pairs_are_written_to_a_folder_that_is_made(tmp_path: Path) -> None:
    out, keep = tmp_path / "new" / "out", tmp_path / "new" / "kept"
    words = ("worlds", "10-wide", "--worlds", 2, "--keep", keep, "--out")
    made = make(RESULTS / "next-pair", *words, out)
    assert made.returncode == 0, made.stderr
    assert {row["worlds"] for row in rows(out / "10-wide.csv")} == {"2"}
    assert np.load(keep / "10-wide.npy").shape[0] == 2
    refused = make(RESULTS / "next-pair", *words, out / "10-wide.csv")
    assert refused.returncode == 2
    assert refused.stderr.endswith(f"error: {out / '10-wide.csv'}: File exists\n")


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES)
def test_the_scripts_say_what_they_take(page: str) -> None:
    asked = make(RESULTS / page, "--help")
    assert asked.returncode == 0
    assert all(word in asked.stdout for word in ("PROBLEM", *UNSEEN))
    wrong = make(RESULTS / page, 1, 100, "valorant")
    assert wrong.returncode == 2
    assert "no problem of this page" in wrong.stderr


@pytest.mark.long
def test_gaps_of_one_problem_leave_the_others(tmp_path: Path) -> None:
    page = tmp_path / "optimum-gap"
    shutil.copytree(RESULTS / page.name, page)
    before = rows(page / "gaps.csv")
    made = make(page, 2, 100, "valorant-x2", "valorant-fours")
    assert made.returncode == 0, made.stderr
    assert "valorant-fours, budget 100: 2 of 2 runs after" in made.stderr
    after = rows(page / "gaps.csv")
    assert after[4:] == before
    assert [row["problem"] for row in after[:4]] == 2 * ["valorant-x2"] + 2 * ["valorant-fours"]
    assert {row["best_known"] for row in after[2:4]} == {repr(best_known(load("valorant-fours")))}
    lines = re.findall(r"^\| `.*", (page / "README.md").read_text(), flags=re.MULTILINE)
    assert lines[0].startswith("| `valorant-x2` (tuned on) | 100 | 2 |")
    assert lines[1].startswith("| `valorant-fours` (unseen) | 100 | 2 |")
    assert lines[2:] == re.findall(
        r"^\| `.*", (RESULTS / page.name / "README.md").read_text(), flags=re.MULTILINE
    )


@pytest.mark.long
def test_a_comparison_of_one_problem_leaves_the_others(tmp_path: Path) -> None:
    page = tmp_path / "solver-comparison"
    shutil.copytree(RESULTS / page.name, page)
    before = [row for row in rows(page / "comparison.csv") if row["problem"] != "valorant-x2"]
    solvers = ("auto", "random", "nelder-mead", "cobyqa", "spsa", "cma-es", "bayes")
    asked = ("--solver", ",".join(solvers), "--macroreps", 2, "--budget", 100)
    runs = tmp_path / "runs" / "valorant-x2"  # finished runs are not made again
    assert valmatch("optimize", "valorant-x2", *asked, "--out", runs).code in (0, 3)
    made = make(page, runs.parent, "valorant-x2")
    assert made.returncode == 0, made.stderr
    assert made.stderr.startswith("valorant-x2: done after ")
    after = rows(page / "comparison.csv")
    assert [row for row in after if row["problem"] != "valorant-x2"] == before
    fresh = [row for row in after if row["problem"] == "valorant-x2"]
    assert [row["solver"] for row in fresh] == [*solvers]
    assert {row["runs"] for row in fresh} == {"2"}
    assert "| `valorant-x2` (tuned on) | auto | " in (page / "README.md").read_text()


@pytest.mark.parametrize("name", ["capacity-3", "capacity-6"])
def test_the_best_of_a_capacity_problem_is_known(name: str) -> None:
    posed, start = capacity.PROBLEMS[name], np.full(len(capacity.PROBLEMS[name].costs), 20.0)
    assert posed.expected(start) == pytest.approx((70.0, 1.45))
    # At the limit along any direction, no point costs less.
    for x in np.random.default_rng(1).uniform(0.5, 60.0, (1000, start.size)):
        cost, load = posed.expected(x)
        assert cost * load / capacity.LIMIT >= posed.best
    best = np.sqrt(np.divide(posed.loads, posed.costs))
    cost, load = posed.expected(best)
    assert cost * load / capacity.LIMIT == pytest.approx(posed.best)
    with capacity.registered():
        model = simulator.build(capacity.config_of(name))
    values = simulator.run(model, 1, range(2000)).responses[:, 1]
    assert abs(values.mean() - 1.45) < 4.0 * values.std() / 2000**0.5


@pytest.mark.slow
def test_unseen_problems_are_no_two_alike() -> None:
    problems = {name: shipped_problems()[name] for name in UNSEEN}
    variables = {name: len(one.optimize.variables) for name, one in problems.items()}
    assert variables == dict(zip(UNSEEN, (6, 3, 5, 3), strict=True))
    assert [one.model for one in problems.values()] == ["ladder"] * 2 + ["valorant"] * 2
    assert not problems["valorant-log"].one_history  # resampled


@pytest.mark.slow
def test_the_queue_log_is_what_its_command_makes(tmp_path: Path) -> None:
    config = shipped_configs()["valorant-log"]
    command = "".join(
        f"{line}\n" for line in re.findall(r"^#   (.*)$", config.read_text(), flags=re.MULTILINE)
    )
    assert command.startswith("valmatch simulate valorant --seed 7 ")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, env={**os.environ, "PATH": path}, check=True
    )
    log = config.with_name("valorant-log.csv")
    assert (tmp_path / log.name).read_bytes() == log.read_bytes()
    assert log.stat().st_size < 60_000
