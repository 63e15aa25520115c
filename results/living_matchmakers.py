"""The commands of the study on living matchmakers: a cell for each table, as its PLAN.md says."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from results.tickets.commands import Run, every


def confidence(numbers: int) -> float:
    """Return the level of each interval at which so many hold together with 95 %."""
    return float(f"{1.0 - 0.05 / numbers:.5f}")


# ---------------------------------------------------------------- the same players


ELO = 400.0 / math.log(10.0)
"""Points of Elo at which e to 1 is bet."""

PROBIT = 1.702
"""Deviation of the normal law that is nearest to the logistic one of scale 1."""


class Scale(NamedTuple):
    """How a game writes skills.

    Attributes
    ----------
    centre : float
        Where the mean of the skills stands, in points of the game.
    point : float
        Points of Elo in one of the game.
    """

    centre: float
    point: float


def by_noise(centre: float, beta: float) -> Scale:
    """Return the scale of a game in which each player's play has a normal deviation beta."""
    return Scale(centre, ELO * PROBIT / (beta * math.sqrt(2.0)))


SPREAD, ERROR = 350.0, 75.0
"""Of true skills and of ratings, in points of Elo."""

_FAF = by_noise(0.0, 240.0)
SCALES = {
    "faf": _FAF._replace(centre=1000.0 + 3.0 * ERROR / _FAF.point),  # shown: 1000
    "bar": by_noise(18.964, 25.0 / 6.0),
    "shieldbattery": Scale(1700.0, 1.0),
    "osu": Scale(1500.0, 1.0),
    "lichess": Scale(1600.0, 1.0),
}

FAR = "beyond_2sd"
SAME = ("time_to_match", "time_to_match_p90", "time_to_match_p99", "matched_fraction", "win_gap")
OF_THE_FAR = (f"matched_fraction.{FAR}", f"time_to_match_p90.{FAR}")

WORLD = (
    "hours=6", "warmup_minutes=60", "service.request_timeout_seconds=3600", "parties.shares=[1]",
    "skill.party_std=0", "ratings.newcomers=0", "ratings.users=null", "patience.median_seconds=600",
    "regions.shares={eu: 0.5, us: 0.35, ap: 0.15}", f"arrivals.hourly_profile={[1] * 24}",
)  # fmt: skip


def same_players(rule: str, teams: str, size: int) -> tuple[str, ...]:
    """Return what makes the players of a shipped config those of this study."""
    centre, point = SCALES[rule]
    numbers = {
        "skill.mean": centre,
        "skill.std": SPREAD / point,
        "ratings.deviation": ERROR / point,
        # By the mean of a team: of more players there is less noise.
        "match.spread": ELO / point / math.sqrt(size),
    }
    more = ("ratings.ranges=0",) * (rule == "lichess")
    own = tuple(f"{name}={value:.10g}" for name, value in numbers.items())
    return (f"rule.{teams}", *WORLD, *own, *more)


def _side_by_side(
    seed: int,
    teams: Mapping[str, tuple[str, int]],
    populations: Sequence[int],
    more: Sequence[str] = ("latency",),
) -> list[Run]:
    """Return the commands of rules on the same players, in some populations."""
    measures = (*SAME, *OF_THE_FAR, *more)
    shown = confidence(len(teams) * len(populations) * len(measures))
    return [
        Run(
            rule, rule, seed, measures, shown, same_players(rule, *own),
            sweep=f"arrivals.per_hour={','.join(map(str, populations))}",
        )
        for rule, own in teams.items()
    ]  # fmt: skip


def _teams(size: int) -> tuple[str, int]:
    """Return what makes teams of a size, and the size."""
    return f"team_size={size}", size


