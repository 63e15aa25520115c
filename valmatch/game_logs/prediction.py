"""Predicting games that are still to be played, read from CSV files or from options."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, groupby, permutations
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.errors import MOST, InputError, option
from valmatch.game_logs import roster as r
from valmatch.game_logs.options import TIME_UNITS, FileOptions, PredictOptions
from valmatch.game_logs.rating_files import KINDS, PreviousRatings, write_result
from valmatch.game_logs.reading.columns import LONG, Format, find_columns
from valmatch.game_logs.reading.tables import time_text
from valmatch.game_logs.whole_log.result import DRAW_WEIGHT, HOME, day_of, unrated_kind
from valmatch.inputs import arguments
from valmatch.inputs.csv_reader import Row, cells_of, read_rows
from valmatch.inputs.files import sha256
from valmatch.inputs.options import takes
from valmatch.ratings.bradley_terry.contests import duel_chances
from valmatch.ratings.bradley_terry.fit import POINTS
from valmatch.ratings.games import Games, Players, one_game
from valmatch.ratings.parameters import BATCH_SYSTEMS, values_of
from valmatch.ratings.registry import BATCH_NAMES, system_named
from valmatch.ratings.system import MOST_PLAYERS, Chances, Z
from valmatch.storage.results import SUMMARY, DocumentedResult, Warnings, damaged
from valmatch.storage.run_folder import RunFolder
from valmatch.text.suggestions import HINTED, correction
from valmatch.text.terminal import Note, counted, shown, some_of

PREDICTIONS = "predictions.csv"
MOST_SIDES = 500  # sides of a game, all pairs of which are compared within seconds


@dataclass(frozen=True)
class Fixture:
    """A game that is still to be played."""

    where: str  # what messages call the place that it is from
    game: str  # its name
    sides: Sequence[Sequence[str]]  # the players of each side, without one twice
    time: float = math.nan  # when it will be played; NaN if that is not known
    dated: bool = True  # whether that is a moment, in seconds since 1970
    at_home: bool = False  # whether the first side plays at home; else nobody does
    neutral: bool = False  # whether that is so because the game is on neutral ground

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for name in self.players:
            if not name:
                raise InputError(f"{self.where}: a side has a player without a name")
            if name in seen:
                raise InputError(f"{self.where}: {name!r} is in this game twice")
            seen.add(name)

    @property
    def players(self) -> list[str]:
        """The players of all sides."""
        return [player for side in self.sides for player in side]


def parse_pairs(
    texts: Sequence[str], known: Collection[str], others: Sequence[Fixture]
) -> Iterator[Fixture]:
    """Yield the fixtures of texts such as ``ann;bob,cy;dan``, numbered on from the other games."""
    taken = {game.game for game in others}
    free = (name for name in map(str, count(len(others) + 1)) if name not in taken)
    for text in texts:
        where, sides = f"{option('pair')} {shown(text)}", cells_of(text)
        if len(sides) < 2:
            raise InputError(f"{where}: has one side (allowed: two or more, such as ann,bob)")
        yield Fixture(where, next(free), [_players(side, known) for side in sides])


def read_fixtures(path: Path, options: FileOptions, known: Collection[str]) -> list[Fixture]:
    """Read fixtures from a CSV file."""
    file = None if str(path) == "-" else path

    def choose(header: Sequence[str], where: str) -> dict[str, str]:
        if not header:
            what = "is empty (allowed: a CSV file with a header)"
            raise InputError(f"{file or 'standard input'}: {what}")
        further = [column for column in header if re.fullmatch(r"side_([3-9]|[1-9]\d+)", column)]
        formats = [
            Format(LONG.name, ("game", "player"), ("team", "time")),
            Format("sides", ("home", "away"), ("game", "time", "neutral")),
            Format("sides", ("player_a", "player_b"), ("game", "time")),
            Format("sides", ("winner", "loser"), ("game", "time")),
            Format("sides", ("side_1", "side_2"), ("game", "time", *further)),
        ]
        columns = find_columns(where, header, options, formats, "fixtures have")
        return {meaning: header[column] for meaning, column in columns.places.items()}

    rows = list(read_rows(file, choose, options.separator, trimmed=True))
    if not rows:
        raise InputError(f"{file or 'standard input'}: holds no game to predict")
    return list(_long(rows) if "player" in rows[0].cells else _wide(rows, known))


def _long(rows: Iterable[Row]) -> Iterator[Fixture]:
    """Yield the fixtures of rows for each player."""
    seen: set[str] = set()
    for game, group in groupby(rows, key=lambda row: row.text("game")):
        sides: dict[object, list[str]] = {}
        of_game = list(group)
        for number, row in enumerate(of_game):
            sides.setdefault(row.cells.get("team") or number, []).append(row.text("player"))
        first = of_game[0]
        if game in seen:
            allowed = "one run of rows a game"
            raise InputError(f"{first.place}: game {game!r} was there before (allowed: {allowed})")
        seen.add(game)
        if len(sides) < 2:
            raise InputError(f"{first.place}: game {game!r} has one side (allowed: two or more)")
        yield Fixture(first.place, game, [*sides.values()], *first.time("time", guessed=True))


def _wide(rows: Iterable[Row], known: Collection[str]) -> Iterator[Fixture]:
    """Yield the fixtures of rows for each game."""
    for number, row in enumerate(rows, 1):
        cells = row.cells
        first, second, *further = (x for x in cells if x not in ("game", "time", "neutral"))
        sides = [row.text(first), row.text(second), *(cells[name] for name in further)]
        neutral = "neutral" in cells and row.flag("neutral")
        yield Fixture(
            row.place,
            cells.get("game") or f"{number}",
            [_players(side, known) for side in sides if side],
            *row.time("time", guessed=True),
            at_home="home" in cells and not neutral,
            neutral=neutral,
        )


def _players(cell: str, known: Collection[str]) -> list[str]:
    """Return the players of a side, whom semicolons divide."""
    return [cell] if cell in known else [name.strip() for name in cell.split(";")]


@dataclass(frozen=True)
class SideForecast:
    """How a game will end for a side; None of what is not known."""

    players: Sequence[str]
    # probability to win. Of more than two sides, from the expected scores p_ij between each two of
    # them: proportional to 1 / (1 + sum_j p_ji / p_ij), which is Luce's rule where there is one
    # behind them. None where the ratings say nothing of the game, as all below
    win: float | None
    # ends of its 95% interval, by how little is known of the players
    win_low: float | None
    win_high: float | None
    # mean expected score against the other sides, as ``history.csv`` has it
    expected: float | None
    newcomers: Sequence[str]  # players who have not played


@dataclass(frozen=True)
class Forecast:
    """How a game will end."""

    game: str  # its name
    time: str | None  # when it will be played, if that is known
    draw: float | None  # probability of a draw, of two sides where the system knows draws
    sides: Sequence[SideForecast]


def forecast_of(fixture: Fixture, chances: Chances | None, rated: Collection[str]) -> Forecast:
    """Return the forecast of a fixture from those of each of its sides against each other one."""
    n, draw = len(fixture.sides), math.nan
    columns = np.full((4, n), np.nan)
    if chances is not None:
        scores, wins, draws, lows, highs = (column.reshape(n, n - 1) for column in chances)
        if n == 2:
            draw = float(draws[0, 0])
            columns = np.array([wins[:, 0], lows[:, 0], highs[:, 0], scores[:, 0]])
        else:
            half = np.nan_to_num(draws) / 2.0
            first, *ends = (
                1.0 / (1.0 + ((1.0 - against) / np.maximum(against, 1e-300)).sum(axis=1))
                for against in (scores, lows + half, highs + half)
            )
            columns = np.array([first / first.sum(), *ends, scores.mean(axis=1)])
    sides = []
    for side, numbers in zip(fixture.sides, columns.T.tolist(), strict=True):
        win, low, high, expected = (None if x != x else x for x in numbers)
        newcomers = [name for name in side if name not in rated]
        sides.append(SideForecast(side, win, low, high, expected, newcomers))
    time = time_text(fixture.time, fixture.dated) or None
    return Forecast(fixture.game, time, None if draw != draw else draw, sides)


@dataclass(frozen=True, repr=False)
class PredictedGames(DocumentedResult):
    """The probabilities of the results of games that are still to be played.

    Attributes
    ----------
    system : str
        Name of the rating system.
    parameters : mapping of str to float
        Values of all its parameters.
    games : sequence of Forecast
        What is predicted of each game.
    warnings : sequence of str
        What has to be known of the predictions, a sentence each.
    """

    presented_by, documented = "predict", ("system", "parameters", "games")

    system: str
    parameters: Mapping[str, float]
    games: Sequence[Forecast]
    warnings: Sequence[str] = ()
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was predicted, in one line."""
        n = len({name for game in self.games for side in game.sides for name in side.newcomers})
        unknown = f", {counted(n, 'newcomer')}" if n else ""
        return f"{self.system}, {counted(len(self.games), 'game')} to come{unknown}"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each side of each game, as ``predictions.csv`` has them."""
        rows = [(game, k, side) for game in self.games for k, side in enumerate(game.sides, 1)]
        times = [game.time or "" for game, _, _ in rows]
        return {
            "game": [game.game for game, _, _ in rows],
            **({"time": times} if any(times) else {}),
            "side": [k for _, k, _ in rows],
            "players": [";".join(side.players) for _, _, side in rows],
            "win": [side.win for _, _, side in rows],
            "draw": [game.draw for game, _, _ in rows],
            "win_low": [side.win_low for _, _, side in rows],
            "win_high": [side.win_high for _, _, side in rows],
            "expected": [side.expected for _, _, side in rows],
            "newcomers": [";".join(side.newcomers) for _, _, side in rows],
        }


@takes(PredictOptions)
def predict_games(
    ratings: arguments.PathLike,
    fixtures: arguments.PathLike | None = None,
    **options: Any,  # noqa: ANN401
) -> PredictedGames:
    """Predict games by the system that rated their players; whoever has not played is a newcomer.

    Parameters
    ----------
    ratings : PathLike
        A ``ratings.csv``, or its folder.
    fixtures : PathLike or None
        The games, as `valmatch predict --help` describes; `-` is standard input.
    **options

    Raises
    ------
    InputError
        If there is nothing to predict, or a file or the folder cannot be used.
    RunError
        If the results cannot be written.
    """
    file = None if fixtures is None else arguments.path("fixtures", fixtures)
    previous = PreviousRatings(arguments.path("ratings", ratings))
    settings = PredictOptions(**options)
    if file is None and not settings.pair:
        raise InputError(f"{option('fixtures')} or {option('pair')}: says which games to predict")
    warn = Warnings(settings.warn)
    name = settings.system or previous.made_by()
    kind: Any = WholeRatings if name in BATCH_NAMES else FollowedRatings
    known: FollowedRatings | WholeRatings = kind(previous, name, settings.parameters, warn)
    games = read_fixtures(file, settings, known.everybody) if file else []
    games += parse_pairs(settings.pair, known.everybody, games)
    everybody = set(known.everybody)
    newcomers = {name for game in games for name in game.players} - everybody
    for newcomer in sorted(newcomers)[: MOST if len(everybody) <= HINTED else 0]:
        if near := correction(newcomer, everybody):
            warn(Note(f"{shown(newcomer)} has no rating{near}"))
    for game in games:
        for what, n, most in (
            ("sides", len(game.sides), MOST_SIDES),
            ("players", len(game.players), known.most_players),
        ):
            if n > most:
                raise InputError(
                    f"{game.where}: game {shown(game.game)} has {n:,} {what} (allowed: {most:,}, as"
                    " all pairs of them are compared)"
                )
    known.check(games)
    forecasts = [forecast_of(game, known.chances(game), known.everybody) for game in games]
    result = PredictedGames(name, known.values, forecasts, warn)
    if settings.out is None:
        return result
    # All that predictions of games depend on.
    keys = [(game.game, game.sides, game.time, game.at_home) for game in games]
    identity = {
        "system": name,
        "given": dict(known.values),
        "ratings_sha256": sha256(previous.path),
        "fixtures_sha256": hashlib.sha256(repr(keys).encode()).hexdigest(),
    }
    read = [path for path in (previous.path, previous.manifest, file) if path]
    facts = {"source": str(file or "")}
    with RunFolder(settings.out, "predict", None, identity, facts=facts, read=read) as folder:
        return write_result(folder, result, {PREDICTIONS: result.columns()})


def _check_times(games: Sequence[Fixture], kinds: Collection[bool], of: str) -> None:
    """Refuse a game at a moment where other times are numbers, or at a number."""
    for game in games:
        if not math.isnan(game.time) and any(kind != game.dated for kind in kinds):
            raise InputError(
                f"{game.where}: time: {KINDS[game.dated]}, where {of} holds"
                f" {KINDS[not game.dated]} (allowed: the same in both)"
            )


class FollowedRatings:
    """Ratings that followed a log game by game, and the system that made them."""

    def __init__(
        self, previous: PreviousRatings, name: str, parameters: Mapping[str, float], warn: Warnings
    ) -> None:
        self._system = system = system_named(name)
        previous.check(system)
        self._path, self._warn = previous.path, warn
        self.values = values_of(system, parameters, previous.made.parameters)  # of all parameters
        self.most_players = system.most_players  # of a game
        self.everybody = {player.player: player for player in previous.players(system)}
        if previous.manifest is None:
            warn(previous.remark(system, parameters))

    def check(self, fixtures: Sequence[Fixture]) -> None:
        """Refuse times of another kind; say what counts in no game."""
        kinds = {player.dated for player in self.everybody.values() if player.last == player.last}
        _check_times(fixtures, kinds, f"{r.LAST_GAME} of {self._path}")
        at_home, neutral = (any(getattr(f, x) for f in fixtures) for x in ("at_home", "neutral"))
        self._warn(r.nobody_at_home(self.values, at_home, neutral))

    def chances(self, fixture: Fixture) -> Chances:
        """Return how likely each side beats each other one."""
        newcomer = r.RatedPlayer("", self._system.newcomer(self.values), 0, (), np.nan, False)
        games, players = _duels(fixture, self.everybody, newcomer)
        state, tally = players.state.copy(), r.new_tally()
        played = r.play(self._system, self.values, games, players, 0, tally)
        return self._system.outcomes(self.values, games, state, played.assessed)


def _duels(
    fixture: Fixture, rated: Mapping[str, r.RatedPlayer], newcomer: r.RatedPlayer
) -> tuple[Games, Players]:
    """Return each side of a fixture with each other one as a game of players of their own."""
    pairs = list(permutations(range(len(fixture.sides)), 2))
    # By name, as in a log: sums of floats depend on the order.
    by_name = [sorted(side, key=str.encode) for side in fixture.sides]
    sides = [by_name[k] for pair in pairs for k in pair]
    players = [rated.get(player, newcomer) for side in sides for player in side]
    sizes = np.array([len(side) for side in sides])
    homes = [pair.index(0) if fixture.at_home and 0 in pair else -1 for pair in pairs]
    games = one_game(sizes)._replace(
        names=np.arange(len(pairs)),
        times=np.full(len(pairs), fixture.time),
        homes=np.array(homes),
        game_starts=np.arange(0, len(sides) + 1, 2),
        sides=np.repeat(np.arange(len(sides)) % 2, sizes),
    )
    state = np.array([player.state for player in players], np.float64)
    return games, Players(state, np.array([player.games for player in players], np.int64))


_NAMED = 5  # reasons for which games have no prediction that are told


class WholeRatings:
    """The ratings of a whole log, from the folder that `rank` wrote."""

    most_players = MOST_PLAYERS

    def __init__(
        self, previous: PreviousRatings, name: str, parameters: Mapping[str, float], warn: Warnings
    ) -> None:
        if parameters:
            what = f"{name} predicts by what it has fitted"
            raise InputError(f"{option('parameters')} {next(iter(parameters))}: {what}")
        system, self._warn = BATCH_SYSTEMS[name], warn
        rating = previous.of_whole_log(system)
        if not rating.rated:
            raise InputError(f"{previous.path}: nobody has a rating")
        self.values: dict[str, float] = {}
        self.everybody = {row.player: row for row in rating.players}
        self._places = {name: k for k, name in enumerate(rating.rated)}
        self._ratings = [float(row.rating or 0.0) for row in rating.rated.values()]
        self._mean = float(np.mean(self._ratings))
        self._covariance = rating.posterior.covariance
        self._covariates = rating.values
        self._home = self._covariates.pop(HOME, 0.0)
        self._draw_weight = self._covariates.pop(DRAW_WEIGHT, 0.0)
        # drift, last_day, dated, unit: how ratings move after the last day of the log, if they do
        self._drift, self._last_day, self._dated, self._unit = 0.0, math.inf, True, "days"
        self._moves = system.paths
        if system.paths:
            with damaged(previous.path.parent / SUMMARY):
                drift, last, unit = (rating.facts[x] for x in ("drift", "last_day", "time_unit"))
                self._dated, self._drift = isinstance(last, str), float(drift)
                day = np.datetime64(last, "D").astype(np.int64) if self._dated else last
                self._last_day, self._unit = float(day), unit or "days"
                if self._unit not in TIME_UNITS:
                    raise ValueError(f"time_unit: {unit!r}")

    def check(self, fixtures: Sequence[Fixture]) -> None:
        """Refuse times of another kind; say which games have no prediction."""
        _check_times(fixtures, {self._dated} if self._moves else (), "the log")
        if self._covariates:
            columns = ", ".join(self._covariates)
            self._warn(f"predicted as if both sides had the same {columns}")
        reasons = list(filter(None, map(self._unknown, fixtures)))
        if why := list(dict.fromkeys(reasons)):
            games = counted(len(reasons), "game")
            self._warn(f"{games} without a prediction: {some_of(why, _NAMED, '; ')}")

    def _unknown(self, fixture: Fixture) -> str:
        """Say why the ratings say nothing of a game; or nothing."""
        rows = [self.everybody[name] for name in fixture.players if name in self.everybody]
        for row in rows:
            if row.rating is None:
                helps = f"rank with {option('prior')} D to rate everybody"
                why = f"{unrated_kind(row)}, no finite rating"
                return f"{shown(row.player)} is {why} ({helps})"
            if row.group != rows[0].group:
                return f"no game links {shown(rows[0].player)} and {shown(row.player)}"
        return ""

    def chances(self, fixture: Fixture) -> Chances | None:
        """Return how likely each side beats each other one; newcomers are as strong as the mean."""
        if self._unknown(fixture):
            return None
        pairs = list(permutations(range(len(fixture.sides)), 2))
        strengths = []
        for side in fixture.sides:
            places = (self._places.get(name) for name in side)
            ratings = (self._mean if k is None else self._ratings[k] for k in places)
            strengths.append(math.fsum(ratings) / len(side))
        home = self._home * fixture.at_home
        leads = np.array(
            [strengths[a] - strengths[b] + home * ((a == 0) - (b == 0)) for a, b in pairs]
        )
        errors = np.array([self._error(fixture, *pair) for pair in pairs])
        # Of an order, who comes first follows from strengths alone.
        nu = self._draw_weight if len(fixture.sides) == 2 else 0.0
        log_nu = math.log(nu) if nu > 0.0 else -math.inf
        at, low, high = (
            duel_chances(POINTS * (leads + step * np.nan_to_num(errors)), log_nu)
            for step in (0.0, -Z, Z)
        )
        drawn = at.drawn if nu > 0.0 else np.full(len(pairs), np.nan)
        ends = (np.where(np.isnan(errors), np.nan, end.first) for end in (low, high))
        return Chances(at.first + 0.5 * at.drawn, at.first, drawn, *ends)

    def _error(self, fixture: Fixture, a: int, b: int) -> float:
        """Return the standard error of the lead of a side over another; NaN if not known."""
        sides = fixture.sides[a], fixture.sides[b]
        places = [self._places.get(name, -1) for side in sides for name in side]
        if self._covariance is None or -1 in places:
            return math.nan
        shares = np.repeat([1.0 / len(sides[0]), -1.0 / len(sides[1])], list(map(len, sides)))
        variance = float(shares @ self._covariance[np.ix_(places, places)] @ shares)
        if self._moves and not math.isnan(fixture.time):  # everybody moves alone until the game
            day = float(day_of(np.array([fixture.time]), self._dated, self._unit)[0])
            moved = self._drift**2 * max(day - self._last_day, 0.0)
            variance += moved * math.fsum(shares**2)
        return math.sqrt(max(variance, 0.0))
