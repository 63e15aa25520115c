"""The vocabulary of rules: typed sections, in which every word has a meaning for some preset."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from valmatch.inputs.fields import (
    Factors,
    Flag,
    NonNegative,
    Number,
    Positive,
    Real,
    Whole,
    refuse,
)
from valmatch.rule_sets.presets.values_of_matches import Accept, Credit, Value
from valmatch.rule_sets.presets.words import SEARCH, Preset, of, word

AtLeastOne = Annotated[int, Field(ge=1, le=10**6), *Whole]
Distance = Annotated[float, Field(allow_inf_nan=False, ge=0.01, le=3600), *Real]
"""Of reviews, in seconds: as between those of a rule set."""


class Newcomer(Factors):
    """Who is new, and what a new player is taken for."""

    games: AtLeastOne | None = word(
        "games",
        "Games up to which a player is a newcomer.",
        of("faf", "faf_duels", default=10),
        "newcomer_games",
    )
    mean: Number | None = word(
        "points",
        "Rating of a newcomer: what the own one is blended with, or a fixed one.",
        {"faf_duels": 500.0, "bar": 50.0 / 3.0},
        "newcomer_mean",
    )
    deviation: Positive | None = word(
        "points",
        "Uncertainty of a ticket without rated players.",
        {"bar": 25.0 / 3.0},
        "newcomer_deviation",
    )
    taken_as: Literal["blend", "fixed"] | None = word(
        "",
        "What the mean is to it: blended with by games played, or taken alone. Written as: blend.",
        {"faf_duels": "blend", "bar": "fixed"},
        choices={"faf_duels": ("blend",), "bar": ("fixed",)},
    )

    @model_validator(mode="before")
    @classmethod
    def _as(cls, given: object) -> object:
        """Take the word by which it is written, which no field of Python can have."""
        if isinstance(given, dict) and "as" in given:
            return {"taken_as" if key == "as" else key: one for key, one in given.items()}
        return given


class Strength(Factors):
    """The number of a player, of a party and of a team."""

    less_deviations: NonNegative | None = word(
        "deviations",
        "How many of its deviations a player's rating is lowered by.",
        {"faf": 3.0, "faf_duels": 3.0, "shieldbattery": 1.0},
        "less_deviations",
    )
    party: Literal["each", "once"] | None = word(
        "",
        "How a party enters its team. each: all its players; once: as one player.",
        {"faf": "each", "bar": "once"},
        choices={"faf": ("each",)},
    )
    team: Literal["sum", "mean", "rms"] | None = word(
        "",
        "The number of a team: sum, mean, or root of the mean square of its players'.",
        {"faf": "sum", "bar": "sum", "shieldbattery": "rms"},
        choices={"faf": ("sum",), "bar": ("sum",), "shieldbattery": ("rms",)},
    )
    newcomer: Newcomer = Newcomer()


class Pops(Factors):
    """Reviews whose distance follows from how many wait."""

    max: Positive | None = word(
        "seconds", "Longest time between two.", of("faf", "faf_duels", default=90.0), "pop_max"
    )
    matches: Positive | None = word(
        "matches",
        "How many are aimed at in a review.",
        of("faf", "faf_duels", default=2.5),
        "pop_matches",
    )
    average: AtLeastOne | None = word(
        "reviews",
        "Over how many the rate of players is averaged.",
        of("faf", "faf_duels", default=5),
        "pop_average",
    )
    first: NonNegative | None = word(
        "seconds", "When the first is.", of("faf", "faf_duels", default=45.0), "pop_first"
    )


class Wave(Factors):
    """Reviews at a distance, or at once when so many wait."""

    every: Distance | None = word("seconds", "Time between two.", {"lichess": 12.0}, "wave_seconds")
    jitter: NonNegative | None = word(
        "seconds", "Most by which it is longer, at random.", {"lichess": 1.0}, "wave_jitter"
    )
    players: Annotated[int, Field(ge=2, le=10**6), *Whole] | None = word(
        "players", "With how many a wave comes at once.", {"lichess": 40}, "wave_players"
    )


class Clock(Factors):
    """When a review happens."""

    tick: Distance | None = word(
        "seconds",
        "Time between two reviews.",
        {"bar": 5.0, "shieldbattery": 6.0, "osu": 1.0},
        "tick",
    )
    pops: Pops = Pops()
    wave: Wave = Wave()


class Candidates(Factors):
    """Which groups of tickets are valued."""

    which: Literal["all", "neighbours"] | None = word(
        "",
        "All that fill a match, or around each ticket one by turns from below and above it.",
        {"faf": "neighbours", "faf_duels": "all", "bar": "all", "shieldbattery": "all"},
        choices={
            "faf": ("neighbours",),
            "faf_duels": ("all",),
            "bar": ("all",),
            "shieldbattery": ("all",),
        },
    )
    sample: Annotated[int, Field(ge=2, le=24), *Whole] | None = word(
        "tickets",
        "Most that are looked at in a review: of more, a uniform sample.",
        {"shieldbattery": 20},
        "sample",
    )
    near_from: AtLeastOne | None = word(
        "tickets",
        "From how many on only neighbours by rating are compared.",
        {"faf_duels": 30},
        "near_from",
    )
    uncertain: NonNegative | None = word(
        "points",
        "Deviation from which a ticket is sorted as if it had a rating of 0.",
        {"faf_duels": 250.0},
        "uncertain",
    )


class ByRating(Factors):
    """A radius that grows away from the centre: exp(((rating - centre) / scale)^2) of it."""

    centre: Number | None = word("points", "Where it is smallest.", {"osu": 1500.0}, "centre")
    scale: Positive | None = word(
        "points", "How far from there it is e times that.", {"osu": 750.0}, "scale"
    )


class Window(Factors):
    """Whom a ticket may meet, in place of a value."""

    of: Literal["pivot", "both"] | None = word(
        "", "Whose radius counts.", {"osu": "pivot"}, choices={"osu": ("pivot",)}
    )
    start: Positive | None = word("points", "Radius at first.", {"osu": 20.0}, "radius")
    grow: Literal["none", "step", "linear", "doubling"] | None = word(
        "", "How it grows.", {"osu": "doubling"}, choices={"osu": ("doubling",)}
    )
    every: Positive | None = word("seconds", "In which it doubles.", {"osu": 300.0}, "doubling")
    max: Positive | None = word("points", "Its limit.", {"osu": 9999.0}, "radius_max")
    by_rating: ByRating = ByRating()
    top: Number | None = word(
        "points", "Rating from which the limit is raised.", {"osu": 99999.0}, "top100"
    )
    timeout: NonNegative | None = word(
        "seconds",
        "After which who waits longer leaves at the end of a review. 0: nobody does.",
        {"osu": 0.0},
        "search_timeout",
    )
    skip: Flag | None = word(
        "", "Whether the next is passed over as pivot after a lobby.", {"osu": True}, "skip"
    )


class Never(Factors):
    """Who never meets."""

    recent: NonNegative | None = word(
        "seconds",
        "Opponents of the last so many seconds. In a lobby of more than 2: 0, unless set.",
        {"osu": 600.0},
        "recent",
    )
    ranges: Flag | None = word("", "Who is out of the other's range.", {"lichess": True}, "ranges")
    blocks: Flag | None = word("", "Whom the other blocks.", {"lichess": True}, "blocks")
    just_paired: Flag | None = word(
        "", "Who was paired in the last wave.", {"lichess": True}, "just_paired"
    )
    maps: Flag | None = word(
        "", "Who all picked maps, and none in common.", {"shieldbattery": True}, "maps"
    )


class Acceptance(Factors):
    """How players accept a match."""

    seconds: Positive | None = word(
        "seconds", "In which all have to accept.", {"osu": 30.0}, "invite"
    )
    ban: NonNegative | None = word(
        "seconds",
        "For which who does not is not searched for. In a lobby of more than 2: 0, unless set.",
        {"osu": 60.0},
        "ban",
    )


class Population(Factors):
    """An estimate of how many are in the queue."""

    window: Positive | None = word(
        "seconds", "Of which a peak is taken.", {"shieldbattery": 60.0}, "window"
    )
    half_life: Positive | None = word(
        "seconds", "After which it counts half.", {"shieldbattery": 1200.0}, "half_life"
    )
    of: Literal["peak"] | None = word("", "What is estimated.", {"shieldbattery": "peak"})


class Lobby(Factors):
    """A match without teams."""

    lobby: Annotated[int, Field(ge=2, le=1000), *Whole] = Field(2, description="Its users.")


TEAMS = r"^[1-9][0-9]{0,2}x[1-9][0-9]{0,2}$"


class Vocabulary(Factors):
    """A preset, and the words that are set over it: each checked by itself, not together."""

    language: Literal["score"] | None = word(
        "", "That of this vocabulary.", dict.fromkeys(SEARCH, "score")
    )
    preset: Preset = Field(description="Which rule it is by default.")
    teams: Annotated[str, Field(pattern=TEAMS)] | Lobby | None = word(
        "",
        "How many teams of how many players, such as 2x4; or users of a lobby.",
        {
            "faf": "2x4",
            "faf_duels": "2x1",
            "bar": "2x1",
            "shieldbattery": "2x1",
            "osu": {"lobby": 2},
            "lichess": "2x1",
        },
    )
    split: Literal["first", "best", "difference"] | None = word(
        "",
        "How tickets become teams: the first acceptable, of least difference of strength, or by"
        " the largest difference.",
        {"faf": "difference", "bar": "first", "shieldbattery": "best"},
        choices={"faf": ("difference",), "bar": ("first",), "shieldbattery": ("best",)},
    )
    strength: Strength = Strength()
    clock: Clock = Clock()
    order: Literal["join", "newest", "value"] | None = word(
        "",
        "In which tickets are looked at.",
        {"faf": "value", "bar": "newest"},
        "order",
        choices={"faf": ("value",), "bar": ("newest", "join")},
    )
    candidates: Candidates = Candidates()
    value: Value = Value()
    credit: Credit = Credit()
    accept: Accept = Accept()
    window: Window = Window()
    never: Never = Never()
    acceptance: Acceptance = Acceptance()
    population: Population = Population()
    search: Literal["first", "greedy", "proposals", "pivots", "pairs"] | None = word(
        "",
        "How matches are looked for.",
        dict(SEARCH),
        choices={form: (SEARCH[form],) for form in SEARCH},
    )

    @field_validator("teams", mode="before")
    @classmethod
    def _teams_or_lobby(cls, given: object) -> object:
        """Refuse in one line what is neither teams nor a lobby."""
        known = given is None or isinstance(given, Lobby)
        if isinstance(given, str):
            known = re.fullmatch(TEAMS, given) is not None
        elif isinstance(given, Mapping) and set(given) == {"lobby"}:
            users = given["lobby"]
            known = isinstance(users, int | float) and 2 <= users <= 1000
        if known:
            return given
        raise refuse("no teams (allowed: such as 2x4, or {lobby: 8} of 2 to 1000 users)")

    @field_validator("never", mode="before")
    @classmethod
    def _listed(cls, given: object) -> object:
        """Take a list of who never meets."""
        if isinstance(given, list | tuple) and all(isinstance(one, str) for one in given):
            return dict.fromkeys(given, True)
        return given

    @field_validator("candidates", mode="before")
    @classmethod
    def _named(cls, given: object) -> object:
        """Take a name alone, or a name that is true."""
        if isinstance(given, str):
            return {"which": given}
        if isinstance(given, dict) and given.get("all") is True and "which" not in given:
            return {**{key: one for key, one in given.items() if key != "all"}, "which": "all"}
        return given
