"""Make the tables of this folder.

    python results/policies/make.py

takes a quarter of an hour on two cores. ``gamma``, ``tuned``, ``tuning``, ``compared``,
``cost`` or ``draws`` after it makes that table alone, ``page`` puts all tables into the page.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

from scipy.special import stdtrit

from results import opponent_priors as priors
from results import pages
from results.pages import fill, make_parts, table, where
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
TUNED = {"gamma": ((KG,), GAMMAS), "kappa": ((OPPONENT, BOTH), KAPPAS)}
"""Parameters that are tuned: of which policies, and the values that are tried."""

TUNED_KG = "knowledge_gradient_tuned"
COMPARED_SEED, COMPARED_PATHS = 3001, 4000
PAIRS = (
    *((bound, rival) for bound, rival in product((OPPONENT, BOTH), (TUNED_KG,))),
    *((OPPONENT, rival) for rival in ("point_estimate", "draw_chance", KG, FINITE)),
    *((TUNED_KG, rival) for rival in ("point_estimate", "draw_chance", KG)),
)
"""What is compared: a policy, and the one that it is judged against."""

PRIMARY = PAIRS[0]

MARGIN, DRAW_SEED, DRAW_PATHS = 0.5, 4001, 2000
DRAW_RIVALS = ("point_estimate", "draw_chance", OPPONENT)
SPANS = ("1-100", "101-200", "201-500")
GROUPS = {
    f"{prior}, {part}": (prior, ranks)
    for prior, (part, ranks) in product(
        PRIORS, (("extremes", ("top", "bottom")), ("middle", ("12", "25", "37")))
    )
}
"""Settings that are pooled."""

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


# ---- tuning: gamma and kappa alike ----


def tuning_setting(setting: tuple[str, str]) -> list[Row]:
    """Return all values of both parameters in a setting, on the same priors for tuning."""
    prior, rank = setting
    rows = []
    for parameter, (policies, values) in TUNED.items():
        for value in values:
            overrides = at(prior, rank, "prior_draw=path", f"{parameter}={value}")
            found = simulate(
                [*overrides, f"policies=[{', '.join(policies)}]"], TUNING_SEED, TUNING_PATHS
            )
            for policy, (measure, name) in product(policies, MEASURES.items()):
                mean, ci = interval(found[name.format(policy)])
                rows.append(
                    {"policy": policy, "parameter": parameter, "value": value}
                    | {"prior": prior, "rank": rank, "measure": measure}
                    | {"n": TUNING_PATHS, "mean": mean, "ci": ci}
                )
    return rows


def tuning(pool: ProcessPoolExecutor) -> None:
    """Make tuning.csv."""
    write("tuning", (row for rows in pool.map(tuning_setting, SETTINGS) for row in rows))


def tuning_means(measure: str) -> dict[str, dict[float, float]]:
    """Return, by policy and value, the mean of a measure over all settings."""
    found: dict[str, dict[float, list[float]]] = {}
    for row in read("tuning"):
        if row["measure"] == measure:
            values = found.setdefault(row["policy"], {})
            values.setdefault(float(row["value"]), []).append(float(row["mean"]))
    return {
        policy: {value: sum(own) / len(own) for value, own in values.items()}
        for policy, values in found.items()
    }


def chosen(policy: str) -> float:
    """Return the value with the largest objective on the priors for tuning, all settings alike."""
    means = tuning_means("objective")[policy]
    return max(means, key=means.__getitem__)


# ---- comparison on fresh priors ----


def contenders() -> dict[str, tuple[str, list[str]]]:
    """Return what is compared: the policy of each name, and what it is set to."""
    tuned_values = {
        TUNED_KG: (KG, [f"gamma={chosen(KG)}"]),
        **{policy: (policy, [f"kappa={chosen(policy)}"]) for policy in (OPPONENT, BOTH)},
    }
    fixed: dict[str, tuple[str, list[str]]] = {
        name: (name, []) for name in ("point_estimate", "draw_chance", KG, FINITE)
    }
    return {**tuned_values, **fixed}


def compared_setting(setting: tuple[str, str]) -> list[Row]:
    """Return one contender less another in a setting; each path has a prior of its own."""
    found: dict[str, dict[str, Floats]] = {}
    for name, (policy, own) in contenders().items():
        overrides = at(*setting, "prior_draw=path", *own, f"policies=[{policy}]")
        values = simulate(overrides, COMPARED_SEED + SETTINGS.index(setting), COMPARED_PATHS)
        found[name] = {m: values[response.format(policy)] for m, response in MEASURES.items()}
    return [
        {"prior": setting[0], "rank": setting[1], "measure": measure}
        | {"policy": policy, "other": other}
        | paired(found[policy][measure], found[other][measure])
        for measure, (policy, other) in product(MEASURES, PAIRS)
    ]


def paired(own: Floats, other: Floats) -> Row:
    """Return the mean of a policy, and what it is less another on the same priors and paths."""
    less = own - other
    error = float(less.std(ddof=1)) / math.sqrt(less.size)
    return {"n": less.size, "mean": float(own.mean()), "less": float(less.mean()), "less_se": error}


def compared(pool: ProcessPoolExecutor) -> None:
    """Make compared.csv."""
    write("compared", (row for rows in pool.map(compared_setting, SETTINGS) for row in rows))


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


def draws_setting(setting: tuple[str, str]) -> list[Row]:
    """Return the share of drawn games less others' in a setting; a prior of its own each path."""
    found: dict[str, dict[str, Floats]] = {}
    seed = DRAW_SEED + SETTINGS.index(setting)
    for name in (TUNED_KG, *DRAW_RIVALS):
        policy, own = contenders()[name]
        words = ["prior_draw=path", f"draw_margin={MARGIN}", *own, f"policies=[{policy}]"]
        values = simulate(at(*setting, *words), seed, DRAW_PATHS)
        spans = [values[f"draw_fraction.{policy}.{span}"] for span in SPANS]
        late = spans[-1]
        found[name] = {"201-500": late, "all": 0.2 * spans[0] + 0.2 * spans[1] + 0.6 * late}
    return [
        {"prior": setting[0], "rank": setting[1], "games": games, "policy": TUNED_KG}
        | {"other": other}
        | paired(found[TUNED_KG][games], found[other][games])
        for games, other in product(("201-500", "all"), DRAW_RIVALS)
    ]


