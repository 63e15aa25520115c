"""Make the tables and pictures of this folder.

    python results/kg-study/make.py

takes half an hour on two free cores: `windows` and `passing` make the runs for the claims by five
priors, `priors` and `prior_noise` those of `PLAN.md`, `figures` those of the pictures.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from results.study import Row, Study, curve, grid, half_widths, numbers, where
from valmatch import Replications
from valmatch.config.loading import load_config
from valmatch.experiments.replicate import replicate
from valmatch.present.experiments import curve_charts
from valmatch.present.figures import figures_of, save, style_context

study = Study(globals())

UPDATES = ("corrected", "as_printed")
SETTINGS = {  # what is believed at first, and what player 0's rank goes by
    "informative": ("informative", "mean"),
    "equal": ("equal", "mean"),
    "equal_by_skill": ("equal", "skill"),
}

# Ranks, with the seed of their runs over priors.
PRIOR_SEEDS = {"top": 101, "12": 102, "25": 103, "37": 104, "bottom": 105}
EXTREMES, MIDDLE = ("top", "bottom"), ("12", "25", "37")
SEEDS = (1, 2, 3, 4, 5)
N_CLAIMS, N_PRIORS, N_FIGURES = 2000, 10_000, 10_000

KG, RIVALS = "knowledge_gradient", ("point_estimate", "draw_chance")
POLICIES = (*RIVALS, KG)
MEASURES = ("true_draw_probability", "squared_error", "skill_difference", "win_fraction")
FIRST, SOON, LATE = "1-100", "101-200", "201-500"
SHOWN = ("win_fraction", "skill_difference")  # the measures that the paper's figures show
FIGURES = {
    ("fig1", "corrected"): ("kg-fig1-top", "kg-fig1-bottom"),
    ("fig2", "corrected"): ("kg-fig2-12", "kg-fig2-25", "kg-fig2-37"),
    ("fig3", "corrected"): ("kg-fig3-12", "kg-fig3-25", "kg-fig3-37"),
    ("fig4", "corrected"): ("kg-fig4",),
    ("extremes", "corrected"): ("kg-equal-top", "kg-equal-bottom"),
    ("fig1", "as_printed"): ("kg-fig1-top", "kg-fig1-bottom"),
    ("fig3", "as_printed"): ("kg-fig3-12", "kg-fig3-25", "kg-fig3-37"),
}
SURE = 2.0  # standard errors from which a difference counts
CASES = grid(update=UPDATES, setting=SETTINGS, rank=PRIOR_SEEDS, seed=SEEDS)
RANKS_WIDTH = half_widths(len(POLICIES) * len(MIDDLE) * len(SHOWN))
PRIOR_CASES = grid(update=UPDATES, setting=SETTINGS, rank=PRIOR_SEEDS)
RUNS = len(CASES) + len(PRIOR_CASES) + sum(map(len, FIGURES.values()))


# ---- runs ----


def paths(
    update: str, setting: str, rank: str, seed: int, n: int = N_CLAIMS, *more: str
) -> Replications:
    """Return a run for the claims: one prior for all sample paths."""
    prior, rank_by = SETTINGS[setting]
    words = [f"update={update}", f"prior={prior}", f"rank={rank}", f"rank_by={rank_by}", *more]
    return replicate(load_config("kg-fig1-top", words), n, seed)


def prior_run(update: str, setting: str, rank: str) -> Replications:
    """Return a run over priors: each sample path has one of its own."""
    own = "prior_draw=path", "ties=random"
    return paths(update, setting, rank, PRIOR_SEEDS[rank], N_PRIORS, *own)


def window_rows(run: Replications) -> Iterator[Row]:
    """Return the means of each policy and the paired differences of a run."""
    summary = run.summary()
    windows = [*product(MEASURES, (FIRST, SOON, LATE)), ("expected_quality", "total")]
    for measure, games in windows:
        row: Row = {"measure": measure, "games": games}
        for policy in POLICIES:
            facts = summary["windows"][policy][measure][games]
            row |= {policy: facts["mean"], f"{policy}_se": facts["std_error"]}
        for rival in RIVALS:
            facts = summary["paired"][KG][rival][measure][games]
            row |= {f"kg_minus_{rival}": facts["mean"]}
            row |= {f"kg_minus_{rival}_se": facts["std_error"]}
        yield row


@study.table(CASES)
def windows(**case: Any) -> Iterator[Row]:  # noqa: ANN401
    """Return the means and differences of a run for the claims."""
    return window_rows(paths(**case))


@study.table(CASES)
def passing(**case: Any) -> list[Row]:  # noqa: ANN401
    """Return the game from which on the knowledge gradient has the highest draw probability."""
    run = paths(**case)
    kg, *rivals = (curve(run, MEASURES[0], policy)[0] for policy in (KG, *RIVALS))
    behind = np.flatnonzero(kg <= np.max(rivals, axis=0)) + 1
    last = int(behind[-1]) if behind.size else 0
    return [{"ahead_from_game": last + 1 if last < len(kg) else None}]


@study.table(PRIOR_CASES)
def priors(**case: Any) -> Iterator[Row]:  # noqa: ANN401
    """Return the means and differences of a run over priors."""
    return window_rows(prior_run(**case))


@study.part
def figures() -> None:
    """Draw the paper's figures, the configs of a figure side by side."""
    for (figure, update), configs in FIGURES.items():
        runs = (
            replicate(load_config(name, [f"update={update}"]), N_FIGURES, 1) for name in configs
        )
        charts = [chart for run in runs for chart in curve_charts(run)]
        with style_context():
            drawn = figures_of(f"{figure}-{update}", charts, ", ".join(configs))
        save(drawn, study.folder, ["png"])


