"""Make the tables of this folder.

    python results/ladder/make.py

takes ten minutes on two cores. ``career``, ``stretch``, ``calibration``,
``systems``, ``tuning``, ``waits`` or ``inflow`` after it makes that table alone, ``page`` puts all
tables into the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from results import pages
from results.opponent_priors import half_widths
from results.pages import counted, fill, make_parts, table, where
from valmatch import Replications, load, replicate, simulate
from valmatch.execution import simulator
from valmatch.kernels.arrays import Floats
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
SEED, CONFIDENCE, WORKERS = 1, 0.95, 2

Row = dict[str, Any]

KNOWN = "rating.system=known"
RULES = {"five a side": "ladder", "one against one": "ladder-elo"}
CAREER_N, GAMES = 200, (1, 2, 3, 5, 10, 20, 50, 100)

TOLERANCES, KS = (50, 100, 200, 400), (8, 16, 32)
STRETCH_N, STRETCH_DAYS, PERIOD = 10, 224, 56
SCALE = 400.0 / math.log(10.0)
"""The s of the theory: points at which Elo bets e to 1."""
CLOSED = ("population.start=skill", "population.newcomers_per_day=0", "population.players=300")

CALIBRATION_N = 20
DUELS = ("population.players=1000", "population.newcomers_per_day=0", "sessions.churn=0")
TEAMS_OF_FIVE = ("population.newcomers_per_day=0", "days=56", "warmup_days=55")
ANYBODY = ("rule.player_diff=100000", "rule.team_diff=100000")

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
JUDGED = {
    "win_gap": 4,
    "joined_win_gap": 4,
    "avg_wait_time": 2,
    "joined_wait": 2,
    "rating_error": 1,
    "rank_correlation": 3,
    "scale_stretch": 2,
    "log_loss": 4,
}
"""Responses by which rating systems are compared, with their digits."""


class Tunable(NamedTuple):
    """A rating system, and its parameter that is tuned: what moves a newcomer's rating."""

    system: str
    parameter: str
    base: float


TUNABLES = {
    "TrueSkill": Tunable("trueskill", "sigma", 300.0),
    "Glicko-2": Tunable("glicko2", "deviation", 350.0),
    "Elo": Tunable("elo", "K", 32.0),
    "ZoneStats": Tunable("zonestats", "GAME_MULT", 2.0),
}
GRID = tuple(3.0 ** (k / 2) for k in range(-2, 4))
"""Times the base, the values of the parameter that are tried."""

WRONG = {"a third": 1 / 3, "three times": 3.0}
LIMITS = {
    "five a side": {"player_diff": 400, "player_slack": 400, "team_diff": 100, "team_slack": 100},
    "one against one": {"team_diff": 100, "team_slack": 300},
}
"""Limits of the rules, in points; all of a rule are scaled alike until the wait is the target."""

TARGET = {"five a side": 5.0, "one against one": 1.2}
"""The mean wait of all systems, in minutes."""

WAITS_SEED, WAITS_STEPS, WAITS_N = 21, 7, 4
JUDGED_SEED, JUDGED_N = 22, 30
"""Seeds and replications: of the worlds for tuning, and of those that judge."""

EQUAL = ("win_gap", "joined_win_gap", "avg_wait_time", "scale_stretch")
"""What is judged at equal waits."""

INFLOW_N, INFLOWS = 20, (0, 2, 5, 10, 20, 50)
LONG = ("days=112", "warmup_days=84")


def interval(values: Floats) -> tuple[float, float]:
    """Return the mean of independent values and the half-width of its 95% interval."""
    half = stdtrit(values.size - 1, 0.5 + CONFIDENCE / 2) * values.std(ddof=1)
    return float(values.mean()), float(half / math.sqrt(values.size))


def estimates(values: Mapping[str, Floats]) -> Row:
    """Return the mean of each measure and, as NAME_ci, the half-width of its interval."""
    row: Row = {}
    for name, own in values.items():
        row[name], row[f"{name}_ci"] = interval(own)
    return row


def replications(config: str, overrides: Iterable[str], n: int) -> Replications:
    """Return replications of a shipped config."""
    return replicate(load(config, list(overrides)), n, SEED, workers=WORKERS)


def write(name: str, rows: Iterable[Row]) -> None:
    """Write rows as a CSV file of this folder, numbers in five digits."""
    found = [
        {key: float(f"{x:.5g}") if isinstance(x, float) else x for key, x in row.items()}
        for row in rows
    ]
    write_csv(HERE / f"{name}.csv", {key: [row[key] for row in found] for key in found[0]})


