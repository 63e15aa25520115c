"""Make the tables and the page of this folder.

    python results/ladder/make.py

The tables from `career` to `inflow` take ten minutes on two cores; those of duels at equal waits
(`levels`, `settings`, `worlds`, `compared`), as PLAN.md has them, about two hours of one idle core.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from scipy.special import stdtrit

from results import study as st
from results.study import Row, Study
from valmatch import load_config, replicate
from valmatch import simulate as simulate_one
from valmatch.kernels.arrays import Floats
from valmatch.optimization.solver_run import Settings

study = Study(globals())
SEED = 1
KNOWN = "rating.system=known"
RULES = {"five a side": "ladder", "one against one": "ladder-elo"}

# ---- what learned ratings cost ----

CAREER_N, GAMES = 200, (1, 2, 3, 5, 10, 20, 50, 100)


@study.table(st.grid(rule=RULES, ratings=("learned", "known")))
def career(rule: str, ratings: str) -> Iterator[Row]:
    """Return win gap, wait and error over the games of a career."""
    settings = [KNOWN] if ratings == "known" else []
    run = replicate(load_config(RULES[rule], settings), CAREER_N, SEED)
    assert run.axes is not None
    half = float(stdtrit(CAREER_N - 1, 0.5 + st.CONFIDENCE / 2))
    for measure, game in product(run.axes.measures, GAMES):
        mean, error = (values[game - 1] for values in st.curve(run, measure))
        row = {"measure": measure, "game": game, "n": CAREER_N}
        yield row | {"mean": mean, "ci": half * error}


# ---- scale stretch ----

TOLERANCES, KS = (50, 100, 200, 400), (8, 16, 32)
STRETCH_N, STRETCH_DAYS, PERIOD = 10, 224, 56
SCALE = 400.0 / math.log(10.0)  # the s of the theory: points at which Elo bets e to 1
CLOSED = ("population.start=skill", "population.newcomers_per_day=0", "population.players=300")


@study.table(st.grid(K=KS, tolerance=TOLERANCES))
def stretch(K: int, tolerance: int) -> list[Row]:  # noqa: N803
    """Return how far Elo's ratings spread under one rule, and what the theory says of it."""
    runs = [stretch_run(K, tolerance, replication) for replication in range(STRETCH_N)]
    found = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    squared_gap, variance = (float(found.pop(name).mean()) for name in ("squared_gap", "variance"))
    slope = 1.0 - K * SCALE / squared_gap
    spread = variance - slope * K * SCALE / 2.0
    theory = math.sqrt(spread / variance) / slope if min(slope, spread) > 0.0 else None
    facts = {"rms_gap": math.sqrt(squared_gap), "b": slope, "theory": theory}
    return [{"n": STRETCH_N} | st.estimates(found) | facts]


def stretch_run(k: int, tolerance: int, replication: int) -> dict[str, float]:
    """Return the scale stretch at the end of each period, and what the theory goes by."""
    settings = [*CLOSED, f"days={STRETCH_DAYS}", "warmup_days=0", "sessions.per_day=3"]
    settings += [f"rating.K={k}", f"rule.team_diff={tolerance}", "rule.team_slack=0"]
    run = simulate_one(load_config("ladder-elo", settings), SEED, replication)
    games = run["games"]
    before = games["rating_before"].reshape(-1, 2)
    late = games["time"][::2] >= 24.0 * (STRETCH_DAYS - PERIOD)
    of_day = run["days"]["scale_stretch"]
    return {
        **{f"day_{end}": float(of_day[end - 1]) for end in range(PERIOD, STRETCH_DAYS + 1, PERIOD)},
        "squared_gap": float(np.mean((before[late, 0] - before[late, 1]) ** 2)),
        "variance": float(run["players"]["skill"].var()),
    }


# ---- calibration ----

