"""Make the tables of this folder.

    python results/policies/make.py

takes 40 minutes on two cores of a busy machine. ``gamma``, ``tuned``, ``kappa``, ``compared``,
``cost`` or ``draws`` after it makes that table alone, ``page`` puts all tables into the page.
"""

from __future__ import annotations

import csv
import json
import math
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from results.pages import fill, make_parts, table
from valmatch.config.loading import load
from valmatch.execution.simulator import build, run
from valmatch.kernels.arrays import Floats
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent
CONFIG = "kg-fig1-top"

RANKS = ("top", "12", "25", "37", "bottom")
PRIORS = ("informative", "equal")
SETTINGS = tuple(product(PRIORS, RANKS))
KG, FINITE, OPPONENT, BOTH = (
    "knowledge_gradient",
    "knowledge_gradient_finite",
    "ucb_opponent",
    "ucb_both",
)
MEASURES = {
    "objective": "expected_quality.{}",
    "late_draw_probability": "true_draw_probability.{}.201-500",
    "late_squared_error": "squared_error.{}.201-500",
}
GAMMAS = (0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999)
KAPPAS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
GAMMA_SEED, GAMMA_PATHS = 2001, 2000
TUNING_SEED, TUNING_PATHS = 1001, 1000
SEEDS, PATHS = tuple(range(1, 13)), 500
MARGIN, DRAW_PATHS = 0.5, 1000
CONFIDENCE = 0.95

Row = dict[str, Any]


def simulate(overrides: Sequence[str], seed: int, n: int) -> dict[str, Floats]:
    """Return the responses of `n` sample paths by name."""
    model = build(load(CONFIG, overrides))
    values = run(model, seed, range(n)).responses.T
    return dict(zip([one.name for one in model.responses], values, strict=True))


def at(prior: str, rank: str, *more: str) -> list[str]:
    """Return the overrides of a setting."""
    return [f"prior={prior}", f"rank={rank}", *more]


def interval(values: Floats) -> tuple[float, float]:
    """Return the mean of independent values and the half-width of its 95% interval."""
    half = stdtrit(values.size - 1, 0.5 + CONFIDENCE / 2) * values.std(ddof=1)
    return float(values.mean()), float(half / math.sqrt(values.size))


def rounded(row: Row) -> Row:
    """Return a row with its numbers in five digits."""
    return {k: float(f"{v:.5g}") if isinstance(v, float) else v for k, v in row.items()}


def write(name: str, rows: Iterable[Row]) -> None:
    """Write rows as a CSV file of this folder."""
    found = [rounded(row) for row in rows]
    write_csv(HERE / f"{name}.csv", {key: [row[key] for row in found] for key in found[0]})


# ---- gamma ----


def gamma_setting(setting: tuple[str, str]) -> list[Row]:
    """Return all discount factors in a setting, and (12), less 0.99; priors path by path."""
    prior, rank = setting
    found: dict[str, dict[str, Floats]] = {}
    for gamma in GAMMAS:
        overrides = at(prior, rank, "prior_draw=path", f"gamma={gamma}", f"policies=[{KG}]")
        values = simulate(overrides, GAMMA_SEED, GAMMA_PATHS)
        found[f"(13) {gamma:g}"] = {m: values[name.format(KG)] for m, name in MEASURES.items()}
    for label, policy in (("(12)", FINITE), ("DrawChance", "draw_chance")):
        overrides = at(prior, rank, "prior_draw=path", f"policies=[{policy}]")
        values = simulate(overrides, GAMMA_SEED, GAMMA_PATHS)
        found[label] = {m: values[name.format(policy)] for m, name in MEASURES.items()}
    return [
        {"prior": prior, "rank": rank, "rule": rule, "measure": measure, "n": GAMMA_PATHS}
        | dict(zip(("mean", "ci"), interval(own[measure]), strict=True))
        | dict(
            zip(
                ("less_0.99", "less_0.99_ci"),
                interval(own[measure] - found["(13) 0.99"][measure]),
                strict=True,
            )
        )
        for rule, own in found.items()
        for measure in MEASURES
    ]


def gamma(pool: ProcessPoolExecutor) -> None:
    """Make gamma.csv."""
    write("gamma", (row for rows in pool.map(gamma_setting, SETTINGS) for row in rows))


