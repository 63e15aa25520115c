"""Rating the players of a real game log, each game predicted before it is rated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from valmatch.errors import InputError, option
from valmatch.execution.interruption import stop_on_signal
from valmatch.game_logs.documents import DocumentedResult
from valmatch.game_logs.games import pieces
from valmatch.game_logs.options import RateOptions, check_tuned, values_of
from valmatch.game_logs.previous_ratings import PreviousRatings, RatingManifest
from valmatch.game_logs.rating_files import (
    HISTORY,
    HistoryWriter,
    claim,
    read_games,
    write_result,
)
from valmatch.game_logs.reading.log import DEFAULT_MINUTES, GameLog
from valmatch.game_logs.roster import (
    CHANGES,
    LAST_GAME,
    RATINGS,
    Ranking,
    RatedPlayer,
    Roster,
    read_ranking,
)
from valmatch.game_logs.scores import TALLIES, Scores, scores
from valmatch.game_logs.tuning import Tuning, tune
from valmatch.game_logs.warnings import (
    COIN,
    check_scores,
    few_periods,
    nobody_at_home,
    repeated_scores,
    uneven_games,
    unused_by,
    worse_than_a_coin,
)
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.options import takes
from valmatch.ratings.games import Games
from valmatch.ratings.registry import (
    DEFAULT,
    DEFAULT_OF_RESULTS,
    MOST_DISTANT,
    Cap,
    system_named,
)
from valmatch.ratings.system import System
from valmatch.ratings.zonestats import ZoneStats
from valmatch.storage.output import write_atomically
from valmatch.storage.result_files import ResultFiles
from valmatch.storage.results import Warnings
from valmatch.text.terminal import Note, Notice, shown


@dataclass(frozen=True, repr=False)
class RatedLog(DocumentedResult):
    """A rated game log.

    Attributes
    ----------
    system : str
        Name of the rating system.
    parameters : mapping of str to float
        Values of all its parameters; the fitted ones, if any were and are adopted.
    games, rows : int
        How many games were rated, and rows of a player in them.
    unrated_games : int
        Games with fewer than two sides of enabled players.
    skipped_games : mapping of str to int
        Bad games left out, by reason.
    burn_in : int
        Games that every player must have played for a prediction to count as one after the
        burn-in.
    predictions : mapping of str to Scores
        How well the games were predicted, of ``all`` and of those ``after_burn_in``.
    tuning : Tuning or None
        How parameters were fitted.
    ranking : Ranking
        The players.
    cap : str
        What capped a game, if anything does.
    source : str
        The log.
    warnings : sequence of str
        What has to be known of the log and of the ratings, a sentence each.
    """

    presented_by = "rate"
    documented = (
        *("system", "parameters", "games", "rows", "unrated_games", "skipped_games", "burn_in"),
        *("predictions", "tuning"),
    )

    system: str
    parameters: Mapping[str, float]
    games: int
    rows: int
    unrated_games: int
    skipped_games: Mapping[str, int]
    burn_in: int
    predictions: Mapping[str, Scores]
    tuning: Tuning | None
    ranking: Ranking
    cap: str = MOST_DISTANT
    source: str = ""
    warnings: Sequence[str] = ()
    folder: Path | None = None

    @property
    def title(self) -> str:
        """What was rated, in one line."""
        log_loss = self.predictions["all"].log_loss
        loss = "" if log_loss is None else f", log loss {log_loss:.4f}"
        return f"{self.system}, {self.games:,} games, {self.rows:,} rows{loss}"

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each player, the best first."""
        return self.ranking.columns()

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        cap = {} if self.cap == MOST_DISTANT else {"cap": self.cap}
        players = len(self.ranking.players)
        return {"system": self.system, **cap, "players": players, **super().summary()}

    @classmethod
    def held_elsewhere(cls, files: ResultFiles, document: dict[str, Any]) -> dict[str, Any]:
        """Return the ranking, the cap and the log."""
        return {
            "ranking": read_ranking(files, system_named(str(document["system"]))),
            "cap": str(document.get("cap", MOST_DISTANT)),
            "source": files.manifest.source,
        }