# ---- what learned ratings cost ----


def career() -> None:
    """Make career.csv: win gap, wait and error over the games of a career."""
    rows = []
    for (rule, config), system in product(RULES.items(), ("learned", "known")):
        run = replications(config, [KNOWN] if system == "known" else [], CAREER_N)
        assert run.axes is not None
        assert run.curves is not None
        scales = dict(zip(run.axes.measures, run.axes.scales, strict=True))
        half = float(stdtrit(CAREER_N - 1, 0.5 + CONFIDENCE / 2))
        for number, measure in enumerate(run.axes.measures):
            mean = run.curves.mean[0, number] * scales[measure]
            error = run.curves.std_error[0, number] * scales[measure]
            rows += [
                {"rule": rule, "ratings": system, "measure": measure, "game": game}
                | {
                    "n": CAREER_N,
                    "mean": float(mean[game - 1]),
                    "ci": half * float(error[game - 1]),
                }
                for game in GAMES
            ]
    write("career", rows)


# ---- scale stretch ----


def stretch() -> None:
    """Make stretch.csv: spread of Elo's ratings against tolerance and K, with the theory's."""
    cases = [(k, tolerance) for k, tolerance in product(KS, TOLERANCES)]
    with ProcessPoolExecutor(WORKERS) as pool:
        write("stretch", pool.map(stretch_case, cases))


def stretch_case(case: tuple[int, int]) -> Row:
    """Return how ratings spread under one rule, and what the theory says of it."""
    k, tolerance = case
    runs = [stretch_run(k, tolerance, replication) for replication in range(STRETCH_N)]
    found = {name: np.array([run[name] for run in runs]) for name in runs[0]}
    squared_gap, variance = (float(found.pop(name).mean()) for name in ("squared_gap", "variance"))
    slope = 1.0 - k * SCALE / squared_gap
    spread = variance - slope * k * SCALE / 2.0
    theory = math.sqrt(spread / variance) / slope if min(slope, spread) > 0.0 else None
    row = {"K": k, "tolerance": tolerance, "n": STRETCH_N, **estimates(found)}
    return row | {"rms_gap": math.sqrt(squared_gap), "b": slope, "theory": theory}


def stretch_run(k: int, tolerance: int, replication: int) -> dict[str, float]:
    """Return the scale stretch at the end of each period, and what the theory goes by."""
    overrides = [*CLOSED, f"days={STRETCH_DAYS}", "warmup_days=0", "sessions.per_day=3"]
    overrides += [f"rating.K={k}", f"rule.team_diff={tolerance}", "rule.team_slack=0"]
    run = simulate(load("ladder-elo", overrides), SEED, replication)
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


def calibration() -> None:
    """Make calibration.csv: squared error over the variance of TrueSkill's belief."""
    cases: list[tuple[str, str, tuple[str, ...]]] = [
        (f"one against one, {policy}", "ladder-duel", (*DUELS, f"rule.policy={policy}"))
        for policy in ("random", "draw_chance", "nearest", "knowledge_gradient_variance")
    ]
    cases.append(("five a side, anybody", "ladder", (*TEAMS_OF_FIVE, *ANYBODY)))
    cases.append(("five a side, the default rule", "ladder", TEAMS_OF_FIVE))
    rows = []
    for (rule, config, overrides), tau in product(cases, (0, 3)):
        length = () if config == "ladder" else ("days=30", "warmup_days=29")
        run = replications(config, (*overrides, *length, f"rating.tau={tau}"), CALIBRATION_N)
        names = ("calibration", "rating_error", "scale_stretch")
        row = {"rule": rule, "tau": tau, "n": CALIBRATION_N}
        rows.append(row | estimates({name: run[name] for name in names}))
    write("calibration", rows)


# ---- rating systems ----


def systems() -> None:
    """Make systems.csv: rating systems under the same rules, less TrueSkill."""
    rows = []
    for rule, config in RULES.items():
        runs = {
            system: replications(config, overrides, SYSTEMS_N)
            for system, overrides in SYSTEMS.items()
        }
        for (system, run), response in product(runs.items(), JUDGED):
            mean, ci = interval(run[response])
            less, less_ci = interval(run[response] - runs["TrueSkill"][response])
            rows.append(
                {"rule": rule, "system": system, "response": response, "n": SYSTEMS_N}
                | {"mean": mean, "ci": ci, "less_trueskill": less, "less_trueskill_ci": less_ci}
            )
    write("systems", rows)


