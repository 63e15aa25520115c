"""Make the tables of this folder: what policies of the next pair bring, as PLAN.md says.

    python results/next-pair/make.py CELL ...

plays the worlds of a kind and writes CELL.csv. A world of 10 players takes a tenth of a second, one
of 50 a second, one of 200 some fifteen: minutes to half an hour a cell.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from results.study import Row, Study, counted, duel_scores, errors, group
from valmatch.draws.streams import Streams
from valmatch.kernels.arrays import Floats, Ints
from valmatch.kernels.threads import one_thread
from valmatch.policies.joint.batch import Choice, choose_batch
from valmatch.policies.joint.belief import Belief
from valmatch.policies.registry import GOALS
from valmatch.ratings.bradley_terry.fit import POINTS

study = Study(globals())
Z, MARKS, SEED = 1.959963984540054, 20, 1

# Sources of random numbers: who is how strong, how games end, which are tosses of a coin.
_STRENGTHS, _OUTCOMES, _NOISE = 11, 0x4F555443, 0x4E4F4953
_STEPS, _CLOSE, _LONGEST = 100, 1e-6, 400.0

# What is measured of ratings: whether the leader is the best, how many neighbours are in the wrong
# order, the standard error of the widest difference in points.
MEASURES = ("named_best", "misordered", "widest")
# These; the shares of all differences and of the leader's that intervals hold; the excess of the
# leads over the rest.
SHOWN = (*MEASURES, "covered", "leader_covered", "lead_bias")
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
    how = Choice(policy, goal or GOALS[0], explore=cell.explore, rng_key=streams.place(world))
    for done in range(0, cell.games, cell.batch):
        batch = choose_batch(belief, how, cell.batch, games=played, start=done)
        now, first, second = slice(done, done + cell.batch), batch.first, batch.second
        leads = np.where(tossed[now], 0.0, truth[first] - truth[second])
        np.add.at(played, (first, second), 1)
        np.add.at(played, (second, first), 1)
        won = duel_scores(leads, cell.draw_weight, luck[now])
        np.add.at(scores, (first, second), won)
        np.add.at(scores, (second, first), 1.0 - won)
        belief = update(before, played, scores, belief.mean)
        if done + cell.batch in cell.marks:
            found.append(_measured(belief, truth))
    return np.array(found)


def update(belief: Belief, games: Ints, scores: Floats, start: Floats) -> Belief:
    """Return the belief after games: the mode, and the covariance by the curvature there.

    Shapes: `games` (n, n); `scores` (n, n); `start` (n,).

    Notes
    -----
    Newton's step, (I + V H) x' = m + V (g + H x), asks for no inverse of V, which has none where
    the zero is held.
    """
    with one_thread():
        b, nu, v = POINTS, belief.draw_weight, belief.covariance
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


def _measured(belief: Belief, truth: Floats) -> list[float]:
    """Return `SHOWN`."""
    order = np.argsort(-belief.mean, kind="stable")
    wrong = int((np.diff(truth[order]) > 0.0).sum())
    best = float(truth[order[0]] >= truth.max())
    own = np.diag(belief.covariance)
    spread = np.sqrt(np.maximum(own[:, None] + own - 2.0 * belief.covariance, 0.0))
    excess = (belief.mean[:, None] - belief.mean) - (truth[:, None] - truth)
    held, others = np.abs(excess) <= Z * spread, ~np.eye(truth.size, dtype=np.bool_)
    leader = int(belief.mean.argmax())
    with_leader = others[leader]
    lead = float(excess[leader, with_leader].mean())
    shares_held = float(held[others].mean()), float(held[leader, with_leader].mean())
    return [best, float(wrong), float(spread.max()), *shares_held, lead]


def rows_of(cell: Cell, played: Floats) -> Iterator[Row]:
    """Return the rows of a cell; (worlds, policies, marks, measures) have been measured."""
    for arm, (policy, goal) in enumerate(cell.arms):
        for mark, games in enumerate(cell.marks):
            row: Row = {"policy": policy, "goal": goal, "worlds": len(played), "games": games}
            of_arm = dict(zip(SHOWN, played[:, arm, mark].T, strict=True))
            row |= errors(of_arm)
            for k, (measure, of) in enumerate(zip(MEASURES, GOALS, strict=True)):
                if (GRADIENT, of) in cell.arms:
                    own = played[:, cell.arms.index((GRADIENT, of)), mark, k]
                    row |= errors({f"{measure}_behind": of_arm[measure] - own})
            yield row


def play_cell(name: str) -> None:
    """Play the worlds of a cell, and write its table."""
    cell = CELLS[name]
    worlds = range(min(cell.worlds, study.at_most))
    made = ([play(cell, *arm, world) for arm in cell.arms] for world in worlds)
    study.write(name, rows_of(cell, np.array([*counted(name, made, len(worlds))])))


study.parts |= {name: partial(play_cell, name) for name in CELLS}

# ---- the page ----

GOOD = {"named_best": 1.0, "misordered": -1.0, "widest": -1.0}  # which way a measure is better
MENDED = {
    "trial": "as it is",
    "trial-explore-10": "one pair in ten drawn",
    "trial-explore-30": "three pairs in ten drawn",
    "trial-true-prior": "the true prior",
}

# Shares of honest intervals of 95 %, and standard errors of a difference that is told.
HONEST, SURE = (0.93, 0.97), 2.0
Arm = tuple[str, ...]  # a policy with its goal


def ends_of(name: str) -> dict[Arm, Row]:
    """Return the rows of a cell after all games; none where it has not been played."""
    return {arm: rows[-1] for arm, rows in group(study.rows(name), "policy", "goal").items()}


def called(arm: Arm) -> str:
    """Return how a policy is called in tables."""
    return f"gradient, {arm[1]}" if arm[1] else arm[0]


def sure(row: Row, measure: str) -> int:
    """Return 1 if a policy is better than the knowledge gradient for this goal, -1 if worse."""
    if not row.get(f"{measure}_behind"):
        return 0
    ahead = GOOD[measure] * float(row[f"{measure}_behind"])
    error = float(row[f"{measure}_behind_std_error"])
    return 0 if abs(ahead) <= SURE * error else (1 if ahead > 0.0 else -1)


def against_gradient(measure: str, goal: str) -> Row:
    """Return where the knowledge gradient for a goal is better than others, and where worse."""
    own, told, kinds = (GRADIENT, goal), [], 0
    for name, rows in PLAIN.items():
        if own in rows and name != "trial":
            kinds += 1
            told += [(name, arm, sure(row, measure)) for arm, row in rows.items() if arm != own]
    worse = [f"{called(arm)} in {name}" for name, arm, how in told if how > 0]
    better = sum(how < 0 for *_, how in told)
    return {"better": better, "worse": worse, "comparisons": len(told), "kinds": kinds}


def shares(arm: Arm) -> list[float]:
    """Return the shares of all differences that intervals hold under a policy, world by world."""
    return [float(rows[arm]["covered"]) for rows in PLAIN.values() if arm in rows]


def short_of(name: str) -> list[str]:
    """Return the policies under which too few of the leader's differences are held in a cell."""
    held = {arm: float(row["leader_covered"]) for arm, row in PLAYED[name].items()}
    return [f"{called(arm)} {share:.0%}" for arm, share in held.items() if share < HONEST[0]]


PLAYED = {name: rows for name in CELLS if (rows := ends_of(name))}
PLAIN = {name: rows for name, rows in PLAYED.items() if not name.startswith("trial-")}
ARMS = list(dict.fromkeys(arm for rows in PLAYED.values() for arm in rows))

if __name__ == "__main__":
    study.main()