@takes(RateOptions)
def rate_games(
    games: PathLike,
    system: str | None = None,
    **options: Any,  # noqa: ANN401
) -> RatedLog:
    """Rate the players of a game log, predicting each game from the ratings before it.

    All games are held in memory, at some 120 bytes a player of a game.

    Parameters
    ----------
    games : str or Path
        The log, of a format that `valmatch rate --help` describes; `-` is standard input.
    system : str or None
        Name of a system of `valmatch.ratings.registry`; None: the one that made `ratings`, which
        the manifest beside them must say, or else ``zonestats`` where the log has scores and
        minutes, else ``elo``.
    **options

    Raises
    ------
    InputError
        If the log, the ratings or the folder cannot be used; then nothing is written.
    RunError
        If the results cannot be written.
    """
    settings = RateOptions(system=system, **options)
    warn, tuning = Warnings(settings.warn), None
    start = _start(arguments.path("games", games), settings, warn)
    log, rating, values, cap, previous, players = start
    with ExitStack() as stack:
        folder, history = None, None
        if settings.out is not None:
            identity = {**settings.identity, "system": rating.name, "given": dict(values)}
            identity["cap"] = None if cap == MOST_DISTANT else cap
            folder = stack.enter_context(claim("rate", settings.out, log, previous, identity))
        if previous and not settings.again:
            previous.refuse_rated(log)
        stop = stack.enter_context(stop_on_signal())
        read = read_games(log, settings, warn, folder)
        if previous:
            previous.refuse_times(log, players, float(read.times[0]), settings.again)
        if settings.tune:
            roster = Roster(rating, values, log.players, players)
            tuning = tune(roster, settings.tune, read, settings.train, stop)
            values = dict(tuning.values)
        roster = Roster(rating, values, log.players, players, log.timed)
        ended = stack.enter_context(ExitStack())
        if folder:
            file = ended.enter_context(write_atomically(folder.path / HISTORY))
            history = HistoryWriter(file, log, isinstance(rating, ZoneStats))
        for piece in pieces(read, stop, rating.pairs_at_once):
            played = roster.play(piece, settings.burn_in)
            if history:
                history.append(piece, played)
        predictions = dict(zip(TALLIES, map(scores, roster.tally), strict=True))
        if settings.system is None and previous is None:
            warn(Note(_chosen(rating.name, predictions["all"]), "guessed_system"))
        for warning in _warnings(start, values, tuning, predictions["all"], read):
            warn(warning)
        dated = log.dated if log.timed else any(player.dated for player in players)
        result = RatedLog(
            system=rating.name,
            parameters=values,
            games=predictions["all"].games,
            rows=len(read.players),
            unrated_games=log.unrated,
            skipped_games=log.bad.counts,
            burn_in=settings.burn_in,
            predictions=predictions,
            tuning=tuning,
            ranking=roster.ranking(dated),
            cap=cap,
            source=log.name,
            warnings=list(warn),
        )
        if folder:
            tables = {RATINGS: result.columns()}
            changes = tables[RATINGS].pop("change")
            if any(change is not None for change in changes):
                tables[CHANGES] = {"player": result.ranking.players, "change": changes}
            if not any(result.ranking.last_game):
                del tables[RATINGS][LAST_GAME]
            facts = {"parameters": values, "reading": log.reading}
            result = write_result(folder, result, tables, ended.close, **facts)
    return result


class _Start(NamedTuple):
    """What a rating starts from."""

    log: GameLog
    system: System
    values: Mapping[str, float]  # values of all its parameters
    cap: str  # what caps a game, if anything does
    previous: PreviousRatings | None  # the ratings to go on from
    players: Sequence[RatedPlayer]  # the players in them


