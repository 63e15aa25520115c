"""Rating the players of a real game log, by one system or by several that are compared."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from valmatch.errors import InputError, option
from valmatch.execution.interruption import stop_on_signal
from valmatch.game_logs import rating_files as files
from valmatch.game_logs import roster as r
from valmatch.game_logs.options import RateOptions
from valmatch.game_logs.reading.log import DEFAULT_MINUTES, GameLog, games_at
from valmatch.game_logs.tuning import Tuning, games_to_fit, tune
from valmatch.inputs import arguments
from valmatch.inputs.options import refuse, takes
from valmatch.kernels.arrays import Floats
from valmatch.ratings.baselines import COIN, RECORD
from valmatch.ratings.games import Games
from valmatch.ratings.parameters import check_tuned, values_of
from valmatch.ratings.registry import DEFAULT, DEFAULT_OF_RESULTS, MOST_DISTANT, Cap, system_named
from valmatch.ratings.system import System
from valmatch.ratings.zonestats import ZoneStats
from valmatch.storage.output import write_atomically
from valmatch.storage.results import DocumentedResult, ResultFiles, Warnings, plain
from valmatch.text.suggestions import one_letter_off
from valmatch.text.terminal import Note, Notice, shown, some_of


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
    predictions: Mapping[str, r.Scores]
    tuning: Tuning | None
    ranking: r.Ranking
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
            "ranking": r.read_ranking(files, system_named(str(document["system"]))),
            "cap": str(document.get("cap", MOST_DISTANT)),
            "source": files.manifest.source,
        }


@takes(RateOptions)
def rate_games(
    games: arguments.PathLike,
    system: str | None = None,
    **options: Any,  # noqa: ANN401
) -> RatedLog:
    """Rate the players of a game log, predicting each game from the ratings before it.

    All games are held in memory, at some 190 bytes a player of a game.

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
    warn, tuning, folder, history = Warnings(settings.warn), None, None, None
    start = _start(arguments.path("games", games), settings, warn)
    log, rating, values, cap, previous, players = start
    with ExitStack() as stack:
        if settings.out is not None:
            identity = {**settings.identity, "system": rating.name, "given": dict(values)}
            identity["cap"] = None if cap == MOST_DISTANT else cap
            folder = stack.enter_context(files.claim("rate", settings.out, log, previous, identity))
        if previous and not settings.again:
            previous.refuse_rated(log)
        stop = stack.enter_context(stop_on_signal())
        read = files.read_games(log, warn, folder)
        if previous:
            previous.refuse_times(log, players, float(read.times[0]), settings.again)
        roster = r.Roster(rating, values, log.players, players, log.timed)
        if settings.tune:
            tuning = tune(roster, settings.tune, read, settings.train, stop)
            roster = roster.restarted(dict(tuning.values))
        ended = stack.enter_context(ExitStack())
        if folder:
            file = ended.enter_context(write_atomically(folder.path / files.HISTORY))
            history = files.HistoryWriter(file, log, isinstance(rating, ZoneStats))
        for piece in pieces(read, stop, rating.pairs_at_once):
            played = roster.play(piece, settings.burn_in)
            if history:
                history.append(piece, played)
        result = _result(log, cap, settings, roster, read, tuning, warn)
        if folder:
            facts = {"parameters": roster.values, "reading": log.reading}
            result = files.write_result(folder, result, _tables(result), ended.close, **facts)
    return result