ONE = _teams(1)
DUELS = {
    "faf": ("preset=faf_duels", 1),
    "bar": ONE,
    "shieldbattery": ONE,
    "osu": ("lobby_size=2", 1),
    "lichess": ("preset=lichess", 1),
}
TEAMS = ("faf", "bar", "shieldbattery")
TOGETHER: dict[str, list[Run]] = {
    "duels": _side_by_side(4401, DUELS, (30, 200, 2000)),
    "twos": _side_by_side(4402, dict.fromkeys(TEAMS, _teams(2)), (60, 400, 2000)),
    "threes": _side_by_side(4403, dict.fromkeys(TEAMS, _teams(3)), (60, 400, 2000)),
    "eight": _side_by_side(
        4404, {"faf": _teams(4), "bar": _teams(4), "osu": ("lobby_size=8", 1)}, (200, 1000), ()
    ),
}
"""Cells in which a command is a rule."""


# ---------------------------------------------------------------- questions of maintainers


def _both(*words: str) -> str:
    """Return settings of one system."""
    return ",".join(words)


_GAPS = _both("rule.max_imbalance=250", "rule.max_deviation=250")
_CREDIT = _both("rule.time_bonus=0.01", "rule.newbie_bonus=0.25", "rule.newbie_bonus_cap=3")
_POPS = _both("rule.pop_max=90", "rule.pop_first=45")
_MINORITY = "rule.minority_cap=1"
BEFORE = (
    "rule.max_imbalance=500", "rule.max_deviation=500", "rule.time_bonus=0.02",
    "rule.newbie_bonus=0.9", "rule.newbie_bonus_cap=2.7", "rule.pop_max=180",
    "rule.pop_first=90", "rule.minority_cap=0",
)  # fmt: skip

_CHANGED = (
    "time_to_match", "time_to_match_p90", "matched_fraction", f"matched_fraction.{FAR}",
    "true_team_diff", "seen_team_diff", "skill_spread",
)  # fmt: skip
_BRACKETS = every(
    ["time_to_match", "matched_fraction"], ["decile_1", "decile_2", "decile_5", "decile_10"]
)
_BEYOND = tuple(f"matched_fraction.beyond_{far}sd" for far in ("2", "2.5", "3"))
_STARVING = ("time_to_match", *_BEYOND, "time_to_match_p90", "win_gap")
_SMALL_TEAM = ("skill.mean=17.086", "skill.std=6.32", "ratings.deviation=2.2")
"""What is seen of players of small teams has the deviation 6.689."""
_SIZED = ("win_prob", "believed_win_prob", "time_to_match", "matched_fraction")

_WAITERS = (
    "time_to_match", "time_to_match_p99", "matched_fraction", "win_gap", "skill_spread",
    "latency", "skipped",
)  # fmt: skip
_FLAT = (f"arrivals.hourly_profile={[1] * 24}", "hours=7")
_RELAXED = ("relaxed", "time_to_match", "matched_fraction", "win_gap")
_TOP = (
    "time_to_match", "time_to_match_p99", "time_to_match_p90.decile_10",
    "timed_out_fraction.decile_10", "time_to_match_p90.beyond_3sd", "seen_team_diff",
    "repeat_share",
)  # fmt: skip
_POOL = (
    "time_to_match", "time_to_match_p90", "time_to_match.beyond_2.5sd",
    "time_to_match_p90.beyond_2.5sd", "seen_team_diff", "skipped", "reviews",
)  # fmt: skip


