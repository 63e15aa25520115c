"""Rating the players of a real game log, each game predicted before it is rated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from valmatch.compilation import announce_compilation
from valmatch.errors import InputError
from valmatch.execution.interruption import stop_on_signal
from valmatch.game_logs.files import (
    manifest,
    output_folder,
    read_ratings,
    write_json,
    write_ratings,
)
from valmatch.game_logs.games import Games, joined, pieces
from valmatch.game_logs.history import History
from valmatch.game_logs.reading.cells import find_cells
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.reading.rows import DEFAULT_MINUTES
from valmatch.game_logs.roster import Ranking, Roster
from valmatch.game_logs.scores import TALLIES, Scores, scores
from valmatch.game_logs.system import System
from valmatch.game_logs.systems import DEFAULT, system_named
from valmatch.game_logs.tuning import Tuning
from valmatch.game_logs.tuning import tune as fit
from valmatch.nearest import hint
from valmatch.storage.output import write_atomically

__all__ = ["BURN_IN", "Rated", "parse_parameters", "rate"]

BURN_IN = 10


@dataclass(frozen=True)
class Rated:
    """A rated game log.

    Attributes
    ----------
    system : name of the rating system
    parameters : values of all its parameters; the fitted ones, if any were
    games, rows : how many games were rated, and rows of a player in them
    unrated : games with fewer than two sides of enabled players
    skipped : bad games left out, by reason
    burn_in : games that every player must have behind him for a prediction to count as one after
        the burn-in
    ranking : the players
    predictions : how well the games were predicted, of ``all`` and of those ``after_burn_in``
    tuning : how parameters were fitted
    """

    system: str
    parameters: Mapping[str, float]
    games: int
    rows: int
    unrated: int
    skipped: Mapping[str, int]
    burn_in: int
    ranking: Ranking
    predictions: Mapping[str, Scores]
    tuning: Tuning | None

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "system": self.system,
            "parameters": dict(self.parameters),
            "games": self.games,
            "rows": self.rows,
            "players": len(self.ranking.players),
            "unrated_games": self.unrated,
            "skipped_games": dict(self.skipped),
            "burn_in": self.burn_in,
            "predictions": {name: one.as_dict() for name, one in self.predictions.items()},
            "tuning": self.tuning.as_dict() if self.tuning else None,
        }


def rate(
    games: Path,
    system: str = DEFAULT,
    *,
    parameters: Mapping[str, float] = {},
    ratings: Path | None = None,
    out: Path | None = None,
    columns: Mapping[str, str] = {},
    tune: Sequence[str] = (),
    train: float = 0.5,
    burn_in: int = BURN_IN,
    skip_bad_games: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    warn: Callable[[str], None] = lambda text: None,
) -> Rated:
    """Rate the players of a game log, predicting each game from the ratings before it.

    The log streams through: memory grows with the number of distinct players and games alone,
    unless parameters are fitted or the file is not in the order of its `time`; then all games
    are held, at up to 200 bytes a row.

    Parameters
    ----------
    games : Path
        The log, see `valmatch.game_logs.reading.log.GameLog`; `-` is standard input.
    system : str
        Name of a file in ``valmatch/game_logs/systems``.
    parameters : mapping
        Values of parameters that are not as published.
    ratings : Path or None
        An earlier ``ratings.csv`` to go on from; the result is that of one log.
    out : Path or None
        Folder for ``ratings.csv``, ``history.csv``, ``summary.json`` and ``manifest.json``.
    columns : mapping
        Names of the file's columns by meaning, where they differ.
    tune : sequence of str
        Parameters to fit to the log loss of the first part of the log.
    train : float
        Share of the games in that part, in (0, 1).
    burn_in : int
        Games that every player of a game must have behind him for its prediction to count as one
        after the burn-in, >= 0.
    skip_bad_games : bool
        Leave bad games out and count them, instead of raising.
    progress : callable
        Called with the number of further bytes read.
    warn : callable
        Called with each remark.

    Raises
    ------
    InputError
        If the log, the ratings or the folder cannot be used; then nothing is written.
    RunError
        If the results cannot be written.
    """
    chosen = system_named(system)
    values = _values(chosen, parameters)
    _check(chosen, tune, train, burn_in)
    known = read_ratings(ratings, chosen) if ratings else []
    announce_compilation(find_cells)
    with ExitStack() as stack:
        log = stack.enter_context(closing(GameLog(games, columns, skip_bad_games)))
        if chosen.name == "zonestats" and "minutes" not in log.columns.places:
            warn(f"no column minutes: every player counts as {DEFAULT_MINUTES:g} minutes in a game")
        if out:
            stack.enter_context(output_folder(out))
        stop = stack.enter_context(stop_on_signal())
        tuning = None
        parts: Iterable[Games] = _until_stopped(log.games(progress), stop)
        everything = _together(parts) if tune else None
        if everything:
            tuning = fit(chosen, tune, values, everything, log.players, known, train, stop)
            values = dict(tuning.tuned.parameters)
            parts = _until_stopped(pieces(everything), stop)
        roster = Roster(chosen, values, log.players, known)
        history = None
        if out:
            history = History(stack.enter_context(write_atomically(out / "history.csv")), log)
        n_rows = 0
        for some in parts:
            played = roster.play(some, burn_in)
            n_rows += len(some.players)
            if history:
                history.append(some, played)
        predictions = dict(zip(TALLIES, map(scores, roster.tally), strict=True))
        _remark(log, predictions["all"].games, warn)
        for remark in tuning.remarks if tuning else ():
            warn(remark)
        result = Rated(
            system=chosen.name,
            parameters=values,
            games=predictions["all"].games,
            rows=n_rows,
            unrated=log.unrated,
            skipped=log.skipped,
            burn_in=burn_in,
            ranking=roster.ranking(),
            predictions=predictions,
            tuning=tuning,
        )
        if out:
            write_ratings(out / "ratings.csv", result.ranking)
            write_json(out / "summary.json", result.summary())
            write_json(out / "manifest.json", manifest(log.name, chosen, values, columns))
    return result


def parse_parameters(texts: Sequence[str]) -> dict[str, float]:
    """Return the values that texts such as ``GAME_MULT=0.5`` give to parameters.

    Raises
    ------
    InputError
        If a text is no such thing, or a parameter is given twice.
    """
    values: dict[str, float] = {}
    for text in texts:
        name, _, value = (piece.strip() for piece in text.partition("="))
        if name in values:
            raise InputError(f"--set {name}: is given twice")
        try:
            values[name] = float(value)
        except ValueError:
            raise InputError(f"--set {text}: (allowed: NAME=NUMBER, such as K=24)") from None
    return values


def _until_stopped(parts: Iterator[Games], stop: Callable[[], bool]) -> Iterator[Games]:
    """Pass parts on until a signal comes; half a rating is of no use."""
    for some in parts:
        if stop():
            raise KeyboardInterrupt
        yield some


def _together(parts: Iterable[Games]) -> Games | None:
    """Return all games, if there are any."""
    held = [some for some in parts if some.n_games]
    return joined(held) if held else None


def _values(system: System, given: Mapping[str, float]) -> dict[str, float]:
    """Return the values of all parameters."""
    limits = {parameter.name: parameter for parameter in system.parameters}
    for name, value in given.items():
        if name not in limits:
            what = f"{system.name} has no such parameter ({hint(name, limits)})"
            raise InputError(f"--set {name}: {what}")
        low, high = limits[name].low, limits[name].high
        if not low <= value <= high:
            raise InputError(f"--set {name}={value!r}: out of range (allowed: {low!r} to {high!r})")
    return {name: given.get(name, one.published) for name, one in limits.items()}


def _check(system: System, tune: Sequence[str], train: float, burn_in: int) -> None:
    """Check what says how to tune and to score."""
    names = [parameter.name for parameter in system.parameters]
    for name in tune:
        if name not in names:
            what = f"{system.name} has no such parameter ({hint(name, names)})"
            raise InputError(f"--tune {name}: {what}")
        if tune.count(name) > 1:
            raise InputError(f"--tune: {name} is given twice")
    if not 0.0 < train < 1.0:
        raise InputError(f"--train {train!r} (allowed: a number > 0 and < 1)")
    if burn_in < 0:
        raise InputError(f"--burn-in {burn_in} (allowed: a whole number >= 0)")


def _remark(log: GameLog, games: int, warn: Callable[[str], None]) -> None:
    """Warn of games that were not rated; without a game that was, raise."""
    if log.skipped:
        reasons = ", ".join(f"{n} {reason}" for reason, n in sorted(log.skipped.items()))
        warn(f"{_counted(sum(log.skipped.values()), 'bad game')} left out ({reasons})")
    if log.unrated:
        unrated = _counted(log.unrated, "game")
        warn(f"{unrated} not rated: fewer than two sides with enabled players")
    if not games:
        raise InputError(f"{log.name}: holds no game that can be rated")


def _counted(n: int, what: str) -> str:
    return f"{n} {what}{'s' * (n != 1)}"