def _result(
    log: GameLog,
    cap: str,
    settings: RateOptions,
    roster: r.Roster,
    games: Games,
    tuning: Tuning | None,
    warn: Warnings,
) -> RatedLog:
    """Return the result of a rating that has been through a log."""
    system, predictions = roster.system, r.scores_of(roster.tally)
    of_all = predictions["all"]
    if settings.system is None and settings.ratings is None:
        has = "scores and minutes" if system.name == DEFAULT else "no scores with minutes"
        text = f"rated by {system.name}, as the log has {has}; {option('system')} names another"
        if of_all.log_loss is not None:
            text += f" (log loss {of_all.log_loss:.4f}, of a coin {_COIN_LOSS:.4f})"
        warn(Note(text, "guessed_system"))
    warn(*_warnings(log, roster, tuning, of_all, games))
    return RatedLog(
        system=system.name,
        parameters=roster.values,
        games=of_all.games,
        rows=len(games.players),
        unrated_games=log.unrated,
        skipped_games=log.bad.counts,
        burn_in=settings.burn_in,
        predictions=predictions,
        tuning=tuning,
        ranking=roster.ranking(log.dated if log.timed else any(x.dated for x in roster.known)),
        cap=cap,
        source=log.name,
        warnings=list(warn),
    )


def _tables(result: RatedLog) -> dict[str, dict[str, list[Any]]]:
    """Return the tables of a rating but its history, without columns of which nothing is known."""
    tables = {r.RATINGS: result.columns()}
    changes = tables[r.RATINGS].pop("change")
    if any(change is not None for change in changes):
        tables[r.CHANGES] = {"player": result.ranking.players, "change": changes}
    if not any(result.ranking.last_game):
        del tables[r.RATINGS][r.LAST_GAME]
    return tables


def _start(
    path: Path, options: RateOptions, warn: Warnings
) -> tuple[
    GameLog, System, dict[str, float], str, files.PreviousRatings | None, list[r.RatedPlayer]
]:
    """Return the log, a system for it, its values and cap, and the ratings to go on from."""
    previous = files.PreviousRatings(options.ratings) if options.ratings else None
    made = previous.made if previous else files.RatingManifest()
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
    if previous:
        warn(previous.remark(rating, options.parameters))
    unused = _unused_by([rating])
    if log is None or (log.path and unused & log.columns.places.keys()):
        before = made.reading.model_dump() if made.reading else None
        log = GameLog(path, options, rating.most_players, unused=unused, before=before)
    _check_scores(rating, log)
    if rating.name == "zonestats" and "minutes" not in log.columns.places:
        minutes = f"{DEFAULT_MINUTES:g} minutes in a game"
        warn(Note(f"no column minutes: every player counts as {minutes}", "guessed_minutes"))
    if not options.tune:
        warn(r.nobody_at_home(values, log.at_home))
    return log, rating, values, cap, previous, players


def _unused_by(systems: Sequence[System]) -> set[str]:
    """Return the optional columns that no system has a use for; odd cells there are no fault."""
    unused = set() if any(system.name == "zonestats" for system in systems) else {"minutes"}
    known = {parameter.name for system in systems for parameter in system.parameters}
    return unused | (set() if "home_advantage" in known else {"home", "neutral"})


def _check_scores(system: System, log: GameLog) -> None:
    """Refuse a log without scores where a system rates by them."""
    if system.needs_scores and not log.scored:
        allowed = "score, home_score and away_score, or winner_score and loser_score"
        raise InputError(
            f"{log.name}: {system.name} rates by the margin, and this log has only results"
            f" (allowed: a log with the columns {allowed})"
        )


_NAMED = 5  # new names that are remarked upon
_COIN_LOSS = math.log(2.0)  # the log loss of who always expects half a win
_NEAR = 1e-3  # a fit to what cannot be predicted comes so close to the coin
_FEW = 10  # rating periods with fewer of which much of a log is predicted from nothing


