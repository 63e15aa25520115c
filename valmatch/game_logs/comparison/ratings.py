"""Comparison of rating systems on one log."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Unpack

from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals, stop_on_signal
from valmatch.execution.listeners import Listeners
from valmatch.game_logs.blocks import blocks_of
from valmatch.game_logs.comparison.baselines import COIN, RECORD
from valmatch.game_logs.comparison.result import RatingComparison, compared, tallies
from valmatch.game_logs.games import joined, part, until_stopped
from valmatch.game_logs.options import LogKeywords, LogOptions, split
from valmatch.game_logs.parameters import check_tuned, values_of
from valmatch.game_logs.reading.cells import find_cells
from valmatch.game_logs.reading.log import GameLog, open_log
from valmatch.game_logs.remarks import (
    check_scores,
    few_periods,
    nobody_at_home,
    periods_begun,
    remarks_on,
    uneven_games,
    worse_than_a_coin,
)
from valmatch.game_logs.roster import Roster
from valmatch.game_logs.tuning import Tuning, games_to_fit, tune
from valmatch.game_logs.writing.folder import SUMMARY, claim
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.kernels.compilation import announce_compilation
from valmatch.ratings.games import Games
from valmatch.ratings.registry import system_named
from valmatch.ratings.system import Largest, System
from valmatch.storage.output import to_json, write_atomically, write_csv
from valmatch.storage.run_folder import RunFolder

COMPARISON = "comparison.csv"


def compare_ratings(
    games: PathLike,
    systems: str | Sequence[str],
    *,
    parameters: Mapping[str, float] = {},
    **keywords: Unpack[LogKeywords],
) -> RatingComparison:
    """Compare how well rating systems predict the games of one log.

    ``compare_ratings("games.csv", ["elo", "glicko2"])`` rates a log by several systems, which all
    predict the same games, each before it is rated, so that differences between them are known
    better than the scores themselves. All games are held, at up to 200 bytes a row.

    Intervals are by the spread over at most 50 blocks of successive games, whole days where the log
    has enough of them, as games near each other are predicted from the same ratings.

    Parameters
    ----------
    games : str or Path
        The log, see `valmatch.game_logs.reading.log.GameLog`; `-` is standard input.
    systems : str or sequence of str
        Names of systems of `valmatch.ratings.registry`.
    parameters : mapping
        Values of parameters that are not as published, by names such as ``elo.K``.
    **keywords
        columns, separator, alias, skip_bad_games, max_bad_rows, train, burn_in, progress, warn, as
        for `valmatch.rate_games`.

        tune : str or sequence of str
            Parameters to fit to the log loss of the first part of the log, by names such as
            ``elo.K``; then all systems are compared on the games after that part, by which it is
            also decided whether the fitted values are adopted.
        out : PathLike or None
            Folder for ``comparison.csv``, ``summary.json`` and ``manifest.json``.

    Raises
    ------
    InputError
        If the log or the folder cannot be used; then nothing is written.
    RunError
        If the results cannot be written.
    """
    options, listeners = split(keywords, LogKeywords)
    names = arguments.names("systems", systems)
    return compare_systems(arguments.path("games", games), names, parameters, options, listeners)


@dataclass
class _Contest:
    """The systems that are compared, and the values of their parameters."""

    systems: Sequence[System]  # the systems
    values: dict[str, Mapping[str, float]]  # values of all parameters of each
    # parameters to fit by system, of those that have any; then those that were adopted
    fitted: dict[str, Sequence[str]]
    tunings: dict[str, Tuning]  # how fitting went, by system


def compare_systems(
    path: Path,
    names: Sequence[str],
    parameters: Mapping[str, float],
    options: LogOptions,
    listeners: Listeners,
) -> RatingComparison:
    """Compare how well rating systems predict the games of a log; see `compare_ratings`."""
    contest, warn = _contest(names, parameters, options), listeners.warn
    announce_compilation(find_cells)
    largest = Largest(*map(min, zip(*(system.largest for system in contest.systems), strict=True)))
    with ExitStack() as stack:
        log = stack.enter_context(closing(open_log(path, options, largest)))
        for system in contest.systems:
            check_scores(system, log)
        folder = None
        if options.out is not None:
            identity = _identity(contest, options)
            folder = stack.enter_context(claim(options.out, log, None, identity))
        stop = stack.enter_context(stop_on_signal())
        parts = until_stopped(log.games(listeners.progress), stop)
        held = [games for games in parts if games.n_games]
        if folder:
            folder.remark_input(remarks_on(log))
        for remark in remarks_on(log):
            warn(remark)
        if not held:
            raise InputError(f"{log.name}: holds no game that can be rated")
        games = joined(held)
        for system in contest.systems:
            if remark := nobody_at_home(contest.values[system.name], log.at_home):
                warn(remark)
        n_first = games_to_fit(games, options.train) if contest.fitted else 0
        for remark in _fit(contest, games, log, options, stop):
            warn(remark)
        result = _compared(contest, log, games, (n_first, options.burn_in), stop)
        for remark in _remarks(contest, games, result):
            warn(remark)
        if folder:
            result = replace(result, folder=folder.path)
            _write(folder, result)
    return result


def _contest(
    names: Sequence[str], parameters: Mapping[str, float], options: LogOptions
) -> _Contest:
    """Return the systems of some names, with the values of their parameters."""
    systems = _systems(names)
    given = _by_system("parameters", systems, parameters)
    values = {system.name: values_of(system, given[system.name], {}) for system in systems}
    tuned = _by_system("tune", systems, options.tune)
    for system in systems:
        check_tuned(system, list(tuned[system.name]))
    fitted = {name: list(own) for name, own in tuned.items() if own}
    return _Contest(systems, {**values}, {**fitted}, {})


def _systems(names: Sequence[str]) -> list[System]:
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
    found: dict[str, dict[str, float]] = {system.name: {} for system in systems}
    for name in names:
        system, dot, parameter = name.partition(".")
        if not dot or system not in found:
            meant = ", ".join(f"{known}.{parameter or name}" for known in found)
            raise InputError(f"{option(what)} {name}: of which system? (allowed: {meant})")
        if parameter in found[system]:
            raise InputError(f"{option(what)}: {name} is given twice")
        found[system][parameter] = names[name] if isinstance(names, Mapping) else 0.0
    return found


def _identity(contest: _Contest, options: LogOptions) -> dict[str, object]:
    """Return what distinguishes this comparison from others of the same log."""
    return {
        "system": ",".join(system.name for system in contest.systems),
        "given": dict(contest.values),
        "columns": dict(options.format.columns),
        "separator": options.format.other_separator,
        "tune": dict(contest.fitted) or None,
        "train": options.train if contest.fitted else None,
        "burn_in": options.burn_in,
        "skip_bad_games": options.most_bad is not None,
        "aliases": options.aliases.identity,
    }


def _fit(
    contest: _Contest, games: Games, log: GameLog, options: LogOptions, stop: Callable[[], bool]
) -> Iterator[str]:
    """Fit parameters to the first part of the games; yield remarks on how it went."""
    for system in contest.systems:
        name = system.name
        if name in contest.fitted:
            roster = Roster(system, contest.values[name], log.players, ())
            tuning = tune(roster, contest.fitted[name], games, options.train, stop)
            contest.tunings[name] = tuning
            contest.fitted[name] = tuning.adopted_names
            contest.values[name] = dict(tuning.parameters)
            yield from (f"{name}: {remark}" for remark in tuning.remarks)


def _compared(
    contest: _Contest,
    log: GameLog,
    games: Games,
    skipped: tuple[int, int],
    stop: Callable[[], bool],
) -> RatingComparison:
    """Play the games by each system and by the baselines; compare them after the first ones.

    The games before those that count are `skipped`: those that were fitted to, and, for the second
    set of scores, those of each player in the burn-in.
    """
    n_first, burn_in = skipped
    rest = part(games, n_first, games.n_games)
    blocks = [(n_first + first, n_first + last) for first, last in blocks_of(rest, log.dated)]
    sums = {}
    for system in (*contest.systems, COIN, RECORD):
        roster = Roster(system, contest.values.get(system.name, {}), log.players, ())
        sums[system.name] = tallies(roster, games, blocks, burn_in, stop)
    return replace(
        compared(sums, contest.values, rest, burn_in),
        unrated=log.unrated,
        skipped=log.bad.counts,
        fitted=contest.fitted,
        fitted_to=n_first,
        tunings=contest.tunings,
    )


def _remarks(contest: _Contest, games: Games, result: RatingComparison) -> Iterator[str]:
    """Yield what to know of the predictions of each system."""
    uneven = uneven_games(part(games, result.fitted_to, games.n_games))
    for system in contest.systems:
        values, fitted = contest.values[system.name], contest.fitted.get(system.name, ())
        scores = result.predictions[system.name]["all"]
        periods, _ = periods_begun(values, games.times, math.nan)
        yield from filter(
            None,
            (
                worse_than_a_coin(system, scores, uneven, 0.0, fitted),
                system.remark(values),
                few_periods(system, values, periods, games.n_games),
            ),
        )


def _write(folder: RunFolder, result: RatingComparison) -> None:
    """Write the files of a comparison, and close its folder."""
    with held_signals():  # a signal finds all files or none
        write_csv(folder.path / COMPARISON, result.columns())
        with write_atomically(folder.path / SUMMARY) as file:
            file.write(to_json(result.summary()))
        folder.close("complete")
