"""Make the tables and the page of this folder, as PLAN.md says: fairness at equal waits.

    python results/equal-waits/make.py

takes about two hours of one idle core. `levels` after it measures the three waits, `cells` tunes,
scales and judges, `tables` compares, `page` fills the page, and `--check` says whether the page
holds the tables. Each cell is a file of `cells`; one that is there is not made again, so that the
run goes on where it was stopped. How far it is is said on stderr.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from results import opponent_priors as priors
from results.pages import counted, fill, make_parts, read, table, where
from valmatch import load
from valmatch.execution import simulator
from valmatch.kernels.arrays import Floats
from valmatch.optimization.problem_of_config import problem_of
from valmatch.optimization.solver_run import RunSpec, Settings, run_solver
from valmatch.optimization.verdict import verdict as verdict_of
from valmatch.storage.output import write_bytes, write_csv

HERE = Path(__file__).parent
CONFIG = "ladder"

TUNING_SEED, BUDGET = 201, 200
SOLVER, CONFIDENCE = RunSpec("auto", 0), 0.95
JUDGING_SEED, WORLDS = 203, 60
SCALING_WORLDS, TRIALS, CLOSE = 30, 8, 0.005
"""Tuning worlds on which limits are scaled to the wait, how often at most, and how closely."""

WAIT = "avg_wait_time"
OUTCOMES = {"win_gap": "all", "joined_win_gap": "newcomers"}
"""The primary outcomes, with whose matches they are of."""

MEASURES = (*OUTCOMES, WAIT, "wait_p90", "scale_stretch")
NEAR = 0.05
"""Share of the level by which the mean wait in judging worlds may miss it."""

SCALES, LEVEL_WORLDS = (1 / 16, 2.0), 10
"""Of the limits of `nearest` under elo: the range of which the levels are quartiles."""
LEVELS = ("short", "middle", "long")
"""By their waits; the middle one is run first."""

RIGHT: Mapping[str, tuple[str, float] | None] = {
    "elo": ("K", 18.475),
    "glicko2": ("deviation", 300.0),
    "trueskill": ("sigma", 300.0),
    "zonestats": ("GAME_MULT", 0.66667),
    "known": None,
}
"""Systems, with the parameter that is right or wrong and its right value."""

Variable = dict[str, float]

PAIRS: dict[str, Variable] = {
    "tolerance": {"low": 0, "high": 2000, "start": 400, "scale": 50},
    "widening": {"low": 500, "high": 20000, "start": 6000, "scale": 1000},
    "reserve": {"low": 0, "high": 1, "start": 0.7},
}
TEAMS: dict[str, Variable] = {
    "team_diff": {"low": 0, "high": 1000, "start": 100, "scale": 50},
    "team_slack": {"low": 0, "high": 2000, "start": 300, "scale": 50},
    "wait_thresh": {"low": 0, "high": 2, "start": 0.1, "scale": 0.05},
}
OF_GAMMA: dict[str, Variable] = {"gamma": {"low": 0, "high": 0.999, "start": 0.95}}
OF_KAPPA: dict[str, Variable] = {"kappa": {"low": 0, "high": 5, "start": 1}}
"""What is tuned, of the rules and of the choices that read more."""

TUNED = {
    "nearest": PAIRS,
    "draw_chance": PAIRS,
    "knowledge_gradient": PAIRS | OF_GAMMA,
    "knowledge_gradient_variance": PAIRS | OF_GAMMA,
    "ucb": PAIRS | OF_KAPPA,
    "team_first": TEAMS,
    "joint": TEAMS,
}

SCALED = ("tolerance", "widening", "team_diff", "team_slack")
"""The limits that are multiplied by one number, which brings the mean wait to the level."""

BASE, BASE_SYSTEM, BASE_CHOICE = ("elo", "nearest"), "elo", "nearest"
UNDER = {
    "elo": ("team_first", "joint", "draw_chance", "ucb", "knowledge_gradient"),
    "trueskill": ("draw_chance", "ucb", "knowledge_gradient_variance", "knowledge_gradient"),
}
"""Choices that are compared with `nearest`, by the system under which they are."""

COMPARED = (
    *(((system, BASE_CHOICE), BASE) for system in RIGHT if system != BASE_SYSTEM),
    *(((system, choice), (system, BASE_CHOICE)) for system in UNDER for choice in UNDER[system]),
)
"""What is compared, and with what: system and choice."""


class State(NamedTuple):
    """What the systems know: their parameters times a number; whether rules are tuned with that.

    Limits that were tuned with the right parameters are scaled alone, by one number.
    """

    times: float
    tuned: bool


STATES = {
    "right": State(1.0, tuned=True),
    "third-scaled": State(1 / 3, tuned=False),
    "three-scaled": State(3.0, tuned=False),
    "third-tuned": State(1 / 3, tuned=True),
    "three-tuned": State(3.0, tuned=True),
}

Row = dict[str, Any]


class Cell(NamedTuple):
    """A system and a choice at a level, with what is known."""

    level: str
    state: str
    system: str
    choice: str

    @property
    def path(self) -> Path:
        """The file of the cell."""
        return HERE / "cells" / f"{'-'.join(self)}.json"

    @property
    def words(self) -> list[str]:
        """What the cell sets, besides what is tuned."""
        rule = [f"rule.matching={self.choice}"]
        if self.choice not in ("team_first", "joint"):
            rule = ["rule.matching=pairs", f"rule.policy={self.choice}"]
        times = STATES[self.state].times
        own = RIGHT[self.system]
        parameter = [f"rating.{own[0]}={own[1] * times!r}"] if own else []
        beta = f"rating.beta={true_beta() * times!r}"
        return ["rule.team_num=1", *rule, f"rating.system={self.system}", *parameter, beta]

    def like(self, system: str, choice: str) -> Cell:
        """Return the cell of another system and choice at this level and state."""
        return self._replace(system=system, choice=choice)


def cells_of(level: str, state: str) -> Iterator[Cell]:
    """Yield the cells of a level and state in the order in which they are made."""
    pairs = dict.fromkeys([BASE, *(one for one, _ in COMPARED)])
    for system, choice in pairs:
        if RIGHT[system] or state == "right":
            yield Cell(level, state, system, choice)


CELLS = tuple(
    cell
    for level, state in product(("middle", "short", "long"), STATES)
    for cell in cells_of(level, state)
)


def compared_in(state: str) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Return what is compared in a state: nothing that is known is wrong."""
    return [pair for pair in COMPARED if RIGHT[pair[0][0]] or state == "right"]


