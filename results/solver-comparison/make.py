"""Make the tables and the page of this folder.

    python results/solver-comparison/make.py [PART ...]

On two free cores 100 runs of a problem take `gaps` about 1 minute at a budget of 1,000 and 3 at
5,000, of the ladder about 6 and 15. `comparison` takes some minutes a problem, of the ladder a
quarter of an hour, `capacity` ten minutes, `hypervolume` and `timing` five, `large_runs` hours.
`simopt`, `agreement` and `timing` need an interpreter with the extra `simopt`.
"""

import math
import time
import warnings
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from results.study import (
    Row,
    Study,
    dominated_volume,
    errors,
    grid,
    group,
    numbers,
    outcomes_of,
    responses_of,
    run_command,
    solved,
)
from tests.support import known_problems
from valmatch.config.config import Config
from valmatch.config.loading import load_config
from valmatch.execution.chunks import build, run
from valmatch.kernels.arrays import Floats
from valmatch.models.model import Model
from valmatch.optimization.problem import best_known, problem_of
from valmatch.optimization.solver_run import Settings
from valmatch.optimization.studies.solver_study import POST_FIRST, bootstrapped, post_replications

study = Study(globals(), digits=17)
ALPHA = 0.05
Point = dict[str, float]

# Problems that settings of the default solver were chosen on, by runs of other random numbers.
TUNED = "valorant-20min", "valorant-x2"
# Problems that were measured between changes of the solver: seen, if not tuned on.
SEEN = "valorant-trios", "valorant-evening", "valorant-p90", "valorant-two-limits"
# Problems posed before the last change of the solver and measured once, after it: runs of each.
UNSEEN = {"ladder-duos": 20, "ladder-pairs": 20, "valorant-fours": 50, "valorant-log": 50}
KINDS = dict.fromkeys(TUNED, "tuned on") | dict.fromkeys(SEEN, "seen")
KINDS |= dict.fromkeys(UNSEEN, "unseen")


def best_of(problem: str) -> float:
    """Return the best known objective of a shipped problem."""
    best = best_known(load_config(problem))
    assert best is not None
    return best


def judged(
    config: Config, point: Point, n: int, seed: int = 1, first: int = POST_FIRST
) -> list[float]:
    """Return the mean outcomes of a point in n replications, which all points have in common."""
    means: list[float] = outcomes_of(config, point, seed, range(first, first + n)).mean(0).tolist()
    return means


# ---- how far above the best known value the default solver ends ----

# Seed of the runs; replications that judge a point, and their seed.
GAP_SEED, JUDGED, JUDGE = 1, 2_000, 987_654


@study.table(
    [
        {"problem": problem, "budget": budget, "run": k}
        for budget, problem in product((1_000, 5_000), KINDS)
        for k in range(UNSEEN.get(problem, 100))
    ]
)
def gaps(problem: str, budget: int, run: int) -> list[Row]:
    """Return how far a run ends above the best known value; infinite without a certified point."""
    config, best = load_config(problem), best_of(problem)
    feasible, point = solved(config, "auto", Settings(budget, GAP_SEED, ALPHA), run)
    objective, *excess = judged(config, point, JUDGED, JUDGE, first=0)
    gap = 100.0 * (objective / best - 1.0) if feasible else math.inf
    row = {"certified": feasible is True, "gap_percent": gap, "worst_excess": max(excess)}
    return [row | {"best_known": best}]


# ---- solvers at a budget of 1,000 replications ----

SOLVERS = ("auto", "random", "nelder-mead", "cobyqa", "spsa", "cma-es", "bayes")
RUNS = 20


@study.table(grid(problem=(*TUNED, *UNSEEN)), workers=1)
def comparison(problem: str) -> Iterator[Row]:
    """Return what each solver of `valmatch optimize` comes to."""
    words = ["optimize", problem, "--solver", ",".join(SOLVERS), "--macroreps", str(RUNS)]
    words += ["--workers", "2", "--set", f"optimize.best_known={best_of(problem)!r}"]
    solvers = run_command(*words)["solvers"]
    for name in SOLVERS:
        values = {key: x["value"] for key, x in solvers[name].items() if isinstance(x, dict)}
        median = solvers[name]["median_objective"]
        row = {"solver": name, "runs": solvers[name]["runs"], **values}
        yield row | {"median_low": median["ci_low"], "median_high": median["ci_high"]}


