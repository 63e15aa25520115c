"""Predicting games that are still to be played."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from itertools import permutations
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals
from valmatch.execution.listeners import Listeners
from valmatch.game_logs.options import LogOptions, PredictKeywords, split
from valmatch.game_logs.parameters import values_of
from valmatch.game_logs.playing import predict
from valmatch.game_logs.prediction.fixtures import Fixture, parse_pairs, read_fixtures
from valmatch.game_logs.prediction.forecasts import Forecast, of_sides
from valmatch.game_logs.previous_ratings import KINDS, PreviousRatings
from valmatch.game_logs.rated_players import LAST_GAME, RatedPlayer
from valmatch.game_logs.remarks import nobody_at_home
from valmatch.game_logs.writing.csv_text import time_text
from valmatch.game_logs.writing.folder import SUMMARY
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import sha256
from valmatch.ratings.games import Games, Players
from valmatch.ratings.registry import BATCH_NAMES, batch_named, system_named
from valmatch.ratings.system import MOST_PLAYERS, BatchSystem, Chances, System
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder
from valmatch.text.terminal import shown

PREDICTIONS = "predictions.csv"

MOST_SIDES = 500  # sides of a game, all pairs of which are compared within seconds


@dataclass(frozen=True, repr=False)
class PredictedGames(Result):
    """The probabilities of the results of games that are still to be played.

    Attributes
    ----------
    system : str
        Name of the rating system.
    parameters : mapping of str to float
        Values of all its parameters.
    forecasts : sequence of Forecast
        One for each game.
    """

    system: str
    parameters: Mapping[str, float]
    forecasts: Sequence[Forecast]
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was predicted, in one line."""
        n = len({player for game in self.forecasts for player in game.newcomers})
        unknown = f", {n:,} newcomer{'s' * (n != 1)}" if n else ""
        games = len(self.forecasts)
        return f"{self.system}, {games:,} game{'s' * (games != 1)} to come{unknown}"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each side of each game, as ``predictions.csv`` has them."""
        rows = [(game, k) for game in self.forecasts for k in range(len(game.fixture.sides))]
        times = [time_text(game.fixture.time, game.fixture.dated) for game, _ in rows]
        newcomers = [set(game.newcomers) for game, _ in rows]
        sides = [game.fixture.sides[k] for game, k in rows]
        return {
            "game": [game.fixture.game for game, _ in rows],
            **({"time": times} if any(times) else {}),
            "side": [k + 1 for _, k in rows],
            "players": [";".join(side) for side in sides],
            "win": [_or_none(game.wins[k]) for game, k in rows],
            "draw": [_or_none(game.draw) for game, _ in rows],
            "win_low": [_or_none(game.low[k]) for game, k in rows],
            "win_high": [_or_none(game.high[k]) for game, k in rows],
            "expected": [_or_none(game.expected[k]) for game, k in rows],
            "newcomers": [
                ";".join(player for player in side if player in unknown)
                for side, unknown in zip(sides, newcomers, strict=True)
            ],
        }

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "system": self.system,
            "parameters": dict(self.parameters),
            "games": [_as_dict(game) for game in self.forecasts],
        }


def _or_none(probability: float) -> float | None:
    return None if math.isnan(probability) else float(probability)


def _as_dict(game: Forecast) -> dict[str, Any]:
    """Return a forecast as ``summary.json`` holds it."""
    return {
        "game": game.fixture.game,
        "time": time_text(game.fixture.time, game.fixture.dated) or None,
        "draw": _or_none(game.draw),
        "sides": [
            {
                "players": list(side),
                "win": _or_none(game.wins[k]),
                "win_low": _or_none(game.low[k]),
                "win_high": _or_none(game.high[k]),
                "expected": _or_none(game.expected[k]),
                "newcomers": [player for player in side if player in game.newcomers],
            }
            for k, side in enumerate(game.fixture.sides)
        ],
    }


def predict_games(
    ratings: PathLike,
    fixtures: PathLike | None = None,
    *,
    pair: str | Sequence[str] = (),
    system: str | None = None,
    parameters: Mapping[str, float] = {},
    **keywords: Unpack[PredictKeywords],
) -> PredictedGames:
    """Predict games by the system that rated their players; whoever is not rated is a newcomer.

    Parameters
    ----------
    ratings : PathLike
        A ``ratings.csv``, or its folder.
    fixtures : PathLike or None
        The games, see `valmatch.game_logs.prediction.fixtures`; `-` is standard input.
    pair : str or sequence of str
        Further games, such as ``ann,bob`` or ``ann;bob,cy;dan``.
    system : str or None
        By which system the ratings are, for a file without a manifest beside it.
    parameters : mapping
        Values of parameters that are not those which `ratings` was made with.
    **keywords
        How to read the games, and whom to tell:

        columns : mapping
            Names of the columns of `fixtures` by meaning, where they differ.
        separator : str
            What stands between the cells of `fixtures`: ``,``, ``;``, ``|``, or ``tab``.
        out : PathLike or None
            Folder for ``predictions.csv``, ``summary.json`` and ``manifest.json``.
        warn : callable
            Called with each remark.

    Raises
    ------
    InputError
        If there is nothing to predict, or a file or the folder cannot be used.
    RunError
        If the results cannot be written.
    """
    options, listeners = split(keywords, PredictKeywords)
    previous = PreviousRatings(arguments.path("ratings", ratings))
    batch = system or previous.system
    if batch in BATCH_NAMES:
        return _predict_whole(
            batch_named(str(batch)),
            previous,
            fixtures,
            arguments.names("pair", pair),
            options,
            parameters,
            listeners,
        )
    chosen = _system(previous, system)
    values = values_of(chosen, parameters, previous.parameters)
    pairs = arguments.names("pair", pair)
    path = None if fixtures is None else arguments.path("fixtures", fixtures)
    if path is None and not pairs:
        raise InputError(f"{option('fixtures')} or {option('pair')}: says which games to predict")
    players = previous.players(chosen)
    if previous.manifest is None:
        listeners.warn(previous.remark(chosen, parameters))
    names = [player.player for player in players]
    games = read_fixtures(path, options.format, names) if path else []
    games += parse_pairs(pairs, names, games)
    _check(games, chosen, previous, players)
    at_home, neutral = any(game.at_home for game in games), any(game.neutral for game in games)
    if remark := nobody_at_home(values, at_home, neutral):
        listeners.warn(remark)
    claimed: AbstractContextManager[RunFolder | None] = nullcontext()
    if options.out is not None:
        claimed = _claim(options.out, previous, path, values, chosen.name, games)
    with claimed as folder:
        result = PredictedGames(chosen.name, values, forecast(chosen, values, players, games))
        if folder:
            result = replace(result, folder=folder.path)
            _write(folder, result)
    return result


def _predict_whole(
    system: BatchSystem,
    previous: PreviousRatings,
    fixtures: PathLike | None,
    pairs: Sequence[str],
    options: LogOptions,
    parameters: Mapping[str, float],
    listeners: Listeners,
) -> PredictedGames:
    """Predict games by the ratings of a whole log."""
    from valmatch.game_logs.batch.prediction import WholeRatings

    name = system.name
    previous.check(system)
    if parameters:
        what = f"{name} predicts by what it has fitted"
        raise InputError(f"{option('parameters')} {next(iter(parameters))}: {what}")
    path = None if fixtures is None else arguments.path("fixtures", fixtures)
    if path is None and not pairs:
        raise InputError(f"{option('fixtures')} or {option('pair')}: says which games to predict")
    known = WholeRatings(previous.path, system, listeners.warn)
    games = read_fixtures(path, options.format, known.everybody, known.covariates) if path else []
    games += parse_pairs(pairs, known.everybody, games)
    _check_sizes(games, MOST_PLAYERS)
    claimed: AbstractContextManager[RunFolder | None] = nullcontext()
    if options.out is not None:
        claimed = _claim(options.out, previous, path, {}, name, games)
    with claimed as folder:
        result = PredictedGames(name, {}, known.forecast(games))
        if folder:
            result = replace(result, folder=folder.path)
            _write(folder, result)
    return result


def _write(folder: RunFolder, result: PredictedGames) -> None:
    """Write the files of predictions, and close their folder."""
    with held_signals():  # a signal finds all files or none
        write_csv(folder.path / PREDICTIONS, result.columns())
        with write_atomically(folder.path / SUMMARY) as file:
            file.write(to_json(result.summary()))
        folder.close("complete")


def _system(previous: PreviousRatings, name: str | None) -> System:
    """Return the system that made the ratings."""
    system = system_named(name or previous.made_by())
    previous.check(system)
    return system


def _check(
    games: Sequence[Fixture],
    system: System,
    previous: PreviousRatings,
    known: Sequence[RatedPlayer],
) -> None:
    """Check that games can be predicted."""
    _check_sizes(games, system.largest.players)
    kinds = {player.dated for player in known if not math.isnan(player.last)}
    for game in games:
        if not math.isnan(game.time) and kinds - {game.dated}:
            raise InputError(
                f"{game.where}: time: {KINDS[game.dated]}, where {LAST_GAME} of {previous.path}"
                f" holds {KINDS[not game.dated]} (allowed: the same in both)"
            )


def _check_sizes(games: Sequence[Fixture], most_players: int) -> None:
    """Check that games have no more sides and players than can be compared."""
    for game in games:
        players = sum(map(len, game.sides))
        for what, n, most in (
            ("sides", len(game.sides), MOST_SIDES),
            ("players", players, most_players),
        ):
            if n > most:
                raise InputError(
                    f"{game.where}: game {shown(game.game)} has {n:,} {what} (allowed: {most:,}, as"
                    " all pairs of them are compared)"
                )


def _claim(
    out: Path,
    previous: PreviousRatings,
    fixtures: Path | None,
    values: Mapping[str, float],
    system: str,
    games: Sequence[Fixture],
) -> RunFolder:
    """Return the folder of the predictions, claimed."""
    keys = [
        (game.game, game.sides, game.time, game.at_home, *sorted(game.covariates.items()))
        for game in games
    ]
    text = repr(keys)
    identity = {
        "system": system,
        "given": dict(values),
        "ratings_sha256": sha256(previous.path),
        "fixtures_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    facts = {"source": str(fixtures or "")}
    read = [path for path in (previous.path, previous.manifest, fixtures) if path]
    return RunFolder(out, "predict", None, identity, facts=facts, read=read)


_AT_ONCE = 1 << 16  # rows that are held


def forecast(
    system: System,
    values: Mapping[str, float],
    known: Sequence[RatedPlayer],
    fixtures: Sequence[Fixture],
) -> list[Forecast]:
    """Predict games, each from the same ratings."""
    rated = {player.player: player for player in known}
    newcomer = RatedPlayer("", system.newcomer(values), 0, (), np.nan, False)
    found = []
    for portion in _portions(fixtures):
        games, players = _duels(portion, rated, newcomer)
        chances = predict(system, values, games, players)
        at = 0
        for fixture in portion:
            duels = len(fixture.sides) * (len(fixture.sides) - 1)
            own = Chances(*(column[at : at + duels] for column in chances))
            unknown = [p for side in fixture.sides for p in side if p not in rated]
            found.append(of_sides(fixture, own, unknown))
            at += duels
    return found


def _portions(fixtures: Sequence[Fixture]) -> Iterator[list[Fixture]]:
    """Yield the fixtures in portions that are held at once."""
    portion: list[Fixture] = []
    rows = 0
    for fixture in fixtures:
        more = 2 * (len(fixture.sides) - 1) * sum(map(len, fixture.sides))
        if portion and rows + more > _AT_ONCE:
            yield portion
            portion, rows = [], 0
        portion.append(fixture)
        rows += more
    if portion:
        yield portion


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
