"""Predicting games that are still to be played, read from CSV files or from options."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain, count, groupby, permutations
from pathlib import Path
from typing import Any

import numpy as np

from valmatch.errors import MOST, InputError, option
from valmatch.game_logs.documents import SUMMARY, DocumentedResult
from valmatch.game_logs.games import play
from valmatch.game_logs.options import TIME_UNITS, FileOptions, PredictOptions, values_of
from valmatch.game_logs.previous_ratings import KINDS, PreviousRatings
from valmatch.game_logs.rating_files import write_result
from valmatch.game_logs.reading.cells import SINCE, time_text
from valmatch.game_logs.reading.columns import LONG, Format, find_columns
from valmatch.game_logs.roster import LAST_GAME, RatedPlayer
from valmatch.game_logs.scores import new_tally, unplayed
from valmatch.game_logs.warnings import nobody_at_home
from valmatch.game_logs.whole_log.contests import day_of
from valmatch.game_logs.whole_log.result import DRAW_WEIGHT, HOME, BatchRating
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.csv_reader import Dialect, Row, cells_of, read_rows
from valmatch.inputs.files import sha256
from valmatch.inputs.options import takes
from valmatch.ratings.bradley_terry.contests import duel_chances
from valmatch.ratings.bradley_terry.fit import POINTS
from valmatch.ratings.games import Games, Players
from valmatch.ratings.registry import BATCH_NAMES, batch_named, system_named
from valmatch.ratings.system import MOST_PLAYERS, Chances, System, Z
from valmatch.storage.result_files import damaged
from valmatch.storage.results import Warnings
from valmatch.storage.run_folder import RunFolder
from valmatch.text.suggestions import HINTED, correction
from valmatch.text.terminal import Note, shown

# Fixtures: games to come, from a file or from options.

_SIDES = (("home", "away"), ("player_a", "player_b"), ("winner", "loser"), ("side_1", "side_2"))
_ABOUT = ("game", "time", "neutral")
"""Meanings of columns that hold no side, in a row for each game."""

_COVARIATE = "covariate "  # how the meanings of columns of covariates begin


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
    # by name, of each side the mean over its players; of those that the file has
    covariates: Mapping[str, Sequence[float]] = field(default_factory=dict)

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
    texts: Sequence[str], known: set[str], others: Sequence[Fixture]
) -> Iterator[Fixture]:
    """Yield the fixtures of texts such as ``ann;bob,cy;dan``, numbered on from the other games."""
    taken = {game.game for game in others}
    free = (name for name in map(str, count(len(others) + 1)) if name not in taken)
    for text in texts:
        where, sides = f"{option('pair')} {shown(text)}", cells_of(text)
        if len(sides) < 2:
            raise InputError(f"{where}: has one side (allowed: two or more, such as ann,bob)")
        yield Fixture(where, next(free), [_players(side, known) for side in sides])


def read_fixtures(
    path: Path, options: FileOptions, known: set[str], covariates: Sequence[str]
) -> list[Fixture]:
    """Read fixtures from a CSV file."""
    file = None if str(path) == "-" else path
    name = str(file or "standard input")

    def choose(header: Sequence[str], where: str) -> dict[str, str]:
        if not header:
            raise InputError(f"{name}: is empty (allowed: a CSV file with a header)")
        columns = find_columns(where, header, options, _formats(header), "fixtures have")
        meanings = {meaning: header[column] for meaning, column in columns.places.items()}
        for covariate in covariates:
            pair = (f"{covariate}_a", f"{covariate}_b")
            both = columns.format.name != LONG.name and all(column in header for column in pair)
            for column in pair if both else (covariate,):
                if column in header:
                    meanings[f"{_COVARIATE}{column}"] = column
        return meanings

    rows = read_rows(file, choose, Dialect(options.separator, trimmed=True))
    first = next(rows, None)
    if first is None:
        raise InputError(f"{name}: holds no game to predict")
    rows = chain([first], rows)
    return list(_long(rows) if "player" in first.cells else _wide(rows, known))


def _formats(header: Sequence[str]) -> list[Format]:
    """Return the shapes that fixtures with these columns may have."""
    further = [name for name in header if re.fullmatch(r"side_([3-9]|[1-9]\d+)", name)]
    optional = {"side_1": ("game", "time", *further), "home": ("game", "time", "neutral")}
    return [
        Format(LONG.name, ("game", "player"), ("team", "time")),
        *(Format("sides", two, optional.get(two[0], ("game", "time"))) for two in _SIDES),
    ]


def _covariates(row: Row) -> dict[str, float]:
    """Return the covariates of a row, by their columns."""
    keys = (key for key in row.cells if key.startswith(_COVARIATE))
    return {key.removeprefix(_COVARIATE): row.number(key) for key in keys}


def _long(rows: Iterable[Row]) -> Iterator[Fixture]:
    """Yield the fixtures of rows for each player."""
    seen: set[str] = set()
    for game, group in groupby(rows, key=lambda row: row.text("game")):
        first, *others = group
        if game in seen:
            allowed = "one run of rows a game"
            raise InputError(f"{first.place}: game {game!r} was there before (allowed: {allowed})")
        seen.add(game)
        sides: dict[object, list[Row]] = {}
        for number, row in enumerate([first, *others]):
            sides.setdefault(row.cells.get("team") or number, []).append(row)
        players = [[row.text("player") for row in side] for side in sides.values()]
        values = [list(map(_covariates, side)) for side in sides.values()]
        if len(sides) < 2:
            raise InputError(f"{first.place}: game {game!r} has one side (allowed: two or more)")
        means = {
            name: [math.fsum(of[name] for of in side) / len(side) for side in values]
            for name in values[0][0]
        }
        yield Fixture(first.place, game, players, *first.time("time", SINCE), covariates=means)


def _wide(rows: Iterable[Row], known: set[str]) -> Iterator[Fixture]:
    """Yield the fixtures of rows for each game."""
    for number, row in enumerate(rows, 1):
        cells = row.cells
        first, second, *further = (
            name for name in cells if name not in _ABOUT and not name.startswith(_COVARIATE)
        )
        sides = [row.text(first), row.text(second), *(cells[name] for name in further)]
        neutral = "neutral" in cells and row.flag("neutral")
        players = [_players(side, known) for side in sides if side]
        yield Fixture(
            row.place,
            cells.get("game") or f"{number}",
            players,
            *row.time("time", SINCE),
            at_home="home" in cells and not neutral,
            neutral=neutral,
            covariates=_of_two(row, len(players)),
        )


def _of_two(row: Row, sides: int) -> dict[str, tuple[float, float]]:
    """Return the covariates of the two sides of a row."""
    values = _covariates(row)
    if values and sides > 2:
        what = f"{next(iter(values))}: of {sides} sides (allowed: of two, or rows for each player)"
        raise InputError(f"{row.place}: {what}")
    of_sides = {}
    for name, value in values.items():
        base = name[:-2]
        if name.endswith("_a") and f"{base}_b" in values:
            of_sides[base] = value, values[f"{base}_b"]
        elif not (name.endswith("_b") and f"{base}_a" in values):
            of_sides[name] = value, 0.0
    return of_sides


def _players(cell: str, known: set[str]) -> list[str]:
    """Return the players of a side, whom semicolons divide."""
    return [cell] if cell in known else [name.strip() for name in cell.split(";")]


# Forecasts of games, put together of the chances of their sides against each other.

_LEAST = 1e-300  # of a probability by which others are divided


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
    newcomers: Sequence[str]  # players without a rating


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
                1.0 / (1.0 + ((1.0 - against) / np.maximum(against, _LEAST)).sum(axis=1))
                for against in (scores, lows + half, highs + half)
            )
            columns = np.array([first / first.sum(), *ends, scores.mean(axis=1)])
    sides = []
    for side, numbers in zip(fixture.sides, columns.T.tolist(), strict=True):
        win, low, high, expected = map(_or_none, numbers)
        newcomers = [name for name in side if name not in rated]
        sides.append(SideForecast(list(side), win, low, high, expected, newcomers))
    time = time_text(fixture.time, fixture.dated) or None
    return Forecast(fixture.game, time, _or_none(draw), sides)


def _or_none(probability: float) -> float | None:
    return None if math.isnan(probability) else probability


# Predicting games that are still to be played.

PREDICTIONS = "predictions.csv"

MOST_SIDES = 500  # sides of a game, all pairs of which are compared within seconds


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
        unknown = f", {n:,} newcomer{'s' * (n != 1)}" if n else ""
        games = len(self.games)
        return f"{self.system}, {games:,} game{'s' * (games != 1)} to come{unknown}"

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
    ratings: PathLike,
    fixtures: PathLike | None = None,
    **options: Any,  # noqa: ANN401
) -> PredictedGames:
    """Predict games by the system that rated their players; whoever is not rated is a newcomer.

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
    known: FollowedRatings | WholeRatings
    if name in BATCH_NAMES:
        known = WholeRatings(previous, name, settings.parameters, warn)
    else:
        known = FollowedRatings(previous, system_named(name), settings.parameters, warn)
    everybody = set(known.everybody)
    games = read_fixtures(file, settings, everybody, known.covariates) if file else []
    games += parse_pairs(settings.pair, everybody, games)
    newcomers = {name for game in games for name in game.players} - everybody
    for newcomer in sorted(newcomers)[: MOST if len(everybody) <= HINTED else 0]:
        if near := correction(newcomer, everybody):
            warn(Note(f"{shown(newcomer)} has no rating{near}"))
    for game in games:
        _check_size(game, "sides", len(game.sides), MOST_SIDES)
        _check_size(game, "players", len(game.players), known.most_players)
    known.check(games)
    folder = None
    if settings.out is not None:
        identity = {
            "system": name,
            "given": dict(known.values),
            "ratings_sha256": sha256(previous.path),
            "fixtures_sha256": _digest_of(games),
        }
        read = [path for path in (previous.path, previous.manifest, file) if path]
        facts = {"source": str(file or "")}
        folder = RunFolder(settings.out, "predict", None, identity, facts=facts, read=read)
    with folder or nullcontext():
        result = PredictedGames(name, known.values, known.forecast(games), warn)
        return write_result(folder, result, {PREDICTIONS: result.columns()}) if folder else result