FAMILY = len(OUTCOMES) * len(LEVELS) * sum(len(compared_in(state)) for state in STATES)
WIDTH = priors.half_widths(FAMILY)
"""Comparisons of the plan, and standard errors of half an interval: all hold together."""


@cache
def true_beta() -> float:
    """Return the deviation of a performance that fits the outcomes."""
    factors: Any = load(CONFIG, ["rule.team_num=1"]).factors
    return float(factors.rating_beta)


def responses(words: Sequence[str], seed: int, n: int) -> dict[str, Floats]:
    """Return the responses of worlds by name."""
    model = simulator.build(load(CONFIG, list(words)))
    values = simulator.run(model, seed, range(n)).responses.T
    return dict(zip([one.name for one in model.responses], values, strict=True))


def write(name: str, rows: Sequence[Row]) -> None:
    """Write rows as a CSV file of this folder."""
    write_csv(HERE / f"{name}.csv", {key: [row[key] for row in rows] for key in rows[0]})


# ---- the three waits ----


def levels() -> None:
    """Make levels.csv: waits of nearest under elo at the quartiles of the range of its limits."""
    low, high = (math.log2(scale) for scale in SCALES)
    rows = []
    for level, quarter in zip(LEVELS, (3, 2, 1), strict=True):
        scale = 2.0 ** (low + quarter / 4 * (high - low))
        limits = [f"rule.tolerance={400 * scale!r}", f"rule.widening={6000 * scale!r}"]
        words = [*Cell(level, "right", *BASE).words, *limits]
        found = responses(words, TUNING_SEED, LEVEL_WORLDS)
        wait, gap = (float(found[name].mean()) for name in (WAIT, "win_gap"))
        facts = {"level": level, "scale": float(f"{scale:.5g}"), "n": LEVEL_WORLDS}
        rows.append(facts | {"wait": float(f"{wait:.3g}"), "win_gap": float(f"{gap:.4g}")})
    write("levels", rows)