def _warnings(
    log: GameLog, roster: r.Roster, tuning: Tuning | None, of_all: r.Scores, games: Games
) -> Iterator[str]:
    """Yield what to know of a rating."""
    system, known = roster.system, roster.known
    if uneven := _uneven(games):
        scores, first = np.round(games.rates * games.minutes, 6), games.side_starts[:-1]
        team = np.diff(games.side_starts) > 1
        same = np.maximum.reduceat(scores, first) == np.minimum.reduceat(scores, first)
        if same[team].all() and np.maximum.reduceat(scores != 0.0, first)[team].any():
            yield (
                "all players of a team have the same score, and teams differ in size: the score of"
                " a team is the sum of its players', so that a repeated score makes the larger team"
                " win (write each player's share)"
            )
    if system.name == "trueskill" and "minutes" in log.columns.places:
        yield Note("trueskill does not weigh minutes: everybody on a side counts alike", "unused")
    played = [log.players.texts[k] for k in np.unique(games.players).tolist()] if known else []
    if likely := one_letter_off(played, {player.player for player in known}):
        near = [
            f"{shown(name)} is new (did you mean {shown(old)}?)" for name, old in likely.items()
        ]
        text = f"{some_of(near, _NAMED)}; {option('alias')} makes two names one player"
        yield Notice(text, "names_alike", len(near))
    yield from tuning.remarks if tuning else ()
    fitted = tuning.adopted_parameters if tuning else ()
    yield from _doubts(system, roster.values, of_all, games, uneven, 2.0, fitted, bool(known))


def _uneven(games: Games) -> int:
    """Return the number of games whose sides differ in their number of players."""
    sizes, first = np.diff(games.side_starts), games.game_starts[:-1]
    return int((np.maximum.reduceat(sizes, first) > np.minimum.reduceat(sizes, first)).sum())


def _doubts(
    system: System,
    values: Mapping[str, float],
    of_all: r.Scores,
    games: Games,
    uneven: int,
    errors: float,
    fitted: Sequence[str],
    continued: bool = False,
) -> Iterator[str]:
    """Yield why not to trust a system here: worse than a coin, odd values, few rating periods."""
    log_loss = _COIN_LOSS if of_all.log_loss is None else of_all.log_loss
    bearable = _COIN_LOSS + (_NEAR if fitted else 0.0)
    if log_loss - errors * (of_all.log_loss_std_error or 0.0) > bearable:
        why = "its parameters may be far from the scale of this log"
        if uneven and system.adds_up:
            why = (
                f"to it a side is as strong as the sum of its players, and {uneven}"
                f" game{'s' * (uneven != 1)} had sides of unequal size"
            )
        way_out = f"{option('tune')} {','.join(system.tuned_first)} fits it to the log"
        if set(system.tuned_first) <= set(fitted):
            why = "what was fitted to the first part of the log does not hold in the rest"
            way_out = "another system may"
        losses = f"log loss {log_loss:.4f}, a coin {_COIN_LOSS:.4f}"
        yield f"{system.name} predicts worse than a coin ({losses}): {why}; {way_out}"
    if warning := system.remark(values):
        yield Note(warning) if continued else warning  # said as a warning in the first week
    length = values.get("period", 0.0)
    if continued or not length:  # week after week, each log may well be one period
        return
    with np.errstate(over="ignore", invalid="ignore"):  # of moments that no clock shows
        periods = 1 + int(np.count_nonzero(np.diff(np.floor(games.times / length)) != 0.0))
    if periods < min(_FEW, games.n_games):
        n = "one rating period" if periods == 1 else f"{periods} rating periods"
        yield (
            f"{system.name}: the {games.n_games} games lie in {n} of period = {length:g}, each"
            " predicted from what was known before its period, those of the first from nothing; a"
            f" shorter period, or {option('parameters')} period=0, follows the games"
        )


@dataclass(frozen=True, kw_only=True)
class ComparedSystem:
    """How well a rating system or a baseline predicted the games."""

    parameters: Mapping[str, float]  # values of all
    baseline: bool  # whether it is no system, but a coin or the better record so far
    fitted: Sequence[str] | None = None  # parameters whose fit is adopted, where any were fitted
    tuning: Tuning | None = None  # how that went; also where what was fitted is not adopted
    predictions: Mapping[str, r.Scores]  # of ``all`` games and of those ``after_burn_in``
    # means, to_best: the scores of all games, and by how much they exceed those of the leader
    means: Mapping[str, r.Difference]
    to_best: Mapping[str, r.Difference]


