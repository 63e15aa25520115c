"""Make the numbers of this folder, in a few minutes.

    python results/readings/make.py

Each is put into the page between the mark with its name and the next `<!-- end -->`. `--check` says
whether the page holds what `readings.csv` does. What is done is said on stderr.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from results.pages import add_page, counted, fill, parser, read
from valmatch import Estimate, compare, load, optimize, replicate
from valmatch.optimization.studies.study import DEFAULT_BUDGET
from valmatch.storage.output import write_csv

HERE = Path(__file__).parent

DAYS, POPULATIONS, RUNS = 2000, 200, 20
FRESH = 99
"""Seed of the days on which recommended rules are seen once more."""

NO_CHANGE = 1e-6
"""A difference below this, interval and all, is one of rounding."""

MATCHES = {
    "avg_team_diff": "team difference",
    "avg_player_diff": "player difference",
    "avg_wait_time": "wait",
    "matched_fraction": "matched",
}
PAIRS = {"avg_pair_diff": "pair difference"}
ASK_FOR_PAIRS = "measure=[pairs]"
IN_ELO = MATCHES | {"avg_elo_diff": "team difference in elo"}
ASK_FOR_ELO = "measure=[elo]"
RATINGS = {"rating_error": "error", "rating_spread": "spread", "log_loss": "log loss"}
FEASIBLE = "feasible"
"""Whether a recommended point was called feasible; of several runs, the share."""

DIFFERENCES = ("player_diff", "team_diff", "player_slack", "team_slack")


class Row(NamedTuple):
    """A number of ``readings.csv``: what a command says, the default beside it if it compares."""

    name: str
    command: str
    measure: str
    default: float | None
    reading: float | None
    difference: float | None
    ci_low: float | None
    ci_high: float | None
    n: int

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (
            0.0 if self.ci_low is None or self.ci_high is None else (self.ci_high - self.ci_low) / 2
        )


class Paired(NamedTuple):
    """A reading against the default under common random numbers."""

    name: str
    config: str
    changes: tuple[str, ...]
    n: int = DAYS
    measures: dict[str, str] = MATCHES
    asked: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The same from the command line."""
        shown = f" --responses {','.join(self.measures)}" if self.asked else ""
        return f"valmatch compare {self.config}{sets(self.changes)} -n {self.n}{shown}"

    def measured(self) -> list[Row]:
        """Return the differences."""
        default, reading = (
            load(self.config, (*self.asked, *changes)) for changes in ((), self.changes)
        )
        found = compare(default, reading, self.n)
        rows = []
        for response in self.measures:
            one = found.comparisons[response]
            less = one.difference
            values = (one.a.mean, one.b.mean, less.mean, less.ci_low, less.ci_high)
            rows.append(Row(self.name, self.command, response, *values, less.n))
        return rows

    def words(self, rows: Mapping[str, Row]) -> str:
        """Return the differences in words."""
        words = [f"{label} {signed(rows[name])}" for name, label in self.measures.items()]
        return "nothing" if all(word.endswith(" 0") for word in words) else ", ".join(words)


class Solved(NamedTuple):
    """A reading of the optimisation problem, and the days that its recommended rules give."""

    name: str
    config: str
    changes: tuple[str, ...] = ()
    budget: int = DEFAULT_BUDGET
    pairs: bool = False

    @property
    def command(self) -> str:
        """The same from the command line."""
        budget = f" --budget {self.budget}" if self.budget != DEFAULT_BUDGET else ""
        return f"valmatch optimize {self.config}{sets(self.changes)}{budget}"

    @property
    def labels(self) -> dict[str, str]:
        """What is told of the days that the recommended rules give."""
        return MATCHES | (PAIRS if self.pairs else {})

    def measured(self) -> list[Row]:
        """Return what is recommended, and what it gives."""
        study = optimize(load(self.config, self.changes), budget=self.budget)
        assert study.verdict is not None
        point = study.verdict.point
        at = [f"{name}={value!r}" for name, value in point.items()]
        asked = [ASK_FOR_PAIRS] if self.pairs else []
        days = replicate(load("valorant", [*at, *asked]), DAYS, FRESH).estimates
        rows = [self.row("objective", study.verdict.objective)]
        rows += [self.row(response, days[response]) for response in self.labels]
        facts = {FEASIBLE: float(bool(study.summary()["feasible"])), **point}
        return rows + [
            Row(self.name, self.command, name, None, value, None, None, None, 1)
            for name, value in facts.items()
        ]

    def words(self, rows: Mapping[str, Row]) -> str:
        """Return what is recommended in words."""
        found = "" if rows[FEASIBLE].reading else "infeasible; where the wait is least, "
        words = [f"{found}objective {plain(rows['objective'])}"]
        words += [f"{label} {plain(rows[response])}" for response, label in self.labels.items()]
        if missing := DAYS - rows["avg_team_diff"].n:
            words.append(f"no match on {missing} of {DAYS} days")
        return ", ".join(words)

    def row(self, measure: str, found: Estimate) -> Row:
        """Return an estimate as a row."""
        interval = (found.ci_low, found.ci_high)
        return Row(self.name, self.command, measure, None, found.mean, None, *interval, found.n)