# ---- claims ----


Compare = Callable[[Row, str], tuple[float, float]]


def difference(row: Row, rival: str) -> tuple[float, float]:
    """Return the knowledge gradient minus a rival, and the standard error."""
    return float(row[f"kg_minus_{rival}"]), float(row[f"kg_minus_{rival}_se"])


def nearer(row: Row, rival: str) -> tuple[float, float]:
    """Return how much nearer to its ideal the mean is than the rival's, and the standard error."""
    ideal = 0.5 if row["measure"] == "win_fraction" else 0.0
    kg, other = float(row[KG]) - ideal, float(row[rival]) - ideal
    gain, error = abs(other) - abs(kg), difference(row, rival)[1]
    if kg * other >= 0:
        return gain, error
    # On different sides of the ideal the gain is a sum, not a difference.
    both = 2 * (float(row[f"{KG}_se"]) ** 2 + float(row[f"{rival}_se"]) ** 2)
    return gain, math.sqrt(max(both - error**2, 0.0))


class Claim(NamedTuple):
    """Something the paper says; `sign` is that of a difference that confirms it."""

    name: str
    measure: str
    games: str
    ranks: tuple[str, ...]
    compare: Compare
    sign: int

    def rows(self, rows: Iterable[Row], setting: str, update: str) -> list[Row]:
        """Return the rows that the claim is about."""
        at = {"measure": self.measure, "games": self.games, "rank": self.ranks}
        return where(rows, setting=setting, update=update, **at)


DRAWS, ERROR, SKILL, WINS = MEASURES
OUTER = ("12", "37")
CLAIMS = (
    Claim("1a lower draw probability at first", DRAWS, FIRST, EXTREMES, difference, -1),
    Claim("1b larger skill difference at first", SKILL, FIRST, EXTREMES, nearer, -1),
    Claim("2 smaller error early", ERROR, FIRST, EXTREMES, difference, -1),
    Claim("2 smaller error late", ERROR, LATE, EXTREMES, difference, -1),
    Claim("3 higher draw probability soon", DRAWS, SOON, EXTREMES, difference, 1),
    Claim("3 higher draw probability late", DRAWS, LATE, EXTREMES, difference, 1),
    Claim("4a win ratio nearer 0.5 late", WINS, LATE, EXTREMES, nearer, 1),
    Claim("4b skill difference nearer 0 late", SKILL, LATE, EXTREMES, nearer, 1),
    Claim("5 middle: lower draw probability at first", DRAWS, FIRST, MIDDLE, difference, -1),
    Claim("5 middle: higher draw probability late", DRAWS, LATE, MIDDLE, difference, 1),
    Claim("5 middle: win ratio nearer 0.5 late", WINS, LATE, MIDDLE, nearer, 1),
    Claim("5 middle: skill difference nearer 0 late", SKILL, LATE, MIDDLE, nearer, 1),
    Claim("6 ranks 12, 37: win ratio nearer 0.5", WINS, LATE, OUTER, nearer, 1),
    Claim("6 ranks 12, 37: skill difference nearer 0", SKILL, LATE, OUTER, nearer, 1),
    Claim("6 rank 25: win ratio nearer 0.5", WINS, LATE, ("25",), nearer, 1),
    Claim("6 rank 25: skill difference nearer 0", SKILL, LATE, ("25",), nearer, 1),
    Claim("objective (7), extremes", "expected_quality", "total", EXTREMES, difference, 1),
    Claim("objective (7), middle", "expected_quality", "total", MIDDLE, difference, 1),
)


