"""Make the numbers of this folder, in a few minutes.

    python results/readings/make.py

runs the commands of `commands.yaml`.
"""

import math
from collections.abc import Iterator
from statistics import NormalDist

import yaml

from results.study import Row, Study, run_command, two_digits
from valmatch import load_config

study = Study(globals(), digits=17)
COMMANDS: dict[str, str] = yaml.safe_load(
    (study.folder / "commands.yaml").read_text(encoding="utf-8")
)
# Days on which recommended rules are seen once more, and their seed.
DAYS, FRESH = 2000, 99
NO_CHANGE = 1e-6  # a difference below this, interval and all, is one of rounding
# What is measured, with what it is called.
MATCHES = {
    "avg_team_diff": "team difference",
    "avg_player_diff": "player difference",
    "avg_wait_time": "wait",
    "matched_fraction": "matched",
}
PAIRS = {"avg_pair_diff": "pair difference"}
OF_PAIRS = "both-terms", "pair-terms"  # commands whose rules are seen on pairs too
LABELS = {
    **(MATCHES | PAIRS),
    "avg_elo_diff": "team difference in elo",
    "rating_error": "error",
    "rating_spread": "spread",
    "log_loss": "log loss",
}
FEASIBLE = "feasible"  # whether a recommended point was called feasible; of several runs, the share


@study.table([{"name": name, "command": command} for name, command in COMMANDS.items()])
def readings(name: str, command: str) -> Iterator[Row]:
    """Return what a command measures; of recommended rules also what they give."""
    found = run_command(*command.split()[1:])
    if "differences" in found:
        for response, less in found["differences"].items():
            if response in LABELS:
                row = {"default": less["mean_a"], "reading": less["mean_b"]}
                yield {"measure": response, **row, "difference": less["mean"], **interval_of(less)}
        return
    if "solvers" in found:
        runs = found["solvers"]["random"]
        middle, share = runs["median_objective"], runs["called_feasible"]["value"]
        of_runs = {"n": runs["runs"]}
        yield {"measure": "objective", "reading": middle["value"], **interval_of(middle | of_runs)}
        yield {"measure": FEASIBLE, "reading": share, **of_runs}
        return
    best = found["recommended"] or found["least_violation"]
    words = [word for item in best["point"].items() for word in ("--set", "{}={!r}".format(*item))]
    responses = [*MATCHES, *(PAIRS if name in OF_PAIRS else ())]
    words += ["-n", str(DAYS), "--seed", str(FRESH), "--responses", ",".join(responses)]
    days = run_command("replicate", "valorant", *words)["responses"]
    means = {"objective": best["objective"]} | {measure: days[measure] for measure in responses}
    for measure, one in means.items():
        yield {"measure": measure, "reading": one["mean"], **interval_of(one)}
    for measure, value in {FEASIBLE: float(bool(found["feasible"])), **best["point"]}.items():
        yield {"measure": measure, "reading": value, "n": 1}


def interval_of(found: Row) -> Row:
    """Return the ends of an interval, and of how many values it is."""
    return {name: found[name] for name in ("ci_low", "ci_high", "n")}


# ---- the page ----


def shown(row: Row, column: str = "reading", sign: str = "") -> str:
    """Return a mean with the half-width of its interval, which is 0 where there is none."""
    half = (float(row["ci_high"]) - float(row["ci_low"])) / 2 if row["ci_low"] else 0.0
    mean = float(row[column])
    return two_digits(mean, half, sign) if not sign or abs(mean) + half >= NO_CHANGE else "0"


def told(name: str) -> str:
    """Return what a reading changes, in words, after its command."""
    rows = {row["measure"]: row for row in study.rows("readings", name=name)}
    of_labels = {label: rows[measure] for measure, label in LABELS.items() if measure in rows}
    feasible = float(rows[FEASIBLE]["reading"]) if FEASIBLE in rows else 1.0
    if "objective" not in rows:
        words = [f"{label} {shown(row, 'difference', '+')}" for label, row in of_labels.items()]
        words = ["nothing"] if all(word.endswith(" 0") for word in words) else words
    elif of_labels:
        less = "" if feasible else "infeasible; where the wait is least, "
        words = [f"{less}objective {shown(rows['objective'])}"]
        words += [f"{label} {shown(row)}" for label, row in of_labels.items()]
        if missing := DAYS - int(rows["avg_team_diff"]["n"]):
            words.append(f"no match on {missing} of {DAYS} days")
    else:
        one = rows["objective"]
        mean, low, high = (float(one[column]) for column in ("reading", "ci_low", "ci_high"))
        words = [f"median objective of {one['n']} runs {mean:.1f} ({low:.1f} to {high:.1f})"]
        words.append(f"{feasible:.0%} of them feasible")
    return f"`{COMMANDS[name]}`: {', '.join(words)}"


def negative_vectors() -> str:
    """Say how rare vectors with a negative component are, with means of either reading."""
    factors = load_config("valorant").factors.model_dump()
    spreads = [math.sqrt(row[k]) for k, row in enumerate(factors["cov_matrix"])]
    pairs = zip(factors["mean_matrix"], spreads, strict=True)
    chance = sum(NormalDist(mean, spread).cdf(0.0) for mean, spread in pairs)
    days = 1 / chance / sum(factors["poisson_rate"][:24])
    return f"at most {chance:.1e} of the players, one in {days:,.0f} days"


if __name__ == "__main__":
    study.main()
