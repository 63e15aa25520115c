"""The `valorant` model: players arrive, form teams, teams are paired."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.inputs.csv_reader import joined_names
from valmatch.inputs.fields import Factors
from valmatch.kernels.arrays import Floats, Ints
from valmatch.matching import queue
from valmatch.matching.registry import QUEUES, queue_rule
from valmatch.models.model import (
    NO_FILES,
    Batch,
    Model,
    Outcome,
    Record,
    Response,
    Responses,
    Table,
    Values,
)
from valmatch.models.valorant import arrivals
from valmatch.models.valorant.arrivals import ArrivingPlayers
from valmatch.models.valorant.days import (
    RESPONSES,
    Days,
    fill_quantiles,
    make_days,
    new_days,
    summarize,
)
from valmatch.models.valorant.factors import ValorantFactors
from valmatch.models.valorant.log_factors import LEFT
from valmatch.models.valorant.measures import GROUPS, PlayedDay, counted, empty_bands, groups_of
from valmatch.models.valorant.queue_log import (
    DAY,
    BlockResampling,
    QueueLog,
    read_queue_log,
    wall_hours,
)
from valmatch.statistics.sampling import OneHistory
from valmatch.text.terminal import Note, shown


def players_table(
    day: PlayedDay,
    names: NDArray[Any],
    waiting: Iterable[tuple[int, Sequence[int]]],
    further: Mapping[str, NDArray[Any]],
) -> Table:
    """Return one row for each player."""
    players, n = day.players, day.players.times.size
    team, match = np.full(n, np.nan), np.full(n, np.nan)
    for number, side in enumerate(day.sides, 1):
        team[side] = day.log[:, number, np.newaxis]
        match[side] = np.arange(len(day.log))[:, np.newaxis]
    for order, members in waiting:
        team[members] = order
    vectors = players.vectors.T if players.vectors.size else np.full((3, n), np.nan)
    departures = {LEFT: np.where(day.gave_up, day.left, np.nan)} if players.departures.size else {}
    return Table(
        "players",
        {
            "player": names,
            "arrival_hours": players.times,
            **further,
            **dict(zip(("elo", "kd", "wr"), vectors, strict=True)),
            "rating": players.ratings,
            "team": team,
            "match": match,
            "match_hours": np.where(day.matched, day.left, np.nan),
            **departures,
            "wait_minutes": np.where(day.matched, day.waits, np.nan),
            "prioritized": day.prioritized.astype(np.int64),
        },
        whole=("team", "match"),
    )


def matches_table(day: PlayedDay, names: NDArray[Any]) -> Table:
    """Return one row for each match."""
    # Added one by one like the kernel adds them, so that differences agree to the last bit.
    sums = [np.cumsum(side, axis=1)[:, -1] for side in day.ratings]
    means = [side / day.rules.team_num for side in sums]
    teams = [
        np.array([joined_names([*map(str, names[team].tolist())]) for team in side], str)
        for side in day.sides
    ]
    return Table(
        "matches",
        {
            "match": np.arange(len(day.log)),
            "time_hours": day.hours,
            "team_a": teams[0],
            "team_b": teams[1],
            "mean_a": means[0],
            "mean_b": means[1],
            "team_diff": np.abs(means[0] - means[1]),
        },
    )


DRAWN_BY = (
    "poisson_rate rate_multiplier gaps elo_max num_players horizon mean_matrix cov_matrix"
    " multiplier_matrix rating_quantiles patience_minutes log"
)


class ValorantModel(Model[ArrivingPlayers]):
    """The model of the Valorant source, with the factors and responses added to it."""

    responses = RESPONSES
    releases_gil = True
    measures = tuple(GROUPS)
    drawn_by = frozenset(DRAWN_BY.split())

    def __init__(self, factors: ValorantFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        path, team_num = files.get("arrivals"), factors.team_num
        self._rule = queue_rule(factors.matching)
        self._make_days = queue.kernel_of(make_days, self._rule)
        self._factors = factors
        if factors.measure or factors.gives_up:
            self.responses = Responses(*RESPONSES, *self.further(factors))
        self._log: QueueLog | None = None
        self._resampling: BlockResampling | None = None
        self._process: arrivals.ArrivalProcess | None = None
        self._sums: arrivals.PlayerSums | None = None

        # The horizon of num_players differs between replications: it is set when they have arrived.
        self._open_ended = path is None and factors.horizon is None
        if path is None:
            self._process = process = _process(factors)
            horizon, players = factors.horizon or 0.0, process.expected_players
            if not self._open_ended and factors.gaps == "exponential":
                if factors.rating_quantiles is None:
                    self._sums = arrivals.PlayerSums(process)
                # 2p players make a match, and on average (2p - 1) / 2 of them are still to come.
                wait = 60.0 * (2 * team_num - 1) / 2 * process.busy_hours / players
                if not (factors.gives_up or factors.warm_up):
                    self.floors = {"avg_wait_time": (wait, "while everybody is matched")}
        else:
            horizon, players = self._read_log(path)
        self._rules = _rules(factors, horizon)
        if QUEUES[factors.matching].exponential:
            # At worst every split of the players chosen at a review is tried, 3e6 a second.
            splits = self._rule.expected_splits(self._rules)
            seconds = players * splits / 3e6
            if seconds > LONG:
                wider = "" if factors.tie_break == "balanced" else ", or a larger team_diff,"
                self.warnings = (
                    *self.warnings,
                    f"{factors.matching} matching may try {splits:.0e} splits of {2 * team_num}"
                    f" players into teams at a review, up to {seconds / 3600.0:,.1f} hours a"
                    f" replication: a smaller team_num or matching=team_first{wider} takes less",
                )
        self._queue = self._rule.new(64, self._rules)
        self._no_log = np.empty((0, 3 + 2 * team_num))
        self._counts = queue.new_counts(np.empty(1), self._no_log)

    def _read_log(self, path: Path) -> tuple[float, float]:
        """Read the players of a file; return the horizon, and how many they are."""
        factors, measure = self._factors, self._factors.measure
        self._log = log = read_queue_log(
            path, factors.log, factors.multiplier_matrix, factors.horizon
        )
        players, horizon, faults = log.players, log.horizon, []
        empty = empty_bands(players.ratings, factors.bands) if "bands" in measure else []
        if empty:
            holds = f"hold{'s' * (len(empty) == 1)} nobody"
            faults.append(f"bands: {', '.join(empty)} {holds} (too many ratings are the same)")
        if factors.patience_minutes is not None and players.departures.size:
            says = f"the column {shown(factors.log.columns[LEFT])} says who gave up and when"
            faults.append(f"patience_minutes: {says} (allowed: null, or a log without it)")
        if factors.warm_up >= horizon:
            hours = f"{factors.warm_up} hours leave nothing of a log of {horizon:g} hours"
            faults.append(f"warm_up: {hours} (allowed: fewer)")
        if "weekdays" in measure and log.midnight is None:
            allowed = "allowed: with date-times, or seconds since 1970, as arrival_hours"
            text = f"the log has hours, which are of no weekday ({allowed})"
            faults.append(f"measure: weekdays: {text}")
        if "elo" in measure and players.vectors.shape[0] < players.times.size:
            text = "the log has ratings alone (allowed: with the columns elo, kd and wr)"
            faults.append(f"measure: elo: {text}")
        if faults:
            raise InputError(f"{path}: factors.{faults[0]}")
        same = "a log without resampling: all replications are identical"
        if factors.patience_minutes is None:
            self.sampling = OneHistory()
        else:
            same = (
                "a log without resampling: replications differ by the patience of its players"
                " alone, so intervals say nothing about other days"
            )
        remarks: Sequence[str] = (Note(f"{path}: {same}", "one_history"),)
        if factors.log.resample:
            self._resampling = resampling = BlockResampling(
                log, factors.log.block_hours, factors.horizon, path
            )
            self.sampling, horizon = resampling.sampling, resampling.horizon
            remarks = resampling.remarks
        self.warnings = (*remarks, *log.remarks)
        return horizon, float(players.times.size)

    @classmethod
    def further(cls, factors: Factors) -> Sequence[Response]:
        """Return the responses that factors ask for."""
        assert isinstance(factors, ValorantFactors)
        return [response for responses, _ in groups_of(factors) for response in responses(factors)]

    def _clock(self, hours: Ints, resample: arrivals.Resample | None) -> Ints:
        """Return the hours of a replication by the clock, from a Monday of a dated log on."""
        if self._log is None or self._log.midnight is None:
            return hours
        hours = resample.log_hours(hours) if resample else hours
        return wall_hours(self._log.midnight, hours) + DAY * self._log.midnight.weekday()

    @property
    def controls(self) -> Mapping[str, float]:
        """The expectation of each control; none unless the arrivals are a Poisson process."""
        return self._sums.expectations if self._sums else {}

    def draw(self, streams: Streams, replication: int) -> ArrivingPlayers:
        """Return the players of a replication in order of arrival."""
        if self._resampling is not None:
            players = self._resampling.draw(streams, replication)
        elif self._log is not None:
            players = self._log.players
        else:
            assert self._process is not None
            players = self._process.players(streams, replication)
        mean = self._factors.patience_minutes
        if mean is not None:  # which resamples do not have
            draws = streams.stream(replication, arrivals.PATIENCE)
            waits = mean / 60.0 * draws.standard_exponential(players.times.size)
            players = players._replace(departures=players.times + waits)
        if self._log is None or not self._log.accounts.size:
            return players
        # Players of a log leave the queue where their account queues again.
        rows = players.resample.rows if players.resample else slice(None)
        again = queue.next_arrivals(self._log.accounts[rows], players.times)
        if players.departures.size:
            again = np.minimum(again, players.departures)
        return players._replace(departures=again)

    def observe(self, inputs: ArrivingPlayers) -> Floats:
        """Return the sums over the players."""
        return self._sums.of(inputs) if self._sums else np.empty(0)

    def run_many(
        self,
        streams: Streams,
        replications: Sequence[int],
        controls: bool,
        check: Callable[[], None],
    ) -> Batch:
        """Run replications, days that fit the memory of one call of compiled code in few calls."""
        process, days = self._process, self._days
        if process is None or days is None:
            return super().run_many(streams, replications, controls, check)
        indices = np.array(replications, np.int64)
        rows = np.empty((indices.size, len(RESPONSES)))
        # Their expectations are integrals, which take time: not where nobody asks for them.
        seen = np.empty((indices.size, len(self.controls)) if controls else (0, 0))
        standard = self._sums.standard if self._sums and seen.size else (0.0, 1.0)
        done = 0
        while done < indices.size:
            check()
            some = slice(done, done + days.matched.size)
            words = streams.words(0, arrivals.GAPS), streams.words(0, arrivals.VECTORS)
            world = process.law, self._rules, self._queue
            out = RESPONSES.record(indices[some].size)
            n = self._make_days(indices[some], words, *world, days, (*standard, seen[some]), out)
            fill_quantiles(days.waits, days.matched[:n], out[:n])
            rows[done : done + n] = RESPONSES.rows(out[:n])
            if not n:  # the players of a day are unusually many, or the queue is to grow
                batch = super().run_many(streams, replications[done : done + 1], controls, check)
                rows[done], n = batch.responses[0], 1
                if batch.controls is not None:
                    seen[done] = batch.controls
            done += n
        return Batch(rows, None, seen if controls else None)

    @cached_property
    def _days(self) -> Days | None:
        process, factors = self._process, self._factors
        apart = self._open_ended or factors.is_played_out or factors.rating_quantiles is not None
        return None if process is None or apart else new_days(process.room, factors.team_num)

    def run(self, inputs: ArrivingPlayers) -> Outcome:
        """Return the responses to these arrivals."""
        if self._factors.is_played_out:
            return Outcome(self._play(inputs)[1])
        self._match(inputs, self._no_log)
        return Outcome(self._responses(inputs.times.size))

    def record(self, inputs: ArrivingPlayers) -> Record:
        """Return the responses with every player and every match."""
        day, responses = self._play(inputs)
        ids, date_times = (self._log.ids, self._log.date_times) if self._log else ((), ())
        resample = day.players.resample
        rows = resample.rows if resample else slice(None)
        names = np.array(ids, str)[rows] if ids else np.arange(day.players.times.size)
        arrival_times = {"arrival_time": np.array(date_times, str)[rows]} if date_times else {}
        waiting = self._rule.waiting_teams(self._queue)
        players = players_table(day, names, waiting, arrival_times)
        return Record(responses, (players, matches_table(day, names)))

    def _play(self, players: ArrivingPlayers) -> tuple[PlayedDay, Values]:
        """Return what happened in a replication, player by player, and the responses."""
        team_num = self._rules.team_num
        log = np.empty((players.times.size // (2 * team_num), 3 + 2 * team_num))
        self._match(players, log)
        log = log[: self._counts.statistics["matches"][0]]
        clock = partial(self._clock, resample=players.resample)
        day = PlayedDay(players, log, self._rules, self._factors, clock)
        record = counted(day) if day.start else self._responses(players.times.size)
        groups = groups_of(self._factors)
        if not groups:
            return day, record
        values = RESPONSES.row(record).tolist()
        for _, values_of in groups:
            values += values_of(day)
        return day, dict(zip(self.responses.names, values, strict=True))

    def _match(self, players: ArrivingPlayers, log: Floats) -> None:
        self._rule.reset(self._queue)
        queue.clear(self._counts.statistics)
        self._counts = self._counts._replace(log=log)
        times, departures = players.times, None
        if self._open_ended:
            horizon = float(times[-1])
            ticks = queue.ticks_per_hour(horizon, self._rules.team_num)
            self._rules = self._rules._replace(horizon=horizon, ticks_per_hour=ticks)
        if self._factors.gives_up or players.departures.size:
            departures = queue.departures_of(times, players.departures)
        came = queue.Arrivals(times, players.ratings, 0)
        self._queue, self._counts = queue.let_arrive(
            self._rule, came, departures, self._rules, self._queue, self._counts
        )

    def _responses(self, players: int) -> NDArray[np.void]:
        statistics, waits = self._counts.statistics, self._counts.waits
        return summarize(statistics, waits, statistics["matched"], players, self._rules.horizon)


LONG = 60.0  # seconds of a replication from which on its length is remarked upon


def _rules(factors: ValorantFactors, horizon: float) -> queue.Rules:
    options = queue.options_of(factors, horizon)
    options["around"] = factors.team_rule == "newcomer"
    if factors.matching == "team_first":
        options["known_team"] = queue.known_team(factors.team_num)
    rules: queue.Rules = queue.parameters_of(queue.Rules, options)
    return rules


def _process(factors: ValorantFactors) -> arrivals.ArrivalProcess:
    rates = [rate * factors.rate_multiplier for rate in factors.poisson_rate]
    horizon = factors.horizon or math.inf
    how: dict[str, Any] = {"count": factors.num_players, "whole_gaps": factors.gaps == "poisson"}
    if factors.rating_quantiles is not None:
        return arrivals.quantile_arrivals(rates, horizon, factors.rating_quantiles, **how)
    skills = factors.mean_matrix, factors.cov_matrix, factors.multiplier_matrix
    return arrivals.ArrivalProcess(
        rates, horizon, *skills, elo_max=factors.elo_max or math.inf, **how
    )