CALIBRATION_N = 20
CLOSED_DUELS = (
    *("population.players=1000", "population.newcomers_per_day=0", "sessions.churn=0"),
    *("days=30", "warmup_days=29"),
)
CLOSED_TEAMS = ("population.newcomers_per_day=0", "days=56", "warmup_days=55")
POLICIES = ("random", "draw_chance", "nearest", "knowledge_gradient_variance")
CALIBRATED: Mapping[str, tuple[str, tuple[str, ...]]] = {  # the config of a rule, and what it sets
    **{
        f"one against one, {name}": ("ladder-duel", (*CLOSED_DUELS, f"rule.policy={name}"))
        for name in POLICIES
    },
    "five a side, anybody": (
        "ladder",
        (*CLOSED_TEAMS, "rule.player_diff=100000", "rule.team_diff=100000"),
    ),
    "five a side, the default rule": ("ladder", CLOSED_TEAMS),
}


@study.table(st.grid(rule=CALIBRATED, tau=(0, 3)))
def calibration(rule: str, tau: int) -> list[Row]:
    """Return the squared error over the variance of TrueSkill's belief."""
    config, settings = CALIBRATED[rule]
    found = st.simulate(config, [*settings, f"rating.tau={tau}"], SEED, CALIBRATION_N)
    names = ("calibration", "rating_error", "scale_stretch")
    return [{"n": CALIBRATION_N} | st.estimates(found, names)]


# ---- rating systems under the same rule ----

SYSTEMS_N = 100
SYSTEMS = {
    "TrueSkill": ("rating.system=trueskill",),
    "TrueSkill, by mu - 3 sigma": ("rating.system=trueskill", "rating.match_by=conservative"),
    "Elo, K 16": ("rating.system=elo", "rating.K=16"),
    "Elo, K 32": ("rating.system=elo", "rating.K=32"),
    "Elo, K 64": ("rating.system=elo", "rating.K=64"),
    "ZoneStats": ("rating.system=zonestats",),
    "known skills": (KNOWN,),
}
JUDGED = (  # responses by which rating systems are compared
    *("win_gap", "joined_win_gap", "avg_wait_time", "joined_wait", "rating_error"),
    *("rank_correlation", "scale_stretch", "log_loss"),
)


@study.table(st.grid(rule=RULES))
def systems(rule: str) -> Iterator[Row]:
    """Return rating systems under the same rule, less TrueSkill."""
    runs = {name: st.simulate(RULES[rule], own, SEED, SYSTEMS_N) for name, own in SYSTEMS.items()}
    for (system, run), response in product(runs.items(), JUDGED):
        mean, half = st.interval(run[response])
        row: Row = {"system": system, "response": response, "n": SYSTEMS_N}
        less = {"less_trueskill": run[response] - runs["TrueSkill"][response]}
        yield row | {"mean": mean, "ci": half} | st.estimates(less)


# ---- rating systems at equal waits ----


# Rating systems, and the parameter that is tuned: what moves a newcomer's rating.
TUNABLES = {
    "TrueSkill": ("trueskill", "sigma", 300.0),
    "Glicko-2": ("glicko2", "deviation", 350.0),
    "Elo": ("elo", "K", 32.0),
    "ZoneStats": ("zonestats", "GAME_MULT", 2.0),
}
# Times the base, the values of the parameter that are tried.
GRID = tuple(3.0 ** (k / 2) for k in range(-2, 4))
WRONG = {"a third": 1 / 3, "three times": 3.0}
# Limits of the rules, in points; all of a rule are scaled alike until the wait is the target.
LIMITS = {
    "five a side": {"player_diff": 400, "player_slack": 400, "team_diff": 100, "team_slack": 100},
    "one against one": {"team_diff": 100, "team_slack": 300},
}

TARGET = {"five a side": 5.0, "one against one": 1.2}  # the mean wait of all systems, in minutes
# Seeds and replications: of the worlds for tuning, and of those that judge.
WAITS_SEED, WAITS_STEPS, WAITS_N = 21, 7, 4
JUDGED_SEED, JUDGED_N = 22, 30
# What is judged at equal waits.
EQUAL = ("win_gap", "joined_win_gap", "avg_wait_time", "scale_stretch")