def level_of(name: str) -> float:
    """Return the wait of a level, in minutes."""
    (row,) = where(read(HERE / "levels.csv"), level=name)
    return float(row["wait"])


# ---- cells ----


def tuned_point(cell: Cell) -> tuple[dict[str, float], bool | None]:
    """Return what `optimize` finds for a cell, and whether it was shown to hold the wait."""
    if not STATES[cell.state].tuned:
        right = json.loads(cell._replace(state="right").path.read_text(encoding="utf-8"))
        return right["point"], None
    posed = {
        "variables": {f"rule.{name}": one for name, one in TUNED[cell.choice].items()},
        "objective": {"fairness": {"response": "win_gap", "weight": 1}},
        "constraints": {"wait": {"response": WAIT, "at_most": level_of(cell.level)}},
    }
    words = [*cell.words, *(f"optimize.{name}={json.dumps(part)}" for name, part in posed.items())]
    # As `optimize` does, without what it shows afterwards: prices of constraints, which would
    # take more replications than the search.
    config = load(CONFIG, words)
    model = simulator.build(config)
    problem = problem_of(config, model)
    settings = Settings(BUDGET, TUNING_SEED, 1.0 - CONFIDENCE)
    found = verdict_of(model, problem, [run_solver(config, problem, SOLVER, settings)], CONFIDENCE)
    assert found is not None
    return dict(found.point), found.feasible


def words_at(cell: Cell, point: Mapping[str, float], scale: float) -> list[str]:
    """Return what a cell sets at a point, with `SCALED` limits multiplied by a number."""
    names = {f"rule.{name}" for name in SCALED}
    values = {name: x * scale if name in names else x for name, x in point.items()}
    return [*cell.words, *(f"{name}={x!r}" for name, x in values.items())]


def scaled(cell: Cell, point: Mapping[str, float]) -> tuple[float, float]:
    """Return the scale at which a point has the level's wait in tuning worlds, and its own wait.

    The logarithm of the wait is nearly a line in that of the scale: by secants.
    """
    level, tried = math.log(level_of(cell.level)), []
    x, slope = 0.0, -0.5
    for _ in range(TRIALS):
        words = words_at(cell, point, math.exp(x))
        wait = math.log(responses(words, TUNING_SEED, SCALING_WORLDS)[WAIT].mean())
        tried.append((abs(wait - level), x, wait))
        if tried[-1][0] <= CLOSE:
            break
        if len(tried) > 1 and tried[-1][1] != tried[-2][1]:
            found = (wait - tried[-2][2]) / (x - tried[-2][1])
            slope = min(max(found, -2.0), -0.1)
        x += min(max((level - wait) / slope, -math.log(2.0)), math.log(2.0))
    return math.exp(min(tried)[1]), math.exp(tried[0][2])


def make_cell(cell: Cell) -> None:
    """Tune a cell, scale it to the wait and judge it, unless its file is there."""
    if cell.path.exists():
        return
    point, feasible = tuned_point(cell)
    scale, own_wait = scaled(cell, point)
    found = responses(words_at(cell, point, scale), JUDGING_SEED, WORLDS)
    facts = {"point": point, "feasible": feasible, "scale": scale, "unscaled_wait": own_wait}
    kept = {name: [float(f"{x:.6g}") for x in found[name]] for name in MEASURES}
    text = json.dumps(facts | {"worlds": kept}, indent=1)
    cell.path.parent.mkdir(exist_ok=True)
    write_bytes(cell.path, f"{text}\n".encode())


def cells() -> None:
    """Make all cells that are not there."""
    for _ in counted("cells", map(make_cell, CELLS), len(CELLS)):
        pass


# ---- tables ----


def judged(cell: Cell) -> dict[str, Floats]:
    """Return the measures of a cell, judging world by judging world."""
    found = json.loads(cell.path.read_text(encoding="utf-8"))["worlds"]
    return {name: np.array(values) for name, values in found.items()}


