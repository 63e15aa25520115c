"""The result of rating a whole log: tables of players, differences and coefficients."""

import math
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, get_args, get_type_hints

import numpy as np
from numpy.typing import NDArray

from valmatch.errors import InputError, option
from valmatch.game_logs.options import TIME_UNITS
from valmatch.inputs.files import regular
from valmatch.kernels.arrays import Floats, Ints
from valmatch.ratings.bradley_terry.contests import ABOVE, BELOW, UNLINKED
from valmatch.storage.results import DAMAGED, SUMMARY, DocumentedResult, ResultFiles, read_array
from valmatch.text.terminal import counted, shown, some_of

RATINGS, POSTERIOR = "ratings.csv", "posterior.npz"
COEFFICIENTS, BOOTSTRAP, DAYS = "coefficients.csv", "bootstrap.csv", "days.csv"
FIRMNESS = "firmness.csv"
DIGITS = 6  # decimals of points, beyond which the search for the maximum has not looked
ANCHOR = "anchor"  # the status of a player whose rating is given
HOME, DRAW_WEIGHT = "home_advantage", "draw_weight"  # coefficients; the latter is nu
NAMED = 10  # players whom a message names


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    return some_of([*map(shown, names)], NAMED)


class PlayerRow(NamedTuple):
    """A row of ``ratings.csv``; None of what is not known."""

    rank: int | None
    player: str
    rating: float | None
    std_error: float | None
    low: float | None
    high: float | None
    rank_low: int | None
    rank_high: int | None
    games: int
    wins: int
    losses: int
    draws: int
    group: int
    status: str


def games_to_show(gate: Mapping[str, float], row: PlayerRow) -> int | None:
    """Return how many games more a player needs by a gate, 0 of who is shown; None if not known."""
    needed = float(gate.get("games", 0.0))
    if limit := gate.get("half_width"):
        if row.low is None or row.high is None:
            return None
        if (half := 0.5 * (row.high - row.low)) > limit:  # it falls with the root of the games
            needed = max(needed, row.games * (half / limit) ** 2)
    return max(0, math.ceil(needed) - row.games)


UNBEATEN, UNBEATEN_BY_RATED, WINLESS = "unbeaten", "unbeaten by the rated", "winless"


def unrated_kind(row: PlayerRow) -> str:
    """Return what a player is who has no rating."""
    if row.status == ABOVE:
        return UNBEATEN if row.losses == 0 else UNBEATEN_BY_RATED
    if row.status == BELOW:
        return WINLESS if row.wins == 0 else "winless against the rated"
    return "not linked to the rated" if row.status == UNLINKED else row.status


class CoefficientRow(NamedTuple):
    """A row of ``coefficients.csv``."""

    name: str
    value: float
    std_error: float | None
    low: float | None
    high: float | None
    unit: str


# The columns of ``differences.csv``.
OF_TWO = (
    *("player_a", "player_b", "difference", "std_error", "low", "high", "superiority"),
    *("low_together", "high_together", "linked", "games"),
)


class BoundaryRow(NamedTuple):
    """A row of ``firmness.csv``: the fewest games found without which a player is ahead."""

    boundary: int | None  # 1 between first and second
    player_a: str
    player_b: str  # who is ahead without these games
    games: int | None = None  # None where no such games are found
    share: float | None = None  # of all games
    # expected, low, high: of logs that are simulated from the ratings, by influence alone
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    rows: str = ""  # of the log, from 1 on


class BootstrapRow(NamedTuple):
    """A row of ``bootstrap.csv``."""

    player: str
    std_error: float | None
    low: float | None
    high: float | None
    unrated: float


class DayRow(NamedTuple):
    """A row of ``days.csv``."""

    player: str
    day: str | int
    rating: float
    std_error: float | None
    low: float | None
    high: float | None
    games: int