@dataclass(frozen=True, repr=False)
class RatingComparison(DocumentedResult):
    """How well several rating systems or ratings, and two baselines, predicted games of one log.

    Attributes
    ----------
    systems : mapping of str to ComparedSystem
        How well each system predicted, and each baseline.
    leader : str
        The system with the least log loss.
    games, rows : int
        How many games were predicted, and rows of a player in them.
    unrated_games : int
        Games with fewer than two sides of enabled players.
    skipped_games : mapping of str to int
        Bad games left out, by reason.
    burn_in : int
        Games that every player must have played for a prediction to count as one after the
        burn-in.
    blocks : int
        Blocks of games, over which all intervals are.
    fitted_to : int
        Games before those predicted, to which they were fitted.
    source : str
        The log.
    warnings : sequence of str
        What has to be known of the log and of the systems, a sentence each.
    """

    presented_by = "systems"
    documented = (
        *("systems", "games", "rows", "unrated_games", "skipped_games", "burn_in", "blocks"),
        "fitted_to",
    )

    systems: Mapping[str, ComparedSystem]
    leader: str
    games: int
    rows: int
    unrated_games: int
    skipped_games: Mapping[str, int]
    burn_in: int
    blocks: int
    fitted_to: int = 0
    source: str = ""
    warnings: Sequence[str] = ()
    folder: Path | None = None

    @property
    def unbeaten(self) -> list[str]:
        """The others whose log loss is not greater than the leader's beyond the 95% interval."""
        worse = {name for name, of in self.systems.items() if of.to_best["log_loss"].above_zero}
        return [name for name in self.systems if name not in (self.leader, *worse)]

    @property
    def best(self) -> str | None:
        """The leader, if it is shown to be better than all others and a coin; else None."""
        return None if self.unbeaten else self.leader

    @property
    def no_interval(self) -> str:
        """Why nothing has an interval; "" if it has."""
        return "" if self.blocks > 1 else "there is one block of games only"

    @property
    def title(self) -> str:
        """What was compared, in one line."""
        verdict = f"best: {self.best}"
        if self.unbeaten:
            others = ", ".join(self.unbeaten)
            verdict = f"least log loss: {self.leader}, none shown better than {others}"
        before = f" after {self.fitted_to:,} fitted to" if self.fitted_to else ""
        return (
            f"{len(self.parameters)} systems, {self.games:,} games{before}, {self.rows:,} rows,"
            f" {self.blocks} blocks of games; {verdict}"
        )

    @property
    def parameters(self) -> dict[str, Mapping[str, float]]:
        """The values of all parameters of each system."""
        return {name: of.parameters for name, of in self.systems.items() if not of.baseline}

    def columns(self) -> dict[str, list[Any]]:
        """Return a row for each system and baseline, as ``comparison.csv`` has them."""
        columns: dict[str, list[Any]] = {"system": list(self.systems)}
        numbers = {"": "mean", "_half_width": "half_width", "_low": "ci_low", "_high": "ci_high"}
        for measure in self.systems[self.leader].means:
            for what, table in (("", "means"), ("_to_best", "to_best")):
                estimates = [getattr(of, table)[measure] for of in self.systems.values()]
                for name, number in numbers.items():
                    columns[f"{measure}{what}{name}"] = [getattr(x, number) for x in estimates]
        return columns

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        return {
            "systems": plain(self.systems),
            "best": self.best,
            "least_log_loss": self.leader,
            "not_shown_better_than": self.unbeaten,
            **({"no_interval": self.no_interval} if self.no_interval else {}),
            **super().summary(),
        }

    @classmethod
    def held_elsewhere(cls, files: ResultFiles, document: dict[str, Any]) -> dict[str, Any]:
        """Return who is the best, and the log."""
        systems: Mapping[str, Any] = document["systems"]
        leader = str(document["least_log_loss"])
        if leader not in systems:
            raise ValueError("least_log_loss: not among the systems")
        measures = [{*of[table]} for of in systems.values() for table in ("means", "to_best")]
        if "log_loss" not in measures[0] or any(keys != measures[0] for keys in measures):
            raise ValueError("systems: means and to_best are not of the same measures")
        return {"leader": leader, "source": files.manifest.source}


