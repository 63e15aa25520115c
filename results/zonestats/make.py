"""Make the tables of this folder, in a quarter of an hour on one core.

python results/zonestats/make.py
"""

import math
from collections.abc import Iterator
from itertools import product
from typing import get_args

import numpy as np

from results.study import Row, Study, counted, curve, grid, half_widths, simulate, std_error
from valmatch import optimize
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, record
from valmatch.experiments.replicate import replicate
from valmatch.kernels.arrays import Floats
from valmatch.ratings.registry import MOST_DISTANT, Cap

study = Study(globals(), digits=6)
REPLICATIONS = 200
CONFIGS = {"zonestats": "duels", "zonestats-ffa": "free for all"}
MULTIPLIERS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 8.0)
SPREADS = (60.0, 90.0, 120.0, 180.0, 240.0, 480.0)
CAPPED = ("zonestats-ffa", "zonestats-ffa game_minutes=60", "zonestats team_size=4")
COMPARED = ("log_loss", "mean_rating_error", "rating_error", "rating_slope", "rank_correlation")

PUBLISHED = 120.0, 2.0  # T and GAME_MULT of the source
TS = (30.0, 60.0, 90.0, 120.0, 180.0, 240.0, 360.0)
# Values of GAME_MULT that are tried at T 120, at another T as many times as large as T is.
AT_120 = (0.125, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)
# Seeds of the populations by which a point is chosen and on which it is judged, and how many.
CHOOSING, JUDGING, OPTIMA_N = 11, 12, 20
LEAGUES = grid(games_per_player=(20, 50, 200, 1000), true_spread=(60.0, 120.0, 240.0))
# By what points are chosen, and the T that are tried: no prediction depends on T.
LOSSES = {"log_loss": (120.0,), "rating_error": TS}


@study.table(grid(config=CONFIGS))
def curves(config: str) -> Iterator[Row]:
    """Return how the error falls with the games of a player, one row in ten."""
    run = replicate(load_config(config), REPLICATIONS, 1)
    assert run.axes is not None
    games = (1, 2, 5, *range(10, run.axes.games + 1, 10))
    for measure, game in product(run.axes.measures, games):
        mean, error = (values[game - 1] for values in curve(run, measure))
        yield {"measure": measure, "game": game, "mean": mean, "std_error": error}


@study.table(grid(config=CONFIGS))
def multipliers(config: str) -> Iterator[Row]:
    """Return what each GAME_MULT gives at the published T, also less the published one."""
    values = {x: simulate(config, [f"GAME_MULT={x}"], 1, REPLICATIONS) for x in MULTIPLIERS}
    for response, x in product(COMPARED, MULTIPLIERS):
        less = values[x][response] - values[PUBLISHED[1]][response]
        means = {"mean": values[x][response].mean(), "less_published": less.mean()}
        row = {"response": response, "GAME_MULT": x, **means}
        yield row | {"std_error_of_less": std_error(less)}


@study.table(grid(config=CAPPED, cap=get_args(Cap)))
def caps(config: str, cap: str) -> list[Row]:
    """Return what a reading of the cap allows, and what it does to ratings."""
    name, *settings = config.split()
    values, base = (
        simulate(name, [*settings, f"cap={one}"], 1, REPLICATIONS) for one in (cap, MOST_DISTANT)
    )
    games = record(build(load_config(name, [*settings, f"cap={cap}"])), 1, 0).tables[1].columns
    change = np.abs(games["adjustment"])
    row = {
        "most_per_minute": (change / games["minutes"]).max(),
        "most_in_a_game": change.max(),
        "capped_share": games["capped"].mean(),
    }
    for response in ("rating_error", "rating_slope", "log_loss"):
        row[response] = values[response].mean()
        row[f"{response}.less_std_error"] = std_error(values[response] - base[response])
    return [row]


