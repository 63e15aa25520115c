"""Make the numbers of this folder, in a few minutes.

python results/readings/make.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import NamedTuple

import yaml

from results.study import Row, Study, two_digits
from valmatch import compare, load_config, optimize, replicate
from valmatch.optimization.studies.study import DEFAULT_BUDGET

study = Study(globals(), digits=17)
DAYS, RUNS = 2000, 20
FRESH = 99  # seed of the days on which recommended rules are seen once more
NO_CHANGE = 1e-6  # a difference below this, interval and all, is one of rounding
MEASURES = {
    "matches": {
        "avg_team_diff": "team difference",
        "avg_player_diff": "player difference",
        "avg_wait_time": "wait",
        "matched_fraction": "matched",
    },
    "matches in elo": {"avg_elo_diff": "team difference in elo"},
    "ratings": {"rating_error": "error", "rating_spread": "spread", "log_loss": "log loss"},
}
MATCHES = MEASURES["matches"]
MEASURES["matches in elo"] = MATCHES | MEASURES["matches in elo"]
PAIRS, ASK_FOR_PAIRS = {"avg_pair_diff": "pair difference"}, "measure=[pairs]"
FEASIBLE = "feasible"  # whether a recommended point was called feasible; of several runs, the share


def options(changes: Sequence[str]) -> str:
    """Return changes as options."""
    return "".join(f" --set {change}" for change in changes)


class Paired(NamedTuple):
    """A reading against the default under common random numbers."""

    config: str
    changes: Sequence[str]
    n: int = DAYS
    measures: str = "matches"  # by `MEASURES`
    asked: Sequence[str] = ()

    @property
    def labels(self) -> dict[str, str]:
        """What is measured, with what it is called."""
        return MEASURES[self.measures]

    @property
    def command(self) -> str:
        """The same from the command line."""
        shown = f" --responses {','.join(self.labels)}" if self.asked else ""
        return f"valmatch compare {self.config}{options(self.changes)} -n {self.n}{shown}"

    def measured(self) -> list[Row]:
        """Return the differences."""
        default, reading = (
            load_config(self.config, (*self.asked, *changes)) for changes in ((), self.changes)
        )
        rows = []
        for response, one in compare(default, reading, self.n).comparisons.items():
            if response in self.labels:
                less = one.difference
                row: Row = {"measure": response, "default": one.a.mean, "reading": one.b.mean}
                row |= {"difference": less.mean, "ci_low": less.ci_low, "ci_high": less.ci_high}
                rows.append(row | {"n": less.n})
        return rows

    def words(self, rows: Mapping[str, Row]) -> str:
        """Return the differences in words."""
        words = [f"{label} {signed(rows[name])}" for name, label in self.labels.items()]
        return "nothing" if all(word.endswith(" 0") for word in words) else ", ".join(words)


class Solved(NamedTuple):
    """A reading of the optimisation problem, and the days that its recommended rules give."""

    config: str
    changes: Sequence[str] = ()
    budget: int = DEFAULT_BUDGET
    pairs: bool = False

    @property
    def command(self) -> str:
        """The same from the command line."""
        budget = f" --budget {self.budget}" if self.budget != DEFAULT_BUDGET else ""
        return f"valmatch optimize {self.config}{options(self.changes)}{budget}"

    @property
    def labels(self) -> dict[str, str]:
        """What is told of the days that the recommended rules give."""
        return MATCHES | (PAIRS if self.pairs else {})

    def measured(self) -> list[Row]:
        """Return what is recommended, and what it gives."""
        found = optimize(load_config(self.config, self.changes), budget=self.budget)
        assert found.verdict is not None
        point = found.verdict.point
        at = [f"{name}={value!r}" for name, value in point.items()]
        days = replicate(load_config("valorant", [*at, *[ASK_FOR_PAIRS] * self.pairs]), DAYS, FRESH)
        estimates = {"objective": found.verdict.objective}
        estimates |= {response: days.estimates[response] for response in self.labels}
        facts = {FEASIBLE: float(bool(found.summary()["feasible"])), **point}
        return [
            *(
                {"measure": name, "reading": one.mean, "n": one.n}
                | {"ci_low": one.ci_low, "ci_high": one.ci_high}
                for name, one in estimates.items()
            ),
            *({"measure": name, "reading": value, "n": 1} for name, value in facts.items()),
        ]

    def words(self, rows: Mapping[str, Row]) -> str:
        """Return what is recommended in words."""
        feasible = float(rows[FEASIBLE]["reading"])
        found = "" if feasible else "infeasible; where the wait is least, "
        words = [f"{found}objective {plain(rows['objective'])}"]
        words += [f"{label} {plain(rows[response])}" for response, label in self.labels.items()]
        if missing := DAYS - int(rows["avg_team_diff"]["n"]):
            words.append(f"no match on {missing} of {DAYS} days")
        return ", ".join(words)


class RandomSearch(NamedTuple):
    """What random search finds with random solutions of some distribution."""

    changes: Sequence[str] = ()

    @property
    def command(self) -> str:
        """The same from the command line."""
        words = f"valmatch optimize valorant-20min --solver random --macroreps {RUNS}"
        return words + options(self.changes)

    def measured(self) -> list[Row]:
        """Return the median objective of the runs, and the share of those called feasible."""
        found = optimize(load_config("valorant-20min", self.changes), "random", macroreps=RUNS)
        solver = found.summary()["solvers"]["random"]
        middle, share = solver["median_objective"], solver["called_feasible"]["value"]
        row = {"measure": "objective", "reading": middle["value"], "n": RUNS}
        row |= {"ci_low": middle["ci_low"], "ci_high": middle["ci_high"]}
        return [row, {"measure": FEASIBLE, "reading": share, "n": RUNS}]

    def words(self, rows: Mapping[str, Row]) -> str:
        """Return the median objective in words."""
        one = {name: float(rows["objective"][name]) for name in ("reading", "ci_low", "ci_high")}
        ends = f"{one['ci_low']:.1f} to {one['ci_high']:.1f}"
        words = f"median objective of {rows['objective']['n']} runs {one['reading']:.1f} ({ends})"
        return f"{words}, {float(rows[FEASIBLE]['reading']):.0%} of them feasible"


KINDS = {"compare": Paired, "optimize": Solved, "random search": RandomSearch}
TASKS: dict[str, Paired | Solved | RandomSearch] = {
    name: KINDS[facts.pop("kind")](**facts)
    for name, facts in yaml.safe_load(
        (study.folder / "tasks.yaml").read_text(encoding="utf-8")
    ).items()
}


def half_width(row: Row) -> float:
    """Return half the width of an interval; 0 where there is none."""
    return (float(row["ci_high"]) - float(row["ci_low"])) / 2 if row["ci_low"] else 0.0


def plain(row: Row) -> str:
    """Return a mean with the half-width of its interval."""
    return two_digits(float(row["reading"]), half_width(row))


def signed(row: Row) -> str:
    """Return a difference with the half-width of its interval."""
    difference, half = float(row["difference"]), half_width(row)
    return two_digits(difference, half, "+") if abs(difference) + half >= NO_CHANGE else "0"


@study.table([{"name": name, "command": task.command} for name, task in TASKS.items()])
def readings(name: str, command: str) -> list[Row]:
    """Return what a command measures."""
    return TASKS[name].measured()


def told(name: str) -> str:
    """Return what a reading changes, in words, after its command."""
    rows = {row["measure"]: row for row in study.rows("readings", name=name)}
    return f"`{TASKS[name].command}`: {TASKS[name].words(rows)}"


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