def _start(path: Path, options: RateOptions, warn: Warnings) -> _Start:
    """Return the log, the system that can rate it, and who is known before it."""
    previous = PreviousRatings(options.ratings) if options.ratings else None
    made = previous.made if previous else RatingManifest()
    cap, log = options.cap or made.cap or MOST_DISTANT, None
    name = options.system or (previous.made_by() if previous else None)
    if name is None:
        log = GameLog(path, options)
        known = log.scored and "minutes" in log.columns.places
        name = DEFAULT if known or options.cap else DEFAULT_OF_RESULTS
    rating = system_named(name)
    if arguments.one_of("cap", cap, get_args(Cap)) != MOST_DISTANT:
        if not isinstance(rating, ZoneStats):
            what = f"{name} has no cap (allowed with: zonestats)"
            raise InputError(f"{option('cap')} {cap}: {what}")
        rating = ZoneStats(cap)
    if previous:
        previous.check(rating)
    values = values_of(rating, options.parameters, made.parameters)
    check_tuned(rating, options.tune)
    players = previous.players(rating) if previous else []
    if previous and (warning := previous.remark(rating, options.parameters)):
        warn(warning)
    unused = unused_by([rating])
    if log is None or (log.path and unused & log.columns.places.keys()):
        before = previous.reading if previous else None
        log = GameLog(path, options, rating.most_players, unused=unused, before=before)
    check_scores(rating, log)
    if rating.name == "zonestats" and "minutes" not in log.columns.places:
        minutes = f"{DEFAULT_MINUTES:g} minutes in a game"
        warn(Note(f"no column minutes: every player counts as {minutes}", "guessed_minutes"))
    if not options.tune and (warning := nobody_at_home(values, log.at_home)):
        warn(warning)
    return _Start(log, rating, values, cap, previous, players)


def _chosen(name: str, of_all: Scores) -> str:
    """Say which system was taken where none was named, and how well it predicts."""
    has = "scores and minutes" if name == DEFAULT else "no scores with minutes"
    loss = "" if of_all.log_loss is None else f": log loss {of_all.log_loss:.4f}, a coin {COIN:.4f}"
    return f"{option('system')} {name}, as the log has {has}{loss}"


# What to know of a rating.

_NAMED = 5  # new names that are remarked upon


def misspelt(names: Sequence[str], known: Sequence[RatedPlayer]) -> str:
    """Remark upon new names that are one letter off the name of a known player."""
    before = {player.player for player in known}
    new = {shape: name for name in names if name not in before for shape in _shapes(name)}
    likely: dict[str, str] = {}
    for name in sorted(before - {*names}) if new else ():
        for shape in _shapes(name) & new.keys():
            likely.setdefault(new[shape], name)
    if not likely:
        return ""
    pairs = [f"{shown(name)} is new (did you mean {shown(old)}?)" for name, old in likely.items()]
    more = f" and {len(pairs) - _NAMED:,} more" if len(pairs) > _NAMED else ""
    text = f"{', '.join(pairs[:_NAMED])}{more}; {option('alias')} makes two names one player"
    return Notice(text, "names_alike", len(pairs))


def _shapes(name: str) -> set[str]:
    """Return a name of some length without case, and without each of its letters."""
    plain = name.casefold()
    if len(plain) < _SHORT:
        return {plain}
    return {plain, *(plain[:k] + plain[k + 1 :] for k, at in enumerate(plain) if at.isalpha())}


_SHORT = 5  # letters of a name up to which others differ in one, too


def _warnings(
    start: _Start,
    values: Mapping[str, float],
    tuning: Tuning | None,
    of_all: Scores,
    games: Games,
) -> Iterator[str]:
    """Yield what to know of a rating."""
    log, system, _, _, _, known = start
    if warning := repeated_scores(games):
        yield warning
    if system.name == "trueskill" and "minutes" in log.columns.places:
        yield Note("trueskill does not weigh minutes: everybody on a side counts alike", "unused")
    if known:
        played = [log.players.texts[number] for number in np.unique(games.players).tolist()]
        if near := misspelt(played, known):
            yield near
    yield from tuning.remarks if tuning else ()
    fitted = tuning.adopted_parameters if tuning else ()
    if warning := worse_than_a_coin(system, of_all, uneven_games(games), 2.0, fitted):
        yield warning
    if warning := system.remark(values):
        yield Note(warning) if known else warning  # said as a warning in the first week
    if not known and (warning := few_periods(system, values, games.times, of_all.games)):
        yield warning  # week after week, each log may well be one period
