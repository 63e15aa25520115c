"""Rating the players of a real game log, each game predicted before it is rated."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TextIO, get_args

from valmatch.errors import InputError, option
from valmatch.execution.interruption import held_signals, stop_on_signal
from valmatch.game_logs.files import (
    HISTORY,
    PAIRS,
    RATINGS,
    SUMMARY,
    check_redo,
    claim,
    outdated,
    ratings_in,
    write_ratings,
)
from valmatch.game_logs.games import joined, pieces, until_stopped
from valmatch.game_logs.history import HistoryWriter
from valmatch.game_logs.pairs import PairsWriter
from valmatch.game_logs.parameters import check_tuned, values_of
from valmatch.game_logs.previous_ratings import PreviousRatings
from valmatch.game_logs.ranks import Ranks
from valmatch.game_logs.reading.cells import find_cells
from valmatch.game_logs.reading.log import GameLog, most_left_out
from valmatch.game_logs.reading.rows import DEFAULT_MINUTES
from valmatch.game_logs.remarks import (
    few_periods,
    games_left_out,
    nobody_at_home,
    periods_begun,
    uneven_games,
    worse_than_a_coin,
)
from valmatch.game_logs.roster import COUNTS, LAST_GAME, Known, Ranking, Roster
from valmatch.game_logs.scores import TALLIES, Scores, scores
from valmatch.game_logs.tuning import Tuning
from valmatch.game_logs.tuning import tune as fit
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.csv_columns import separator_called
from valmatch.kernels.compilation import announce_compilation
from valmatch.ratings.games import Games
from valmatch.ratings.registry import DEFAULT, system_named
from valmatch.ratings.system import System
from valmatch.ratings.zonestats import ZoneStats
from valmatch.ratings.zonestats_cap import MOST_DISTANT, Cap
from valmatch.storage.output import to_json, write_atomically
from valmatch.storage.results import Result
from valmatch.storage.run_folder import RunFolder

BURN_IN = 10


@dataclass(frozen=True, repr=False)
class RatedLog(Result):
    """A rated game log.

    Attributes
    ----------
    system : str
        Name of the rating system.
    parameters : mapping of str to float
        Values of all its parameters; the fitted ones, if any were and are adopted.
    games, rows : int
        How many games were rated, and rows of a player in them.
    unrated : int
        Games with fewer than two sides of enabled players.
    skipped : mapping of str to int
        Bad games left out, by reason.
    burn_in : int
        Games that every player must have behind him for a prediction to count as one after the
        burn-in.
    ranking : Ranking
        The players.
    predictions : mapping of str to Scores
        How well the games were predicted, of ``all`` and of those ``after_burn_in``.
    tuning : Tuning or None
        How parameters were fitted.
    cap : str
        What capped a game, if anything does.
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
    cap: str = MOST_DISTANT
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was rated, in one line."""
        found = self.predictions["all"]
        loss = "" if found.log_loss is None else f", log loss {found.log_loss:.4f}"
        return f"{self.system}, {self.games:,} games, {self.rows:,} rows{loss}"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each player, the best first."""
        ranking = self.ranking
        more = {name: getattr(ranking, name) for name in (*COUNTS, LAST_GAME, "change")}
        return {
            "rank": ranking.ranks,
            "player": ranking.players,
            "rating": ranking.ratings,
            "games": ranking.games,
            **more,
            **ranking.state,
        }

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "system": self.system,
            "parameters": dict(self.parameters),
            **({} if self.cap == MOST_DISTANT else {"cap": self.cap}),
            "games": self.games,
            "rows": self.rows,
            "players": len(self.ranking.players),
            "unrated_games": self.unrated,
            "skipped_games": dict(self.skipped),
            "burn_in": self.burn_in,
            "predictions": {name: one.as_dict() for name, one in self.predictions.items()},
            "tuning": self.tuning.as_dict() if self.tuning else None,
        }


