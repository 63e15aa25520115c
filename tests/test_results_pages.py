"""The scripts that make the pages of results; the queue log of a shipped problem."""

from __future__ import annotations

import math
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from results import study
from results.commands import read_commands
from tests.support import known_problems
from tests.support.command import python
from tests.support.folders import rows
from valmatch.config.loading import load_config, shipped_configs
from valmatch.draws.streams import Streams
from valmatch.execution import chunks
from valmatch.kernels.arrays import Floats
from valmatch.models.tickets.model import TicketsModel

RESULTS = Path(__file__).parent.parent / "results"
STUDIES = sorted(path.parent.name for path in RESULTS.glob("*/make.py"))


def make(page: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Run the script of a page."""
    return python(page / "make.py", *words)


SCRIPT = '''"""Takes a minute."""
from results.study import Study, grid

study = Study(globals(), digits=3)

@study.table(grid(kind=("old", "new"), x=(1, 2.5)))
def sums(kind, x):
    return [{"part": part, "sum": x + part / 3} for part in range(2)]

if __name__ == "__main__":
    study.main()
'''

PAGE = """{% macro cell(row) %}{{ row.sum | f('.2f') }}{% endmacro %}
{{ number('sums', 'sum - x', '+.1%', kind='old', x=2.5, part=1) }},
{{ number('sums', 'sum', 'd', of='count', x=[1, 2.5]) }}
{{ pivot(rows('sums', part=0), ['kind'], ['x'], cell, title='x {}') }}
"""


@pytest.mark.slow
def test_a_table_grows_case_by_case_and_its_page_follows(tmp_path: Path) -> None:
    (tmp_path / "make.py").write_text(SCRIPT)
    (tmp_path / study.TEMPLATE).write_text(PAGE)
    made = make(tmp_path, "sums", "--cases", 3)
    assert made.returncode == 0, made.stderr
    assert made.stderr.startswith("sums: 1 of 3 after ")
    assert [row["kind"] for row in rows(tmp_path / "sums.csv")] == ["old"] * 4 + ["new"] * 2
    text = (tmp_path / "sums.csv").read_text().replace("old,1,0,1.0", "old,1,0,7.0")
    (tmp_path / "sums.csv").write_text(text)
    assert make(tmp_path).returncode == 0  # what is there stays
    assert (tmp_path / "README.md").read_text() == (
        "+33.0%,\n8\n| kind | x 1 | x 2.5 |\n|---|---|---|\n"
        "| old | 7.00 | 2.50 |\n| new | 1.00 | 2.50 |\n"
    )
    assert make(tmp_path, "--check").returncode == 0
    (tmp_path / "sums.csv").write_text(text.replace("7.0", "8.0"))
    checked = make(tmp_path, "--check")
    assert checked.returncode == 1
    assert "not what README.md.jinja makes of the tables" in checked.stderr
    wrong = make(tmp_path, "sum")
    assert wrong.returncode == 2
    assert "no part 'sum' (allowed: sums)" in wrong.stderr


def test_numbers_of_no_row_or_of_several_are_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("kind,x\nold,1\nnew,2\nnew,3\n")
    own = study.Study({"__file__": tmp_path / "make.py"})
    assert own.number("t", "x", ".1f", of="median") == "2.0"
    for cells, count in (({"kind": "new"}, 2), ({"kind": "odd"}, 0)):
        with pytest.raises(ValueError, match=f"t: {count} rows"):
            own.number("t", "x", "d", **cells)


def test_hypotheses_that_holm_rejects() -> None:
    assert study.holm([0.04, 0.0124, 0.01, 0.03]) == [False, True, True, False]


@pytest.mark.slow
@pytest.mark.parametrize("folder", STUDIES)
def test_pages_are_what_their_files_say(folder: str) -> None:
    script = RESULTS / folder / "make.py"
    made = runpy.run_path(str(script))["study"]
    assert made.page() == (RESULTS / folder / "README.md").read_text("utf-8")
    assert re.search("minute|hour", script.read_text("utf-8").split('"""')[1])


def test_the_index_says_of_each_folder_how_long_its_script_takes() -> None:
    index = (RESULTS / "README.md").read_text("utf-8")
    told = dict(re.findall(r"^\| \[`([\w-]+)/`\].*\| ([^|]+) \|$", index, re.M))
    assert told.keys() == {*STUDIES, "readme"}  # whose page has the one command
    for folder in STUDIES:
        text = (RESULTS / folder / "make.py").read_text("utf-8").split('"""')[1]
        assert told[folder].lower() in re.sub(r"\s+", " ", text).lower(), folder


# Numbers that were typed into the templates of results, and not taken from a table.

UNREAD = re.compile(
    r"\{\{.*?\}\}|\{%.*?%\}|^```.*?^```|(?<=\n\n)(?:    [^\n]*\n)+|`[^`]*`|\]\([^)]*\)", re.S | re.M
)
"""What of a template is no sentence: what it computes, code, targets of links."""

NUMBER = re.compile(r"(?<![\w.^/])(?:\d[\d,_]*(?:\.\d+)?|\.\d+)(?!\d|[.,]\d)(?P<percent> ?%)?")
"""A number by itself: of ``p90`` or ``1/3`` there is none."""

SMALL = 20
"""Whole numbers up to here may be typed, not percentages: most count what the reader sees."""

LEVEL = "the level of intervals"

EXCUSED: dict[str, dict[str, str]] = {
    "kg-study": {"30": "comparisons: three ranks, five priors, two rivals"},
    "living-matchmakers": {
        "800": "points, of a question that is not answered",
        "9,999": "the largest radius of a rule, by default",
    },
    "next-pair": dict.fromkeys((".85", ".62", ".44", ".65", ".67"), "of a trial before the plan"),
    "policies": {
        "99": "0.99 / (1 - 0.99)",
        "999": "0.999 / (1 - 0.999)",
        **dict.fromkeys((".03 %", ".12 %", "14.8 %", "16.7 %"), "of trials before the plan"),
    },
    "rating-benchmark": {"95 %": LEVEL, **dict.fromkeys(("2019", "2024"), "a year")},
    "readings": {
        "95 %": LEVEL,
        **dict.fromkeys(("21", "22", "26", "29"), "of rows of the page"),
        "501": "games, of a source",
        **dict.fromkeys(("0.4", "0.6", "0.67", "1.5"), "arithmetic: shares and their ratios"),
    },
    "scale": {"518": "players of a default day", "5 %": "a share that is asked for"},
    "solver-comparison": {"2015": "a year"},
    "targeting": {
        "99.875 %": "95 %, of 40 intervals together",
        **dict.fromkeys(("0.667", "1.25"), "arithmetic of the model"),
    },
    "tickets": {"65": "in a hundred, what a win gap of 0.15 means"},
    "zonestats": {"40": "points a game: GAME_MULT 2, MAX_GAME_LENGTH 20", "95 %": LEVEL},
}
"""Numbers that a template may type though nothing of its study says them, with the reason."""


def typed_numbers(folder: Path) -> list[str]:
    """Return the numbers that a template types and that nothing excuses, each with its line."""
    text = (folder / study.TEMPLATE).read_text(encoding="utf-8")
    sentences = UNREAD.sub(lambda part: re.sub("[^\n]", " ", part[0]), text)
    excused = " ".join(EXCUSED.get(folder.name, ()))
    allowed = _constants(folder) | {one for _, one in _numbers(excused)} | {*range(SMALL + 1)}
    return [
        f"{line}: {found}"
        for line, sentence in enumerate(sentences.split("\n"), 1)
        for found, one in _numbers(sentence)
        if one not in allowed
    ]


def _numbers(text: str) -> Iterator[tuple[str, float]]:
    """Yield numbers with their values, that of a percentage as a share."""
    for found in NUMBER.finditer(text):
        one = float(re.sub("[,_ %]", "", found[0]))
        yield found[0], round(one / 100, 12) if found["percent"] else one


def _constants(folder: Path) -> set[float]:
    """Return the numbers of a study: of its scripts, its plan, and the configs they name."""
    names = ("*.py", "*.yaml", "PLAN.md")
    text = "\n".join(path.read_text("utf-8") for name in names for path in folder.glob(name))
    root = RESULTS.parent
    imported = re.findall(r"^from ((?:results|tests)\S*) import \(?\s*(\w+)", text, re.M)
    paths = [root / f"{'/'.join(names).replace('.', '/')}.py" for names in imported]
    modules = {path for one in paths for path in (one, one.parent.with_suffix(".py"))}
    modules -= {root / "results" / "study.py"}
    named = set(re.findall(r"[\w-]+", text + (folder / study.TEMPLATE).read_text("utf-8")))
    configs = [path for name, path in shipped_configs().items() if name in named]
    configs += [path.with_suffix(".json") for path in configs]
    shared = [path for path in (*modules, *configs) if path.is_file()]
    text = "\n".join([text, *(path.read_text(encoding="utf-8") for path in shared)])
    # A comma stands between thousands in a plan, between numbers in a list.
    return {one for each in (text, text.replace(",", " ")) for _, one in _numbers(each)}


@pytest.mark.parametrize("folder", STUDIES)
def test_templates_type_no_results(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert typed_numbers(RESULTS / folder) == []
    excused = EXCUSED.get(folder, {})
    for number in excused:
        without = {name: why for name, why in excused.items() if name != number}
        monkeypatch.setitem(EXCUSED, folder, without)
        assert typed_numbers(RESULTS / folder) != [], f"{number} needs no reason"


def test_numbers_that_are_typed_are_found(tmp_path: Path) -> None:
    (tmp_path / study.TEMPLATE).write_text(
        "Of 1,234 runs {{ number('t', 'x', '.1f', y=8.25) }} and `543`, p90, 5 % of 64;\n"
        "{% if x > 77 %}12{% endif %} 7%, 1.5s.\n\n    run 765\n"
    )
    (tmp_path / "make.py").write_text("N, ALPHA = 4_000, 0.05\nSIZES = [30,64,128]\n")
    assert typed_numbers(tmp_path) == ["1: 1,234", "2: 7%", "2: 1.5"]
    (tmp_path / "PLAN.md").write_text("1,234 copies\n")
    assert typed_numbers(tmp_path) == ["2: 7%", "2: 1.5"]


ELO = 400.0 / math.log(10.0)
"""Points of Elo at which e to 1 is bet; 1.702 is the deviation of the normal law nearest to it."""

SCALES = {
    name: (centre, 1.702 * ELO / (noise * math.sqrt(2.0)) if noise else 1.0)
    for name, centre, noise in (
        *(("faf", 1258.288398, 240.0), ("bar", 18.964, 25.0 / 6.0), ("shieldbattery", 1700.0, 0.0)),
        *(("osu", 1500.0, 0.0), ("lichess", 1600.0, 0.0)),
    )
}
"""Where the mean of the skills stands, and points of Elo in one of the game, by its noise."""


@pytest.mark.parametrize("cell", ["duels", "twos", "threes", "eight"])
def test_living_matchmakers_are_compared_on_the_same_players(cell: str) -> None:
    known = []
    for run in read_commands(RESULTS / "living-matchmakers" / "commands.yaml")[cell]:
        config = load_config(run.configs, (*run.settings, "arrivals.per_hour=60"))
        inputs = TicketsModel(config.factors).draw(Streams(run.seed), 0)  # type: ignore[arg-type]
        centre, point = SCALES[run.name]
        skills = [(one - centre) * point for one in (inputs.skills, inputs.seen)]
        players = [inputs.times, inputs.cancels, inputs.sizes, inputs.homes, inputs.latencies]
        known.append([*players, *skills])
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
    recipe = re.search(r"python -c '\n(.*?)' > results/\S+/tennis.csv", text, re.S)
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
    pairs = {
        name: [[log.names[player] for player in pair] for pair in log.pairs]
        for name, log in found.items()
    }
    assert pairs["halo"] == [["ann", "bob"], ["bob", "cy"]]
    assert found["halo"].scores.tolist() == [1.0, 0.5]
    assert list(map(sorted, pairs["tennis"])) == pairs["halo"]


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


@pytest.mark.parametrize("name", ["capacity-3", "capacity-6"])
def test_the_best_of_a_capacity_problem_is_known(name: str) -> None:
    problem = known_problems.CAPACITIES[name]

    def scaled(x: Floats) -> float:
        """Return the cost at the limit along a direction."""
        cost, load = problem.expected(dict(enumerate(x)))  # type: ignore[arg-type]
        return cost * load / problem.limit

    start = {f"x{k}": problem.start for k in range(len(problem.c))}
    assert problem.expected(start) == pytest.approx((70.0, 1.45))
    for x in np.random.default_rng(1).uniform(0.5, 60.0, (1000, len(start))):
        assert scaled(x) >= problem.best
    assert scaled(np.sqrt(np.divide(problem.w, problem.c))) == pytest.approx(problem.best)
    with known_problems.registered():
        model = chunks.build(problem.config(name))
    values = chunks.run(model, 1, range(2000)).responses[:, 1]
    assert abs(values.mean() - 1.45) < 4.0 * values.std() / 2000**0.5


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
