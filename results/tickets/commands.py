"""The commands of this study: a cell for each question, as PLAN.md says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

DAYS, UNPAIRED, JUDGED = 20, 10, 40
"""Replications of systems that are compared, of one alone, and of tuned rules."""

WAITS = ("time_to_match", "matched_fraction", "win_gap", "latency")
SIZES = tuple(f"size_{size}" for size in range(1, 6))
DECILES = tuple(f"decile_{number}" for number in range(1, 11))
REGIONS = ("eu", "us", "ap")


class Run(NamedTuple):
    """One command.

    Attributes
    ----------
    name : str
        What it is called on the page.
    configs : str
        The config, or several.
    seed : int
    responses : sequence of str
        What is asked of it.
    confidence : float
        Of each interval, so that all of a table hold together.
    settings : sequence of str
        What `--set` is given.
    variants : mapping of str to str
        Systems that are compared with the first, by what they are called.
    sweep : str
        What `--sweep` is given.
    n : int
        Replications.
    """

    name: str
    configs: str
    seed: int
    responses: Sequence[str]
    confidence: float
    settings: Sequence[str] = ()
    variants: Mapping[str, str] = {}
    sweep: str = ""
    n: int = DAYS

    @property
    def compares(self) -> bool:
        """Whether systems are compared."""
        return bool(self.variants)

    @property
    def words(self) -> list[str]:
        """The words of the command after `valmatch`."""
        more = [word for one in self.settings for word in ("--set", one)]
        more += ["--sweep", self.sweep] * bool(self.sweep)
        more += [w for one in self.variants.values() if one for w in ("--variant", one)]
        return [
            "compare" if self.compares else "replicate", *self.configs.split(), *more, "-n",
            str(self.n), "--seed", str(self.seed), "--confidence", f"{self.confidence:g}",
            "--responses", ",".join(self.responses),
        ]  # fmt: skip


def every(measures: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return the responses of groups."""
    return tuple(f"{measure}.{name}" for name in names for measure in measures)


def steps(rule: str, values: Sequence[float], what: str = "value") -> str:
    """Return what gives the steps of an expansion other values; of `wait`, other waits."""
    return ",".join(f"expansions.{rule}[{k}].{what}={value:g}" for k, value in enumerate(values))


SKILLS, TEAMS, PINGS = (
    "CloseSkill.maxDistance",
    "FairTeamSkill.maxDistance",
    "FastConnection.maxLatency",
)
SHIPPED = {SKILLS: (10, 25), TEAMS: (10, 25), PINGS: (20, 40)}
"""Seconds at which the steps of `tickets` begin."""


def moved(rules: Sequence[str], factor: float) -> str:
    """Return what moves the steps of some rules, to whole seconds."""
    waits = {rule: [int(factor * wait) for wait in SHIPPED[rule]] for rule in rules}
    return ",".join(steps(rule, own, "wait") for rule, own in waits.items())


def lifted(rule: str, number: int = 2, bound: float = 9999) -> str:
    """Return what gives a rule and all its steps one bound."""
    return f"rules.{rule}={bound:g},{steps(rule, [bound] * number)}"


ONE_MODE = "attributes.mode={ranked: 1}"
LIFTS = {
    "SameMode: one mode for all": ONE_MODE,
    "CloseSkill lifted": lifted(SKILLS),
    "FairTeamSkill lifted": lifted(TEAMS),
    "FastConnection lifted": lifted(PINGS),
}
OLDEST, NEWEST = (f"rules.algorithm.expansionAgeSelection={age}" for age in ("oldest", "newest"))

FULL = ",".join(steps(f"{team}.minPlayers", [5, 5, 5]) for team in ("red", "blue"))

LOW_STEPS = {SKILLS: (15, 45), TEAMS: (15, 60), PINGS: (22, 60)}
LOW_TEAMS = {f"{team}.minPlayers": (30, 60, 120) for team in ("red", "blue")}
CONTRASTS = {
    "all steps at half (2)": ",".join(
        steps(rule, own, "wait") for rule, own in (LOW_STEPS | LOW_TEAMS).items()
    ),
    "newest age (3)": NEWEST,
    **{f"{name} (5)": change for name, change in [*LIFTS.items()][1:]},
    "never over 130 ms (6)": steps(PINGS, [130, 130]),
    "twice the tickets (1, 7)": "arrivals.per_hour=40",
    "error of 200 points (9)": "skill.error=200",
}


def _order() -> Iterator[Run]:
    """Yield the commands that ask what hangs on the order of search."""
    low = ("arrivals.per_hour=20",)
    groups = every(["timed_out_fraction"], ["size_1", "size_5", *REGIONS])
    other = {"exhaustive": "service.search=exhaustive"}
    yield Run("pass against exhaustive", "tickets-low", 3911, WAITS, 0.998, low, other)
    for search in ("pass", "exhaustive"):
        own = (*low, f"service.search={search}")
        yield Run(search, "tickets-low", 3911, WAITS, 0.998, own, CONTRASTS)
        measured = (*own, "measure=[sizes, regions]")
        yield Run(f"groups, {search}", "tickets-low", 3911, groups, 0.998, measured)
    gap = ("measure=[pools]",)
    yield Run("search_gap of tickets", "tickets", 3911, ("search_gap",), 0.998, gap)