def _check_size(game: Fixture, what: str, n: int, most: int) -> None:
    """Check that a game has no more sides or players than can be compared."""
    if n > most:
        raise InputError(
            f"{game.where}: game {shown(game.game)} has {n:,} {what} (allowed: {most:,}, as"
            " all pairs of them are compared)"
        )


def _check_time(game: Fixture, kinds: Collection[bool], of: str) -> None:
    """Refuse a game at a moment where other times are numbers, or at a number."""
    if not math.isnan(game.time) and any(kind != game.dated for kind in kinds):
        raise InputError(
            f"{game.where}: time: {KINDS[game.dated]}, where {of} holds {KINDS[not game.dated]}"
            " (allowed: the same in both)"
        )


def _digest_of(games: Sequence[Fixture]) -> str:
    """Return the SHA-256 of all that predictions of games depend on."""
    keys = [
        (game.game, game.sides, game.time, game.at_home, *sorted(game.covariates.items()))
        for game in games
    ]
    return hashlib.sha256(repr(keys).encode()).hexdigest()


_AT_ONCE = 1 << 16  # rows that are predicted at once, about


class FollowedRatings:
    """Ratings that followed a log game by game, and the system that made them."""

    covariates = ()

    def __init__(
        self,
        previous: PreviousRatings,
        system: System,
        parameters: Mapping[str, float],
        warn: Callable[[str], None],
    ) -> None:
        previous.check(system)
        self._path, self._system, self._warn = previous.path, system, warn
        self.values = values_of(system, parameters, previous.made.parameters)  # of all parameters
        self.most_players = system.most_players  # of a game
        self.everybody = {player.player: player for player in previous.players(system)}
        if previous.manifest is None:
            warn(previous.remark(system, parameters))

    def check(self, games: Sequence[Fixture]) -> None:
        """Check that games can be predicted, and say what counts in none."""
        rated = self.everybody.values()
        kinds = {player.dated for player in rated if not math.isnan(player.last)}
        for game in games:
            _check_time(game, kinds, f"{LAST_GAME} of {self._path}")
        at_home, neutral = any(game.at_home for game in games), any(game.neutral for game in games)
        if warning := nobody_at_home(self.values, at_home, neutral):
            self._warn(warning)

    def forecast(self, fixtures: Sequence[Fixture]) -> list[Forecast]:
        """Predict games, each from the same ratings."""
        newcomer = RatedPlayer("", self._system.newcomer(self.values), 0, (), np.nan, False)
        rows = [2 * (len(game.sides) - 1) * len(game.players) for game in fixtures]
        portions = zip((np.cumsum(rows) // _AT_ONCE).tolist(), fixtures, strict=True)
        forecasts = []
        for _, group in groupby(portions, key=lambda pair: pair[0]):
            portion = [fixture for _, fixture in group]
            games, players = _duels(portion, self.everybody, newcomer)
            played, state = unplayed(games, new_tally()), players.state.copy()
            play(self._system, self.values, games, players, 0, played)
            chances = self._system.outcomes(self.values, games, state, played.assessed)
            at = 0
            for fixture in portion:
                end = at + len(fixture.sides) * (len(fixture.sides) - 1)
                of_game = Chances(*(column[at:end] for column in chances))
                forecasts.append(forecast_of(fixture, of_game, self.everybody))
                at = end
        return forecasts


def _duels(
    fixtures: Sequence[Fixture], rated: Mapping[str, RatedPlayer], newcomer: RatedPlayer
) -> tuple[Games, Players]:
    """Return each side of each fixture with each other one as a game of players of their own."""
    duels = [
        (fixture, *pair)
        for fixture in fixtures
        for pair in permutations(range(len(fixture.sides)), 2)
    ]
    # By name, as in a log: sums of floats depend on the order.
    sides = [sorted(game.sides[k], key=str.encode) for game, *pair in duels for k in pair]
    players = [rated.get(player, newcomer) for side in sides for player in side]
    sizes = np.array([len(side) for side in sides])
    n, n_sides, n_rows = len(duels), len(sides), len(players)
    games = Games(
        names=np.arange(n),
        times=np.array([game.time for game, *_ in duels]),
        homes=np.array(
            [pair.index(0) if game.at_home and 0 in pair else -1 for game, *pair in duels]
        ),
        game_starts=np.arange(0, n_sides + 1, 2),
        side_starts=np.concatenate([[0], np.cumsum(sizes)]),
        points=np.zeros(n_sides),
        players=np.arange(n_rows),
        sides=np.repeat(np.arange(n_sides) % 2, sizes),
        rates=np.zeros(n_rows),
        minutes=np.ones(n_rows),
        scores=np.full(n_sides, np.nan),
    )
    state = np.array([player.state for player in players], np.float64)
    return games, Players(state, np.array([player.games for player in players], np.int64))


# Games to come, predicted by the ratings of a whole log.

NAMED = 5  # reasons for which games have no prediction that are told


class WholeRatings:
    """The ratings of a whole log, from the folder that `rank` wrote."""

    most_players = MOST_PLAYERS

    def __init__(
        self,
        previous: PreviousRatings,
        name: str,
        parameters: Mapping[str, float],
        warn: Callable[[str], None],
    ) -> None:
        if parameters:
            what = f"{name} predicts by what it has fitted"
            raise InputError(f"{option('parameters')} {next(iter(parameters))}: {what}")
        system, self._warn = batch_named(name), warn
        rating = previous.of_whole_log(system)
        if not rating.rated:
            raise InputError(f"{previous.path}: nobody has a rating")
        self.values: dict[str, float] = {}
        self.everybody = {row.player: row for row in rating.players}
        self._places = {name: k for k, name in enumerate(rating.rated)}
        self._ratings = np.array([row.rating for row in rating.rated.values()])
        self._covariance = rating.posterior.covariance
        self._coefficients = rating.values
        self._home = self._coefficients.pop(HOME, 0.0)
        self._draw_weight = self._coefficients.pop(DRAW_WEIGHT, 0.0)
        self.covariates = list(self._coefficients)
        self._paths = _Paths.of(rating, previous.path.parent / SUMMARY) if system.paths else None

    def check(self, games: Sequence[Fixture]) -> None:
        """Refuse games at times of another kind than those of ratings that move."""
        if self._paths is not None:
            for game in games:
                _check_time(game, {self._paths.dated}, "the log")

    def forecast(self, fixtures: Sequence[Fixture]) -> list[Forecast]:
        """Predict games; who never played is as strong as the mean, and there is no interval."""
        unknown = [
            name
            for name in self.covariates
            if not all(name in fixture.covariates for fixture in fixtures)
        ]
        if unknown:
            self._warn(f"predicted as if both sides had the same {', '.join(unknown)}")
        reasons = [self._undefined(fixture) for fixture in fixtures]
        if why := list(dict.fromkeys(filter(None, reasons))):
            more = f" and {len(why) - NAMED:,} more" if len(why) > NAMED else ""
            n = len(reasons) - reasons.count("")
            self._warn(
                f"{n:,} game{'s' * (n != 1)} without a prediction: {'; '.join(why[:NAMED])}{more}"
            )
        return [
            forecast_of(fixture, None if reason else self._chances(fixture), self.everybody)
            for fixture, reason in zip(fixtures, reasons, strict=True)
        ]

    def _undefined(self, fixture: Fixture) -> str:
        """Say why the ratings say nothing of a game; or nothing."""
        rows = [self.everybody[name] for name in fixture.players if name in self.everybody]
        for row in rows:
            if row.rating is None:
                helps = f"rate with {option('prior')} D to give everybody one"
                return f"{shown(row.player)} has no finite rating ({row.status}; {helps})"
            if row.group != rows[0].group:
                return f"no game links {shown(rows[0].player)} and {shown(row.player)}"
        return ""

    def _chances(self, fixture: Fixture) -> Chances:
        """Return how likely each side beats each other one."""
        pairs = list(permutations(range(len(fixture.sides)), 2))
        leads = np.array([self._lead(fixture, *pair) for pair in pairs])
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

    def _lead(self, fixture: Fixture, a: int, b: int) -> float:
        """Return the lead of a side over another in points."""
        home = self._home * fixture.at_home * ((a == 0) - (b == 0))
        more = math.fsum(
            self._coefficients[name] * (values[a] - values[b])
            for name, values in fixture.covariates.items()
        )
        strengths = self._strength(fixture.sides[a]) - self._strength(fixture.sides[b])
        return strengths + home + more

    def _strength(self, side: Sequence[str]) -> float:
        mean = float(self._ratings.mean())
        places = (self._places.get(name) for name in sorted(side, key=str.encode))
        ratings = [mean if at is None else float(self._ratings[at]) for at in places]
        return math.fsum(ratings) / len(ratings)

    def _error(self, fixture: Fixture, a: int, b: int) -> float:
        """Return the standard error of that lead; NaN where it is not known."""
        sides = fixture.sides[a], fixture.sides[b]
        names = [name for side in sides for name in side]
        if self._covariance is None or not self._places.keys() >= set(names):
            return math.nan
        places = [self._places[name] for name in names]
        shares = np.repeat([1.0 / len(sides[0]), -1.0 / len(sides[1])], list(map(len, sides)))
        variance = float(shares @ self._covariance[np.ix_(places, places)] @ shares)
        if self._paths is not None:  # everybody moves by themselves until the game
            variance += self._paths.later(fixture) * math.fsum(shares**2)
        return math.sqrt(max(variance, 0.0))


@dataclass(frozen=True)
class _Paths:
    """How ratings move after the last day of the log."""

    drift: float
    last_day: float
    dated: bool  # whether days are those of the calendar, counted from 1970
    unit: str  # that of times that are numbers

    @classmethod
    def of(cls, rating: BatchRating, path: Path) -> _Paths:
        """Return how ratings move, from the summary of a rating."""
        with damaged(path):
            drift, last, unit = (rating.facts[key] for key in ("drift", "last_day", "time_unit"))
            dated = isinstance(last, str)
            day = float(np.datetime64(last, "D").astype(np.int64)) if dated else float(last)
            if unit not in (None, *TIME_UNITS):
                raise ValueError(f"time_unit: {unit!r}")
            return cls(float(drift), day, dated, unit or "days")

    def later(self, fixture: Fixture) -> float:
        """Return the variance of what a rating has moved at a game; 0 if its time is not known."""
        if math.isnan(fixture.time):
            return 0.0
        day = float(day_of(np.array([fixture.time]), self.dated, self.unit)[0])
        return self.drift**2 * max(day - self.last_day, 0.0)
