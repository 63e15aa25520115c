"""The scripts that make the pages of results; the queue log of a shipped problem."""

from __future__ import annotations

import math
import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from results import study
from results.commands import read_commands
from tests.oracles import joint_pairs
from tests.support import known_problems
from tests.support.command import python
from tests.support.folders import rows
from valmatch.config.loading import load_config, shipped_configs
from valmatch.draws.streams import Streams
from valmatch.execution import chunks
from valmatch.kernels.arrays import Floats
from valmatch.models.tickets.model import TicketsModel
from valmatch.policies.joint.belief import Belief

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


def test_a_page_without_all_tables_says_which_parts_make_them(tmp_path: Path) -> None:
    own = runpy.run_path(str(RESULTS / "published" / "make.py"))["study"]
    own.folder = shutil.copytree(RESULTS / "published", tmp_path / "published")
    for table in ("5-sides", "10-leader"):
        (own.folder / f"{table}.csv").unlink()
    with pytest.raises(ValueError, match=r"run with --only 5 --only 10$"):
        own.page()


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


STUDY = Path(__file__).parents[1] / "results" / "next-pair" / "make.py"


@pytest.fixture(scope="module")
def update() -> Callable[..., Belief]:
    """Return the function of the study that rates after games."""
    found: Callable[..., Belief] = runpy.run_path(str(STUDY))["update"]
    return found


@pytest.mark.parametrize("nu", [0.0, 0.7])
def test_a_belief_after_games_is_the_mode_and_its_curvature(
    nu: float, update: Callable[..., Belief]
) -> None:
    rng = np.random.default_rng(6)
    for _ in range(20):
        root = rng.normal(size=(5, 6)) * 80.0
        before = Belief(rng.normal(1500.0, 100.0, 5), root @ root.T, nu)
        games = np.triu(rng.integers(0, 30, (5, 5)), 1)
        scores = np.triu(np.minimum(rng.integers(0, 60, (5, 5)) / 2.0, games), 1)
        scores = scores + np.tril((games - scores).T, -1)
        games = games + games.T
        after = update(before, games, scores, before.mean)
        precision = np.linalg.inv(before.covariance)

        def slope(x: np.ndarray, held: tuple = (games, scores, precision, before)) -> np.ndarray:  # type: ignore[type-arg]
            n, own, known, belief = held
            leads = joint_pairs.B * (x[:, None] - x)
            chances = joint_pairs.chances(leads.ravel(), nu)
            expected = (chances[0] + 0.5 * chances[1]).reshape(5, 5)
            found = joint_pairs.B * (own - n * expected).sum(axis=1) - known @ (x - belief.mean)
            return np.asarray(found)

        assert np.abs(slope(after.mean)).max() < 1e-8
        step = 1e-3
        curvature = np.array(
            [
                (slope(after.mean - step * e) - slope(after.mean + step * e)) / (2 * step)
                for e in np.eye(5)
            ]
        )
        assert after.covariance == pytest.approx(np.linalg.inv(curvature), rel=1e-4, abs=1e-3)