@study.table(grid(held=("GAME_MULT", "GAME_MULT / T"), T=SPREADS))
def spreads(held: str, T: float) -> list[Row]:  # noqa: N803
    """Return how far the ratings spread under a T, at the published GAME_MULT or ratio."""
    multiplier = 2.0 if held == "GAME_MULT" else 2.0 * T / 120.0
    found = simulate("zonestats", [f"T={T}", f"GAME_MULT={multiplier}"], 1, REPLICATIONS)
    row = {"GAME_MULT": multiplier, "rating_spread": found["rating_spread"].mean()}
    row["std_error"] = std_error(found["rating_spread"])
    return [row | {name: found[name].mean() for name in ("rating_error", "log_loss")}]


@study.table(grid(objective=("log_loss", "mean_rating_error"), seed=(1, 2, 3)))
def tuned(objective: str, seed: int) -> list[Row]:
    """Return the point that `optimize` recommends."""
    changes = [f"optimize.objective.loss.response={objective}"]
    best = optimize(load_config("zonestats-tune", changes), seed=seed).verdict
    assert best is not None
    t, multiplier = best.point["T"], best.point["GAME_MULT"]
    ratio = multiplier / t
    return [{"T": t, "GAME_MULT": multiplier, "ratio": ratio, "mean": best.objective.mean}]


# ---- what a league would choose ----


def responses(league: Row, point: tuple[float, float], seed: int) -> dict[str, Floats]:
    """Return the responses of duels in a league, population by population."""
    settings = league | dict(zip(("T", "GAME_MULT"), point, strict=True))
    return simulate("zonestats", [f"{name}={x}" for name, x in settings.items()], seed, OPTIMA_N)


def of_thumb(league: Row) -> float:
    """Return what GAME_MULT at T 120 is proportional to by the rule of thumb."""
    return PUBLISHED[0] / float(league["true_spread"] * math.sqrt(league["games_per_player"]))


def chosen(league: Row) -> dict[str, tuple[float, float]]:
    """Return the point with the least loss in a league, by loss."""
    points = [(t, multiplier * t / PUBLISHED[0]) for t, multiplier in product(TS, AT_120)]
    tried = {point: responses(league, point, CHOOSING) for point in points}
    return {
        loss: min((p for p in points if p[0] in ts), key=lambda p: float(tried[p][loss].mean()))
        for loss, ts in LOSSES.items()
    }


@study.whole_table
def optima() -> Iterator[Row]:
    """Return the best points of leagues, judged beside the published one and a rule of thumb.

    The one constant of the rule is fitted to the best points of all leagues.
    """
    best = [chosen(league) for league in counted("leagues", LEAGUES, len(LEAGUES))]
    pairs = zip(LEAGUES, best, strict=True)
    logs = [math.log(points["log_loss"][1] / of_thumb(league)) for league, points in pairs]
    factor = math.exp(sum(logs) / len(logs))
    for league, points in zip(LEAGUES, best, strict=True):
        others = {"published": PUBLISHED, "rule": (PUBLISHED[0], factor * of_thumb(league))}
        for loss, point in points.items():
            own = responses(league, point, JUDGING)[loss]
            row = {**league, "loss": loss, "n": OPTIMA_N, "T": point[0], "GAME_MULT": point[1]}
            row["mean"] = own.mean()
            for name, other in others.items():
                less = responses(league, other, JUDGING)[loss] - own
                row |= {f"{name}_less": less.mean(), f"{name}_se": std_error(less)}
            yield row | {"rule_factor": factor}


# ---- the page ----


WIDTH = half_widths(2 * len(LEAGUES) * len(LOSSES))


def shown_worse(other: str) -> int:
    """Return in how many leagues a point is shown to predict worse than the best one."""
    rows = study.rows("optima", loss="log_loss")
    return sum(float(row[f"{other}_less"]) > WIDTH * float(row[f"{other}_se"]) for row in rows)


if __name__ == "__main__":
    study.main()