def off(cell: Cell) -> float:
    """Return by what share of the level the mean wait misses it."""
    return float(judged(cell)[WAIT].mean()) / level_of(cell.level) - 1.0


def cell_row(cell: Cell) -> Row:
    """Return the means of a cell, and whether it has the equal wait."""
    found = judged(cell)
    means = {name: float(f"{values.mean():.5g}") for name, values in found.items()}
    equal = "yes" if abs(off(cell)) <= NEAR else "no"
    kept = json.loads(cell.path.read_text(encoding="utf-8"))
    tuned = "; ".join(f"{name.removeprefix('rule.')} {x:.4g}" for name, x in kept["point"].items())
    facts = {**cell._asdict(), "n": len(found[WAIT]), "off": float(f"{off(cell):.3g}")}
    scaling = {name: float(f"{kept[name]:.4g}") for name in ("unscaled_wait", "scale")}
    return {**facts, "equal_wait": equal, **means, "tuned": tuned, **scaling}


def compared_rows(level: str, state: str) -> Iterator[Row]:
    """Yield what one cell is less another, of those that are made and have the equal wait."""
    for (one, other), outcome in product(compared_in(state), OUTCOMES):
        own, base = (Cell(level, state, *names) for names in (one, other))
        if not all(cell.path.exists() and abs(off(cell)) <= NEAR for cell in (own, base)):
            continue
        less = judged(own)[outcome] - judged(base)[outcome]
        mean = float(less.mean())
        half = WIDTH * float(less.std(ddof=1)) / math.sqrt(less.size)
        ends = {"less": mean, "low": mean - half, "high": mean + half}
        yield (
            {"level": level, "state": state, "system": own.system, "choice": own.choice}
            | {"than_system": base.system, "than_choice": base.choice}
            | {"outcome": OUTCOMES[outcome], "n": less.size}
            | {name: float(f"{x:.5g}") for name, x in ends.items()}
            | {"verdict": verdict(mean - half, mean + half)}
        )


def verdict(low: float, high: float) -> str:
    """Say of a difference in the win gap, of which less is better, what its interval shows."""
    if high < 0.0:
        return "better"
    return "worse" if low > 0.0 else "open"


def tables() -> None:
    """Make cells.csv, compared.csv and progress.csv of the cells that are made."""
    made = [cell_row(cell) for cell in CELLS if cell.path.exists()]
    write("cells", made)
    write("compared", [row for parts in grid() for row in compared_rows(*parts)])
    progress = []
    for level, state in grid():
        own = [row for row in made if (row["level"], row["state"]) == (level, state)]
        equal = sum(row["equal_wait"] == "yes" for row in own)
        planned = len([*cells_of(level, state)])
        counts = {"cells": planned, "made": len(own), "equal_wait": equal}
        progress.append({"level": level, "state": state, **counts})
    write("progress", progress)


def grid() -> Iterator[tuple[str, str]]:
    """Yield all levels and states in the order in which they are made."""
    return product(("middle", "short", "long"), STATES)


# ---- the page ----


def named(row: Mapping[str, str], before: str = "") -> str:
    """Return system and choice of a row in words."""
    return f"{row[f'{before}system']}, `{row[f'{before}choice']}`"


def shown(row: Mapping[str, str]) -> str:
    """Return a difference with its interval, in bold where that leaves 0 out."""
    less, low, high = (float(row[name]) for name in ("less", "low", "high"))
    text = f"{less:+.4f} [{low:+.4f}, {high:+.4f}]"
    return text if row["verdict"] == "open" else f"**{text}** {row['verdict']}"


def compared_table(level: str, state: str) -> str:
    """Return what is compared at a level and state, both outcomes side by side."""
    rows = where(read(HERE / "compared.csv"), level=level, state=state)
    lines = []
    for one, other in dict.fromkeys((named(row), named(row, "than_")) for row in rows):
        own = [row for row in rows if (named(row), named(row, "than_")) == (one, other)]
        by_outcome = {row["outcome"]: shown(row) for row in own}
        lines.append([one, other, own[0]["n"], *(by_outcome[name] for name in OUTCOMES.values())])
    if not lines:
        return "Nothing to compare: of each pair a rule is not made yet, or has missed the wait.\n"
    return table(["system, choice", "less", "n", "all matches", "newcomers' matches"], lines)


