"""The rules of the queue by name: what they are, what they read, where their code is."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import ModuleType

from valmatch.kernels.plugins import Extended, an

RANGES = ("player_diff", "team_diff", "player_slack", "team_slack", "slack_scope")
"""Options of the rules that keep the ratings of teams and of matches in ranges."""


@dataclass(frozen=True)
class QueueEntry:
    """What is known of a rule of the queue without importing its code."""

    meaning: str  # how it makes matches, in one sentence
    # the options of a model that change what it does, besides `team_num`
    options: tuple[str, ...] = ()
    largest_team: int | None = None  # most players on a team; None for any number
    exponential: bool = False  # in the size of a team, at worst; it then has `expected_splits`
    brief: bool = False  # whether plain Python is quick enough for a day with few players
    # whether it needs to know what is believed of players, besides their ratings
    beliefs: bool = False
    parties: bool = False  # whether players can wait together


PRESET = "preset"
"""Stands for the rules of living matchmakers, see `valmatch.matching.living.ladder_adapter`."""

GROUP = "valmatch.queue_rules"
"""Entry points by which other packages bring rules: ``name = "module:ENTRY"``."""

OWN = {
    "team_first": QueueEntry(
        "teams are formed, then formed teams are paired",
        (*RANGES, "wait_thresh", "review", "team_rule"),
        brief=True,
    ),
    "joint": QueueEntry(
        "both teams of a match are chosen at once from all who wait",
        (*RANGES, "wait_thresh", "review", "tie_break"),
        largest_team=16,
        exponential=True,
    ),
    "pairs": QueueEntry(
        "one against one, chosen for everybody at once at every tick",
        (
            "tick_seconds",
            "tolerance",
            "widening",
            "widening_age",
            "band",
            "policy",
            "gamma",
            "kappa",
            "urgency",
            "reserve",
        ),
        largest_team=1,
        beliefs=True,
    ),
    "fifo": QueueEntry("whoever waits longest plays, whatever the ratings", brief=True),
    "flexmatch": QueueEntry(
        "by a rule set of Amazon GameLift FlexMatch, the file rules; parties wait together",
        ("skill_attribute", "review_seconds"),
        parties=True,
    ),
    PRESET: QueueEntry("by the rule of a living matchmaker, which preset names", parties=True),
}
QUEUES = Extended(OWN, GROUP, "queue rule", an(QueueEntry))
"""The rules of this package, and those that installed packages bring under `GROUP`."""


@cache
def of_ratings() -> tuple[str, ...]:
    """Return the rules that see nothing but ratings, of players who wait alone."""
    return tuple(name for name, e in QUEUES.items() if not e.beliefs and not e.parties)


def meanings(names: tuple[str, ...]) -> str:
    """Return what some rules do, for the description of a factor."""
    return " ".join(f"{name}: {QUEUES[name].meaning}." for name in names)


def readers(option: str) -> tuple[str, ...]:
    """Return the rules that an option has an effect on."""
    return tuple(name for name, entry in QUEUES.items() if option in entry.options)


def queue_rule(name: str) -> ModuleType:
    """Import and return the code of a rule."""
    return import_module(f"{__package__}.{name}" if name in OWN else QUEUES.others[name].module)