class RandomSearch(NamedTuple):
    """What random search finds with random solutions of some distribution."""

    name: str
    changes: tuple[str, ...] = ()

    @property
    def command(self) -> str:
        """The same from the command line."""
        return f"valmatch optimize valorant-20min --solver random --macroreps {RUNS}" + sets(
            self.changes
        )

    def measured(self) -> list[Row]:
        """Return the median objective of the runs, and the share of those called feasible."""
        study = optimize(load("valorant-20min", self.changes), "random", macroreps=RUNS)
        assert study.comparison is not None
        found = study.comparison.solvers["random"]
        middle, called = found["median_objective"], found["called_feasible"]["value"]
        low, high = middle["ci_low"], middle["ci_high"]
        told = Row(self.name, self.command, FEASIBLE, None, called, None, None, None, RUNS)
        return [
            Row(self.name, self.command, "objective", None, middle["value"], None, low, high, RUNS),
            told,
        ]

    def words(self, rows: Mapping[str, Row]) -> str:
        """Return the median objective in words."""
        one = rows["objective"]
        ends = f"{one.ci_low:.1f} to {one.ci_high:.1f}"
        words = f"median objective of {one.n} runs {one.reading:.1f} ({ends})"
        return f"{words}, {rows[FEASIBLE].reading:.0%} of them feasible"


def moments(names: tuple[str, ...], mean: float, std: float) -> tuple[str, ...]:
    """Return changes to the normal distribution of some decision variables."""
    return tuple(
        f"optimize.variables.{name}.{key}={value:g}"
        for name in names
        for key, value in (("mean", mean), ("std", std))
    )


SPREADS = tuple(
    f"optimize.variables.{name}.std={value:g}"
    for name, value in zip(
        ("player_diff", "team_diff", "wait_thresh", "player_slack", "team_slack"),
        (10, 20, 0.05, 10, 10),
        strict=True,
    )
)

TASKS: tuple[Paired | Solved | RandomSearch, ...] = (
    Paired("mean", "valorant", ("mean_matrix=[1300,1,50]",)),
    Paired("hours", "valorant", ("horizon=27",)),
    Paired("newcomer", "valorant", ("team_rule=newcomer",)),
    Paired(
        "newcomer-halved", "valorant", ("team_rule=newcomer", "player_diff=100", "player_slack=100")
    ),
    Paired("minutes", "valorant", ("wait_thresh=0.00333333",)),
    Paired("reviews", "valorant", ("review=continuous",)),
    Paired("pool", "valorant", ("slack_scope=pool",)),
    Paired("joint", "valorant", ("matching=joint",)),
    Paired("no-slack", "valorant", ("player_slack=0", "team_slack=0")),
    Paired("twice-the-players", "valorant", ("rate_multiplier=2",)),
    Paired("no-kd", "valorant", ("multiplier_matrix=[1,0,1]",)),
    Paired(
        "elo-alone",
        "valorant",
        ("multiplier_matrix=[1,0,0]",),
        measures=IN_ELO,
        asked=(ASK_FOR_ELO,),
    ),
    Paired(
        "equal-weights",
        "valorant",
        ("multiplier_matrix=[1,1000,20]",),
        measures=IN_ELO,
        asked=(ASK_FOR_ELO,),
    ),
    Solved("ten-minutes", "valorant-1"),
    Solved("ten-hours", "valorant-1-hours"),
    Solved("bounds", "valorant-1-bounds"),
    Solved("ten-hours-longer", "valorant-1-hours", budget=10_000),
    Solved("bounds-longer", "valorant-1-bounds", budget=10_000),
    Solved("both-terms", "valorant-20min", pairs=True),
    Solved(
        "pair-terms",
        "valorant-20min",
        (ASK_FOR_PAIRS, "optimize.objective.w_player.response=avg_pair_diff"),
        pairs=True,
    ),
    Solved("one-term", "valorant-20min", ("w_player=0",)),
    RandomSearch("five"),
    RandomSearch("one", moments(("player_diff",), 150, 50)),
    RandomSearch("four", moments(DIFFERENCES, 150, 50)),
    RandomSearch("deviations", SPREADS),
    Paired("score", "zonestats", ("compare=score",), POPULATIONS, RATINGS),
    Paired("joint-time", "zonestats", ("contest_time=joint",), POPULATIONS, RATINGS),
    Paired("joint-time-ffa", "zonestats-ffa", ("contest_time=joint",), POPULATIONS, RATINGS),
    Paired("cap", "zonestats-ffa", ("cap=every_player",), POPULATIONS, RATINGS),
)