_ALONE = {"eu": 600, "us": 420, "ap": 180}
_REGIONAL = every(["time_to_match", "matched_fraction", "latency"], REGIONS)
_GROUPED = every(["timed_out_fraction", "time_to_match"], [*DECILES, *SIZES, *REGIONS])

CELLS: dict[str, list[Run]] = {
    "waits": [
        Run("players", "tickets", 3901,
            ("time_to_match", "time_to_match_p90", "matched_fraction", "win_gap"), 0.998,
            sweep="arrivals.per_hour=150,300,600,1200,2400,4800"),
    ],
    "steps": [
        Run("steps", "tickets", 3902, WAITS, 0.99, variants={
            f"{name}, {how}": moved(rules, factor)
            for name, rules in (
                ("CloseSkill", [SKILLS]), ("FairTeamSkill", [TEAMS]),
                ("FastConnection", [PINGS]), ("all three", [*SHIPPED]),
            )
            for how, factor in (("half", 0.5), ("one and a half", 1.5))
        }),
    ],
    "tuned": [
        Run("tuned", "tickets-tune tuned/recommended.yaml", 39020,
            ("time_to_match_p90", "matched_fraction", "win_gap", "latency"), 0.99,
            variants={"tuned": ""}, n=JUDGED),
    ],
    "age": [
        Run(f"{rate:,} an hour", "tickets", 3903, (*WAITS, "time_to_match_p90"), 0.995,
            (f"arrivals.per_hour={rate}",), {"oldest": OLDEST})
        for rate in (300, 1200)
    ],
    "parties": [
        Run("sizes", "tickets", 3904,
            every(["time_to_match", "matched_fraction", "win_gap", "win_prob"], SIZES), 0.998,
            ("measure=[sizes]",)),
        Run("solos", "tickets", 3904,
            every(["time_to_match", "matched_fraction", "win_gap", "win_prob"], ["size_1"]), 0.998,
            ("measure=[sizes]",), {
                "no parties": "parties.shares=[1, 0, 0, 0, 0],arrivals.per_hour=1812",
                "twice as many in parties":
                    "parties.shares=[0.5, 0.28, 0.09, 0.05, 0.08],arrivals.per_hour=939",
            }),
    ],
    "blocks": [
        Run("lifted", "tickets", 3905, WAITS, 0.99, variants=LIFTS),
        Run("counts", "tickets", 3905,
            tuple(f"rule_failed.{rule.partition('.')[0]}"
                  for rule in ("SameMode", SKILLS, TEAMS, PINGS)),
            0.99, ("measure=[rules]",), n=UNPAIRED),
    ],
    "latency": [
        Run("limits", "tickets", 3906, _REGIONAL, 0.997, ("measure=[regions]",), {
            "never over 80 ms": steps(PINGS, [80, 80]),
            "never over 130 ms": steps(PINGS, [130, 130]),
            "200 ms at once": lifted(PINGS, bound=200),
        }),
        Run("together", "tickets", 3906, _REGIONAL, 0.997, ("measure=[regions]",), n=UNPAIRED),
        *(
            Run(f"{home} alone", "tickets", 39060 + k,
                ("time_to_match", "matched_fraction", "latency"), 0.997,
                (f"regions.shares={{{home}: 1}}", f"arrivals.per_hour={rate}"), n=UNPAIRED)
            for k, (home, rate) in enumerate(_ALONE.items())
        ),
    ],
    "population": [
        Run(config, config, seed, ("matched_fraction", "matched_fraction.4-5h"), 0.9975,
            ("measure=[hours]",), sweep=f"arrivals.per_hour={rates}", n=UNPAIRED)
        for config, seed, rates in (
            ("tickets", 3907, "1200,1600,2000,2400,3200"),
            ("tickets-low", 39070, "20,40,60,80,120"),
        )
    ],
    "starving": [
        Run(config, config, seed, (*_GROUPED, "worst_wait_ratio", "blocked_by"), 0.999,
            ("measure=[deciles, sizes, regions, pools]",), n=UNPAIRED)
        for config, seed in (("tickets", 3908), ("tickets-low", 39080))
    ],
    "truth": [
        Run("errors", "tickets", 3909,
            ("seen_team_diff", "true_team_diff", "win_gap", "time_to_match"), 0.99, variants={
                **{f"error of {error} points": f"skill.error={error}" for error in (100, 200, 300)},
                "no rule looks at skill": f"{lifted(SKILLS)},{lifted(TEAMS)}",
            }),
    ],
    "order": [*_order()],
    "backfill": [
        Run("small matches", "tickets-low", 3910, (
            "time_to_match", "matched_fraction", "players_per_match", "win_gap", "played_win_gap",
            "places_taken", "full_time",
        ), 0.995, ("measure=[backfill]",), {
            "teams of five only": FULL,
            "with automatic backfill": "match.backfill=automatic",
        }),
    ],
}  # fmt: skip
"""The commands of each question; each cell is a part of `make.py`, and has a table of its name."""