# ---- rating systems at equal waits ----


class Case(NamedTuple):
    """A rating system under a rule: what sets it, and how the limits are scaled."""

    rule: str
    words: tuple[str, ...]
    scale: float = 1.0

    def responses(self, seed: int, n: int) -> Mapping[str, Floats]:
        """Return the responses of replications, by name."""
        limits = [f"rule.{name}={self.scale * x!r}" for name, x in LIMITS[self.rule].items()]
        model = simulator.build(load(RULES[self.rule], [*self.words, *limits]))
        values = simulator.run(model, seed, range(n)).responses.T
        return dict(zip([one.name for one in model.responses], values, strict=True))

    def at_equal_wait(self) -> Case:
        """Return the case with the limits at which the mean wait for tuning is that of all.

        Wider limits mean shorter waits, so the scale is found by halving an interval.
        """
        low, high = math.log(1 / 16), math.log(16)
        for _ in range(WAITS_STEPS):
            middle = self._replace(scale=math.exp((low + high) / 2))
            wait = float(middle.responses(WAITS_SEED, WAITS_N)["avg_wait_time"].mean())
            too_short = wait < TARGET[self.rule]
            low, high = (low, (low + high) / 2) if too_short else ((low + high) / 2, high)
        return self._replace(scale=math.exp((low + high) / 2))


def rated_by(rule: str, name: str, value: float, *more: str) -> Case:
    """Return a rule with a rating system, its parameter set."""
    one = TUNABLES[name]
    return Case(rule, (f"rating.system={one.system}", f"rating.{one.parameter}={value!r}", *more))


def tuning_row(point: tuple[str, str, float]) -> Row:
    """Return what a value of a parameter gives at the common wait, on the worlds for tuning."""
    rule, name, times = point
    value = TUNABLES[name].base * times
    case = rated_by(rule, name, value).at_equal_wait()
    found = case.responses(WAITS_SEED, WAITS_N)
    means = {response: float(found[response].mean()) for response in EQUAL}
    facts = {"rule": rule, "system": name, "parameter": TUNABLES[name].parameter, "value": value}
    return {**facts, "limits": case.scale, "n": WAITS_N, **means}


def tuning() -> None:
    """Make tuning.csv: what each value gives at the common wait."""
    points = list(product(RULES, TUNABLES, GRID))
    with ProcessPoolExecutor(WORKERS) as pool:
        write("tuning", counted("points", pool.map(tuning_row, points), len(points)))


def tuned(rule: str, name: str) -> float:
    """Return the value with the least win gap of all matches on the worlds for tuning."""
    rows = where(read("tuning"), rule=rule, system=name)
    return float(min(rows, key=lambda row: float(row["win_gap"]))["value"])


def true_beta(rule: str) -> float:
    """Return what TrueSkill takes beta to be where nothing is said: that of the outcomes."""
    factors: Any = load(RULES[rule]).factors
    return float(factors.rating_beta)


def waiting_cases() -> dict[tuple[str, str, str], Case]:
    """Return all that is judged, by rule, system and what is wrong with it."""
    cases = {}
    for rule in RULES:
        for name in TUNABLES:
            best = tuned(rule, name)
            cases[rule, name, "tuned"] = rated_by(rule, name, best)
            for words, times in WRONG.items():
                cases[rule, name, words] = rated_by(rule, name, times * best)
        for words, times in WRONG.items():
            beta = f"rating.beta={times * true_beta(rule)!r}"
            case = rated_by(rule, "TrueSkill", tuned(rule, "TrueSkill"), beta)
            cases[rule, "TrueSkill", f"beta {words}"] = case
        cases[rule, "known skills", ""] = Case(rule, (KNOWN,))
    return cases


def judged_case(case: Case) -> tuple[float, Mapping[str, Floats]]:
    """Return the scale of the limits, and what the worlds that judge say."""
    found = case.at_equal_wait()
    return found.scale, found.responses(JUDGED_SEED, JUDGED_N)


