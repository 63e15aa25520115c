"""Make the tables of this folder: what policies of the next pair bring, as PLAN.md says.

    python results/next-pair/make.py worlds CELL

plays the worlds of a cell (`list` names them) and writes CELL.csv beside this file, or into the
folder of --out. `--worlds N` plays fewer. The 12 players of the trial take some ten minutes on one
core, 50 players four hours, 200 players a night. What is done is said on stderr. `page` puts the
table of the trial into the page.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from results.pages import counted, fill, table
from valmatch.draws.streams import Streams
from valmatch.game_logs.next_pairs.world import MEASURES, Plan, measures_of, play_on
from valmatch.kernels.arrays import Floats
from valmatch.policies.joint.belief import GOALS, Belief
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
Z, MARKS, SEED = 1.959963984540054, 20, 1
_STRENGTHS = 11

OF_INTERVALS = ("covered", "leader_covered", "lead_bias")


class Cell(NamedTuple):
    """One kind of world, and how ratings and choices are made in it."""

    players: int
    spread: float
    worlds: int = 1_000
    games: int = 0
    draw_weight: float = 0.0
    noise: float = 0.0
    prior: float = 350.0
    explore: float = 0.0

    @property
    def arms(self) -> list[tuple[str, str]]:
        """Policies with their goals, empty where a policy has none."""
        goals = [goal for goal in GOALS if goal != "order" or self.players <= 50]
        simple = ["uniform", "closeness", "contenders", "information"]
        return [(name, "") for name in simple] + [("knowledge_gradient", goal) for goal in goals]


CELLS = {
    "trial": Cell(12, 100.0, games=390),
    "trial-explore-10": Cell(12, 100.0, games=390, explore=0.1),
    "trial-explore-30": Cell(12, 100.0, games=390, explore=0.3),
    "trial-true-prior": Cell(12, 100.0, games=390, prior=100.0),
    **{
        f"{players}-{field}{more}": Cell(players, spread, worlds, 40 * players, *further)
        for players, worlds in ((10, 1_000), (50, 1_000), (200, 200))
        for field, spread in (("tight", 50.0), ("wide", 200.0))
        for more, further in (("", ()), ("-draws", (1.0,)), ("-noisy", (0.0, 0.2)))
    },
}


def play(cell: Cell, policy: str, goal: str, world: int) -> Floats:
    """Return the measures of a world at each mark."""
    n, streams = cell.players, Streams(SEED)
    truth = cell.spread * streams.stream(world, _STRENGTHS).standard_normal(n)
    around = np.eye(n) - 1.0 / n
    batch = 10 if n < 50 else 20
    marks = np.linspace(0, cell.games / batch, MARKS + 1).round().astype(int) * batch
    plan = Plan(
        Belief(np.zeros(n), cell.prior**2 * around, cell.draw_weight),
        np.zeros((n, n), np.int64),
        ~np.eye(n, dtype=np.bool_),
        np.arange(n),
        goal or GOALS[0],
        batch,
        False,
        cell.explore,
        tuple(dict.fromkeys(marks.tolist())),
        cell.noise,
    )
    states = play_on(plan, policy, truth - truth.mean(), streams, world, lambda: None)
    return np.array([[*measures_of(one, truth), *intervals(one, truth)] for one in states])


def intervals(belief: Belief, truth: Floats) -> tuple[float, float, float]:
    """Return `OF_INTERVALS`: shares of differences that intervals hold, and the leader's excess."""
    own = np.diag(belief.covariance)
    spread = np.sqrt(np.maximum(own[:, None] + own - 2.0 * belief.covariance, 0.0))
    excess = (belief.mean[:, None] - belief.mean) - (truth[:, None] - truth)
    held, others = np.abs(excess) <= Z * spread, ~np.eye(truth.size, dtype=np.bool_)
    leader = int(belief.mean.argmax())
    with_leader = others[leader]
    lead = float(excess[leader, with_leader].mean())
    return float(held[others].mean()), float(held[leader, with_leader].mean()), lead


def rows_of(name: str, worlds: int) -> Iterator[dict[str, object]]:
    """Yield the rows of a cell."""
    cell = CELLS[name]
    batch = 10 if cell.players < 50 else 20
    marks = np.linspace(0, cell.games / batch, MARKS + 1).round().astype(int) * batch
    for policy, goal in cell.arms:
        played = ((world, play(cell, policy, goal, world)) for world in range(worlds))
        label = f"{policy} {goal}".strip()
        found = np.array([one for _, one in counted(label, played, worlds)])
        means, errors = found.mean(axis=0), found.std(axis=0, ddof=1) / math.sqrt(worlds)
        for games, mean, error in zip(dict.fromkeys(marks.tolist()), means, errors, strict=True):
            row: dict[str, object] = {"policy": policy, "goal": goal, "worlds": worlds}
            row["games"] = games
            for k, measure in enumerate((*MEASURES, *OF_INTERVALS)):
                row[measure] = round(float(mean[k]), 6)
                row[f"{measure}_std_error"] = round(float(error[k]), 6)
            yield row


HEAD = (
    "policy", "named the best after 100, 200, 390 games", "wrong neighbours", "widest, points",
    "differences covered", "those of the leader", "its lead too large by, points",
)  # fmt: skip


def page() -> None:
    """Put the table of the trial into the page."""
    with (HERE / "trial.csv").open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    by_arm: dict[str, dict[int, dict[str, str]]] = {}
    for row in rows:
        name = row["policy"] + f", {row['goal']}" * bool(row["goal"])
        by_arm.setdefault(name, {})[int(row["games"])] = row
    lines = []
    for name, marks in by_arm.items():
        named = " ".join(f"{float(marks[games]['named_best']):.3f}" for games in (100, 200, 390))
        last = {key: float(value) for key, value in marks[390].items() if key in _SHOWN}
        shares = [f"{last[key]:.3f}" for key in ("covered", "leader_covered")]
        points = [f"{last['misordered']:.2f}", f"{last['widest']:.0f}"]
        lines.append([name, named, *points, *shares, f"{last['lead_bias']:.0f}"])
    fill(HERE / "README.md", {"trial": table(HEAD, lines), "worlds": f"{int(rows[0]['worlds']):,}"})


_SHOWN = (*MEASURES, *OF_INTERVALS)


def main() -> None:
    """Play the worlds of a cell, or name the cells."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=["list", "worlds", "page"])
    parser.add_argument("cell", nargs="?", choices=list(CELLS))
    parser.add_argument("--worlds", type=int, help="how many; as PLAN.md says without it")
    parser.add_argument("--out", type=Path, default=HERE)
    given = parser.parse_args()
    if given.part == "list":
        print("\n".join(CELLS))
        return
    if given.part == "page":
        page()
        return
    if given.cell is None:
        parser.error("worlds: which CELL? (list names them)")
    rows = [*rows_of(given.cell, given.worlds or CELLS[given.cell].worlds)]
    write_csv(
        given.out / f"{given.cell}.csv", {name: [row[name] for row in rows] for name in rows[0]}
    )


if __name__ == "__main__":
    main()