def _bar_questions() -> Iterator[Run]:
    """Yield what is asked of Beyond All Reason."""
    yield Run(
        "arrivals", "bar", 4406, _STARVING, confidence(24), sweep="arrivals.per_hour=30,65,130,260"
    )
    yield Run("order and band", "bar", 4406, (*_STARVING, "skipped"), confidence(21), variants={
        "in order of joining": "rule.newest_first=false",
        "band grows .01 a tick": "rule.band_grows=0.01",
        "band grows .02 a tick": "rule.band_grows=0.02",
    })  # fmt: skip
    for size in (1, 2, 3, 5):
        own = (
            *_SMALL_TEAM, f"rule.team_size={size}",
            f"match.spread={3.462137 / math.sqrt(size):.7g}",
        )  # fmt: skip
        yield Run(f"2x{size}", "bar", 4407, _STARVING, confidence(24), own)
    parties = (
        *_SMALL_TEAM, "rule.team_size=3", "match.spread=1.998866", "measure=[sizes]",
        "parties.shares=[0.7, 0.2, 0.1]",
    )  # fmt: skip
    sizes = every(_SIZED, ["size_1", "size_2", "size_3"])
    for how, each in (("once", "false"), ("each", "true")):
        settings = (*parties, f"rule.each_player={each}")
        yield Run(f"parties {how}", "bar", 4408, (*sizes, "win_gap"), confidence(26), settings)


ASKED: dict[str, list[Run]] = {
    "faf": [
        Run("change", "faf", 4405,
            _CHANGED, confidence(49), BEFORE, {
                "all of it, without minorities": _both(_GAPS, _CREDIT, _POPS),
                "all of it, and minorities as now": _both(_GAPS, _CREDIT, _POPS, _MINORITY),
                "gap and spread alone": _GAPS,
                "credit alone": _CREDIT,
                "pops alone": _POPS,
                "minorities alone": _MINORITY,
            }),
        Run("rule of today", "faf", 4405,
            _CHANGED, confidence(42), variants={
                "gap 125": "rule.max_imbalance=125",
                "gap 500": "rule.max_imbalance=500",
                "credit .02": "rule.time_bonus=0.02",
                "pops 180 s": "rule.pop_max=180,rule.pop_first=90",
                "spread of players": "rule.spread_of_players=true",
            }),
        Run("brackets", "faf", 4405, _BRACKETS, confidence(32), ("measure=[deciles]",),
            sweep="arrivals.per_hour=30,60,120,240"),
    ],
    "bar": [*_bar_questions()],
    "shieldbattery": [
        Run("two against two", "shieldbattery", 4409, _WAITERS, confidence(49),
            ("rule.team_size=2", "match.spread=122.837"), {
                "credit for others .1": "rule.others_weight=0.1",
                "credit for others .25": "rule.others_weight=0.25",
                "credit for others .5": "rule.others_weight=0.5",
                "half-life 144 s": "rule.half_life=144",
                "weight of latency 15": "rule.latency_weight=15",
                "weight of latency 60": "rule.latency_weight=60",
            }),
        *(
            Run(f"{rate} an hour", "shieldbattery", 4412, _RELAXED, confidence(12),
                (*_FLAT, f"arrivals.per_hour={rate}"), {
                    "by the size of the queue":
                        "rule.window=6,rule.half_life=0.1",
                })
            for rate in (60, 120, 240)
        ),
    ],
    "osu": [
        Run("top", "osu", 4410, _TOP, confidence(42),
            ("measure=[deciles]", "patience.median_seconds=null"), {
                "no widening by rating": "rule.scale=1000000",
                "radius of at most 200 but for the top 100":
                    "rule.radius_max=200,rule.top100=1990",
                "radius of at most 200": "rule.radius_max=200",
                "doubling each 15 s": "rule.doubling=15",
                "recent opponents allowed": "rule.recent=0",
            }),
    ],
    "lichess": [
        Run(f"{rate:,} an hour", "lichess", 4411, _POOL, confidence(35),
            (f"hours={hours}", f"arrivals.per_hour={rate}"), {
                "waves at 24": "rule.wave_players=24",
                "waves at 30": "rule.wave_players=30",
                "credit of 6 a miss": "rule.credit=6",
                "credit of 24 a miss": "rule.credit=24",
            })
        for rate, hours in ((24000, 0.75), (2400, 3))
    ],
}  # fmt: skip
"""Cells in which maintainers ask."""

CELLS: Mapping[str, list[Run]] = TOGETHER | ASKED
"""The commands of each table; each cell is a part of `make.py`."""