def waits() -> None:
    """Make waits.csv: systems at equal waits, less TrueSkill tuned, on worlds never looked at."""
    cases = waiting_cases()
    with ProcessPoolExecutor(WORKERS) as pool:
        made = counted("cases", pool.map(judged_case, cases.values()), len(cases))
        found = dict(zip(cases, made, strict=True))
    rows = []
    for (rule, name, how), (scale, values) in found.items():
        best = found[rule, "TrueSkill", "tuned"][1]
        for response in EQUAL:
            less = values[response] - best[response]
            row = {"rule": rule, "system": name, "setting": how, "limits": scale}
            row |= {"response": response, "n": JUDGED_N, "mean": float(values[response].mean())}
            row |= {"less_trueskill": float(less.mean())}
            rows.append({**row, "less_se": float(less.std(ddof=1)) / math.sqrt(less.size)})
    write("waits", rows)


# ---- newcomers ----


def inflow() -> None:
    """Make inflow.csv: newcomers, as many as leave, and the spread of ratings."""
    rows = []
    for system, newcomers in product(("elo", "trueskill"), INFLOWS):
        overrides = [*LONG, f"rating.system={system}", f"population.newcomers_per_day={newcomers}"]
        overrides.append(f"sessions.churn={newcomers / 1000}")
        run = replications("ladder-elo", overrides, INFLOW_N)
        names = ("scale_stretch", "rating_error", "rank_correlation", "win_gap", "avg_wait_time")
        row = {"system": system, "newcomers_per_day": newcomers, "n": INFLOW_N}
        rows.append(row | estimates({name: run[name] for name in names}))
    write("inflow", rows)


# ---- the page ----


