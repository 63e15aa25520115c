"""Predicting games that are still to be played."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Unpack

from valmatch.config import arguments
from valmatch.config.arguments import PathLike
from valmatch.config.input_files import sha256
from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals
from valmatch.game_logs.csv_text import time_text
from valmatch.game_logs.files import SUMMARY
from valmatch.game_logs.fixtures import Fixture, parse_pairs, read_fixtures
from valmatch.game_logs.forecast import Forecast, forecast
from valmatch.game_logs.options import PredictKeywords, split
from valmatch.game_logs.parameters import values_of
from valmatch.game_logs.previous_ratings import KINDS, PreviousRatings
from valmatch.game_logs.remarks import nobody_at_home
from valmatch.game_logs.roster import LAST_GAME, Known
from valmatch.printable import shown
from valmatch.ratings.registry import system_named
from valmatch.ratings.system import System
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder

PREDICTIONS = "predictions.csv"

MOST_SIDES = 500
"""Sides of a game, all pairs of which are compared within seconds."""


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
        n = len({player for one in self.forecasts for player in one.newcomers})
        unknown = f", {n:,} newcomer{'s' * (n != 1)}" if n else ""
        games = len(self.forecasts)
        return f"{self.system}, {games:,} game{'s' * (games != 1)} to come{unknown}"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each side of each game, as ``predictions.csv`` has them."""
        rows = [(one, k) for one in self.forecasts for k in range(len(one.fixture.sides))]
        times = [time_text(one.fixture.time, one.fixture.dated) for one, _ in rows]
        newcomers = [set(one.newcomers) for one, _ in rows]
        sides = [one.fixture.sides[k] for one, k in rows]
        return {
            "game": [one.fixture.game for one, _ in rows],
            **({"time": times} if any(times) else {}),
            "side": [k + 1 for _, k in rows],
            "players": [";".join(side) for side in sides],
            "win": [float(one.wins[k]) for one, k in rows],
            "draw": [_known(one.draw) for one, _ in rows],
            "win_low": [_known(one.low[k]) for one, k in rows],
            "win_high": [_known(one.high[k]) for one, k in rows],
            "expected": [float(one.expected[k]) for one, k in rows],
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
            "games": [_as_dict(one) for one in self.forecasts],
        }


def _known(probability: float) -> float | None:
    return None if math.isnan(probability) else float(probability)


def _as_dict(one: Forecast) -> dict[str, Any]:
    """Return a forecast as ``summary.json`` holds it."""
    return {
        "game": one.fixture.game,
        "time": time_text(one.fixture.time, one.fixture.dated) or None,
        "draw": _known(one.draw),
        "sides": [
            {
                "players": list(side),
                "win": float(one.wins[k]),
                "win_low": _known(one.low[k]),
                "win_high": _known(one.high[k]),
                "expected": float(one.expected[k]),
                "newcomers": [player for player in side if player in one.newcomers],
            }
            for k, side in enumerate(one.fixture.sides)
        ],
    }


def predict_games(
    ratings: PathLike,
    fixtures: PathLike | None = None,
    *,
    pair: str | Sequence[str] = (),
    system: str | None = None,
    parameters: Mapping[str, float] = {},
    raw_names: bool = False,
    **keywords: Unpack[PredictKeywords],
) -> PredictedGames:
    """Predict games by the system that rated their players; whoever is not rated is a newcomer.

    Parameters
    ----------
    ratings : PathLike
        A ``ratings.csv``, or its folder.
    fixtures : PathLike or None
        The games, see `valmatch.game_logs.fixtures.read_fixtures`; `-` is standard input.
    pair : str or sequence of str
        Further games, such as ``ann,bob`` or ``ann;bob,cy;dan``.
    system : str or None
        By which system the ratings are, for a file without a manifest beside it.
    parameters : mapping
        Values of parameters that are not those which `ratings` was made with.
    raw_names : bool
        Write names as they are; else those that a spreadsheet would take for formulas get an
        apostrophe, see `valmatch.csv_names.mark`.
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
    games += parse_pairs(pairs, names)
    _check(games, chosen, previous, players)
    at_home, neutral = any(game.at_home for game in games), any(game.neutral for game in games)
    if remark := nobody_at_home(values, at_home, neutral):
        listeners.warn(remark)
    claimed: AbstractContextManager[RunFolder | None] = nullcontext()
    if options.out is not None:
        claimed = _claim(options.out, previous, path, values, chosen, games)
    with claimed as folder:
        result = PredictedGames(chosen.name, values, forecast(chosen, values, players, games))
        if folder:
            result = replace(result, folder=folder.path)
            _write(folder, result, raw_names)
    return result


def _write(folder: RunFolder, result: PredictedGames, raw_names: bool) -> None:
    """Write the files of predictions, and close their folder."""
    with held_signals():  # a signal finds all files or none
        write_csv(folder.path / PREDICTIONS, result.columns(), raw_names=raw_names)
        if not raw_names:
            folder.note(marked_names=[PREDICTIONS])
        with write_atomically(folder.path / SUMMARY) as file:
            file.write(to_json(result.summary()))
        folder.close("complete")


def _system(previous: PreviousRatings, name: str | None) -> System:
    """Return the system that made the ratings."""
    system = system_named(name or previous.made_by())
    previous.check(system)
    return system


def _check(
    games: Sequence[Fixture], system: System, previous: PreviousRatings, known: Sequence[Known]
) -> None:
    """Check that games can be predicted."""
    rated = {one.dated for one in known if not math.isnan(one.last)}
    for one in games:
        players = sum(map(len, one.sides))
        for what, n, most in (
            ("sides", len(one.sides), MOST_SIDES),
            ("players", players, system.most_players),
        ):
            if n > most:
                raise InputError(
                    f"{one.where}: game {shown(one.game)} has {n:,} {what} (allowed: {most:,}, as"
                    " all pairs of them are compared)"
                )
        if not math.isnan(one.time) and rated - {one.dated}:
            raise InputError(
                f"{one.where}: time: {KINDS[one.dated]}, where {LAST_GAME} of {previous.path} holds"
                f" {KINDS[not one.dated]} (allowed: the same in both)"
            )


def _claim(
    out: Path,
    previous: PreviousRatings,
    fixtures: Path | None,
    values: Mapping[str, float],
    system: System,
    games: Sequence[Fixture],
) -> RunFolder:
    """Return the folder of the predictions, claimed."""
    text = repr([(one.game, one.sides, one.time, one.at_home) for one in games])
    identity = {
        "system": system.name,
        "given": dict(values),
        "ratings_sha256": sha256(previous.path),
        "fixtures_sha256": hashlib.sha256(text.encode()).hexdigest(),
    }
    facts = {"source": str(fixtures or "")}
    read = [path for path in (previous.path, previous.manifest, fixtures) if path]
    return RunFolder(out, "predict", None, identity, facts=facts, read=read)