def limited(
    rule: str, words: Iterable[str], scale: float, seed: int = WAITS_SEED, n: int = WAITS_N
) -> dict[str, Floats]:
    """Return the responses of replications under a rule with its limits scaled, by name."""
    limits = [f"rule.{name}={scale * x!r}" for name, x in LIMITS[rule].items()]
    return st.simulate(RULES[rule], [*words, *limits], seed, n)


def equal_wait(rule: str, words: Iterable[str]) -> float:
    """Return the scale of the limits at which the mean wait for tuning is that of all.

    Wider limits mean shorter waits, so it is found by halving an interval.
    """
    low, high = math.log(1 / 16), math.log(16)
    for _ in range(WAITS_STEPS):
        middle = (low + high) / 2
        is_short = limited(rule, words, math.exp(middle))[WAIT].mean() < TARGET[rule]
        low, high = (low, middle) if is_short else (middle, high)
    return math.exp((low + high) / 2)


def rated_by(name: str, value: float) -> list[str]:
    """Return what sets a rating system and its parameter."""
    system, parameter, _ = TUNABLES[name]
    return [f"rating.system={system}", f"rating.{parameter}={value!r}"]


@study.table(st.grid(rule=RULES, system=TUNABLES))
def tuning(rule: str, system: str) -> Iterator[Row]:
    """Return what each value of a parameter gives at the common wait, on the worlds for tuning."""
    _, parameter, base = TUNABLES[system]
    for value in (base * times for times in GRID):
        scale = equal_wait(rule, rated_by(system, value))
        found = limited(rule, rated_by(system, value), scale)
        row: Row = {"parameter": parameter, "value": value, "limits": scale}
        yield row | {"n": WAITS_N} | {name: found[name].mean() for name in EQUAL}


def tuned(rule: str, name: str) -> float:
    """Return the value with the least win gap of all matches on the worlds for tuning."""
    rows = study.rows("tuning", rule=rule, system=name)
    return float(min(rows, key=lambda row: float(row["win_gap"]))["value"])


def waiting_cases(rule: str) -> dict[tuple[str, str], list[str]]:
    """Return what sets all that is judged under a rule, by system and what is wrong with it."""
    cases = {
        (name, how): rated_by(name, times * tuned(rule, name))
        for name, (how, times) in product(TUNABLES, {"tuned": 1.0, **WRONG}.items())
    }
    factors: Any = load_config(RULES[rule]).factors
    for words, times in WRONG.items():
        beta = f"rating.beta={times * float(factors.rating_beta)!r}"
        cases["TrueSkill", f"beta {words}"] = [*cases["TrueSkill", "tuned"], beta]
    return {**cases, ("known skills", ""): [KNOWN]}


@study.table(st.grid(rule=RULES))
def waits(rule: str) -> Iterator[Row]:
    """Return systems at equal waits, less TrueSkill tuned, on worlds never looked at."""
    cases = waiting_cases(rule)
    scales = {key: equal_wait(rule, words) for key, words in cases.items()}
    found = {
        key: limited(rule, words, scales[key], JUDGED_SEED, JUDGED_N)
        for key, words in cases.items()
    }
    for ((name, how), values), response in product(found.items(), EQUAL):
        less = values[response] - found["TrueSkill", "tuned"][response]
        row: Row = {"system": name, "setting": how, "limits": scales[name, how]}
        row |= {"response": response, "n": JUDGED_N, "mean": values[response].mean()}
        yield row | {"less_trueskill": less.mean(), "less_se": st.std_error(less)}


# ---- newcomers ----

INFLOW_N, INFLOWS = 20, (0, 2, 5, 10, 20, 50)
LONG = ("days=112", "warmup_days=84")


@study.table(st.grid(system=("elo", "trueskill"), newcomers_per_day=INFLOWS))
def inflow(system: str, newcomers_per_day: int) -> list[Row]:
    """Return what newcomers, as many as leave, do to the spread of ratings."""
    settings = [*LONG, f"rating.system={system}", f"sessions.churn={newcomers_per_day / 1000}"]
    settings.append(f"population.newcomers_per_day={newcomers_per_day}")
    found = st.simulate("ladder-elo", settings, SEED, INFLOW_N)
    names = ("scale_stretch", "rating_error", "rank_correlation", "win_gap", "avg_wait_time")
    return [{"n": INFLOW_N} | st.estimates(found, names)]


