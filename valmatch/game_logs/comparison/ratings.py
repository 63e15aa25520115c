"""Several rating systems on one log: which predicts its games best."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace

import numpy as np

from valmatch.arrays import Floats
from valmatch.compilation import announce_compilation
from valmatch.config import arguments
from valmatch.config.arguments import PathLike
from valmatch.csv_dialect import separator_called
from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals, stop_on_signal
from valmatch.game_logs.baselines import COIN, RECORD
from valmatch.game_logs.blocks import blocks_of
from valmatch.game_logs.compared import ComparedSystems, compared
from valmatch.game_logs.files import SUMMARY, check_redo, claim
from valmatch.game_logs.games import joined, part, pieces, until_stopped
from valmatch.game_logs.names import Names
from valmatch.game_logs.parameters import check_tuned, values_of
from valmatch.game_logs.reading.cells import find_cells
from valmatch.game_logs.reading.log import GameLog, most_left_out
from valmatch.game_logs.remarks import (
    few_periods,
    games_left_out,
    nobody_at_home,
    periods_begun,
    uneven_games,
    worse_than_a_coin,
)
from valmatch.game_logs.roster import Roster
from valmatch.game_logs.tuning import Tuning, games_to_fit
from valmatch.game_logs.tuning import tune as fit
from valmatch.ratings.games import Games
from valmatch.ratings.registry import system_named
from valmatch.ratings.system import System
from valmatch.storage.output import to_json, write_atomically, write_csv

COMPARISON = "comparison.csv"


def compare_systems(
    games: PathLike,
    system: str | Sequence[str],
    *,
    parameters: Mapping[str, float] = {},
    out: PathLike | None = None,
    columns: Mapping[str, str] = {},
    separator: str = ",",
    tune: str | Sequence[str] = (),
    train: float = 0.5,
    burn_in: int = 10,
    redo: bool = False,
    skip_bad_games: bool = False,
    max_bad_rows: float | None = None,
    progress: Callable[[int], None] = lambda done: None,
    warn: Callable[[str], None] = lambda text: None,
) -> ComparedSystems:
    """Compare how well rating systems predict the games of a log, each game before it is rated.

    All systems predict the same games, so that differences between them are known better than the
    scores themselves. Intervals are by the spread over at most 50 blocks of successive games, whole
    days where the log has enough of them, as games near each other are predicted from the same
    ratings. All games are held, at up to 200 bytes a row.

    Parameters
    ----------
    games : str or Path
        The log, see `valmatch.game_logs.reading.log.GameLog`; `-` is standard input.
    system : str or sequence of str
        Names of systems of `valmatch.ratings.registry`.
    parameters : mapping
        Values of parameters that are not as published, by names such as ``elo.K``.
    tune : str or sequence of str
        Parameters to fit to the log loss of the first part of the log, by names such as ``elo.K``;
        then all systems are compared on the games after that part, by which it is also decided
        whether the fitted values are adopted.
    out : PathLike or None
        Folder for ``comparison.csv``, ``summary.json`` and ``manifest.json``.
    train, columns, separator, burn_in, redo, skip_bad_games, max_bad_rows, progress, warn
        As `rate_games` takes them.

    Raises
    ------
    InputError
        If the log or the folder cannot be used; then nothing is written.
    RunError
        If the results cannot be written.
    """
    chosen = _chosen(arguments.names("system", system))
    given = _by_system("parameters", chosen, parameters)
    values = {one.name: values_of(one, given[one.name], {}) for one in chosen}
    fitted = {
        name: list(own)
        for name, own in _by_system("tune", chosen, arguments.names("tune", tune)).items()
        if own
    }
    for one in chosen:
        check_tuned(one, fitted.get(one.name, ()))
    arguments.level("train", train)
    arguments.whole("burn_in", burn_in)
    between = separator_called(separator)
    path = arguments.path("games", games)
    most_bad = most_left_out(skip_bad_games, max_bad_rows)
    check_redo(redo, out)
    announce_compilation(find_cells)
    most_players = min(one.most_players for one in chosen)
    with ExitStack() as stack:
        log = stack.enter_context(closing(GameLog(path, columns, most_bad, most_players, between)))
        folder = None
        if out is not None:
            identity = {
                "system": ",".join(one.name for one in chosen),
                "given": values,
                "columns": dict(columns),
                "separator": None if between == "," else between,
                "tune": fitted or None,
                "train": train if fitted else None,
                "burn_in": burn_in,
                "skip_bad_games": most_bad is not None,
            }
            claimed = claim(arguments.path("out", out), log, None, [], identity, redo)
            folder = stack.enter_context(claimed)
        stop = stack.enter_context(stop_on_signal())
        held = [some for some in until_stopped(log.games(progress), stop) if some.n_games]
        for remark in games_left_out(log):
            warn(remark)
        if not held:
            raise InputError(f"{log.name}: holds no game that can be rated")
        everything = joined(held)
        for one in chosen:
            if remark := nobody_at_home(values[one.name], log.at_home):
                warn(remark)
        n_first = games_to_fit(everything, train) if fitted else 0
        tunings: dict[str, Tuning] = {}
        for one in chosen:
            if names := fitted.get(one.name, []):
                start = values[one.name]
                tuning = fit(one, names, start, everything, log.players, (), train, stop)
                tunings[one.name] = tuning
                fitted[one.name] = tuning.adopted_names
                values[one.name] = dict(tuning.parameters)
                for remark in tuning.remarks:
                    warn(f"{one.name}: {remark}")
        result = replace(
            _compared(chosen, values, log, everything, n_first, burn_in, stop),
            fitted=fitted,
            tunings=tunings,
        )
        uneven = uneven_games(part(everything, n_first, everything.n_games))
        for one in chosen:
            own, names = result.predictions[one.name]["all"], fitted.get(one.name, [])
            if remark := worse_than_a_coin(one, own, uneven, 0.0, names):
                warn(remark)
            if remark := one.remark(values[one.name]):
                warn(remark)
            periods, _ = periods_begun(values[one.name], everything.times, math.nan)
            if remark := few_periods(one, values[one.name], periods, everything.n_games):
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


def _by_system(
    what: str, systems: Sequence[System], names: Mapping[str, float] | Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return what is said of each system's parameters by names such as ``elo.K``."""
    own: dict[str, dict[str, float]] = {one.name: {} for one in systems}
    for name in names:
        system, dot, parameter = name.partition(".")
        if not dot or system not in own:
            meant = ", ".join(f"{one}.{parameter or name}" for one in own)
            raise InputError(f"{option(what)} {name}: of which system? (allowed: {meant})")
        if parameter in own[system]:
            raise InputError(f"{option(what)}: {name} is given twice")
        own[system][parameter] = names[name] if isinstance(names, Mapping) else 0.0
    return own