def draws(pool: ProcessPoolExecutor) -> None:
    """Make draws.csv."""
    write("draws", (row for rows in pool.map(draws_setting, SETTINGS) for row in rows))


# ---- the page ----


def read(name: str) -> list[dict[str, str]]:
    """Return the rows of a CSV file of this folder."""
    return pages.read(HERE / f"{name}.csv")


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


def pooled(name: str, group: str, **cells: str) -> tuple[float, float]:
    """Return a difference over the settings of a group, and its standard error."""
    prior, ranks = GROUPS[group]
    rows = [row for row in where(read(name), prior=prior, **cells) if row["rank"] in ranks]
    return priors.pooled(rows, lambda row, _: (float(row["less"]), float(row["less_se"])), "")


COMPARED_WIDTH = priors.half_widths(len(MEASURES) * len(PAIRS) * len(GROUPS))
DRAWS_WIDTH = priors.half_widths(2 * len(DRAW_RIVALS) * len(GROUPS))
"""Standard errors of half an interval: those of a table hold together."""


def differences(name: str, width: float, digits: int, **cells: str) -> list[str]:
    """Return a difference in each group with its interval, in bold where that leaves 0 out."""
    found = (pooled(name, group, **cells) for group in GROUPS)
    return [shown(str(less), str(width * error), digits) for less, error in found]


def compared_table() -> str:
    """Return what one policy is less another, pooled over the settings of a group."""
    digits = {"objective": 2, "late_draw_probability": 4, "late_squared_error": 3}
    lines = [
        [name.replace("_", " ") for name in (measure, policy, other)]
        + differences(
            "compared", COMPARED_WIDTH, digits[measure], measure=measure, policy=policy, other=other
        )
        for measure, (policy, other) in product(MEASURES, PAIRS)
    ]
    return table(["measure", "policy", "less", *GROUPS], lines)