# ---- duels at equal waits, right and wrong, as PLAN.md says ----

CONFIG, WAIT = "ladder", "avg_wait_time"
TUNING_SEED, BUDGET = 201, 200
PLAN_SEED, WORLDS = 203, 60
# Tuning worlds on which limits are scaled to the wait, how often at most, and how closely.
SCALING_WORLDS, TRIALS, CLOSE = 30, 8, 0.005
# The primary outcomes, with whose matches they are of.
OUTCOMES = {"win_gap": "all", "joined_win_gap": "newcomers"}
MEASURES = (*OUTCOMES, WAIT, "wait_p90", "scale_stretch")
NEAR = 0.05  # share of the level by which the mean wait in judging worlds may miss it
# Of the limits of `nearest` under elo: the range of which the levels are quartiles.
SCALES, LEVEL_WORLDS = (1 / 16, 2.0), 10
LEVELS = {"short": 3, "middle": 2, "long": 1}  # the quarter of the range that a level is at
# Systems, with the parameter that is right or wrong and its right value.
RIGHT: Mapping[str, tuple[str, float] | None] = {
    "elo": ("K", 18.475),
    "glicko2": ("deviation", 300.0),
    "trueskill": ("sigma", 300.0),
    "zonestats": ("GAME_MULT", 0.66667),
    "known": None,
}

# What is tuned of the two kinds of rules, and of the choices that read more.
PAIRS: dict[str, Any] = {
    "tolerance": {"low": 0, "high": 2000, "start": 400, "scale": 50},
    "widening": {"low": 500, "high": 20000, "start": 6000, "scale": 1000},
    "reserve": {"low": 0, "high": 1, "start": 0.7},
}
TEAMS: dict[str, Any] = {
    "team_diff": {"low": 0, "high": 1000, "start": 100, "scale": 50},
    "team_slack": {"low": 0, "high": 2000, "start": 300, "scale": 50},
    "wait_thresh": {"low": 0, "high": 2, "start": 0.1, "scale": 0.05},
}
READ_BY: dict[str, dict[str, Any]] = {
    "knowledge_gradient": {"gamma": {"low": 0, "high": 0.999, "start": 0.95}},
    "knowledge_gradient_variance": {"gamma": {"low": 0, "high": 0.999, "start": 0.95}},
    "ucb": {"kappa": {"low": 0, "high": 5, "start": 1}},
}

# The limits that are multiplied by one number, which brings the mean wait to the level.
SCALED = ("rule.tolerance", "rule.widening", "rule.team_diff", "rule.team_slack")
BASE = "elo", "nearest"
UNDER = {  # choices that are compared with `nearest`, by the system under which they are
    "elo": ("team_first", "joint", "draw_chance", "ucb", "knowledge_gradient"),
    "trueskill": ("draw_chance", "ucb", "knowledge_gradient_variance", "knowledge_gradient"),
}

COMPARED = (  # what is compared, and with what: system and choice
    *(((system, "nearest"), BASE) for system in RIGHT if system != "elo"),
    *(((system, choice), (system, "nearest")) for system in UNDER for choice in UNDER[system]),
)

# By what the right parameters are multiplied, and whether rules are tuned with that. Limits that
# were tuned with the right parameters are scaled alone, by one number.
STATES = {
    "right": (1.0, True),
    "third-scaled": (1 / 3, False),
    "three-scaled": (3.0, False),
    "third-tuned": (1 / 3, True),
    "three-tuned": (3.0, True),
}

SECTIONS = [*product(("middle", "short", "long"), STATES)]
CELLS = [  # all systems and choices at all levels and states of knowledge, in the order of the plan
    {"level": level, "state": state, "system": system, "choice": choice}
    for level, state in SECTIONS
    for system, choice in dict.fromkeys([BASE, *(one for one, _ in COMPARED)])
    if RIGHT[system] or state == "right"
]