def cells_table(level: str, state: str) -> str:
    """Return the means of the cells of a level and state."""
    lines = []
    for row in where(read(HERE / "cells.csv"), level=level, state=state):
        missed = "" if row["equal_wait"] == "yes" else ", missed"
        wait = f"{float(row[WAIT]):.3f} ({float(row['off']):+.1%}{missed})"
        gaps = [f"{float(row[name]):.4f}" for name in OUTCOMES]
        others = [f"{float(row['wait_p90']):.2f}", f"{float(row['scale_stretch']):.2f}"]
        scaling = [f"{float(row['unscaled_wait']):.2f}", f"{float(row['scale']):.2f}"]
        lines.append([named(row), row["n"], wait, *gaps, *others, row["tuned"], *scaling])
    head = ["system, choice", "n", "mean wait", "win gap", "newcomers' win gap"]
    return table([*head, "wait p90", "stretch", "tuned", "wait before", "scaled by"], lines)


def worth_of_waiting(share: float) -> float:
    """Return by how much a longer wait lessens the win gap of the levels' own rule."""
    ends = [read(HERE / "levels.csv")[k] for k in (0, -1)]
    (short, more), (long, less) = ((float(row["wait"]), float(row["win_gap"])) for row in ends)
    return (more - less) / math.log(long / short) * math.log1p(share)


def sections(text: Callable[[str, str], str]) -> str:
    """Return a table of each level and state of which a cell is made, below what it is of."""
    progress = read(HERE / "progress.csv")
    return "".join(
        f"\nLevel {row['level']}, {row['state'].replace('-', ', ')}:\n\n"
        f"{text(row['level'], row['state'])}"
        for row in progress
        if int(row["made"])
    )


def missing_table() -> str:
    """Return how many cells of each level and state are made, and which are not."""
    lines = []
    for row in read(HERE / "progress.csv"):
        level, state = row["level"], row["state"]
        made = {named(own) for own in where(read(HERE / "cells.csv"), level=level, state=state)}
        names = [f"{cell.system}, `{cell.choice}`" for cell in cells_of(level, state)]
        missing = [name for name in names if name not in made]
        which = "; ".join(missing) if made else "all"
        counts = [row[name] for name in ("cells", "made", "equal_wait")]
        lines.append([level, state.replace("-", ", "), *counts, which if missing else ""])
    return table(["level", "state", "cells", "made", "with the equal wait", "not made"], lines)


def tuned_values(system: str, choice: str, name: str) -> Floats:
    """Return what tuning gave a number of a choice, by level and state."""
    rows = where(read(HERE / "cells.csv"), system=system, choice=choice)
    tuned = [row["tuned"].split("; ") for row in rows if STATES[row["state"]].tuned]
    return np.array([float(one.split()[1]) for own in tuned for one in own if name in one])


def page() -> None:
    """Put the tables and numbers into the page."""
    kappas, gammas, closed = (
        tuned_values("trueskill", choice, name)
        for choice, name in (
            ("ucb", "kappa"),
            ("knowledge_gradient", "gamma"),
            ("knowledge_gradient_variance", "gamma"),
        )
    )
    equal = where(read(HERE / "cells.csv"), equal_wait="yes")
    share = max(abs(float(row["off"])) for row in equal)
    texts = {
        "progress": f"\n{missing_table()}\n",
        "family": f"{FAMILY}",
        "width": f"{WIDTH:.2f}",
        "off": f"{100 * share:.1f}",
        "near": f"{worth_of_waiting(share):.4f}",
        "tunings": f"{kappas.size}",
        "kappa": f"{np.median(kappas):.2f}, at most {kappas.max():.2f}",
        "gamma": f"{np.median(gammas):.2f}, at most {gammas.max():.2f}",
        "gamma of the closed form": f"{closed.min():.3f} to {closed.max():.3f}",
        "compared": f"{sections(compared_table)}\n",
        "cells": f"{sections(cells_table)}\n",
    }
    fill(HERE / "README.md", texts)


PARTS: dict[str, Callable[[], object]] = {
    "levels": levels,
    "cells": cells,
    "tables": tables,
    "page": page,
}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