@dataclass(frozen=True)
class Posterior:
    """The rated players, the best first, and how sure their ratings are together."""

    names: list[str]  # the players
    mean: Floats  # their ratings
    covariance: Floats | None  # of these; None without intervals, or of too many players
    pairs: Ints  # (pairs, 2) indices of two who met, the better first; none without a covariance
    games: Floats  # (pairs,) in how many games they did

    def errors(self, k: int) -> Floats:
        """Return the standard errors of the differences between a player and all."""
        assert self.covariance is not None
        diagonal = np.diag(self.covariance)
        variances = diagonal[k] + diagonal - 2.0 * self.covariance[k]
        errors: Floats = np.sqrt(np.maximum(variances, 0.0))
        return errors

    def superiority(self, k: int) -> Floats:
        """Return how likely a player is stronger than each, by a flat prior."""
        from scipy.special import ndtr  # takes long to import, and who reads ratings needs none

        leads, errors = self.mean[k] - self.mean, self.errors(k)
        sure = np.where(leads == 0.0, 0.0, np.copysign(np.inf, leads))
        chances: Floats = ndtr(np.divide(leads, errors, out=sure, where=errors > 0.0))
        return chances


@dataclass(frozen=True, repr=False)
class BatchRating(DocumentedResult):
    """A log that was rated as a whole.

    Attributes
    ----------
    system : str
        Name of the system.
    facts : dict
        What ``summary.json`` holds besides coefficients and who is tied for first.
    players : sequence of PlayerRow
        By rating, those without one last.
    coefficients : sequence of CoefficientRow
        Of the home side, of covariates, of draws.
    posterior : Posterior
        The rated players.
    bootstrap : sequence of BootstrapRow
        A check of the intervals, if asked for.
    days : sequence of DayRow
        Ratings by player and day, where players have such.
    source : str
        The log.
    warnings : sequence of str
        What has to be known of the log and of the ratings, a sentence each.
    """

    presented_by, unchecked = "whole_log", SUMMARY
    documented = ("system", "coefficients")

    system: str
    facts: dict[str, Any]
    players: Sequence[PlayerRow]
    coefficients: Sequence[CoefficientRow]
    posterior: Posterior
    bootstrap: Sequence[BootstrapRow] = ()
    days: Sequence[DayRow] = ()
    source: str = ""
    warnings: Sequence[str] = ()
    folder: Path | None = None
    # rates the log again, by more options; None of a rating that was read from its folder
    rerun: "Callable[..., BatchRating] | None" = field(default=None, compare=False)

    @property
    def title(self) -> str:
        """What was rated, in one line."""
        facts = self.facts
        rated = f"{facts['rated']:,} of {facts['players']:,} players"
        text = f"{self.system}, {rated} by {counted(facts['games_used'], 'game')}"
        for kind in (UNBEATEN, UNBEATEN_BY_RATED, WINLESS):
            text += f"; {kind}: {listed(self.unrated[kind])}" if kind in self.unrated else ""
        return text

    @property
    def complete(self) -> bool:
        """Whether everybody who played is rated."""
        return all(row.rating is not None for row in self.players)

    @property
    def rated(self) -> dict[str, PlayerRow]:
        """The rows of those who have a rating, by name, the best first."""
        return {row.player: row for row in self.players if row.rating is not None}

    @property
    def unrated(self) -> dict[str, list[str]]:
        """The names of those who have none, by what they are."""
        kinds: dict[str, list[str]] = {}
        for row in self.players:
            if row.rating is None:
                kinds.setdefault(unrated_kind(row), []).append(row.player)
        return kinds

    @property
    def tied_for_first(self) -> list[str]:
        """Those who may be the best."""
        return [row.player for row in self.players if row.rank_low == 1]

    @property
    def values(self) -> dict[str, float]:
        """The values of the coefficients by name."""
        return {row.name: row.value for row in self.coefficients}

    def firmness(self, **options: Any) -> dict[str, Any]:  # noqa: ANN401
        """Return how firm the ranking is, by options of `rank_games` if the log is rated again."""
        if not options and "firmness" in self.facts:
            return dict(self.facts["firmness"])
        if self.rerun is None:
            what = f"rate the log with {option('firmness')}, it is not read again here"
            raise InputError(f"{option('firmness')}: {what}")
        return self.rerun(**{"firmness": True, **options}).firmness()

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each player, the best first."""
        columns = columns_of(PlayerRow, self.players)
        if gate := self.facts.get("gate"):
            more = [games_to_show(gate, row) for row in self.players]
            columns |= {"shown": ["no" if n != 0 else "yes" for n in more], "games_more": more}
        return columns

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        first = {"system": self.system, **self.facts, "tied_for_first": self.tied_for_first}
        return {**first, **super().summary()}

    def as_json(self) -> dict[str, Any]:
        """Return the summary with the ratings."""
        columns = self.columns()
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        return {**self.summary(), "ratings": rows}

    @classmethod
    def held_elsewhere(cls, files: ResultFiles, document: dict[str, Any]) -> dict[str, Any]:
        """Return the other entries, and the tables."""
        others = {*cls.documented, "tied_for_first", "warnings"}
        facts = {name: value for name, value in document.items() if name not in others}
        facts["level"] = float(facts["level"])
        for row in document["coefficients"]:
            if row["name"] == DRAW_WEIGHT and not 0.0 <= row["value"] < 1e9:
                raise ValueError(f"{DRAW_WEIGHT} {row['value']!r}")
        players = rows_of(files, RATINGS, PlayerRow)
        return {
            "facts": facts,
            "players": players,
            "posterior": _posterior_of(files.folder, players),
            "bootstrap": rows_of(files, BOOTSTRAP, BootstrapRow) if files.has(BOOTSTRAP) else [],
            "days": rows_of(files, DAYS, DayRow) if files.has(DAYS) else [],
            "source": files.manifest.source,
        }


def rows_of(files: ResultFiles, name: str, kind: type[Any]) -> list[Any]:
    """Return the rows of a table."""
    types = {field: {of, *get_args(of)} for field, of in get_type_hints(kind).items()}
    texts = [field for field, of in types.items() if str in of]
    numbers = [field for field in types if field not in texts]
    columns = files.table(name, numbers, texts)
    for column in numbers:
        number = int if int in types[column] else float
        columns[column] = [None if x != x else number(x) for x in columns[column]]
    if "day" in columns:
        columns["day"] = [int(day) if day.lstrip("-").isdigit() else day for day in columns["day"]]
    return [kind(*row) for row in zip(*(columns[field] for field in types), strict=True)]


def columns_of(kind: type[Any], rows: Sequence[Any]) -> dict[str, list[Any]]:
    """Return rows of one kind as columns by name."""
    columns = list(map(list, zip(*rows, strict=True))) or [[] for _ in kind._fields]
    return dict(zip(kind._fields, columns, strict=True))


def day_of(times: Floats, dated: bool, unit: str) -> Floats:
    """Return the days of times: moments in seconds since 1970, or numbers in a unit."""
    days: Floats = np.floor(times / (86_400.0 if dated else TIME_UNITS[unit]))
    return days


def _posterior_of(folder: Path, players: Sequence[PlayerRow]) -> Posterior:
    """Return what is known together of the players of a folder, at least their ratings."""
    table, seen = folder / RATINGS, set[str]()
    for k, row in enumerate(players):
        if row.player in seen:
            line = k + 2 + "".join(row.player for row in players[:k]).count("\n")
            raise InputError(f"{table}:{line}: player: {shown(row.player)} is there twice")
        seen.add(row.player)
    ratings = {row.player: row.rating for row in players if row.rating is not None}
    path, mean = folder / POSTERIOR, np.array([*ratings.values()], np.float64)
    try:
        with zipfile.ZipFile(regular(path)) as parts:
            posterior = _read_posterior(parts)
    except FileNotFoundError:
        return Posterior([*ratings], mean, None, np.zeros((0, 2), np.int64), np.zeros(0))
    except DAMAGED as error:
        raise InputError(f"{path}: damaged: {str(error) or 'torn':.99}") from None
    if posterior.names != [*ratings]:
        raise InputError(f"{path}: damaged: is not of the players of {table}, in their order")
    return posterior


def _read_posterior(parts: zipfile.ZipFile) -> Posterior:
    """Return what a file holds; raise ValueError where `rank` writes no such thing."""

    def array(name: str, kinds: str, *shape: int | None) -> NDArray[Any]:
        values = read_array(parts, name, kinds, shape)
        if values is None or (kinds != "U" and not np.isfinite(values).all()):
            raise ValueError(f"{name}: not those of the players")
        return values

    names = array("names", "U", None)
    n, pairs = len(names), array("pairs", "i", None, 2)
    if ((pairs < 0) | (pairs >= n)).any():
        raise ValueError("pairs: not those of the players")
    mean, covariance = array("mean", "f", n), array("covariance", "f", n, n)
    if (covariance.diagonal() < 0.0).any():
        raise ValueError("covariance: a variance is below 0")
    return Posterior(names.tolist(), mean, covariance, pairs, array("games", "if", len(pairs)))