def compared_in(state: str) -> list[tuple[tuple[str, str], tuple[str, str]]]:
    """Return what is compared in a state: nothing that is known is wrong."""
    return [pair for pair in COMPARED if RIGHT[pair[0][0]] or state == "right"]


# Comparisons of the plan, and standard errors of half an interval: all hold together.
FAMILY = len(OUTCOMES) * len(LEVELS) * sum(len(compared_in(state)) for state in STATES)
WIDTH = st.half_widths(FAMILY)


def words_of(state: str, system: str, choice: str) -> list[str]:
    """Return what a cell sets, besides what is tuned."""
    rule = ["rule.matching=pairs", f"rule.policy={choice}"]
    if choice in ("team_first", "joint"):
        rule = [f"rule.matching={choice}"]
    times, parameter = STATES[state][0], RIGHT[system]
    own = [f"rating.{parameter[0]}={parameter[1] * times!r}"] if parameter else []
    factors: Any = load_config(CONFIG, ["rule.team_num=1"]).factors
    beta = f"rating.beta={times * float(factors.rating_beta)!r}"
    return ["rule.team_num=1", *rule, f"rating.system={system}", *own, beta]


@study.table(st.grid(level=LEVELS))
def levels(level: str) -> list[Row]:
    """Return the wait of nearest under elo at a quartile of the range of its limits."""
    low, high = (math.log2(scale) for scale in SCALES)
    scale = 2.0 ** (low + LEVELS[level] / 4 * (high - low))
    limits = [f"rule.tolerance={400 * scale!r}", f"rule.widening={6000 * scale!r}"]
    found = st.simulate(CONFIG, [*words_of("right", *BASE), *limits], TUNING_SEED, LEVEL_WORLDS)
    wait, gap = (float(found[name].mean()) for name in (WAIT, "win_gap"))
    row: Row = {"scale": scale, "n": LEVEL_WORLDS, "wait": float(f"{wait:.3g}")}
    return [row | {"win_gap": float(f"{gap:.4g}")}]


def level_of(level: str) -> float:
    """Return the wait of a level, in minutes."""
    return float(study.row("levels", level=level)["wait"])


def tuned_point(level: str, state: str, system: str, choice: str) -> tuple[dict[str, float], Any]:
    """Return what `optimize` finds for a cell, and whether it was shown to hold the wait."""
    if not STATES[state][1]:
        right = study.row("settings", level=level, state="right", system=system, choice=choice)
        return point_of(right), None
    tuned_here = TEAMS if choice in ("team_first", "joint") else PAIRS | READ_BY.get(choice, {})
    posed = {
        "variables": {f"rule.{name}": one for name, one in tuned_here.items()},
        "objective": {"fairness": {"response": "win_gap", "weight": 1}},
        "constraints": {"wait": {"response": WAIT, "at_most": level_of(level)}},
    }
    words = words_of(state, system, choice)
    words += [f"optimize.{name}={json.dumps(part)}" for name, part in posed.items()]
    # As `optimize` does, without what it shows afterwards: prices of constraints, which would
    # take more replications than the search.
    run = Settings(BUDGET, TUNING_SEED, 1.0 - st.CONFIDENCE)
    feasible, point = st.solved(load_config(CONFIG, words), "auto", run)
    return point, feasible


def point_of(setting: Row) -> dict[str, float]:
    """Return the tuned numbers of a row of settings."""
    return {name: float(x) for name, x in setting.items() if name.startswith("rule.") and x}


def scaled(point: Mapping[str, float], scale: float) -> list[str]:
    """Return what sets a point, its limits multiplied by a number."""
    return [f"{name}={x * (scale if name in SCALED else 1.0)!r}" for name, x in point.items()]