def tuned_case(case: tuple[str, str, str]) -> Row:
    """Return the discount factor that `optimize` finds for one rank, prior and measure."""
    prior, rank, measure = case
    words = ["optimize", "kg-tune", "--json", "--set", f"factors.rank={rank}"]
    words += ["--set", f"factors.prior={prior}"]
    words += ["--set", f"optimize.objective.quality.response={MEASURES[measure].format(KG)}"]
    command = [sys.executable, "-m", "valmatch", *words]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    best = json.loads(printed)["recommended"]
    return {
        "prior": prior,
        "rank": rank,
        "measure": measure,
        "gamma": best["point"]["gamma"],
        "mean": -best["objective"]["mean"],
    }


def tuned(pool: ProcessPoolExecutor) -> None:
    """Make tuned.csv."""
    cases = product(("informative",), ("top", "25"), ("objective", "late_draw_probability"))
    write("tuned", pool.map(tuned_case, cases))


# ---- kappa ----


def kappa_setting(setting: tuple[str, str]) -> list[Row]:
    """Return all weights in a setting, on the priors for tuning."""
    prior, rank = setting
    rows = []
    for kappa in KAPPAS:
        overrides = at(
            prior, rank, "prior_draw=path", f"kappa={kappa}", f"policies=[{OPPONENT}, {BOTH}]"
        )
        values = simulate(overrides, TUNING_SEED, TUNING_PATHS)
        for policy, (measure, name) in product((OPPONENT, BOTH), MEASURES.items()):
            mean, ci = interval(values[name.format(policy)])
            rows.append(
                {"policy": policy, "prior": prior, "rank": rank, "kappa": kappa}
                | {"measure": measure, "n": TUNING_PATHS, "mean": mean, "ci": ci}
            )
    return rows


def kappa(pool: ProcessPoolExecutor) -> None:
    """Make kappa.csv."""
    write("kappa", (row for rows in pool.map(kappa_setting, SETTINGS) for row in rows))