@study.table(
    grid(problem=TUNED, solver=[f"SimOpt {x}" for x in ("RNDSRCH", "ASTRODF", "NELDMD", "SPSA")])
)
def simopt(problem: str, solver: str) -> list[Row]:
    """Return what a solver of SimOpt comes to on the penalised variant of a problem."""
    from simopt.directory import solver_directory
    from simopt.experiment.run_solver import run_solver as run_theirs

    from valmatch.simopt import PenalizedValorantAvgDifference

    warnings.simplefilter("ignore")
    config = load_config(problem)
    posed = problem_of(config, build(config))
    theirs = PenalizedValorantAvgDifference(
        fixed_factors={"upper_time": posed.constraints["upper_time"].bound},
        model_fixed_factors={"rate_multiplier": config.factors.model_dump()["rate_multiplier"]},
    )
    # The same fresh replications by which `valmatch optimize` judges its own solvers.
    post = post_replications(int(theirs.factors["budget"]))
    steps, _ = run_theirs(solver_directory[solver.removeprefix("SimOpt ")](), theirs, RUNS, 1)
    values = []
    for _, made in steps.groupby("mrep"):
        last = theirs.vector_to_factor_dict(made.sort_values("step").solution.iloc[-1])
        units = np.array([variable.to_unit(last[variable.name]) for variable in posed.variables])
        objective, excess = judged(config, posed.point(units), post)
        values.append(objective if excess <= 0 else np.inf)
    worth = np.array(values)
    median = float(np.median(worth))
    row: Row = {"runs": len(worth), "median_objective": median if np.isfinite(median) else None}
    for share in (5, 10):
        limit = (1.0 + share / 100.0) * best_of(problem)
        row[f"within_{share}_percent"] = float(np.mean(worth <= limit))
    return [row | {"wrongly_called_feasible": float(np.mean(np.isinf(worth)))}]


# ---- capacity problems, whose best point is known ----


@study.table(
    [
        {"problem": problem, "budget": budget, "solver": solver, "run": run}
        for problem in known_problems.CAPACITIES
        for budget, solver in (*product((1_000,), SOLVERS[:-1]), (5_000, "auto"))
        for run in range(RUNS)
    ]
)
def capacity(problem: str, budget: int, solver: str, run: int) -> list[Row]:
    """Return how far a run ends above the best point; points are judged by what is expected."""
    known = known_problems.CAPACITIES[problem]
    with known_problems.registered():
        feasible, point = solved(known.config(problem), solver, Settings(budget, 1, ALPHA), run)
    cost, load_there = known.expected(point)
    gap = 100.0 * (cost / known.best - 1.0) if feasible else math.inf
    return [{"certified": feasible is True, "gap_percent": gap, "load": load_there}]


# ---- large budgets and limits on percentiles ----

LARGE_JUDGED, LARGE_JUDGE = 4_000, 1_000_003
# Minutes within which 95 % of the trios wait, in place of the limit on their mean wait.
TAIL = "optimize.constraints={tail: {response: wait_p95, at_most: 50}}"
LARGE = {  # runs by problem and budget; ``-p95`` has `TAIL` in place of its constraints
    ("valorant-trios-p95", 1_000): 20,
    ("valorant-trios-p95", 5_000): 20,
    ("valorant-20min", 40_000): 5,
    ("valorant-trios-p95", 40_000): 5,
    ("valorant-p90", 40_000): 5,
}


def large_problem(name: str) -> Config:
    """Return the config of a problem of the large budgets."""
    shipped = name.removesuffix("-p95")
    return load_config(shipped, [TAIL] * (name != shipped))


@study.table(
    [
        {"problem": problem, "budget": budget, "solver": solver, "seed": seed}
        for (problem, budget), runs in LARGE.items()
        for seed in range(1, runs + 1)
        for solver in ("bayes", "cobyqa")
    ]
)
def large_runs(problem: str, budget: int, solver: str, seed: int) -> list[Row]:
    """Return what a run comes to, judged by fresh replications common to all."""
    config = large_problem(problem)
    feasible, point = solved(config, solver, Settings(budget, seed, ALPHA))
    objective, *excess = judged(config, point, LARGE_JUDGED, LARGE_JUDGE)
    return [{"certified": feasible is True, "objective": objective, "excess": max(excess)}]