def verdicts(policy: str, other: str) -> str:
    """Say, by measure, where a policy is shown to be better than another, worse, or neither."""
    words = {1: "better", -1: "worse", 0: "open"}
    parts = []
    for measure in MEASURES:
        where_so: dict[int, list[str]] = {}
        for group in GROUPS:
            less, error = pooled("compared", group, measure=measure, policy=policy, other=other)
            good = -less if measure == "late_squared_error" else less
            how = 0 if abs(less) <= COMPARED_WIDTH * error else (1 if good > 0 else -1)
            where_so.setdefault(how, []).append(group)
        said = "; ".join(
            f"{words[how]}: {', '.join(group.replace(',', '') for group in groups)}"
            for how, groups in sorted(where_so.items(), reverse=True)
        )
        parts.append(f"  - {measure.replace('_', ' ')}: {said}\n")
    return f"- `{policy}` against `{other}`:\n{''.join(parts)}"


def said_of_tuning() -> str:
    """Say what was chosen, and what the late games would have chosen."""
    lines = []
    for parameter, (policies, values) in TUNED.items():
        for policy in policies:
            late = tuning_means("late_draw_probability")[policy]
            best = max(late, key=late.__getitem__)
            lines.append(
                f"- `{policy}`: {parameter} {chosen(policy):g} of {len(values)} values; for the"
                f" late draw probability it would be {best:g}.\n"
            )
    return "".join(lines)


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


def tuning_table(parameter: str) -> str:
    """Return what each value of a parameter gives, as a mean over all settings."""
    policies, values = TUNED[parameter]
    lines = [
        [policy, measure.replace("_", " ")]
        + [f"{tuning_means(measure)[policy][value]:.4g}" for value in values]
        for policy, measure in product(policies, MEASURES)
    ]
    return table(["policy", "measure", *(f"{parameter} {value:g}" for value in values)], lines)


def draws_table() -> str:
    """Return the knowledge gradient's share of drawn games less its rivals', by group."""
    lines = []
    for games, other in product(("201-500", "all"), DRAW_RIVALS):
        found = differences("draws", DRAWS_WIDTH, 4, games=games, other=other)
        lines.append([games, other.replace("_", " "), *found])
    return table(["games", "less", *GROUPS], lines)


def said_of_draws() -> str:
    """Say how many more games are drawn under the knowledge gradient."""
    lines = []
    for games, part, others in product(
        ("201-500", "all"), ("extremes", "middle"), (DRAW_RIVALS[:2], DRAW_RIVALS[2:])
    ):
        groups = [group for group in GROUPS if group.endswith(part)]
        found = [
            pooled("draws", group, games=games, other=other)
            for group, other in product(groups, others)
        ]
        ends = [100.0 * end for end in (min(found)[0], max(found)[0])]
        shown_in = sum(abs(less) > DRAWS_WIDTH * error for less, error in found)
        names = " and ".join(f"`{other}`" for other in others)
        lines.append(
            f"- Games {games}, {part}, against {names}: {ends[0]:+.2f} to {ends[1]:+.2f} in a"
            f" hundred; shown in {shown_in} of {len(found)} comparisons.\n"
        )
    return "".join(lines)


def page(pool: ProcessPoolExecutor) -> None:
    """Put the tables into the page, each below its mark."""
    del pool
    tables = {
        "gamma objective": gamma_table("objective", 2),
        "gamma late": gamma_table("late_draw_probability", 4),
        "tuned": tuned_table(),
        **{f"tuning {parameter}": tuning_table(parameter) for parameter in TUNED},
        "tuning said": said_of_tuning(),
        "compared said": "".join(verdicts(*pair) for pair in (PRIMARY, PAIRS[-1])),
        "draws said": said_of_draws(),
        "compared": compared_table(),
        "cost": cost_table(),
        "draws": draws_table(),
    }
    fill(HERE / "README.md", tables)


TABLES = {part.__name__: part for part in (gamma, tuned, tuning, compared, cost, draws, page)}


def main() -> None:
    """Make the tables that are asked for, or all."""
    with ProcessPoolExecutor(2) as pool:
        make_parts(__doc__, {name: partial(make, pool) for name, make in TABLES.items()})


if __name__ == "__main__":
    main()