def chosen_kappas() -> dict[str, float]:
    """Return the weight of each policy with the largest objective, summed over all settings."""
    totals: dict[tuple[str, float], float] = {}
    with (HERE / "kappa.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["measure"] == "objective":
                key = row["policy"], float(row["kappa"])
                totals[key] = totals.get(key, 0.0) + float(row["mean"])
    return {
        policy: max(KAPPAS, key=lambda kappa: totals[policy, kappa]) for policy in (OPPONENT, BOTH)
    }


# ---- comparison on fresh priors ----


def compared_case(case: tuple[str, str, int]) -> dict[str, dict[str, Floats]]:
    """Return what each policy gives for one prior draw, by policy and measure."""
    prior, rank, seed = case
    kappas = chosen_kappas()
    first = ["point_estimate", "draw_chance", KG, FINITE, OPPONENT]
    runs = (
        (first, at(prior, rank, f"kappa={kappas[OPPONENT]}", f"policies=[{', '.join(first)}]")),
        ([BOTH], at(prior, rank, f"kappa={kappas[BOTH]}", f"policies=[{BOTH}]")),
    )
    found = {}
    for policies, overrides in runs:
        values = simulate(overrides, seed, PATHS)
        for policy in policies:
            found[policy] = {m: values[name.format(policy)] for m, name in MEASURES.items()}
    return found


def compared(pool: ProcessPoolExecutor) -> None:
    """Make compared.csv: each bound less each other policy, prior draw by prior draw."""
    write("compared", _compared_rows(pool))


def _compared_rows(pool: ProcessPoolExecutor) -> Iterator[Row]:
    """Yield rows; a prior draw is one observation of the interval, as priors differ by more."""
    cases = [(prior, rank, seed) for (prior, rank), seed in product(SETTINGS, SEEDS)]
    found = dict(zip(cases, pool.map(compared_case, cases), strict=True))
    kappas = chosen_kappas()
    for (prior, rank), bound, measure in product(SETTINGS, (OPPONENT, BOTH), MEASURES):
        for other in ("point_estimate", "draw_chance", KG, FINITE):
            differences = [
                found[prior, rank, seed][bound][measure] - found[prior, rank, seed][other][measure]
                for seed in SEEDS
            ]
            means = np.array([own.mean() for own in differences])
            errors = np.array([own.std(ddof=1) / math.sqrt(own.size) for own in differences])
            own = np.array([found[prior, rank, seed][bound][measure].mean() for seed in SEEDS])
            mean, ci = interval(means)
            higher = int((means > 2 * errors).sum())
            lower = int((means < -2 * errors).sum())
            yield {
                "bound": bound,
                "kappa": kappas[bound],
                "prior": prior,
                "rank": rank,
                "measure": measure,
                "other": other,
                "priors": len(SEEDS),
                "paths_each": PATHS,
                "mean": float(own.mean()),
                "less_other": mean,
                "less_other_ci": ci,
                "higher": higher,
                "lower": lower,
                "open": len(SEEDS) - higher - lower,
            }


def cost(pool: ProcessPoolExecutor) -> None:
    """Make cost.csv: microseconds a game of each policy, less those of a game without a choice."""
    del pool  # measured alone
    n, rounds = 100, 15
    policies = ("random", "point_estimate", "draw_chance", OPPONENT, BOTH, KG, FINITE)
    models = {policy: build(load(CONFIG, [f"policies=[{policy}]"])) for policy in policies}
    best = dict.fromkeys(policies, math.inf)
    for _, (policy, model) in product(range(rounds), models.items()):
        run(model, 1, range(1))
        started = time.perf_counter()
        run(model, 1, range(n))
        best[policy] = min(best[policy], time.perf_counter() - started)
    games = n * 500
    decision = {policy: (best[policy] - best["random"]) / games * 1e6 for policy in policies}
    write(
        "cost",
        (
            {
                "policy": policy,
                "us_a_game": best[policy] / games * 1e6,
                "us_a_decision": decision[policy],
                "share_of_knowledge_gradient": decision[policy] / decision[KG],
            }
            for policy in policies
        ),
    )


# ---- real draws ----


def draws_case(case: tuple[str, str, int]) -> dict[str, Floats]:
    """Return the share of drawn games of each path, late and in all, by policy."""
    prior, rank, seed = case
    policies = ("point_estimate", "draw_chance", KG, OPPONENT)
    overrides = at(
        prior,
        rank,
        f"draw_margin={MARGIN}",
        f"kappa={chosen_kappas()[OPPONENT]}",
        f"policies=[{', '.join(policies)}]",
    )
    values = simulate(overrides, seed, DRAW_PATHS)
    found = {}
    for policy in policies:
        parts = [values[f"draw_fraction.{policy}.{span}"] for span in ("1-100", "101-200")]
        late = values[f"draw_fraction.{policy}.201-500"]
        found[policy] = np.array([late, 0.2 * parts[0] + 0.2 * parts[1] + 0.6 * late])
    return found


def draws(pool: ProcessPoolExecutor) -> None:
    """Make draws.csv."""
    seeds = SEEDS[:5]
    cases = [(prior, rank, seed) for (prior, rank), seed in product(SETTINGS, seeds)]
    found = dict(zip(cases, pool.map(draws_case, cases), strict=True))
    rows = []
    for (prior, rank), (k, games), other in product(
        SETTINGS, enumerate(("201-500", "all")), ("point_estimate", "draw_chance", OPPONENT)
    ):
        own = np.concatenate([found[prior, rank, seed][KG][k] for seed in seeds])
        rival = np.concatenate([found[prior, rank, seed][other][k] for seed in seeds])
        mean, ci = interval(own - rival)
        rows.append(
            {"prior": prior, "rank": rank, "games": games, "other": other, "n": own.size}
            | {"knowledge_gradient": float(own.mean()), "less_other": mean, "less_other_ci": ci}
        )
    write("draws", rows)


# ---- the page ----


def read(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file of this folder."""
    with (HERE / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def shown(difference: str, ci: str, digits: int) -> str:
    """Return a difference with its interval, in bold where that leaves 0 out."""
    text = f"{float(difference):+.{digits}f} ± {float(ci):.{digits}f}"
    return f"**{text}**" if abs(float(difference)) > float(ci) else text


def gamma_table(measure: str, digits: int) -> str:
    """Return each rule less gamma 0.99, for all ranks and priors."""
    found = {
        (row["rule"], row["prior"], row["rank"]): row
        for row in read("gamma")
        if row["measure"] == measure
    }
    rules = dict.fromkeys(rule for rule, _, _ in found if rule != "(13) 0.99")
    head = ["rule", *(f"{prior}, {rank}" for prior, rank in SETTINGS)]
    return table(
        head,
        (
            [rule]
            + [
                shown(row["less_0.99"], row["less_0.99_ci"], digits)
                for row in (found[rule, prior, rank] for prior, rank in SETTINGS)
            ]
            for rule in rules
        ),
    )


def tuned_table() -> str:
    """Return the discount factors that `optimize` finds."""
    rows = (
        (row["prior"], row["rank"], row["measure"].replace("_", " "), f"{float(row['gamma']):.3f}")
        for row in read("tuned")
    )
    return table(["prior", "rank", "tuned for", "gamma"], rows)


def compared_table() -> str:
    """Return, for each bound, rival and measure, how often it is higher, lower, or neither."""
    rows = read("compared")
    keys = dict.fromkeys((row["bound"], row["measure"], row["other"]) for row in rows)
    lines = []
    for bound, measure, other in keys:
        line = [bound, measure.replace("_", " "), other.replace("_", " ")]
        for prior, ranks in product(PRIORS, (("top", "bottom"), ("12", "25", "37"))):
            mine = [
                row
                for row in rows
                if (row["bound"], row["measure"], row["other"]) == (bound, measure, other)
                and row["prior"] == prior
                and row["rank"] in ranks
            ]
            counts = [sum(int(row[key]) for row in mine) for key in ("higher", "lower", "open")]
            mean = sum(float(row["less_other"]) for row in mine) / len(mine)
            line.append(f"{mean:+.4f} ({' / '.join(map(str, counts))})")
        lines.append(line)
    head = ["bound", "measure", "less", "informative, extremes", "informative, middle"]
    return table([*head, "equal, extremes", "equal, middle"], lines)


def cost_table() -> str:
    """Return what a decision costs."""
    keys = ("us_a_game", "us_a_decision", "share_of_knowledge_gradient")
    return table(
        ["policy", "µs a game", "µs a decision", "share of the knowledge gradient's"],
        (
            [row["policy"].replace("_", " "), *(f"{float(row[key]):.2f}" for key in keys)]
            for row in read("cost")
        ),
    )


def kappa_table() -> str:
    """Return the objective of each weight, as a mean over all settings."""
    totals: dict[tuple[str, str, float], list[float]] = {}
    for row in read("kappa"):
        key = row["policy"], row["measure"], float(row["kappa"])
        totals.setdefault(key, []).append(float(row["mean"]))
    keys = dict.fromkeys((policy, measure) for policy, measure, _ in totals)
    return table(
        ["policy", "measure", *(f"kappa {kappa:g}" for kappa in KAPPAS)],
        (
            [policy, measure.replace("_", " ")]
            + [
                f"{sum(own) / len(own):.4g}"
                for own in (totals[policy, measure, kappa] for kappa in KAPPAS)
            ]
            for policy, measure in keys
        ),
    )


def draws_table() -> str:
    """Return the knowledge gradient's share of drawn games, and less its rivals'."""
    found = {(row["games"], row["other"], row["prior"], row["rank"]): row for row in read("draws")}
    lines = []
    for games, other in dict.fromkeys((games, other) for games, other, _, _ in found):
        own = [found[games, other, prior, rank] for prior, rank in SETTINGS]
        lines.append(
            [games, other.replace("_", " ")]
            + [shown(row["less_other"], row["less_other_ci"], 4) for row in own]
        )
    return table(["games", "less", *(f"{prior}, {rank}" for prior, rank in SETTINGS)], lines)


def page(pool: ProcessPoolExecutor) -> None:
    """Put the tables into the page, each below its mark."""
    del pool
    tables = {
        "gamma objective": gamma_table("objective", 2),
        "gamma late": gamma_table("late_draw_probability", 4),
        "tuned": tuned_table(),
        "kappa": kappa_table(),
        "compared": compared_table(),
        "cost": cost_table(),
        "draws": draws_table(),
    }
    fill(HERE / "README.md", tables)


TABLES = {part.__name__: part for part in (gamma, tuned, kappa, compared, cost, draws, page)}


def main() -> None:
    """Make the tables that are asked for, or all."""
    with ProcessPoolExecutor(2) as pool:
        make_parts(__doc__, {name: partial(make, pool) for name, make in TABLES.items()})


if __name__ == "__main__":
    main()