@study.whole_table
def large() -> list[Row]:
    """Return gaps to the best truly feasible point of all runs on a problem.

    Rows of problems of which there are no runs stay.
    """
    made = study.rows("large_runs")
    rows = {(row["problem"], row["budget"], row["solver"]): row for row in study.rows("large")}
    for (problem,), runs in group(made, "problem").items():
        best = min(float(run["objective"]) for run in runs if float(run["excess"]) <= 0.0)
        for (budget, solver), own in group(runs, "budget", "solver").items():
            gap = numbers(own, "objective") / best - 1.0
            median = bootstrapped(np.median, gap)
            certified = [run for run in own if run["certified"] == "True"]
            row: Row = {"problem": problem, "budget": budget, "solver": solver, "runs": len(own)}
            row |= {"best": best, "median_gap": median["value"], "median_low": median["ci_low"]}
            row |= {"median_high": median["ci_high"], "worst_gap": float(gap.max())}
            row |= {"not_certified": len(own) - len(certified)}
            wrongly = sum(float(run["excess"]) > 0.0 for run in certified)
            rows[problem, budget, solver] = row | {"wrongly_certified": wrongly}
    return [*rows.values()]


# ---- fronts against sweeps of a bound ----

# Team difference against the mean wait, over the five variables of the source; both methods see
# rules up to the reference point alone.
FRONT_CONFIG = "valorant-1-published"
REFERENCE = {"avg_team_diff": 200.0, "avg_wait_time": 25.0}
LIMIT = f"upper_time={REFERENCE['avg_wait_time']:g}"
FRONT_POST = 500
SWEEP, PARETO = ("--sweep", "upper_time=13:22:1"), ("--pareto", ",".join(REFERENCE))
METHODS: dict[str, tuple[int, tuple[str, ...]]] = {  # replications, and the words of the command
    "sweep": (1000, (*SWEEP, "--budget", "100")),  # ten values, a tenth of the budget each
    "front": (1000, (*PARETO, "--budget", "1000")),
    "front, half": (500, (*PARETO, "--budget", "500")),
}


@study.table(grid(seed=range(1, RUNS + 1), method=METHODS))
def hypervolume(seed: int, method: str) -> list[Row]:
    """Return the share of the box to the reference that the certified points of a run dominate."""
    replications, words = METHODS[method]
    found = run_command("optimize", FRONT_CONFIG, "--seed", str(seed), "--set", LIMIT, *words)
    points = [one["point"] for one in found.get("front", [])]
    for one in found.get("frontier", []):
        points += [one["recommended"]["point"]] if one["feasible"] is True else []
    config = load_config(FRONT_CONFIG, [LIMIT])
    means = np.array([judged(config, point, FRONT_POST) for point in points]).reshape(-1, 2)
    means[:, 1] += REFERENCE["avg_wait_time"]
    reference = np.array(list(REFERENCE.values()))
    share = dominated_volume(means, reference) / float(reference.prod())
    return [{"replications": replications, "points": len(points), "volume": share}]


# ---- the config chess-1 beside SimOpt's CHESS-1 ----

ELO_SETTINGS = grid(elo_sd=(515.8, 200.0), allowable_diff=(50.0, 150.0))
REPLICATIONS = 500
ROUNDS, ROUND = 10, 30  # rounds of the timing, in which each has its turn; replications in a round


def chess_model(elo_sd: float, allowable_diff: float) -> Model[Any]:
    """Return the model of the config `chess-1` at a setting."""
    changes = [f"team_diff={allowable_diff}", f"cov_matrix.0.0={elo_sd * elo_sd!r}"]
    return build(load_config("chess-1", changes))