@study.table(CELLS)
def settings(level: str, state: str, system: str, choice: str) -> list[Row]:
    """Return the tuned point of a cell, and the scale at which it has the wait of the level.

    The logarithm of the wait is nearly a line in that of the scale: by secants, on tuning worlds.
    """
    point, feasible = tuned_point(level, state, system, choice)
    target, words = math.log(level_of(level)), words_of(state, system, choice)
    x, slope, tried = 0.0, -0.5, list[tuple[float, float, float]]()
    for _ in range(TRIALS):
        changes = [*words, *scaled(point, math.exp(x))]
        wait = math.log(st.simulate(CONFIG, changes, TUNING_SEED, SCALING_WORLDS)[WAIT].mean())
        tried.append((abs(wait - target), x, wait))
        if tried[-1][0] <= CLOSE:
            break
        if len(tried) > 1 and tried[-1][1] != tried[-2][1]:
            found = (wait - tried[-2][2]) / (x - tried[-2][1])
            slope = min(max(found, -2.0), -0.1)
        x += min(max((target - wait) / slope, -math.log(2.0)), math.log(2.0))
    numbers = {"scale": math.exp(min(tried)[1]), "unscaled_wait": math.exp(tried[0][2]), **point}
    # As texts, which are not rounded: worlds are judged at just these numbers.
    return [{"feasible": feasible} | {name: repr(float(x)) for name, x in numbers.items()}]


@study.table(CELLS)
def worlds(level: str, state: str, system: str, choice: str) -> list[Row]:
    """Return the measures of a cell, judging world by judging world."""
    setting = study.row("settings", level=level, state=state, system=system, choice=choice)
    changes = scaled(point_of(setting), float(setting["scale"]))
    found = st.simulate(CONFIG, [*words_of(state, system, choice), *changes], PLAN_SEED, WORLDS)
    measured = {name: [float(f"{x:.6g}") for x in found[name]] for name in MEASURES}
    return [
        {"world": world} | {name: repr(values[world]) for name, values in measured.items()}
        for world in range(WORLDS)
    ]


@cache
def judged_cells() -> list[Row]:
    """Return the means of all cells that are made, and whether they have the equal wait."""
    worlds_of, made = st.group(study.rows("worlds"), *CELLS[0]), []
    for setting in study.rows("settings"):
        own = worlds_of.get(tuple(setting[name] for name in CELLS[0]), [])
        if own:
            values = {name: st.numbers(own, name) for name in MEASURES}
            off = float(values[WAIT].mean()) / level_of(setting["level"]) - 1.0
            means = {name: float(f"{x.mean():.5g}") for name, x in values.items()}
            facts = {"n": len(own), "off": float(f"{off:.3g}"), "equal": abs(off) <= NEAR}
            made.append({**setting, **facts, **means, "values": values})
    return made


@study.whole_table
def compared() -> Iterator[Row]:
    """Return what one cell is less another, of those with the equal wait."""
    for level, state in SECTIONS:
        equal = st.where(judged_cells(), level=level, state=state, equal=True)
        for pair, (outcome, matches) in product(compared_in(state), OUTCOMES.items()):
            found = [st.where(equal, system=system, choice=choice) for system, choice in pair]
            if not all(found):
                continue
            (own,), (base,) = found
            less = own["values"][outcome] - base["values"][outcome]
            row: Row = {"level": level, "state": state}
            row |= {"system": own["system"], "choice": own["choice"]}
            row |= {"than_system": base["system"], "than_choice": base["choice"]}
            row |= {"outcome": matches, "n": less.size}
            yield row | st.difference(less, WIDTH)


# ---- the page ----


def tuned_values(choice: str, name: str) -> list[float]:
    """Return what tuning gave a number of a choice under trueskill, by level and state."""
    states = [state for state, (_, is_tuned) in STATES.items() if is_tuned]
    rows = study.rows("settings", system="trueskill", choice=choice, state=states)
    return [point_of(row)[f"rule.{name}"] for row in rows]


def worth_of_waiting(share: float) -> float:
    """Return by how much a longer wait lessens the win gap of the levels' own rule."""
    ends = [study.row("levels", level=level) for level in ("short", "long")]
    (short, more), (long, less) = ((float(row["wait"]), float(row["win_gap"])) for row in ends)
    return (more - less) / math.log(long / short) * math.log1p(share)


# Standard errors of half an interval: those of both win gaps of both rules hold together.
WAITS_WIDTH = st.half_widths(2 * 2 * (3 * len(TUNABLES) + 2))


if __name__ == "__main__":
    study.main()