def read(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file of this folder."""
    return pages.read(HERE / f"{name}.csv")


def shown(row: Mapping[str, str], name: str, digits: int) -> str:
    """Return a mean with its interval."""
    return f"{float(row[name]):.{digits}f} ± {float(row[f'{name}_ci']):.{digits}f}"


def career_table(measure: str, digits: int) -> str:
    """Return a measure over the games of a career."""
    cells = {
        (row["rule"], row["ratings"], int(row["game"])): f"{float(row['mean']):.{digits}f} ±"
        f" {float(row['ci']):.{digits}f}"
        for row in read("career")
        if row["measure"] == measure
    }
    lines = dict.fromkeys((rule, ratings) for rule, ratings, _ in cells)
    return table(
        ["rule", "ratings", *(f"game {game}" for game in GAMES)],
        ([*line, *(cells[*line, game] for game in GAMES)] for line in lines),
    )


def stretch_table() -> str:
    """Return the spread of ratings in time, and the theory's."""
    ends = [name for name in read("stretch")[0] if re.fullmatch(r"day_\d+", name)]
    return table(
        ["K", "tolerance", *(end.replace("_", " ") for end in ends), "gap", "b", "theory"],
        (
            [row["K"], row["tolerance"]]
            + [shown(row, end, 2) for end in ends]
            + [f"{float(row['rms_gap']):.0f}", f"{float(row['b']):.2f}"]
            + [f"{float(row['theory']):.2f}" if row["theory"] else "none"]
            for row in read("stretch")
        ),
    )


def calibration_table() -> str:
    """Return the calibration of TrueSkill's beliefs."""
    names = {"calibration": 2, "rating_error": 1, "scale_stretch": 3}
    return table(
        ["rule", "tau", *(name.replace("_", " ") for name in names)],
        (
            [row["rule"], row["tau"], *(shown(row, name, digits) for name, digits in names.items())]
            for row in read("calibration")
        ),
    )


def systems_table(rule: str) -> str:
    """Return the rating systems side by side; bold where they differ from TrueSkill."""
    rows = [row for row in read("systems") if row["rule"] == rule]

    def cell(system: str, response: str) -> str:
        (row,) = [r for r in rows if (r["system"], r["response"]) == (system, response)]
        text = f"{float(row['mean']):.{JUDGED[response]}f}"
        differs = abs(float(row["less_trueskill"])) > float(row["less_trueskill_ci"])
        return f"**{text}**" if differs else text

    return table(
        ["rating system", *(name.replace("_", " ") for name in JUDGED)],
        ([system, *(cell(system, response) for response in JUDGED)] for system in SYSTEMS),
    )


def tuning_table() -> str:
    """Return the win gap of each value at the common wait, on the worlds for tuning."""
    lines = []
    for rule, (name, one) in product(RULES, TUNABLES.items()):
        rows = where(read("tuning"), rule=rule, system=name)
        cells = (f"{float(row['value']):,.4g}: {float(row['win_gap']):.4f}" for row in rows)
        lines.append([rule, name, one.parameter, *cells])
    return table(["rule", "system", "parameter", *([""] * len(GRID))], lines)


def said_of_tuning() -> str:
    """Say what was chosen, and whether it is at an end of what was tried."""
    lines = []
    for rule in RULES:
        chosen = []
        for name, one in TUNABLES.items():
            values = [float(row["value"]) for row in where(read("tuning"), rule=rule, system=name)]
            best = tuned(rule, name)
            end = ", an end of the grid" if best in (min(values), max(values)) else ""
            chosen.append(f"{name} {one.parameter} {best:,.4g}{end}")
        lines.append(f"- {rule}: {'; '.join(chosen)}.\n")
    return "".join(lines)


WAITS_WIDTH = half_widths(2 * 2 * (3 * len(TUNABLES) + 2))
"""Standard errors of half an interval: those of both win gaps of both rules hold together."""


def waits_table(rule: str) -> str:
    """Return rating systems at equal waits; win gaps less those of TrueSkill tuned."""
    rows = where(read("waits"), rule=rule)
    lines = []
    for name, how in dict.fromkeys((row["system"], row["setting"]) for row in rows):
        own = {row["response"]: row for row in where(rows, system=name, setting=how)}
        cells = [", ".join(filter(None, (name, how))), f"{float(own['win_gap']['limits']):.2f}"]
        cells.append(f"{float(own['avg_wait_time']['mean']):.2f}")
        for response in ("win_gap", "joined_win_gap"):
            cells += [f"{float(own[response]['mean']):.4f}", less_trueskill(own[response])]
        lines.append([*cells, f"{float(own['scale_stretch']['mean']):.2f}"])
    head = ["rating system", "limits times", "wait", "win gap", "less TrueSkill tuned"]
    return table([*head, "joined win gap", "less TrueSkill tuned", "scale stretch"], lines)


def less_trueskill(row: Mapping[str, str]) -> str:
    """Return a difference with its interval, in bold where that leaves 0 out."""
    less, half = float(row["less_trueskill"]), WAITS_WIDTH * float(row["less_se"])
    text = f"{less:+.4f} ± {half:.4f}"
    return f"**{text}**" if abs(less) > half else text


def said_of_waits() -> str:
    """Say which systems are shown to be less fair than TrueSkill tuned, at equal waits."""
    lines = []
    for rule, (response, words) in product(
        RULES, {"win_gap": "all matches", "joined_win_gap": "newcomers"}.items()
    ):
        found: dict[str, list[str]] = {"less fair": [], "fairer": [], "open": []}
        for row in where(read("waits"), rule=rule, response=response):
            less, half = float(row["less_trueskill"]), WAITS_WIDTH * float(row["less_se"])
            name = " ".join(filter(None, (row["system"], row["setting"])))
            if name != "TrueSkill tuned":
                how = "open" if abs(less) <= half else ("less fair" if less > 0 else "fairer")
                found[how].append(f"{name} ({less / (float(row['mean']) - less):+.0%})")
        said = "; ".join(f"{how}: {', '.join(names)}" for how, names in found.items() if names)
        lines.append(f"- {rule}, {words}: {said}.\n")
    return "".join(lines)


def inflow_table() -> str:
    """Return what newcomers do to the spread of ratings."""
    names = {
        "scale_stretch": 2,
        "rating_error": 0,
        "rank_correlation": 3,
        "win_gap": 4,
        "avg_wait_time": 2,
    }
    return table(
        ["system", "newcomers a day", *(name.replace("_", " ") for name in names)],
        (
            [row["system"], row["newcomers_per_day"]]
            + [shown(row, name, digits) for name, digits in names.items()]
            for row in read("inflow")
        ),
    )


def page() -> None:
    """Put the tables into the page, each below its mark."""
    tables = {
        "career win_gap": career_table("win_gap", 3),
        "career wait": career_table("wait", 2),
        "career error": career_table("error", 0),
        "stretch": stretch_table(),
        "calibration": calibration_table(),
        "systems five": systems_table("five a side"),
        "systems one": systems_table("one against one"),
        "tuning": tuning_table(),
        "tuning said": said_of_tuning(),
        "waits five": waits_table("five a side"),
        "waits one": waits_table("one against one"),
        "waits said": said_of_waits(),
        "inflow": inflow_table(),
    }
    fill(HERE / "README.md", tables)


MADE = (career, stretch, calibration, systems, tuning, waits, inflow, page)
PARTS = {part.__name__: part for part in MADE}


if __name__ == "__main__":
    make_parts(__doc__, PARTS)