def rate_games(
    games: PathLike,
    system: str | None = None,
    *,
    parameters: Mapping[str, float] = {},
    ratings: PathLike | None = None,
    out: PathLike | None = None,
    columns: Mapping[str, str] = {},
    separator: str = ",",
    tune: str | Sequence[str] = (),
    train: float = 0.5,
    burn_in: int = BURN_IN,
    cap: str | None = None,
    pairs: bool = False,
    again: bool = False,
    redo: bool = False,
    skip_bad_games: bool = False,
    max_bad_rows: float | None = None,
    raw_names: bool = False,
    progress: Callable[[int], None] = lambda done: None,
    warn: Callable[[str], None] = lambda text: None,
) -> RatedLog:
    """Rate the players of a game log, predicting each game from the ratings before it.

    The log streams through: memory grows with the number of distinct players and games alone,
    unless parameters are fitted or the file is not in the order of its `time`; then all games
    are held, at up to 200 bytes a row.

    Parameters
    ----------
    games : str or Path
        The log, see `valmatch.game_logs.reading.log.GameLog`; `-` is standard input.
    system : str or None
        Name of a system of `valmatch.ratings.registry`; None: the one that made `ratings`, which
        the manifest beside them must say, or else ``zonestats``.
    parameters : mapping
        Values of parameters that are not those which `ratings` was made with, or else not as
        published.
    ratings : PathLike or None
        An earlier ``ratings.csv`` to go on from, or its folder; the result is that of one log.
    out : PathLike or None
        Folder for ``ratings.csv``, ``history.csv``, ``summary.json`` and
        ``manifest.json``, with `pairs` also ``pairs.csv``.
    columns : mapping
        Names of the file's columns by meaning, where they differ.
    separator : str
        What stands between the cells of the log: ``,``, ``;``, ``|``, or ``tab``.
    tune : str or sequence of str
        Parameters to fit to the log loss of the first part of the log; what is found is adopted if
        the rest is shown to be predicted better by it.
    train : float
        Share of the games in that part, in (0, 1).
    burn_in : int
        Games that every player of a game must have behind him for its prediction to count as one
        after the burn-in, >= 0.
    cap : str or None
        What caps a game under ``zonestats``: ``most_distant`` (equation 5) or ``every_player``,
        see `valmatch.ratings.zonestats_cap.Cap`; None: what did in `ratings`, or else
        ``most_distant``.
    pairs : bool
        Write ``pairs.csv`` too, every contest of two players, under ``zonestats``.
    again : bool
        Rate also games that seem to have been rated in `ratings` already: a log that was, one that
        begins with one that was, or one that is not later.
    redo : bool
        Replace the rating that `out` holds where its log, or that of `ratings`, was corrected
        since; it must be of a log of this name by the same system in the same way.
    skip_bad_games : bool
        Leave bad games out and count them, instead of raising.
    max_bad_rows : float or None
        Leave bad games out even if they are as large a share of all; a log with more is refused.
        None: 0.05, where bad games are left out.
    raw_names : bool
        Write names as they are; else those that a spreadsheet would take for formulas get an
        apostrophe, see `valmatch.inputs.csv_names.mark`, which reading them takes off again.
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
    previous = None if ratings is None else PreviousRatings(arguments.path("ratings", ratings))
    cap = cap or (previous.cap if previous else None) or MOST_DISTANT
    chosen = _system(system or (previous.made_by() if previous else DEFAULT), cap, pairs)
    if previous:
        previous.check(chosen)
    if pairs and out is None:
        raise InputError(f"{option('pairs=True')}: needs {option('out')}, the folder for {PAIRS}")
    given = values_of(chosen, parameters, previous.parameters if previous else {})
    tune = arguments.names("tune", tune)
    check_tuned(chosen, tune)
    arguments.level("train", train)
    arguments.whole("burn_in", burn_in)
    between = separator_called(separator)
    path = arguments.path("games", games)
    most_bad = most_left_out(skip_bad_games, max_bad_rows)
    check_redo(redo, out)
    known = previous.players(chosen) if previous else []
    if previous and (remark := previous.remark(chosen, parameters)):
        warn(remark)
    announce_compilation(find_cells)
    with ExitStack() as stack:
        log = stack.enter_context(
            closing(GameLog(path, columns, most_bad, chosen.most_players, between))
        )
        if chosen.name == "zonestats" and "minutes" not in log.columns.places:
            warn(f"no column minutes: every player counts as {DEFAULT_MINUTES:g} minutes in a game")
        folder = None
        if not tune and (remark := nobody_at_home(given, log.at_home)):
            warn(remark)
        if out is not None:
            identity = {
                "system": chosen.name,
                "given": given,
                "columns": dict(columns),
                "separator": None if between == "," else between,
                "tune": list(tune),
                "train": train if tune else None,
                "burn_in": burn_in,
                "cap": None if cap == MOST_DISTANT else cap,
                "pairs": pairs or None,
                "skip_bad_games": most_bad is not None,
            }
            read, rated = (previous.path, previous.rated) if previous else (None, [])
            home = arguments.path("out", out)
            before = ratings_in(home) if redo else None
            folder = stack.enter_context(claim(home, log, read, rated, identity, redo))
        if previous and not again:
            previous.refuse_rated(log)
        stop = stack.enter_context(stop_on_signal())
        values, tuning = given, None
        parts: Iterable[Games] = until_stopped(log.games(progress), stop)
        if previous:
            parts = _later(parts, previous, log, known, again)
        everything = _together(parts) if tune else None
        if everything:
            tuning = fit(chosen, tune, values, everything, log.players, known, train, stop)
            values = dict(tuning.parameters)
            parts = [everything]
        parts = (piece for some in parts for piece in pieces(some, chosen.pairs_at_once))
        roster = Roster(chosen, values, log.players, known, log.timed)
        with ExitStack() as written:
            file = _opened(HISTORY, folder, written)
            more = _opened(PAIRS, folder, written) if pairs else None
            ranks = Ranks(roster.ratings()) if isinstance(chosen, ZoneStats) else None
            writers: list[HistoryWriter | PairsWriter] = []
            writers += [HistoryWriter(file, log, ranks, raw_names)] if file else []
            writers += [PairsWriter(more, log, values, stop, raw_names)] if more else []
            seen = _play(roster, values, until_stopped(parts, stop), burn_in, writers)
            predictions = dict(zip(TALLIES, map(scores, roster.tally), strict=True))
            for remark in games_left_out(log):
                warn(remark)
            if not seen.rows:
                raise InputError(f"{log.name}: holds no game that can be rated")
            for remark in tuning.remarks if tuning else ():
                warn(remark)
            fitted = tuning.adopted_names if tuning else ()
            found = predictions["all"]
            if remark := worse_than_a_coin(chosen, found, seen.uneven, 2.0, fitted):
                warn(remark)
            if remark := chosen.remark(values):
                warn(remark)
            # Week after week, each log may well be one period.
            if not known and (remark := few_periods(chosen, values, seen.periods, found.games)):
                warn(remark)
            result = RatedLog(
                system=chosen.name,
                parameters=values,
                games=found.games,
                rows=seen.rows,
                unrated=log.unrated,
                skipped=log.bad.counts,
                burn_in=burn_in,
                ranking=roster.ranking(log.dated if log.timed else any(o.dated for o in known)),
                predictions=predictions,
                tuning=tuning,
                cap=cap,
                folder=folder.path if folder else None,
            )
            if folder:
                with held_signals():  # a signal finds all files or none
                    written.close()
                    write_ratings(folder.path / RATINGS, result.ranking, raw_names)
                    with write_atomically(folder.path / SUMMARY) as summary:
                        summary.write(to_json(result.summary()))
                    if not raw_names:
                        folder.note(marked_names=[RATINGS, HISTORY, *([PAIRS] if pairs else [])])
                    folder.close("complete", parameters=values)
                for remark in outdated(folder.path, before):
                    warn(remark)
    return result


def _opened(name: str, folder: RunFolder | None, written: ExitStack) -> TextIO | None:
    """Return a file of the folder, if there is one, that appears when the stack is closed."""
    return written.enter_context(write_atomically(folder.path / name)) if folder else None


class _Seen(NamedTuple):
    """What there was in games: rows, games of unequally large sides, and rating periods."""

    rows: int
    uneven: int
    periods: int


def _play(
    roster: Roster,
    values: Mapping[str, float],
    parts: Iterable[Games],
    burn_in: int,
    writers: Sequence[HistoryWriter | PairsWriter],
) -> _Seen:
    """Play games, and write what is wanted of them."""
    n_rows = uneven = periods = 0
    last = math.nan
    for some in parts:
        played = roster.play(some, burn_in)
        n_rows += len(some.players)
        uneven += uneven_games(some)
        begun, last = periods_begun(values, some.times, last)
        periods += begun
        for writer in writers:
            writer.append(some, played)
    return _Seen(n_rows, uneven, periods)


def _later(
    parts: Iterable[Games],
    previous: PreviousRatings,
    log: GameLog,
    known: Sequence[Known],
    again: bool,
) -> Iterator[Games]:
    """Pass parts on, if the first game comes after those rated before; see `PreviousRatings`."""
    checked = False
    for some in parts:
        if some.n_games and not checked:
            previous.refuse_times(log, known, float(some.times[0]), again)
            checked = True
        yield some


def _together(parts: Iterable[Games]) -> Games | None:
    """Return all games, if there are any."""
    held = [some for some in parts if some.n_games]
    return joined(held) if held else None


def _system(name: str, cap: str, pairs: bool) -> System:
    """Return a rating system, capped in one of the ways, that can do what is asked."""
    chosen = system_named(name)
    capped = arguments.one_of("cap", cap, get_args(Cap)) != MOST_DISTANT
    if isinstance(chosen, ZoneStats):
        return ZoneStats(cap) if capped else chosen
    if capped:
        raise InputError(f"{option('cap')} {cap}: {name} has no cap (allowed with: zonestats)")
    if pairs:
        what = f"{name} compares no pairs of players (allowed with: zonestats)"
        raise InputError(f"{option('pairs=True')}: {what}")
    return chosen