def _compared(
    systems: Sequence[System],
    values: Mapping[str, Mapping[str, float]],
    log: GameLog,
    games: Games,
    n_first: int,
    burn_in: int,
    stop: Callable[[], bool],
) -> ComparedSystems:
    """Play the games by each system and by the baselines; compare them after the first ones."""
    rest = part(games, n_first, games.n_games)
    blocks = [(n_first + first, n_first + last) for first, last in blocks_of(rest, log.dated)]
    sums = {
        one.name: tallies(one, values.get(one.name, {}), log.players, games, blocks, burn_in, stop)
        for one in (*systems, COIN, RECORD)
    }
    return replace(
        compared(sums, values, rest, burn_in),
        unrated=log.unrated,
        skipped=log.bad.counts,
        fitted_to=n_first,
    )


def tallies(
    system: System,
    values: Mapping[str, float],
    players: Names,
    games: Games,
    blocks: Sequence[tuple[int, int]],
    burn_in: int,
    stop: Callable[[], bool] = lambda: False,
) -> Floats:
    """Return (blocks, 2, columns) tallies of the games of each block, played by a system.

    Parameters
    ----------
    system : System
        The system.
    values : mapping
        Values of its parameters.
    players : Names
        The players of the games.
    games : Games
        The games; those before the first block are played too.
    blocks : sequence of tuple of int
        The first and the last game, exclusive, of each block, one after the other.
    burn_in : int
        See `compare_systems`.
    stop : callable
        Returns whether to give up.
    """
    roster = Roster(system, values, players, ())
    found = []
    for first, last in [(0, blocks[0][0]), *blocks]:
        roster.tally[:] = 0.0
        for some in until_stopped(pieces(part(games, first, last), system.pairs_at_once), stop):
            roster.play(some, burn_in)
        found.append(roster.tally.copy())
    return np.array(found[1:])
