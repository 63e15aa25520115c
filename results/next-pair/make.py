"""Make the tables of this folder: what policies of the next pair bring, as PLAN.md says.

    python results/next-pair/make.py worlds CELL
    python results/next-pair/make.py page

The first plays the worlds of a cell (`list` names them) and writes CELL.csv beside this file, or
into the folder of --out, anew after each hundred worlds; with --keep FOLDER it goes on later where
it was stopped. Folders are made. `--worlds N` plays other numbers of them. A world of 10 players
takes a tenth of a second, one of 50 a second, one of 200 some fifteen: minutes to half an hour a
cell. The second puts the tables of the cells that have been played into the page. What is done is
said on stderr.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from results.pages import PAGE, add_page, counted, fill, parser, table
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.threads import one_thread
from valmatch.policies.joint.batch import choose_batch
from valmatch.policies.joint.belief import GOALS, Belief
from valmatch.storage.output import write_binary, write_csv

HERE = Path(__file__).parent
Z, MARKS, SEED = 1.959963984540054, 20, 1

_STRENGTHS, _OUTCOMES, _NOISE = 11, 0x4F555443, 0x4E4F4953
"""Sources of random numbers: who is how strong, how games end, which are tosses of a coin."""

_STEPS, _CLOSE, _LONGEST = 100, 1e-6, 400.0

MEASURES = ("named_best", "misordered", "widest")
"""What is measured of ratings: whether the leader is the best, how many neighbours are in the wrong
order, the standard error of the widest difference in points."""

OF_INTERVALS = ("covered", "leader_covered", "lead_bias")
SHOWN = (*MEASURES, *OF_INTERVALS)
GRADIENT = "knowledge_gradient"


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
        goals = [goal for goal in GOALS if goal != "order" or self.players <= 12]
        simple = ["uniform", "closeness", "contenders", "information"]
        return [(name, "") for name in simple] + [(GRADIENT, goal) for goal in goals]

    @property
    def batch(self) -> int:
        """Games that are chosen by one estimate."""
        return 10 if self.players <= 12 else self.players

    @property
    def marks(self) -> list[int]:
        """After how many games is measured, the first 0."""
        steps = np.linspace(0, self.games / self.batch, MARKS + 1).round().astype(int)
        return list(dict.fromkeys((steps * self.batch).tolist()))


CELLS = {
    "trial": Cell(12, 100.0, games=390),
    "trial-explore-10": Cell(12, 100.0, games=390, explore=0.1),
    "trial-explore-30": Cell(12, 100.0, games=390, explore=0.3),
    "trial-true-prior": Cell(12, 100.0, games=390, prior=100.0),
    **{
        f"{players}-{field}{more}": Cell(players, spread, worlds, 20 * players, *further)
        for players, worlds in ((10, 1_000), (50, 1_000), (200, 100))
        for field, spread in (("tight", 50.0), ("wide", 200.0))
        for more, further in (("", ()), ("-draws", (1.0,)), ("-noisy", (0.0, 0.2)))
    },
}


def play(cell: Cell, policy: str, goal: str, world: int) -> Floats:
    """Return the measures of a world at each mark.

    The truth and the luck of each game are those of the world, whatever the policy.
    """
    n, streams = cell.players, Streams(SEED)
    truth = cell.spread * streams.stream(world, _STRENGTHS).standard_normal(n)
    truth = truth - truth.mean()
    before = Belief(np.zeros(n), cell.prior**2 * (np.eye(n) - 1.0 / n), cell.draw_weight)
    luck = streams.stream(world, _OUTCOMES).random(cell.games)
    tossed = streams.stream(world, _NOISE).random(cell.games) < cell.noise
    played, scores = np.zeros((n, n), np.int64), np.zeros((n, n))
    belief, found = before, [_measured(before, truth)]
    for done in range(0, cell.games, cell.batch):
        batch = choose_batch(
            belief,
            policy,
            goal or GOALS[0],
            cell.batch,
            games=played,
            explore=cell.explore,
            streams=streams,
            replication=world,
            start=done,
        )
        now, first, second = slice(done, done + cell.batch), batch.first, batch.second
        leads = np.where(tossed[now], 0.0, truth[first] - truth[second])
        np.add.at(played, (first, second), 1)
        np.add.at(played, (second, first), 1)
        won = _scores(belief, leads, luck[now])
        np.add.at(scores, (first, second), won)
        np.add.at(scores, (second, first), 1.0 - won)
        belief = update(before, played, scores, belief.mean)
        if done + cell.batch in cell.marks:
            found.append(_measured(belief, truth))
    return np.array(found)


def _measured(belief: Belief, truth: Floats) -> list[float]:
    """Return `SHOWN`."""
    return [*measures_of(belief, truth), *intervals(belief, truth)]


def update(belief: Belief, games: Ints, scores: Floats, start: Floats) -> Belief:
    """Return the belief after games: the mode, and the covariance by the curvature there.

    Shapes: `games` (n, n); `scores` (n, n); `start` (n,).

    Notes
    -----
    Newton's step, (I + V H) x' = m + V (g + H x), asks for no inverse of V, which has none where
    the zero is held.
    """
    with one_thread():
        b, nu, v = belief.points, belief.draw_weight, belief.covariance
        n, x = belief.mean.size, start
        for _ in range(_STEPS):
            lead = b * (x[:, np.newaxis] - x)
            root = np.exp(-0.5 * np.abs(lead))
            total = 1.0 + root * (root + nu)
            better = (1.0 + 0.5 * nu * root) / total
            expected = np.where(lead >= 0.0, better, 1.0 - better)
            information = games * (0.25 * b * b) * root
            information *= ((1.0 + root * root) * nu + 4.0 * root) / (total * total)
            curvature = np.diag(information.sum(axis=1)) - information
            slope = b * (scores - games * expected).sum(axis=1)
            matrix = np.eye(n) + v @ curvature
            step = np.linalg.solve(matrix, belief.mean + v @ (slope + curvature @ x)) - x
            longest = float(np.abs(step).max())
            x = x + step * min(1.0, _LONGEST / longest if longest > 0.0 else 1.0)
            if longest < _CLOSE:
                break
        covariance = np.linalg.solve(matrix, v)
        return belief._replace(mean=x, covariance=0.5 * (covariance + covariance.T))


def _scores(belief: Belief, leads: Floats, luck: Floats) -> Floats:
    """Return how games end: 1, 1/2 or 0, by how strong the players are and a uniform number."""
    x = belief.points * leads
    win, lose = np.exp(0.5 * (x - np.abs(x))), np.exp(0.5 * (-x - np.abs(x)))
    draw = belief.draw_weight * np.exp(-0.5 * np.abs(x))
    total = win + draw + lose
    won, drawn = luck < win / total, luck < (win + draw) / total
    found: Floats = np.where(won, 1.0, np.where(drawn, 0.5, 0.0))
    return found


def measures_of(belief: Belief, truth: Floats) -> tuple[float, float, float]:
    """Return `MEASURES`."""
    order = np.argsort(-belief.mean, kind="stable")
    own = np.diag(belief.covariance)
    spread = own[:, np.newaxis] + own - 2.0 * belief.covariance
    wrong = int((np.diff(truth[order]) > 0.0).sum())
    best = float(truth[order[0]] >= truth.max())
    return best, float(wrong), float(np.sqrt(max(spread.max(), 0.0)))


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


def rows_of(cell: Cell, played: Floats) -> list[dict[str, object]]:
    """Return the rows of a cell; (worlds, policies, marks, measures) have been measured."""
    rows: list[dict[str, object]] = []
    for arm, (policy, goal) in enumerate(cell.arms):
        for mark, games in enumerate(cell.marks):
            row: dict[str, object] = {"policy": policy, "goal": goal, "worlds": len(played)}
            row["games"] = games
            for k, measure in enumerate(SHOWN):
                row.update(_mean(measure, played[:, arm, mark, k]))
            for k, (measure, of) in enumerate(zip(MEASURES, GOALS, strict=True)):
                if (GRADIENT, of) in cell.arms:
                    own = played[:, cell.arms.index((GRADIENT, of)), mark, k]
                    row.update(_mean(f"{measure}_behind", played[:, arm, mark, k] - own))
            rows.append(row)
    return rows


def _mean(name: str, values: Floats) -> dict[str, object]:
    """Return the mean of values and its standard error as two cells."""
    error = values.std(ddof=1) / math.sqrt(len(values))
    return {name: round(float(values.mean()), 6), f"{name}_std_error": round(float(error), 6)}


def worlds_of(name: str, worlds: int, out: Path, keep: Path | None) -> None:
    """Play the worlds of a cell, and write its table whenever there are a hundred more."""
    cell, kept = CELLS[name], None if keep is None else keep / f"{name}.npy"
    played = [*np.load(kept)[:worlds]] if kept is not None and kept.is_file() else []
    left: Sequence[int] = range(len(played), worlds)
    made = (np.array([play(cell, *arm, world) for arm in cell.arms]) for world in left)
    for one in counted(name, made, len(left)):
        played.append(one)
        if len(played) % 100 == 0 or len(played) == worlds:
            rows = rows_of(cell, np.array(played))
            write_csv(out / f"{name}.csv", {key: [row[key] for row in rows] for key in rows[0]})
        if kept is not None and (len(played) % 10 == 0 or len(played) == worlds):
            with write_binary(kept) as file:
                np.save(file, np.array(played))


Rows = dict[tuple[str, str], dict[int, dict[str, str]]]
"""The rows of a cell by policy with its goal, and by number of games."""

HEAD = (
    "policy", "named the best after 100, 200, 390 games", "wrong neighbours", "widest, points",
    "differences covered", "those of the leader", "its lead too large by, points",
)  # fmt: skip

GOOD = {"named_best": 1.0, "misordered": -1.0, "widest": -1.0}
"""Which way a measure is better."""

DIGITS = {"named_best": 3, "misordered": 2, "widest": 0}

MENDED = {
    "trial": "as it is",
    "trial-explore-10": "one pair in ten drawn",
    "trial-explore-30": "three pairs in ten drawn",
    "trial-true-prior": "the true prior",
}

HONEST, SURE = (0.93, 0.97), 2.0
"""Shares of honest intervals of 95 %, and standard errors of a difference that is told."""


def read(name: str) -> Rows | None:
    """Return the rows of a cell, None of one that has not been played."""
    file = HERE / f"{name}.csv"
    if not file.is_file():
        return None
    found: Rows = {}
    with file.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            found.setdefault((row["policy"], row["goal"]), {})[int(row["games"])] = row
    return found


def last(rows: Rows, arm: tuple[str, str]) -> dict[str, str]:
    """Return the row after all games."""
    return rows[arm][max(rows[arm])]


def called(arm: tuple[str, str]) -> str:
    """Return how a policy is called in tables."""
    return f"gradient, {arm[1]}" if arm[1] else arm[0]


def trial(rows: Rows) -> str:
    """Return the table of the trial's world."""
    lines = []
    for arm, marks in rows.items():
        named = " ".join(f"{float(marks[games]['named_best']):.3f}" for games in (100, 200, 390))
        found = {key: float(marks[390][key]) for key in SHOWN}
        shares = [f"{found[key]:.3f}" for key in ("covered", "leader_covered")]
        points = [f"{found['misordered']:.2f}", f"{found['widest']:.0f}"]
        name = ", ".join(filter(None, arm))
        lines.append([name, named, *points, *shares, f"{found['lead_bias']:.0f}"])
    return table(HEAD, lines)


