"""Make the tables and the figure of this folder.

    python results/population-kg/make.py

takes an hour and a half on two quiet cores. Stopped, it goes on with the worlds that are missing.
``kappa``, ``worlds``, ``versus``, ``figure`` or ``page`` after it makes that part alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr, stdtrit

from results import pages
from results.opponent_priors import half_widths
from results.pages import fill, make_parts, table, where
from valmatch import load
from valmatch.execution.simulator import run
from valmatch.kernels.arrays import Floats
from valmatch.models.ladder.model import InitialState, LadderModel, Run
from valmatch.models.ladder.state import NEW, Log, new_log
from valmatch.models.model import Outcome, Response, Responses
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
SEED, TUNING_SEED, WORKERS = 1, 2, 2
N, TUNING_N = 200, 50
VERSUS_SEED = 1000
"""Of the worlds played against `nearest`: each has a seed of its own, this one and its place."""
CONFIDENCE = 0.95

Row = dict[str, Any]

ROUND = 1.0 / 1440.0
"""Days: a tick a minute."""

SKILL_STD, PRIOR_VARIANCE = 300.0, 6.5
"""Of all skills, in points and in the units of the paper."""

CHURNS = (0.01, 0.04, 0.1, 0.2)
NOISES = (0.6, 2.5, 10.0)
POOLS = (40, 200, 1000)
PRIORS: Mapping[str, tuple[str, ...]] = {
    "right": (),
    "newcomers below": ("population.newcomer_skill_mean=1200",),
    "smurfs": ("population.smurf_share=0.02", "population.smurf_skill=2100"),
}
VERSUS_N = {40: 24, 200: 24, 1000: 10}
"""Replications against `nearest` by pool: those of large pools say more."""

WARMUP = {0.01: 60, 0.04: 40, 0.1: 20, 0.2: 10}
"""Rounds by churn."""
MEASURED = {40: 100, 200: 50, 1000: 20}
"""Rounds by pool: small pools need more for intervals that are not much wider."""

BASE = "draw_chance"
JUDGED = ("nearest", "knowledge_gradient", "knowledge_gradient_variance", "ucb")
POLICIES = (BASE, *JUDGED, "oracle")
PLAIN = "nearest"
AGAINST_PLAIN = {
    "knowledge_gradient": ("knowledge_gradient", 1.0),
    "knowledge_gradient_variance": ("knowledge_gradient_variance", 1.0),
    "ucb, kappa 1": ("ucb", 1.0),
    "ucb, kappa 2": ("ucb", 2.0),
}
"""What is compared with `nearest`: the policy, and its kappa where it has one."""

KAPPAS = (0.25, 0.5, 1.0, 2.0)

PRIMARY = ("quality", "newcomer_quality")
SECONDARY = ("squared_error", "calibration", "avg_wait_time", "joined_first_wait")


TRIALS = {
    "nearest": (0.31, 7.9, -8.7),
    "knowledge_gradient": (0.15, 11.3, -14.2),
    "knowledge_gradient_variance": (0.33, 14.8, -16.7),
}
"""What trials before the plan found, in percent: all matches, newcomers, squared error."""


class World(NamedTuple):
    """Where policies meet."""

    churn: float
    noise: float
    pool: int
    prior: str


WORLDS = tuple(World(*values) for values in product(CHURNS, NOISES, POOLS, PRIORS))


def for_tuning(world: World) -> bool:
    """Return whether ucb is tuned on a world: each setting of the others with one churn of four."""
    places = (
        CHURNS.index(world.churn),
        NOISES.index(world.noise),
        POOLS.index(world.pool),
        list(PRIORS).index(world.prior),
    )
    return sum(places) % len(CHURNS) == 0


# ---- one replication ----


class Judged(LadderModel):
    """The ladder, with the true quality of its matches, as the paper defines it."""

    responses = Responses(
        *LadderModel.responses,
        Response("quality", "", "mean over matches of q~ of (6) at the true skills"),
        Response("newcomer_quality", "", "the same over the first ten games of who joined"),
    )

    def run(self, inputs: InitialState) -> Outcome:
        """Return the responses, with those of the log."""
        log = new_log(self._room(), self._room(), 1)
        played = self.play(inputs, log)
        assert played.loop.state["tickets"][0] <= self._room()
        return Outcome({**self._responses(played), **self._qualities(inputs, played, log)})

    def _room(self) -> int:
        factors = self._factors
        joined = factors.population.newcomers_per_day * factors.days
        rounds = factors.days / ROUND
        # Where newcomers have to wait, more are there than the pool is named after.
        return int(3.0 * (self._players_at_start + joined) + 2.0 * rounds * self._players_at_start)

    def _qualities(self, inputs: InitialState, played: Run, log: Log) -> dict[str, float]:
        """Return the mean quality of all matches, and of the newcomers' first ten games."""
        n = int(played.loop.state["numbered"][0])
        matches = log.matches[:n]
        measured = matches["time"] >= 24.0 * self._factors.warmup_days
        # p is Phi of the difference of skills over sqrt(2) beta.
        quality = np.exp(-0.5 * ndtri(matches["p"]) ** 2)
        players = log.tickets["player"][log.teams[:n]].ravel()
        first_newcomer = inputs.population.skills.size - inputs.population.joining.size
        appearances = np.flatnonzero(players >= first_newcomer)
        early = appearances[games_before(players[appearances]) < NEW] // 2
        early = early[measured[early]]
        return {
            "quality": float(quality[measured].mean()),
            "newcomer_quality": float(quality[early].mean()),
        }


