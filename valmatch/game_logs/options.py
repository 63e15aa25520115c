"""Options of the functions that work on game logs, as records with checked values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypedDict, get_args

from valmatch.errors import InputError, option
from valmatch.execution.run_options import Listeners, listeners_among
from valmatch.game_logs.reading.aliases import NO_ALIASES, Aliases, read_aliases
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.csv_reader import MOST, separator_called
from valmatch.ratings.system import BatchSystem, System
from valmatch.ratings.zonestats_cap import Cap
from valmatch.text.numerals import real_number
from valmatch.text.suggestions import hint

BURN_IN, TRAIN = 10, 0.5


class PredictKeywords(TypedDict, total=False):
    """Keyword arguments of all public functions that read a file of games."""

    columns: Mapping[str, str]
    separator: str
    out: PathLike | None
    warn: Callable[[str], None]


class LogKeywords(PredictKeywords, total=False):
    """Keyword arguments of the public functions that rate a game log; see `LogOptions`."""

    tune: str | Sequence[str]
    train: float
    burn_in: int
    skip_bad_games: bool
    max_bad_rows: float | None
    alias: PathLike | None
    progress: Callable[[int], None]


class WholeLogKeywords(PredictKeywords, total=False):
    """Keyword arguments of the public function that rates a whole log; see `BatchOptions`."""

    tune: str | Sequence[str]
    draws: str
    home: str
    covariate: str | Sequence[str]
    weight: str
    prior: float | None
    anchors: PathLike | None
    interval: str
    cluster: str | Sequence[str]
    cluster_days: int | None
    time_unit: str
    level: float
    bootstrap: int
    seed: int
    differences: bool
    skip_bad_games: bool
    max_bad_rows: float | None
    progress: Callable[[int], None]


@dataclass(frozen=True)
class LogFormat:
    """How a CSV file of games is written."""

    # names of its columns by meaning, where they differ
    columns: Mapping[str, str] = field(default_factory=dict)
    # what stands between its cells: ``,``, ``;``, ``|``, or a name such as ``tab``
    separator: str = ","

    def __post_init__(self) -> None:
        separator_called(self.separator)

    @property
    def delimiter(self) -> str:
        """The character between cells."""
        return separator_called(self.separator)

    @property
    def other_separator(self) -> str | None:
        """That character, None for a comma."""
        return None if self.delimiter == "," else self.delimiter


COMMON = LogFormat()  # columns that are called as they are meant, between commas


@dataclass(frozen=True)
class LogOptions:
    """How a game log is read, what is fitted to it, what is measured, where results go; checked."""

    format: LogFormat = COMMON  # how the log is written
    # the share of all games that may be left out as they cannot be used; None: the first of these
    # ends the reading
    most_bad: float | None = None
    # names of the parameters to fit to the log loss of the first part of the log
    tune: Sequence[str] = ()
    train: float = TRAIN  # share of the games in that part, in (0, 1)
    # games that every player of a game must have behind him for its prediction to count as one
    # after the burn-in, >= 0
    burn_in: int = BURN_IN
    out: Path | None = None  # folder for the results
    aliases: Aliases = NO_ALIASES  # who goes by another name

    def __post_init__(self) -> None:
        arguments.level("train", self.train)
        arguments.whole("burn_in", self.burn_in)


@dataclass(frozen=True)
class RatingOptions:
    """By which system players are rated, from where, and what is written of it; checked."""

    # name of the rating system; None: the one that made `ratings`, or else the default
    system: str | None = None
    # values of parameters that are given
    parameters: Mapping[str, float] = field(default_factory=dict)
    ratings: Path | None = None  # earlier ratings to go on from: a file, or its folder
    again: bool = False  # whether to rate also games that seem to have been rated there already
    # what caps a game under zonestats; None: what did in `ratings`, or else the default
    cap: str | None = None

    def __post_init__(self) -> None:
        if self.cap is not None:
            arguments.one_of("cap", self.cap, get_args(Cap))


def most_left_out(skip_bad_games: bool, max_bad_rows: float | None) -> float | None:
    """Return the share of all games that may be left out; None if none may."""
    if max_bad_rows is None:
        return MOST if skip_bad_games else None
    return arguments.share("max_bad_rows", max_bad_rows)


def split(keywords: Mapping[str, Any], kind: type[PredictKeywords]) -> tuple[LogOptions, Listeners]:
    """Return the options and the listeners among the keyword arguments of a public function."""
    listeners = listeners_among(keywords, kind)
    out, alias = keywords.get("out"), keywords.get("alias")
    options = LogOptions(
        LogFormat(keywords.get("columns", {}), keywords.get("separator", ",")),
        most_left_out(keywords.get("skip_bad_games", False), keywords.get("max_bad_rows")),
        arguments.names("tune", keywords.get("tune", ())),
        keywords.get("train", TRAIN),
        keywords.get("burn_in", BURN_IN),
        None if out is None else arguments.path("out", out),
        NO_ALIASES if alias is None else read_aliases(arguments.path("alias", alias)),
    )
    return options, listeners


# The values of a rating system's parameters: given, of previous ratings, or published.


def parse_parameters(texts: Sequence[str]) -> dict[str, float]:
    """Return the values that texts such as ``GAME_MULT=0.5`` give to parameters."""
    values: dict[str, float] = {}
    for text in texts:
        name, _, value = (piece.strip() for piece in text.partition("="))
        if name in values:
            raise InputError(f"{option('parameters')} {name}: is given twice")
        number = real_number(value)
        if number is None:
            raise InputError(f"{option('parameters')} {text}: (allowed: NAME=NUMBER, such as K=24)")
        values[name] = number
    return values


def check_tuned(system: System, names: Sequence[str]) -> None:
    """Check the names of parameters that are to be fitted."""
    known = [parameter.name for parameter in system.parameters]
    for name in names:
        if name not in known:
            what = f"{system.name} has no such parameter ({hint(name, known)})"
            raise InputError(f"{option('tune')} {name}: {what}")
        if names.count(name) > 1:
            raise InputError(f"{option('tune')}: {name} is given twice")


def values_of(
    system: System | BatchSystem, given: Mapping[str, float], before: Mapping[str, float]
) -> dict[str, float]:
    """Return the values of all parameters of a system."""
    limits = {parameter.name: parameter for parameter in system.parameters}
    for name, value in given.items():
        if name not in limits:
            what = f"{system.name} has no such parameter ({hint(name, limits)})"
            raise InputError(f"{option('parameters')} {name}: {what}")
        low, high = limits[name].low, limits[name].high
        if not low <= value <= high:
            raise InputError(
                f"{option('parameters')} {name}={value!r}: out of range (allowed: {low!r} to"
                f" {high!r})"
            )
    return {
        name: given.get(name, before.get(name, parameter.published))
        for name, parameter in limits.items()
    }
