"""Several rating systems on one log: which predicts its games best."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.compilation import announce_compilation
from valmatch.config import arguments
from valmatch.config.arguments import PathLike
from valmatch.csv_dialect import separator_called
from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals, stop_on_signal
from valmatch.game_logs.baselines import COIN, RECORD
from valmatch.game_logs.blocks import MEASURES, Difference, blocks_of, difference
from valmatch.game_logs.files import SUMMARY, claim
from valmatch.game_logs.games import Games, joined, part, pieces, until_stopped
from valmatch.game_logs.parameters import values_of
from valmatch.game_logs.reading.cells import find_cells
from valmatch.game_logs.reading.log import GameLog
from valmatch.game_logs.remarks import games_left_out, uneven_games, worse_than_a_coin
from valmatch.game_logs.roster import Roster
from valmatch.game_logs.scores import TALLIES, Scores, scores
from valmatch.game_logs.system import System
from valmatch.game_logs.systems import system_named
from valmatch.storage.manifest import MANIFEST
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.results import Result

__all__ = ["COMPARISON", "ComparedSystems", "compare_systems"]

Floats = NDArray[np.float64]

COMPARISON = "comparison.csv"

WRITTEN = (COMPARISON, SUMMARY, MANIFEST)


@dataclass(frozen=True, repr=False)
class ComparedSystems(Result):
    """How well several rating systems, and two baselines, predicted the games of one log.

    Attributes
    ----------
    parameters : mapping of str to mapping of str to float
        Values of all parameters of each system.
    best : str
        The system with the least log loss.
    games, rows : int
        How many games were rated, and rows of a player in them.
    unrated : int
        Games with fewer than two sides of enabled players.
    skipped : mapping of str to int
        Bad games left out, by reason.
    burn_in : int
        Games that every player must have behind him for a prediction to count as one after the
        burn-in.
    blocks : int
        Blocks of games, over which all intervals are.
    predictions : mapping of str to mapping of str to Scores
        How well each predicted, of ``all`` games and of those ``after_burn_in``.
    means, differences : mapping of str to mapping of str to Difference
        The scores of all games of each, and by how much they exceed those of the best system.
    """

    parameters: Mapping[str, Mapping[str, float]]
    best: str
    games: int
    rows: int
    unrated: int
    skipped: Mapping[str, int]
    burn_in: int
    blocks: int
    predictions: Mapping[str, Mapping[str, Scores]]
    means: Mapping[str, Mapping[str, Difference]]
    differences: Mapping[str, Mapping[str, Difference]]
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was compared, in one line."""
        return (
            f"{len(self.parameters)} systems, {self.games:,} games, {self.rows:,} rows,"
            f" {self.blocks} blocks of games; best: {self.best}"
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each system and baseline, as ``comparison.csv`` has them."""
        found: dict[str, list[Any]] = {"system": list(self.means)}
        for name in MEASURES:
            for what, ones in (("", self.means), ("_to_best", self.differences)):
                some = [one[name] for one in ones.values()]
                found[f"{name}{what}"] = [one.mean for one in some]
                found[f"{name}{what}_half_width"] = [one.half_width for one in some]
        return found

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "systems": {
                name: {
                    "parameters": dict(self.parameters.get(name, {})),
                    "baseline": name not in self.parameters,
                    "predictions": {key: one.as_dict() for key, one in found.items()},
                    "means": {key: one.as_dict() for key, one in self.means[name].items()},
                    "to_best": {key: one.as_dict() for key, one in self.differences[name].items()},
                }
                for name, found in self.predictions.items()
            },
            "best": self.best,
            "games": self.games,
            "rows": self.rows,
            "unrated_games": self.unrated,
            "skipped_games": dict(self.skipped),
            "burn_in": self.burn_in,
            "blocks": self.blocks,
        }


def compare_systems(
    games: PathLike,
    system: str | Sequence[str],
    *,
    parameters: Mapping[str, float] = {},
    out: PathLike | None = None,
    columns: Mapping[str, str] = {},
    separator: str = ",",
    burn_in: int = 10,
    skip_bad_games: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    warn: Callable[[str], None] = lambda text: None,
) -> ComparedSystems:
    """Compare how well rating systems predict the games of a log, each game before it is rated.

    All systems predict the same games, so that differences between them are known better than the
    scores themselves. Intervals are by the spread over at most 50 blocks of successive games, whole
    days where the log has dates, as games near each other are predicted from the same ratings. All
    games are held, at up to 200 bytes a row.

    Parameters
    ----------
    games : str or Path
        The log, see `valmatch.game_logs.reading.log.GameLog`; `-` is standard input.
    system : str or sequence of str
        Names of files in ``valmatch/game_logs/systems``.
    parameters : mapping
        Values of parameters that are not as published, by names such as ``elo.K``.
    out : PathLike or None
        Folder for ``comparison.csv``, ``summary.json`` and ``manifest.json``.
    columns, separator, burn_in, skip_bad_games, progress, warn
        As `rate_games` takes them.

    Raises
    ------
    InputError
        If the log or the folder cannot be used; then nothing is written.
    RunError
        If the results cannot be written.
    """
    chosen = _chosen(arguments.names("system", system))
    values = _values(chosen, parameters)
    arguments.whole("burn_in", burn_in)
    between = separator_called(separator)
    path = arguments.path("games", games)
    announce_compilation(find_cells)
    most_players = min(one.most_players for one in chosen)
    with ExitStack() as stack:
        log = stack.enter_context(
            closing(GameLog(path, columns, skip_bad_games, most_players, between))
        )
        folder = None
        if out is not None:
            identity = {
                "system": ",".join(one.name for one in chosen),
                "given": values,
                "columns": dict(columns),
                "separator": None if between == "," else between,
                "burn_in": burn_in,
                "skip_bad_games": skip_bad_games,
            }
            claimed = claim(arguments.path("out", out), log, None, [], identity, WRITTEN)
            folder = stack.enter_context(claimed)
        stop = stack.enter_context(stop_on_signal())
        held = [some for some in until_stopped(log.games(progress), stop) if some.n_games]
        for remark in games_left_out(log):
            warn(remark)
        if not held:
            raise InputError(f"{log.name}: holds no game that can be rated")
        everything = joined(held)
        result = _compared(chosen, values, log, everything, burn_in, stop)
        for one in chosen:
            own = result.predictions[one.name]["all"]
            if remark := worse_than_a_coin(one, own, uneven_games(everything), errors=0.0):
                warn(remark)
        if folder:
            result = replace(result, folder=folder.path)
            with held_signals():  # a signal finds all files or none
                write_csv(folder.path / COMPARISON, result.columns())
                with write_atomically(folder.path / SUMMARY) as file:
                    file.write(to_json(result.summary()))
                folder.close("complete")
    return result


def _chosen(names: Sequence[str]) -> list[System]:
    """Return the systems of some names."""
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{option('system')}: {name} is given twice")
    if not names:
        raise InputError(f"{option('system')}: names no system")
    return [system_named(name) for name in names]


def _values(systems: Sequence[System], given: Mapping[str, float]) -> dict[str, dict[str, float]]:
    """Return the values of all parameters of each system."""
    own: dict[str, dict[str, float]] = {one.name: {} for one in systems}
    for name, value in given.items():
        system, dot, parameter = name.partition(".")
        if not dot or system not in own:
            meant = ", ".join(f"{one}.{parameter or name}" for one in own)
            raise InputError(f"{option('parameters')} {name}: of which system? (allowed: {meant})")
        own[system][parameter] = value
    return {one.name: values_of(one, own[one.name], {}) for one in systems}


def _compared(
    systems: Sequence[System],
    values: Mapping[str, Mapping[str, float]],
    log: GameLog,
    games: Games,
    burn_in: int,
    stop: Callable[[], bool],
) -> ComparedSystems:
    """Play the games by each system and by the baselines."""
    blocks = blocks_of(games, log.dated)
    sums = {
        one.name: _sums(one, values.get(one.name, {}), log, games, blocks, burn_in, stop)
        for one in (*systems, COIN, RECORD)
    }
    predictions = {
        name: dict(zip(TALLIES, map(scores, own.sum(axis=0)), strict=True))
        for name, own in sums.items()
    }
    best = min(values, key=lambda name: predictions[name]["all"].log_loss or 0.0)
    ones = {name: own[:, 0] for name, own in sums.items()}
    return ComparedSystems(
        parameters=values,
        best=best,
        games=games.n_games,
        rows=len(games.players),
        unrated=log.unrated,
        skipped=log.skipped,
        burn_in=burn_in,
        blocks=len(blocks),
        predictions=predictions,
        means={n: {m: difference(m, one) for m in MEASURES} for n, one in ones.items()},
        differences={
            n: {m: difference(m, one, ones[best]) for m in MEASURES} for n, one in ones.items()
        },
    )


def _sums(
    system: System,
    values: Mapping[str, float],
    log: GameLog,
    games: Games,
    blocks: Sequence[tuple[int, int]],
    burn_in: int,
    stop: Callable[[], bool],
) -> Floats:
    """Return (blocks, 2, columns) tallies of the games of each block, played by a system."""
    roster = Roster(system, values, log.players, ())
    found = []
    for first, last in blocks:
        roster.tally[:] = 0.0
        for some in until_stopped(pieces(part(games, first, last), system.pairs_at_once), stop):
            roster.play(some, burn_in)
        found.append(roster.tally.copy())
    return np.array(found)