@study.table(ELO_SETTINGS)
def agreement(elo_sd: float, allowable_diff: float) -> Iterator[Row]:
    """Return the means of both responses at a setting; the wait of SimOpt is the mended one."""
    from tests.oracles.simopt_chess_1 import simopt_model, simopt_replication

    ours, theirs = chess_model(elo_sd, allowable_diff), simopt_model(allowable_diff, elo_sd)
    made = [simopt_replication(theirs, k) for k in range(REPLICATIONS)]
    found = responses_of(ours, 1, range(REPLICATIONS))
    for response, mended, own in (
        ("avg_diff", "avg_diff", "avg_team_diff"),
        ("avg_wait_time", "mended_wait", "avg_wait_time_all"),
    ):
        simopt_values = np.array([getattr(one, mended) for one in made])
        row = errors({"simopt": simopt_values, "valmatch": found[own]})
        error = math.hypot(row["simopt_std_error"], row["valmatch_std_error"])
        row["std_errors_apart"] = (row["valmatch"] - row["simopt"]) / error
        row["simoptlib_1_2_4"] = float(np.mean([getattr(one, response) for one in made]))
        yield {"response": response} | row


@study.table(ELO_SETTINGS, workers=1)
def timing(elo_sd: float, allowable_diff: float) -> list[Row]:
    """Return the time of a replication of both, random numbers included: medians of rounds."""
    from tests.oracles.simopt_chess_1 import simopt_model, simopt_responses, simopt_streams

    ours, theirs = chess_model(elo_sd, allowable_diff), simopt_model(allowable_diff, elo_sd)
    run(ours, 1, range(ROUND))  # compiled
    seconds: list[tuple[float, float]] = []
    for k in range(ROUNDS):
        indices = range(k * ROUND, (k + 1) * ROUND)
        streams = [simopt_streams(index) for index in indices]
        start = time.perf_counter()
        for pair in streams:
            simopt_responses(theirs, pair)
        middle = time.perf_counter()
        run(ours, 1, indices)
        seconds.append((middle - start, time.perf_counter() - middle))
    simopt_ms, own_ms = (1e3 / ROUND * np.median(seconds, axis=0)).tolist()
    return [{"simopt_ms": simopt_ms, "valmatch_ms": own_ms, "ratio": simopt_ms / own_ms}]


# ---- the page ----


def median_gap(rows: list[Row]) -> Row:
    """Return the median gap of runs with its bootstrap interval, and what nine of ten are below."""
    gap = numbers(rows, "gap_percent")
    drawn = np.random.default_rng(0).integers(len(gap), size=(10_000, len(gap)))
    ends = np.quantile(np.median(gap[drawn], axis=1), [0.025, 0.975], method="nearest")
    nine = np.quantile(gap, 0.9, method="nearest")
    return {"median": np.median(gap), "low": ends[0], "high": ends[1], "nine_of_ten": nine}


def capacity_row(rows: list[Row]) -> Row:
    """Return what runs of a solver on a capacity problem come to."""
    gap = numbers(rows, "gap_percent")
    known = known_problems.CAPACITIES[rows[0]["problem"]]
    start, _ = known.expected({f"x{k}": known.start for k in range(len(known.c))})
    certified = [row for row in rows if row["certified"] == "True"]
    wrongly = (numbers(certified, "load") > known.limit).sum()
    # A millionth of a per cent is rounding.
    worse = (gap > 100.0 * (start / known.best - 1.0) + 1e-6).sum()
    shown = [f"{x:,.0f} %" if x < math.inf else "infinite" for x in (np.median(gap), gap.max())]
    row = {"certified": len(certified), "wrongly": wrongly, "worse": worse}
    return row | {"median": shown[0], "largest": shown[1]}


def above_best_known(problem: str, solver: str) -> str:
    """Return how far the median of a solver is above the best known value."""
    median = float(study.row("comparison", problem=problem, solver=solver)["median_objective"])
    return f"{median / best_of(problem) - 1.0:.1%}"


def volumes(method: str, over_sweep: bool = False) -> Floats:
    """Return the volumes of a method, seed by seed, or over those of the sweep."""
    own = numbers(study.rows("hypervolume", method=method), "volume")
    return own / volumes("sweep") if over_sweep else own


def bootstrap(values: Floats, spec: str = ".4f") -> str:
    """Return a mean with its bootstrap interval."""
    found = bootstrapped(np.mean, values)
    return f"{found['value']:{spec}} [{found['ci_low']:{spec}}, {found['ci_high']:{spec}}]"


if __name__ == "__main__":
    study.main()