_PIECE = 1 << 12  # games of a piece, at which working space does not matter


def pieces(games: Games, stop: Callable[[], bool], pairs: int) -> Iterator[Games]:
    """Yield the games in parts of at most so many pairs of players, until a signal comes."""
    sizes = np.diff(games.side_starts[games.game_starts])
    upto = np.cumsum(sizes * (sizes - 1) // 2)
    first = 0
    while first < games.n_games:
        if stop():
            raise KeyboardInterrupt
        before = upto[first - 1] if first else 0
        last = max(first + 1, int(np.searchsorted(upto, before + pairs, side="right")))
        last = min(last, first + _PIECE)
        yield games_at(games, slice(first, last))
        first = last


def tallies(
    start: r.Roster,
    games: Games,
    blocks: Sequence[tuple[int, int]],
    burn_in: int,
    stop: Callable[[], bool] = lambda: False,
) -> Floats:
    """Return (blocks, 2, columns) tallies of the games of each block, played by a system."""
    sums = []
    for first, last in [(0, blocks[0][0]), *blocks]:
        start.tally[:] = 0.0
        for piece in pieces(games_at(games, slice(first, last)), stop, start.system.pairs_at_once):
            start.play(piece, burn_in)
        sums.append(start.tally.copy())
    return np.array(sums[1:])


def compared(
    sums: Mapping[str, Floats],
    parameters: Mapping[str, Mapping[str, float]],
    games: Games,
    burn_in: int,
    tunings: Mapping[str, Tuning] = MappingProxyType({}),
    **facts: Any,  # noqa: ANN401
) -> RatingComparison:
    """Return what tallies of the same games say."""
    # Shapes: `sums` (blocks, 2, columns).
    predictions = {name: r.scores_of(tally.sum(axis=0)) for name, tally in sums.items()}

    def loss(name: str) -> float:
        value = predictions[name]["all"].log_loss
        return math.inf if value is None or math.isnan(value) else value

    leader = min(parameters, key=loss)
    of_all = {name: tally[:, 0] for name, tally in sums.items()}
    of_draws = sum(x["all"].three_way_log_loss is not None for x in predictions.values())
    measures = [*r.MEASURES, *(r.OF_DRAWS if of_draws > 1 else ())]
    systems = {
        name: ComparedSystem(
            parameters=dict(parameters.get(name, {})),
            baseline=name not in parameters,
            fitted=list(tunings[name].adopted_parameters) if name in tunings else None,
            tuning=tunings.get(name),
            predictions=predictions[name],
            means={m: r.difference(m, tally) for m in measures},
            to_best={m: r.difference(m, tally, of_all[leader]) for m in measures},
        )
        for name, tally in of_all.items()
    }
    return RatingComparison(
        systems,
        leader,
        games=games.n_games,
        rows=len(games.players),
        burn_in=burn_in,
        blocks=len(of_all[leader]),
        **{"unrated_games": 0, "skipped_games": {}, **facts},
    )


COMPARISON = "comparison.csv"
_OF_ONE = ("system", "ratings", "again", "cap")  # options that go with one system


@takes(RateOptions, without=_OF_ONE)
def compare_ratings(
    games: arguments.PathLike,
    systems: str | Sequence[str],
    **options: Any,  # noqa: ANN401
) -> RatingComparison:
    """Compare how well rating systems predict the games of one log.

    ``compare_ratings("games.csv", ["elo", "glicko2"])`` rates a log by several systems, which all
    predict the same games, each before it is rated, so that differences between them are known
    better than the scores themselves. All games are held, at some 190 bytes a
    player of a game.

    Intervals are by the spread over at most 50 blocks of successive games, whole days where the log
    has enough of them, as games near each other are predicted from the same ratings.

    Parameters
    ----------
    games : str or Path
        The log, of a format that `valmatch rate --help` describes; `-` is standard input.
    systems : str or sequence of str
        Names of systems of `valmatch.ratings.registry`.
    **options

    Raises
    ------
    InputError
        If the log or the folder cannot be used; then nothing is written.
    RunError
        If the results cannot be written.
    """
    settings, names = RateOptions(**options), arguments.names("systems", systems)
    rated, values, fitted = _systems(names, settings)
    warn, tunings, folder = Warnings(settings.warn), dict[str, Tuning](), None
    with ExitStack() as stack:
        most_players = min(system.most_players for system in rated)
        path = arguments.path("games", games)
        log = GameLog(path, settings, most_players, unused=_unused_by(rated))
        for system in rated:
            _check_scores(system, log)
        if settings.out is not None:
            identity = {**settings.identity, "system": ",".join(names), "given": dict(values)}
            identity["tune"] = dict(fitted) or None
            folder = stack.enter_context(files.claim("rate", settings.out, log, None, identity))
        stop = stack.enter_context(stop_on_signal())
        read = files.read_games(log, warn, folder)
        warn(*(r.nobody_at_home(values[name], log.at_home) for name in names))
        n_first = games_to_fit(read, settings.train) if fitted else 0
        for system in rated:
            if (name := system.name) in fitted:
                roster = r.Roster(system, values[name], log.players, ())
                tunings[name] = tune(roster, fitted[name], read, settings.train, stop)
                values[name] = dict(tunings[name].values)
                warn(*(f"{name}: {remark}" for remark in tunings[name].remarks))
        rest = games_at(read, slice(n_first, read.n_games))
        blocks = [(n_first + first, n_first + last) for first, last in r.blocks_of(rest, log.dated)]
        sums = {}
        for system in (*rated, COIN, RECORD):
            roster = r.Roster(system, values.get(system.name, {}), log.players, ())
            sums[system.name] = tallies(roster, read, blocks, settings.burn_in, stop)
        result = compared(
            sums,
            values,
            rest,
            settings.burn_in,
            tunings,
            unrated_games=log.unrated,
            skipped_games=log.bad.counts,
            fitted_to=n_first,
            source=log.name,
        )
        for system in rated:
            of = result.systems[system.name]
            of_all, adopted, uneven = of.predictions["all"], of.fitted or (), _uneven(rest)
            warn(*_doubts(system, of.parameters, of_all, read, uneven, 0.0, adopted))
        result = replace(result, warnings=list(warn))
        if folder:
            tables = {COMPARISON: result.columns()}
            result = files.write_result(folder, result, tables, reading=log.reading)
    return result


def _systems(
    names: Sequence[str], options: RateOptions
) -> tuple[list[System], dict[str, dict[str, float]], dict[str, list[str]]]:
    """Return the systems to compare, the values of their parameters, and those to fit."""
    for name in _OF_ONE[1:]:
        refuse(name, getattr(options, name), f"goes with one {option('system')}")
    for name in names:
        refuse("system", names.count(name) > 1, f"{name} is given twice")
    refuse("system", not names, "names no system")
    rated = list(map(system_named, names))
    by_system: dict[str, dict[str, dict[str, float]]] = {}
    for what, named in (
        ("parameters", options.parameters),
        ("tune", dict.fromkeys(options.tune, 0.0)),
    ):
        by_system[what] = {system: {} for system in names}
        for name, value in named.items():
            system, dot, parameter = name.partition(".")
            if not dot or system not in names:
                meant = ", ".join(f"{known}.{parameter or name}" for known in names)
                raise InputError(f"{option(what)} {name}: of which system? (allowed: {meant})")
            by_system[what][system][parameter] = value
    for of in rated:
        check_tuned(of, list(by_system["tune"][of.name]))
    values = {of.name: values_of(of, by_system["parameters"][of.name], {}) for of in rated}
    return rated, values, {name: list(fits) for name, fits in by_system["tune"].items() if fits}