def sets(changes: tuple[str, ...]) -> str:
    """Return changes as options."""
    return "".join(f" --set {change}" for change in changes)


def digits(half: float) -> int:
    """Return the decimals that show two digits of a half-width."""
    return 4 if not half else max(0, 1 - math.floor(math.log10(half)))


def plain(one: Row) -> str:
    """Return a mean with the half-width of its interval."""
    places = digits(one.half_width)
    return f"{one.reading:.{places}f} ± {one.half_width:.{places}f}"


def signed(one: Row) -> str:
    """Return a difference with the half-width of its interval."""
    assert one.difference is not None
    if abs(one.difference) + one.half_width < NO_CHANGE:
        return "0"
    places = digits(one.half_width)
    return f"{one.difference:+.{places}f} ± {one.half_width:.{places}f}"


def negative_vectors() -> Iterator[tuple[str, str]]:
    """Yield how rare vectors with a negative component are, with means of either reading."""
    factors = load("valorant").factors.model_dump()
    spreads = [math.sqrt(row[k]) for k, row in enumerate(factors["cov_matrix"])]
    players = sum(factors["poisson_rate"][:24])
    chances = [
        NormalDist(mean, spread).cdf(0.0)
        for mean, spread in zip(factors["mean_matrix"], spreads, strict=True)
    ]
    yield (
        "negative",
        f"at most {sum(chances):.1e} of the players, one in {1 / sum(chances) / players:,.0f} days",
    )


def measured(task: Paired | Solved | RandomSearch) -> list[Row]:
    """Return what a task measures; by this name, so that other processes find it."""
    return task.measured()


def row_of(cells: Mapping[str, str]) -> Row:
    """Return a row of the table."""
    told = [cells[name] for name in ("name", "command", "measure")]
    default, reading, difference, low, high = (
        float(cells[name]) if cells[name] else None
        for name in ("default", "reading", "difference", "ci_low", "ci_high")
    )
    return Row(told[0], told[1], told[2], default, reading, difference, low, high, int(cells["n"]))


def page() -> None:
    """Put what the table holds into the page."""
    found: dict[str, dict[str, Row]] = {}
    for row in map(row_of, read(HERE / "readings.csv")):
        found.setdefault(row.name, {})[row.measure] = row
    texts = dict(negative_vectors())
    for task in TASKS:
        texts[task.name] = f"`{task.command}`: {task.words(found[task.name])}"
    fill(HERE / "README.md", texts)


def main() -> None:
    """Measure everything, then write the CSV file and the page."""
    given = parser(__doc__)
    add_page(given, page)
    given.parse_args()
    with ProcessPoolExecutor(2) as pool:
        rows = [
            row
            for some in counted("numbers", pool.map(measured, TASKS), len(TASKS))
            for row in some
        ]
    names = Row._fields
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    write_csv(HERE / "readings.csv", columns)
    page()


if __name__ == "__main__":
    main()