def games_before(players: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often the player of each place comes at earlier places."""
    order = np.argsort(players, kind="stable")
    new = np.flatnonzero(np.diff(players[order], prepend=-1))
    lengths = np.diff(np.append(new, players.size))
    before = np.empty(players.size, np.int64)
    before[order] = np.arange(players.size) - np.repeat(new, lengths)
    return before


def beta_of(noise: float) -> float:
    """Return the deviation of a performance in points."""
    return SKILL_STD * math.sqrt(noise / PRIOR_VARIANCE)


def overrides(world: World, policy: str, kappa: float) -> list[str]:
    """Return what makes a world of ladder-duel: all who are there wait at every tick.

    A session is a career: it ends, for good, with the probability `churn` after each game. All who
    are there at the start come within the first minutes.
    """
    warmup, measured = WARMUP[world.churn], MEASURED[world.pool]
    beta = beta_of(world.noise)
    return [
        f"days={(warmup + measured) * ROUND!r}",
        f"warmup_days={(warmup + 0.5) * ROUND!r}",
        f"population.players={world.pool}",
        f"population.newcomers_per_day={world.pool * world.churn / ROUND!r}",
        *PRIORS[world.prior],
        "sessions.per_day=30",
        f"sessions.hourly_profile=[{', '.join(['1'] + ['0'] * 23)}]",
        "sessions.activity_cv=0",
        f"sessions.continue_prob={1.0 - world.churn!r}",
        "sessions.win_effect=0",
        "sessions.loss_effect=0",
        "sessions.break_minutes=0.05",
        "sessions.churn=1",
        "match.minutes=0.5",
        f"match.beta={beta!r}",
        f"rating.beta={beta!r}",
        "rating.tau=0",
        f"rule.policy={policy}",
        *([f"rule.gamma={1.0 - world.churn!r}"] if policy.startswith("knowledge") else []),
        *([f"rule.kappa={kappa!r}"] if policy == "ucb" else []),
    ]


def simulate(world: World, policy: str, kappa: float, seed: int, n: int) -> dict[str, Floats]:
    """Return what is judged, replication by replication."""
    factors: Any = load("ladder-duel", overrides(world, policy, kappa)).factors
    model = Judged(factors)
    columns = run(model, seed, range(n)).responses.T
    values = dict(zip(model.responses.names, columns, strict=True))
    values["squared_error"] = values["rating_error"] ** 2
    return {name: values[name] for name in PRIMARY + SECONDARY}


# ---- tables that grow by worlds ----


def read(name: str) -> list[dict[str, str]]:
    """Return the rows of a table that are there."""
    path = HERE / f"{name}.csv"
    return pages.read(path) if path.exists() else []


def world_of(row: Mapping[str, str]) -> World:
    """Return the world of a row."""
    return World(float(row["churn"]), float(row["noise"]), int(row["pool"]), row["prior"])


def complete(
    name: str, worlds: Sequence[World], rows_of: Callable[[World], list[dict[str, str]]]
) -> None:
    """Add the rows of the worlds that a table lacks, in the order of the worlds."""
    found: dict[World, list[dict[str, str]]] = {}
    for row in read(name):
        found.setdefault(world_of(row), []).append(row)
    missing = [world for world in worlds if world not in found]
    # Long ones first, so that no core is left alone with one at the end.
    missing.sort(key=lambda world: -world.pool * (WARMUP[world.churn] + MEASURED[world.pool]))
    with ProcessPoolExecutor(WORKERS) as pool:
        jobs = {pool.submit(rows_of, world): world for world in missing}
        for job in as_completed(jobs):
            found[jobs[job]] = job.result()
            rows = [row for world in worlds for row in found.get(world, [])]
            write_csv(HERE / f"{name}.csv", {key: [row[key] for row in rows] for key in rows[0]})


def shortened(row: Row) -> dict[str, str]:
    """Return the cells of a row, numbers in five digits."""
    return {k: f"{v:.5g}" if isinstance(v, float) else str(v) for k, v in row.items()}


# ---- kappa ----


def kappa_rows(world: World) -> list[dict[str, str]]:
    """Return how ucb does in a world by its weight, relative to draw chance."""
    base = simulate(world, BASE, 1.0, TUNING_SEED, TUNING_N)
    rows = []
    for weight in KAPPAS:
        found = simulate(world, "ucb", weight, TUNING_SEED, TUNING_N)
        gains = {name: found[name].mean() / base[name].mean() - 1.0 for name in PRIMARY}
        rows.append(shortened({**world._asdict(), "kappa": weight, "n": TUNING_N, **gains}))
    return rows


def kappa() -> None:
    """Make kappa.csv, on the worlds for tuning."""
    complete("kappa", [world for world in WORLDS if for_tuning(world)], kappa_rows)


def chosen_kappa() -> float:
    """Return the weight of the largest gain, both qualities and all worlds alike."""
    gains = dict.fromkeys(KAPPAS, 0.0)
    for row in read("kappa"):
        gains[float(row["kappa"])] += sum(float(row[name]) for name in PRIMARY)
    return max(KAPPAS, key=lambda weight: gains[weight])


# ---- the comparison ----


def world_rows(world: World) -> list[dict[str, str]]:
    """Return what each policy gives in a world, and its paired differences to draw chance."""
    found = {policy: simulate(world, policy, chosen_kappa(), SEED, N) for policy in POLICIES}
    rows = []
    for policy, own in found.items():
        row: Row = {**world._asdict(), "for_tuning": for_tuning(world), "policy": policy, "n": N}
        for name in PRIMARY + SECONDARY:
            row[name], row[f"{name}_ci"] = interval(own[name])
            difference = own[name] - found[BASE][name]
            row[f"{name}_less"], row[f"{name}_less_ci"] = interval(difference)
            if name in PRIMARY:
                row[f"{name}_p"] = two_sided(difference)
        rows.append(shortened(row))
    return rows


def worlds() -> None:
    """Make worlds.csv."""
    complete("worlds", WORLDS, world_rows)


def interval(values: Floats) -> tuple[float, float]:
    """Return the mean of independent values and the half-width of its 95% interval."""
    half = stdtrit(values.size - 1, 0.5 + CONFIDENCE / 2) * values.std(ddof=1)
    return float(values.mean()), float(half / math.sqrt(values.size))


def two_sided(values: Floats) -> float:
    """Return the probability of a mean as far from 0 by chance alone, by the t test."""
    error = values.std(ddof=1) / math.sqrt(values.size)
    return float(2.0 * stdtr(values.size - 1, -abs(values.mean()) / error)) if error else 1.0


# ---- against nearest ----


def versus_rows(world: World) -> list[dict[str, str]]:
    """Return the knowledge gradients and ucb less `nearest` in a world, on a seed of its own."""
    seed, n = VERSUS_SEED + WORLDS.index(world), VERSUS_N[world.pool]
    base = simulate(world, PLAIN, 1.0, seed, n)
    rows = []
    for name, (policy, weight) in AGAINST_PLAIN.items():
        found = simulate(world, policy, weight, seed, n)
        for measure in PRIMARY:
            less = found[measure] - base[measure]
            row: Row = {**world._asdict(), "policy": name, "measure": measure, "n": n}
            row |= {"nearest": float(base[measure].mean()), "less": float(less.mean())}
            row |= {"less_se": float(less.std(ddof=1)) / math.sqrt(less.size)}
            rows.append(shortened({**row, "p": two_sided(less)}))
    return rows


def versus() -> None:
    """Make versus.csv."""
    complete("versus", WORLDS, versus_rows)


# ---- the verdict ----


class Verdict(NamedTuple):
    """One policy against draw chance in one world, by one measure."""

    world: World
    policy: str
    measure: str
    gain: float  # percent
    shown: bool  # after Holm's correction


def verdicts() -> list[Verdict]:
    """Return all comparisons of the worlds that ucb was not tuned on."""
    rows = [row for row in read("worlds") if row["for_tuning"] == "False"]
    pairs = [(row, name) for row in rows if row["policy"] in JUDGED for name in PRIMARY]
    shown = holm([float(row[f"{name}_p"]) for row, name in pairs])
    return [
        Verdict(world_of(row), row["policy"], name, gain(row, name), one)
        for (row, name), one in zip(pairs, shown, strict=True)
    ]


def gain(row: Mapping[str, str], name: str) -> float:
    """Return the difference to draw chance in percent of the latter."""
    less = float(row[f"{name}_less"])
    return 100.0 * less / (float(row[name]) - less)


def holm(chances: Sequence[float]) -> list[bool]:
    """Return which hypotheses Holm's step-down procedure rejects, all together at 5 %."""
    shown = [False] * len(chances)
    for step, place in enumerate(sorted(range(len(chances)), key=chances.__getitem__)):
        if chances[place] > (1.0 - CONFIDENCE) / (len(chances) - step):
            break
        shown[place] = True
    return shown


# ---- page and figure ----

NAMES = {
    "nearest": "nearest",
    "knowledge_gradient": "knowledge gradient, look-ahead",
    "knowledge_gradient_variance": "knowledge gradient, variances",
    "ucb": "ucb",
    "oracle": "oracle",
}
BY = ("churn", "noise", "pool")
WORDS = {"quality": "all matches", "newcomer_quality": "newcomers' first ten"}


def count_table() -> str:
    """Return in how many worlds each policy is better and worse, with its gains."""
    found = verdicts()
    rows = []
    for policy, measure in product(JUDGED, PRIMARY):
        own = [one for one in found if (one.policy, one.measure) == (policy, measure)]
        gains = np.array([one.gain for one in own])
        better = sum(one.shown and one.gain > 0 for one in own)
        worse = sum(one.shown and one.gain < 0 for one in own)
        counts = (better, worse, len(own) - better - worse)
        spread = f"{gains.min():+.2f} to {gains.max():+.2f}"
        rows.append(
            [NAMES[policy], WORDS[measure], *map(str, counts), f"{np.median(gains):+.2f}", spread]
        )
    head = ["policy", "true quality of", "better", "worse", "open"]
    return table([*head, "median gain, %", "all gains, %"], rows)


def by_churn_table() -> str:
    """Return counts of worlds by churn, and of shown gains beyond 1 %."""
    found = verdicts()
    lines = []
    for policy, measure in product(JUDGED, PRIMARY):
        cells = [NAMES[policy], WORDS[measure]]
        for churn in CHURNS:
            own = [
                one
                for one in found
                if (one.policy, one.measure, one.world.churn) == (policy, measure, churn)
            ]
            better, worse, large = counted_gains(own)
            cells.append(f"{better} / {worse} / {len(own) - better - worse} ({large})")
        own = [one for one in found if (one.policy, one.measure) == (policy, measure)]
        lines.append([*cells, str(counted_gains(own)[2])])
    head = ["policy", "true quality of", *(f"churn {churn:g}" for churn in CHURNS)]
    return table([*head, "all beyond 1 %"], lines)


def counted_gains(found: Sequence[Verdict]) -> tuple[int, int, int]:
    """Return how often a policy is shown to be better, worse, and better by more than 1 %."""
    better = [one for one in found if one.shown and one.gain > 0]
    worse = sum(one.shown and one.gain < 0 for one in found)
    return len(better), worse, sum(one.gain > 1.0 for one in better)


def said_of_churn() -> str:
    """Say, by churn, in how many worlds newcomers are shown to gain."""
    found = [one for one in verdicts() if one.measure == "newcomer_quality"]
    lines = []
    for words, churns in {"1 and 4 %": (0.01, 0.04), "10 and 20 %": (0.1, 0.2)}.items():
        parts = []
        for policy in JUDGED:
            own = [one for one in found if one.policy == policy and one.world.churn in churns]
            parts.append(f"{NAMES[policy]} in {counted_gains(own)[0]} of {len(own)} worlds")
        lines.append(f"- At {words} churn newcomers gain by {'; '.join(parts)}.\n")
    return "".join(lines)


VERSUS_WIDTH = half_widths(len(AGAINST_PLAIN) * len(PRIMARY) * len(CHURNS))
"""Standard errors of half an interval: those of the table against `nearest` hold together."""


def against_plain(policy: str, measure: str, churn: float) -> tuple[float, float]:
    """Return the gain on `nearest` in percent over the worlds of a churn, and its error."""
    rows = where(read("versus"), policy=policy, measure=measure, churn=f"{churn:g}")
    gains = [100.0 * float(row["less"]) / float(row["nearest"]) for row in rows]
    errors = [100.0 * float(row["less_se"]) / float(row["nearest"]) for row in rows]
    root = math.sqrt(sum(error * error for error in errors))
    return sum(gains) / len(rows), root / len(rows)


def versus_table() -> str:
    """Return the gains on `nearest` by churn, with counts of worlds after Holm's correction."""
    rows = read("versus")
    shown = holm([float(row["p"]) for row in rows])
    lines = []
    for policy, measure in product(AGAINST_PLAIN, PRIMARY):
        cells = [NAMES.get(policy, policy), WORDS[measure]]
        for churn in CHURNS:
            mean, error = against_plain(policy, measure, churn)
            text = f"{mean:+.2f} ± {VERSUS_WIDTH * error:.2f}"
            cells.append(f"**{text}**" if abs(mean) > VERSUS_WIDTH * error else text)
        own = [
            float(row["less"]) if one else 0.0
            for row, one in zip(rows, shown, strict=True)
            if (row["policy"], row["measure"]) == (policy, measure)
        ]
        counts = [sum(x > 0 for x in own), sum(x < 0 for x in own), sum(x == 0 for x in own)]
        lines.append([*cells, " / ".join(map(str, counts))])
    head = ["policy", "true quality of", *(f"churn {churn:g}, %" for churn in CHURNS)]
    return table([*head, "worlds: better / worse / open"], lines)


def said_of_versus() -> str:
    """Say where a policy is shown to be better than `nearest`, worse, or neither."""
    lines = []
    for policy, measure in product(AGAINST_PLAIN, PRIMARY):
        how: dict[str, list[str]] = {"ahead of nearest": [], "behind it": [], "open": []}
        for churn in CHURNS:
            mean, error = against_plain(policy, measure, churn)
            open_ = abs(mean) <= VERSUS_WIDTH * error
            name = "open" if open_ else ("ahead of nearest" if mean > 0 else "behind it")
            how[name].append(f"{churn:.0%}")
        said = "; ".join(f"{name} at {', '.join(own)} churn" for name, own in how.items() if own)
        lines.append(f"- {NAMES.get(policy, policy)}, {WORDS[measure]}: {said}.\n")
    return "".join(lines)


def trials_table() -> str:
    """Return what the trials said beside what came, at their churn and with a right prior."""
    rows = [row for row in where(read("worlds"), churn="0.04") if row["prior"] == "right"]
    lines = []
    for policy, trial in TRIALS.items():
        own = where(rows, policy=policy)
        cells = [NAMES[policy]]
        for name, expected in zip((*PRIMARY, "squared_error"), trial, strict=True):
            came = float(np.mean([gain(row, name) for row in own]))
            cells.append(f"{expected:+.2f}, {came:+.2f} ({came / expected:.1f} times)")
        lines.append(cells)
    return table(["policy: trial, here", *WORDS.values(), "squared error"], lines)


def gain_table(measure: str, by: str) -> str:
    """Return mean gains by one feature of the worlds and by prior; all worlds."""
    rows = read("worlds")
    values = list(dict.fromkeys(row[by] for row in rows))
    lines = []
    for prior, value in product(PRIORS, values):
        cells = []
        for policy in NAMES:
            found = [
                gain(row, measure)
                for row in rows
                if (row["prior"], row[by], row["policy"]) == (prior, value, policy)
            ]
            cells.append(f"{np.mean(found):+.2f}")
        lines.append([prior, value, *cells])
    return table(["prior", by, *NAMES.values()], lines)


def secondary_table() -> str:
    """Return what else differs from draw chance, by churn; all worlds."""
    rows = read("worlds")
    lines = []
    for policy, churn in product(NAMES, CHURNS):
        own = [r for r in rows if r["policy"] == policy and float(r["churn"]) == churn]
        error = np.mean([gain(row, "squared_error") for row in own])
        calibration = np.mean([float(row["calibration"]) for row in own])
        waits = [
            60.0 * float(np.mean([float(row[f"{name}_less"]) for row in own]))
            for name in ("avg_wait_time", "joined_first_wait")
        ]
        lines.append(
            [NAMES[policy], f"{churn:g}", f"{error:+.1f}", f"{calibration:.2f}"]
            + [f"{wait:+.1f}" for wait in waits]
        )
    head = ["policy", "churn", "squared error, %", "calibration", "wait, s", "first wait, s"]
    return table(head, lines)


def page() -> None:
    """Put the tables into the page, each below its mark."""
    tables = {
        "counts": count_table(),
        **{f"{name} by {by}": gain_table(name, by) for name in PRIMARY for by in BY},
        "secondary": secondary_table(),
        "by churn": by_churn_table(),
        "by churn said": said_of_churn(),
        "versus": versus_table(),
        "versus said": said_of_versus(),
        "trials": trials_table(),
    }
    *others, last = (f"{beta_of(noise):.0f}" for noise in NOISES)
    fill(HERE / "README.md", {**tables, "betas": f"{', '.join(others)} or {last}"})


def figure() -> None:
    """Draw gains.png: every world and policy."""
    import matplotlib.pyplot as plt

    from valmatch.plots.parts.style import COLOURS

    rows = [row for row in read("worlds") if row["policy"] in JUDGED]
    shown = {(v.world, v.policy, v.measure): v.shown for v in verdicts()}
    panels, axes = plt.subplots(2, 3, figsize=(11, 7), sharex=True, sharey="row")
    for (i, measure), (k, pool) in product(enumerate(PRIMARY), enumerate(POOLS)):
        one = axes[i, k]
        one.axhline(0.0, color="0.6", linewidth=0.8)
        for number, policy in enumerate(JUDGED):
            own = [r for r in rows if r["policy"] == policy and int(r["pool"]) == pool]
            for row in own:
                world = world_of(row)
                noise, prior = NOISES.index(world.noise), list(PRIORS).index(world.prior)
                place = CHURNS.index(world.churn) + 0.2 * (number - 1.5) + 0.05 * (noise - 1)
                filled = shown.get((world, policy, measure), False)
                one.plot(
                    place,
                    gain(row, measure),
                    "osv"[prior],
                    color=COLOURS[number],
                    markerfacecolor=COLOURS[number] if filled else "none",
                    markersize=4,
                    label=NAMES[policy] if row is own[0] else None,
                )
        one.set_xticks(range(len(CHURNS)), [f"{churn:.0%}" for churn in CHURNS])
        one.set_title(f"{WORDS[measure]}, {pool:,} waiting", fontsize=10)
    for one in axes[1]:
        one.set_xlabel("churn a game")
    for one in axes[:, 0]:
        one.set_ylabel("true quality against draw chance, %")
    axes[0, 0].legend(fontsize=8)
    panels.tight_layout()
    panels.savefig(HERE / "gains.png", dpi=110)


PARTS = {part.__name__: part for part in (kappa, worlds, versus, figure, page)}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