def verdict(rows: Rows, arm: tuple[str, str], measure: str) -> int:
    """Return 1 if a policy is better than the knowledge gradient for this goal, -1 if worse."""
    row = last(rows, arm)
    if not row.get(f"{measure}_behind"):
        return 0
    ahead = GOOD[measure] * float(row[f"{measure}_behind"])
    error = float(row[f"{measure}_behind_std_error"])
    return 0 if abs(ahead) <= SURE * error else (1 if ahead > 0.0 else -1)


def of_goal(cells: dict[str, Rows], measure: str) -> str:
    """Return the table of a goal: a row a cell, with what is surely better or worse."""
    arms = [*dict.fromkeys(arm for rows in cells.values() for arm in rows)]
    marks = {0: "", 1: " +", -1: " -"}
    lines = []
    for name, rows in cells.items():
        values = [
            f"{float(last(rows, arm)[measure]):.{DIGITS[measure]}f}"
            + marks[verdict(rows, arm, measure)]
            if arm in rows
            else ""
            for arm in arms
        ]
        lines.append([name, *values])
    return table(("world", *map(called, arms)), lines)


def said_of_goal(cells: dict[str, Rows], measure: str, goal: str) -> str:
    """Say where the knowledge gradient for a goal is better than others, and where worse."""
    own = (GRADIENT, goal)
    whole = {name: rows for name, rows in cells.items() if own in rows}
    told = [
        (name, called(arm), verdict(rows, arm, measure))
        for name, rows in whole.items()
        for arm in rows
        if arm != own
    ]
    worse = [f"{arm} in {name}" for name, arm, how in told if how > 0]
    better = sum(how < 0 for *_, how in told)
    where = f"{len(told)} comparisons with other policies in {counted_worlds(len(whole))}"
    losses = f"{len(worse)}{': ' * bool(worse)}{', '.join(worse)}"
    return f"surely better in {better} of {where}, surely worse in {losses}."