def claim_rows(rows: Sequence[Row]) -> Iterator[Row]:
    """Return, for each claim, how many comparisons confirm it, refute it or leave it open."""
    for setting, update, claim in product(SETTINGS, UPDATES, CLAIMS):
        own = claim.rows(rows, setting, update)
        gains, errors = np.array([claim.compare(row, rival) for row in own for rival in RIVALS]).T
        scores = claim.sign * gains / errors
        row: Row = {"setting": setting, "update": update, "claim": claim.name, "games": claim.games}
        row |= {"comparisons": scores.size, "confirm": int((scores > SURE).sum())}
        row |= {"refute": int((scores < -SURE).sum()), "open": int((abs(scores) <= SURE).sum())}
        row |= {"mean_difference": gains.mean(), "least": gains.min(), "largest": gains.max()}
        yield row | {"typical_se": math.sqrt((errors**2).mean())}


@study.whole_table
def claims() -> Iterator[Row]:
    """Return what the windows say of each claim."""
    return claim_rows(study.rows("windows"))


@study.whole_table
def noise() -> Iterator[Row]:
    """Return how large standard errors of the late games are in the middle.

    Claim 8: "The results are now less noisy".
    """
    late = study.rows("windows", rank=MIDDLE, games=LATE)
    for update, measure, policy in product(UPDATES, MEASURES, POLICIES):
        row: Row = {"update": update, "measure": measure, "policy": policy}
        for setting in SETTINGS:
            own = where(late, update=update, setting=setting, measure=measure)
            row[setting] = math.sqrt(np.mean(numbers(own, f"{policy}_se") ** 2))
        yield row


@study.whole_table
def prior_claims() -> Iterator[Row]:
    """Return what the runs over priors say of each claim against each rival."""
    width, made = half_widths(len(CLAIMS) * len(RIVALS)), study.rows("priors")
    for setting, update, claim, rival in product(SETTINGS, UPDATES, CLAIMS, RIVALS):
        own = [claim.compare(row, rival) for row in claim.rows(made, setting, update)]
        gains, errors = zip(*own, strict=True)
        gain, error = sum(gains) / len(own), math.hypot(*errors) / len(own)
        row: Row = {"setting": setting, "update": update, "claim": claim.name, "rival": rival}
        row |= {"gain": gain, "std_error": error, "z": gain / error, "half_width": width * error}
        verdict = "confirmed" if claim.sign * gain > 0 else "refuted"
        yield row | {"verdict": "open" if abs(gain) <= width * error else verdict}


@study.whole_table
def prior_noise() -> Iterator[Row]:
    """Return deviations between paths, and changes of curves from game to game."""
    runs = {key: prior_run("corrected", *key) for key in product(SETTINGS, MIDDLE)}
    late = study.rows("priors", update="corrected", rank=MIDDLE, games=LATE)
    first = int(LATE.split("-")[0])
    for measure, policy in product(MEASURES, POLICIES):
        row: Row = {"measure": measure, "policy": policy}
        for setting in SETTINGS:
            own = where(late, setting=setting, measure=measure)
            errors = numbers(own, f"{policy}_se")
            row[f"deviation_{setting}"] = math.sqrt(N_PRIORS * np.mean(np.square(errors)))
            curves = (curve(runs[setting, rank], measure, policy)[0] for rank in MIDDLE)
            steps = [np.diff(values[first - 1 :]) for values in curves]
            row[f"jitter_{setting}"] = math.sqrt(np.mean(np.square(steps)))
        yield row


# ---- the page ----


def confirmed_by_prior(setting: str, claim: str) -> str:
    """Return in how many comparisons of each prior the corrected equations confirm a claim."""
    counts = []
    for seed in SEEDS:
        rows = claim_rows(study.rows("windows", seed=seed))
        counts += where(rows, update="corrected", setting=setting, claim=claim)
    return ", ".join(str(row["confirm"]) for row in counts)


if __name__ == "__main__":
    study.main()