def counted_worlds(number: int) -> str:
    """Return a number of kinds of worlds."""
    return f"{number} kind{'s' * (number != 1)} of worlds"


def covered(cells: dict[str, Rows]) -> str:
    """Return the table of intervals: of all differences, of the leader's."""
    arms = [*dict.fromkeys(arm for rows in cells.values() for arm in rows)]
    lines = []
    for name, rows in cells.items():
        found = [last(rows, arm) if arm in rows else None for arm in arms]
        shares = [
            f"{float(row['covered']):.2f} {float(row['leader_covered']):.2f}" if row else ""
            for row in found
        ]
        lines.append([name, *shares])
    return table(("world", *map(called, arms)), lines)


def said_of_intervals(cells: dict[str, Rows]) -> str:
    """Say under which policies intervals are honest, as the plan calls it, a line each."""
    arms = [*dict.fromkeys(arm for rows in cells.values() for arm in rows)]
    lines = []
    for arm in arms:
        shares = [float(last(rows, arm)["covered"]) for rows in cells.values() if arm in rows]
        held = sum(HONEST[0] <= share <= HONEST[1] for share in shares)
        ends = f"{min(shares):.1%} to {max(shares):.1%} of the differences"
        lines.append(f"- {called(arm)}: honest in {held} of {len(shares)}; {ends} held.\n")
    return "".join(lines)


def mended(cells: dict[str, Rows]) -> str:
    """Return the table of what mends intervals: the leader's held, and who names the best."""
    arms = [*cells["trial"]]
    lines = []
    for name, what in MENDED.items():
        if name in cells:
            rows = [last(cells[name], arm) for arm in arms]
            shares = [
                f"{float(row['leader_covered']):.3f} {float(row['named_best']):.3f}" for row in rows
            ]
            lines.append([what, *shares, f"{int(rows[0]['worlds']):,}"])
    return table(("trial's world", *map(called, arms), "worlds"), lines)


def said_of_mending(cells: dict[str, Rows]) -> str:
    """Say what is recommended, as the plan has it, a line each."""
    lines = []
    for name, what in MENDED.items():
        if name in cells and name != "trial":
            rows = cells[name]
            shares = {arm: float(last(rows, arm)["leader_covered"]) for arm in rows}
            short = [f"{called(arm)} {share:.0%}" for arm, share in shares.items() if share < 0.93]
            end = f"falls short under {', '.join(short)}" if short else "recommended"
            lines.append(f"- {what}: at least {min(shares.values()):.0%} held; {end}.\n")
    return "".join(lines)


def page() -> None:
    """Put the tables of the cells that have been played into the page."""
    found = {name: rows for name in CELLS if (rows := read(name)) is not None}
    worlds = {name: int(next(iter(last(r, a) for a in r))["worlds"]) for name, r in found.items()}
    plain = {name: rows for name, rows in found.items() if not name.startswith("trial-")}
    open_ones = [name for name in CELLS if name not in found]
    played = ", ".join(f"{name} ({worlds[name]:,})" for name in found)
    texts = {
        "trial": trial(found["trial"]),
        "worlds": f"{worlds['trial']:,}",
        "played": f"{len(found)} of {len(CELLS)} kinds of worlds have been played: {played}.",
        "open": f"Not played: {', '.join(open_ones) or 'none'}.",
        "covered": covered(plain),
        "honest": said_of_intervals(plain),
        "mended": mended(found),
        "recommended": said_of_mending(found),
    }
    studied = {name: rows for name, rows in plain.items() if name != "trial"}
    for measure, goal in zip(MEASURES, GOALS, strict=True):
        texts[measure] = of_goal(plain, measure)
        texts[f"{measure}-said"] = said_of_goal(studied, measure, goal)
    fill(HERE / "README.md", texts)


def main() -> None:
    """Play the worlds of a cell, name the cells, or fill the page."""
    options = parser(__doc__)
    add_page(options, page)
    options.add_argument("part", choices=["list", "worlds", PAGE])
    options.add_argument("cell", nargs="?", choices=list(CELLS))
    options.add_argument("--worlds", type=int, help="how many; as PLAN.md says without it")
    options.add_argument("--out", type=Path, default=HERE)
    options.add_argument("--keep", type=Path, help="folder for the measures of each world")
    given = options.parse_args()
    if given.part == "list":
        print("\n".join(CELLS))
    elif given.part == PAGE:
        page()
    elif given.cell is None:
        options.error("worlds: which CELL? (list names them)")
    elif given.worlds is not None and given.worlds < 2:
        options.error(f"--worlds {given.worlds}: standard errors need 2 or more")
    else:
        try:  # before hours of work
            for folder in filter(None, (given.out, given.keep)):
                folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            options.error(f"{error.filename}: {error.strerror}")
        worlds_of(given.cell, given.worlds or CELLS[given.cell].worlds, given.out, given.keep)


if __name__ == "__main__":
    main()
