"""The `ladder` model: players of unknown skill queue, play, are rated, and come back."""

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import Streams
from valmatch.errors import InputError
from valmatch.inputs.fields import Factors
from valmatch.kernels.arrays import Floats, Records
from valmatch.matching import flexmatch, queue
from valmatch.matching.living.ladder_adapter import options_of, queue_of
from valmatch.matching.registry import queue_rule
from valmatch.models.ladder import loop as events
from valmatch.models.ladder import measures
from valmatch.models.ladder.factors import (
    OF_PLAYERS,
    SYSTEMS,
    LadderFactors,
    size_of_teams,
    values_of,
)
from valmatch.models.ladder.files import read_files
from valmatch.models.ladder.loop import Behaviour, Log, Loop, rater_of, with_functions
from valmatch.models.ladder.population import PAIR, DrawnPlayers, draw_population
from valmatch.models.model import (
    NO_FILES,
    Axes,
    LargeTable,
    Model,
    Outcome,
    Record,
    Response,
    Responses,
    Table,
)
from valmatch.models.tickets.rule_file import document_of
from valmatch.policies import registry as policies
from valmatch.rule_sets import table as rule_table
from valmatch.rule_sets.table import Attribute, Steps
from valmatch.rule_sets.types import Reached
from valmatch.text.suggestions import hint
from valmatch.text.terminal import Notice, shortened, shown

MEASURES = ("win_gap", "wait", "error")
DRAWN_BY = (
    "days population.players population.skill_mean population.skill_std parties"
    " population.newcomers_per_day population.newcomer_skill_mean population.smurf_share"
    " population.smurf_skill sessions.per_day sessions.activity_cv sessions.hourly_profile"
)
SCALES = (1.0, 2.0**6, 2.0**10)  # of curves: shares, minutes, points


class Run(NamedTuple):
    """A replication that has been played."""

    loop: Loop  # how it ended
    waits: Floats  # hours, of every player matched after the warm-up
    start: float  # the mean rating at the end of the warm-up
    days: list[dict[str, float]]  # what happened on each day
    log: Log  # what happened, where it was wanted
    population: DrawnPlayers  # who played


class LadderModel(Model[DrawnPlayers]):
    """Queue, matches, ratings and players in one loop."""

    responses = measures.RESPONSES
    releases_gil = True
    drawn_by = frozenset(DRAWN_BY.split())
    axes = Axes(
        ("ladder",), MEASURES, events.CAREER, SCALES, {"wait": "minutes", "error": "points"}
    )

    def __init__(self, factors: LadderFactors, files: Mapping[str, Path] = NO_FILES) -> None:
        self._factors = factors
        of_players = {key: path for key, path in files.items() if key in OF_PLAYERS}
        self._contents = read_files(factors, of_players)
        self.warnings = self._contents.remarks
        if factors.parties.largest > 1:
            self.responses = Responses(*measures.RESPONSES, *self.further(factors))
        options, preset, matching = _options(factors), factors.rule.preset, factors.rule.matching
        self._rule = queue_of(preset) if preset else queue_rule(matching)
        if matching == "flexmatch":
            attribute, (table, remarks) = factors.rule.skill_attribute, rule_set_of(factors, files)
            self.warnings = (*self.warnings, *remarks)
            options |= flexmatch.options_of(table, attribute, factors.parties.largest)
        elif "rules" in files or factors.rule_set is not None:
            text = f"rules: has no effect with matching {matching}"
            self.warnings = (*self.warnings, text)
        self._advance = queue.kernel_of(events.advance, self._rule)
        self._system = system = SYSTEMS.get(factors.rating.system)  # None knows the skills
        values = values_of(factors.rating, factors.rating_beta) if system else {}
        self._newcomer = system.newcomer(values) if system else [math.nan]
        self._deviation = system.deviation if system else -1
        skills, sessions, match = self._contents.skills, factors.sessions, factors.match
        patience = sessions.patience_minutes
        behaviour = Behaviour(
            warmup=24.0 * factors.warmup_days,
            normal=match.outcome == "normal",
            spread=match.spread,
            beta=match.beta,
            minutes=match.minutes / 60.0,
            pause=sessions.break_minutes / 60.0,
            patience=math.inf if patience is None else patience / 60.0,
            after_win=min(1.0, max(0.0, sessions.continue_prob + sessions.win_effect)),
            after_loss=min(1.0, max(0.0, sessions.continue_prob + sessions.loss_effect)),
            churn=sessions.churn,
            conservative=factors.rating.match_by == "conservative",
        )
        self._rules = events.LadderRules(
            queue.parameters_of(self._rule.Parameters, options),
            behaviour,
            rater_of(system, values),
            factors.rating.mu,
            factors.population.skill_mean if skills is None else float(skills.mean()),
        )
        # The share of the session starts before each hour and before the end of the day.
        sums = np.array([0.0, *np.cumsum(np.array(sessions.hourly_profile))])
        self._shares = sums / sums[-1]
        self._queue_room = 64  # how many may wait until a queue grows
        self._waits: Floats = np.empty(1024)  # room for those of a replication

    @classmethod
    def further(cls, factors: Factors) -> Sequence[Response]:
        """Return the responses of parties, if there are any."""
        assert isinstance(factors, LadderFactors)
        return measures.party_responses(factors.parties.largest)

    def draw(self, streams: Streams, replication: int) -> DrawnPlayers:
        """Return the players of a replication; no rule and no rating enters."""
        contents = self._contents
        drawn = draw_population(self._factors, contents.players, streams.place(replication))
        if contents.skills is not None:
            drawn.skills[: contents.players] = contents.skills
        return drawn

    def run(self, inputs: DrawnPlayers) -> Outcome:
        """Return the responses, and the curves over the games of a career."""
        played = self.play(inputs)
        loop = played.loop
        with np.errstate(invalid="ignore"):
            curves = loop.careers / loop.careers_n
        curves[MEASURES.index("wait")] *= 60.0
        scaled = curves[np.newaxis] / np.array(SCALES)[:, np.newaxis]
        return Outcome(self._responses(played), scaled, self._scale_moves(played))

    def record(self, inputs: DrawnPlayers) -> Record:
        """Return the responses with every player, game, ticket and day."""
        # The log does not grow: what it has to hold is known after a first time without it.
        sums = self.play(inputs).loop.state[0]
        sizes = int(sums["tickets"]), int(sums["numbered"]), self._factors.rule.team_num
        played = self.play(inputs, events.new_log(*sizes))
        names, rows = self._names(inputs), played.days
        days = {name: [row[name] for row in rows] for name in rows[0]}
        tables = (
            self._players_table(names, played),
            self._games_table(names, played),
            self._tickets_table(names, played),
            Table("days", days, whole=("matches", "active_players")),
        )
        return Record(self._responses(played), tables, self._scale_moves(played))

    def _scale_moves(self, played: Run) -> tuple[str, ...]:
        days, warmup = played.days, self._factors.warmup_days
        stretches = [day["scale_stretch"] for day in days if day["day"] >= warmup]
        moves = measures.scale_moves(stretches)
        return (Notice(measures.SCALE_MOVES, "scale_moves"),) if moves else ()

    def play(self, inputs: DrawnPlayers, log: Log | None = None) -> Run:
        """Play a replication, day by day."""
        factors = self._factors
        players, ratings = self._players(inputs)
        if log is None:
            log = events.new_log(0, 0, factors.rule.team_num)
        loop = events.new_loop(
            players,
            ratings,
            inputs.rng_key,
            self._shares,
            self._contents.sessions,
            factors.rule.team_num,
            factors.match.minutes,
            factors.parties.largest,
        )
        events.set_clocks(inputs.joining, loop)
        empty = self._rule.new(self._queue_room, self._rules.queue)
        self._queue = queue.with_people(empty, loop.players, loop.rng_key)
        start, days, day, horizon = math.nan, [], 0, factors.days
        # When the ratings are looked at.
        moments = {factors.warmup_days, *map(float, range(1, math.ceil(horizon))), horizon}
        for moment in sorted(moments):
            self._check()
            self._go_on(24.0 * moment, loop, log)
            if moment == factors.warmup_days:
                start = measures.standing(loop.players).mean_rating
            if moment in (day + 1, horizon):
                sums, known = loop.state[0], measures.scale(measures.standing(loop.players))
                matches, waits = int(sums["day_matches"]), int(sums["day_waits"])
                of_day = {
                    "day": day,
                    "matches": matches,
                    "avg_wait_time": 60.0 * sums["day_wait"] / waits if waits else math.nan,
                    "win_gap": sums["day_gap"] / matches if matches else math.nan,
                    "rating_error": known["rating_error"],
                    "scale_stretch": known["scale_stretch"],
                    "active_players": int(sums["day_active"]),
                }
                days.append(of_day)
                day += 1
                loop.state["day"] = day
                for name in events.OF_THE_DAY:
                    loop.state[name] = 0
        return Run(loop, self._waits[: int(loop.state["waits"][0])], start, days, log, inputs)

    def _go_on(self, until: float, loop: Loop, log: Log) -> None:
        """Let everything happen before a moment, with room as it is asked for."""
        rater = with_functions(self._rules.rater, self._system, loop)
        self._rules = self._rules._replace(rater=rater)
        while True:
            reason = self._advance(until, self._rules, loop, self._queue, self._waits, log)
            if reason == events.DONE:
                return
            if reason == events.NO_ROOM_IN_QUEUE:
                self._queue = self._rule.grown(self._queue, self._rules.queue)
            else:
                self._waits = np.concatenate([self._waits, np.empty_like(self._waits)])

    def _players(self, population: DrawnPlayers) -> tuple[Records, Floats]:
        """Return the players before the first event, and what the rating system keeps of them."""
        factors = self._factors
        players = np.zeros(population.skills.size, events.PLAYER)
        players["skill"], players["day"] = population.skills, -1
        players["leader"], players["friends"] = np.arange(players.size, dtype=np.int32), 1
        if population.groups.size:
            leaders, sizes = np.unique(population.groups, return_counts=True)
            players["friends"][leaders] = sizes
        players["rate"] = factors.sessions.per_day * population.activities
        ratings = np.tile(np.array(self._newcomer, np.float64), (players.size, 1))
        known = self._rules.rater.known
        ratings[:, 0] = population.skills if known else factors.rating.mu
        if factors.population.start == "skill":
            old = population.skills.size - population.joining.size
            ratings[:old, 0] = population.skills[:old]
        players["mean"] = ratings[:, 0]
        if self._deviation >= 0:
            players["sigma"] = ratings[:, self._deviation]
        return players, ratings

    def _responses(self, played: Run) -> dict[str, float]:
        loop, days = played.loop, self._factors.days - self._factors.warmup_days
        values = measures.responses(
            loop.state[0], played.waits, played.start, loop.players, days, self._deviation >= 0
        )
        if loop.by_size.size:
            values |= measures.party_measures(loop.by_size, loop.players, played.population.groups)
        return values

    def _names(self, population: DrawnPlayers) -> NDArray[Any]:
        """Return what the players are called in tables: by the files, or by their numbers."""
        known = dict.fromkeys(self._contents.names)
        if not known:
            return np.arange(population.skills.size)
        free = (name for name in map("newcomer-{}".format, count()) if name not in known)
        return np.array([*known, *islice(free, population.joining.size)])

    def _players_table(self, names: NDArray[Any], played: Run) -> Table:
        players, population = played.loop.players, played.population
        unknown = np.full(players.size, np.nan)
        old = np.zeros(players.size - population.joining.size)
        columns = {
            "player": names,
            "joined_hours": np.concatenate([old, population.joining]),
            "skill": players["skill"],
            "activity": unknown if self._contents.sessions.firsts.size else population.activities,
            "rating": players["mean"],
            "sigma": players["sigma"] if players["sigma"].any() else unknown,
            "games": players["finished"],
            "gone": (players["state"] == events.LEFT).astype(np.int64),
        }
        if played.loop.by_size.size:
            columns["group"] = names[population.groups]
        return Table("players", columns)

    def _games_table(self, names: NDArray[Any], played: Run) -> Table:
        """Return a row for each player of each match that ended, in order of ending."""
        loop, log, minutes = played.loop, played.log, self._factors.match.minutes
        players = log.teams.shape[1]

        def part(rows: slice) -> dict[str, NDArray[Any]]:
            count = np.arange(rows.start, rows.stop)
            game, seat = count // players, count % players
            matches, tickets = log.matches[game], log.tickets[log.teams[game, seat]]
            side_b = seat >= players // 2
            return {
                "game": game,
                "time": matches["time"] + minutes / 60.0,
                "player": names[tickets["player"]],
                "team": np.where(side_b, "B", "A"),
                "score": ((matches["a_wins"] > 0) != side_b).astype(np.int64),
                "minutes": np.full(count.size, minutes),
                "wait_minutes": 60.0 * (tickets["ended"] - tickets["time"]),
                "p": np.where(side_b, 1.0, 0.0) + (1 - 2 * side_b) * matches["p"],
                "rating_before": log.before[game, seat, 0],
                "rating_after": log.after[game, seat, 0],
                **({"party": tickets["together"]} if loop.by_size.size else {}),
            }

        return LargeTable("games", players * int(loop.state["ended"][0]), part)

    def _tickets_table(self, names: NDArray[Any], played: Run) -> Table:
        """Return a row for each ticket of a player; one still waiting has not ended."""
        loop, log = played.loop, played.log

        def part(rows: slice) -> dict[str, NDArray[Any]]:
            tickets = log.tickets[rows].copy()
            return {
                "ticket": np.arange(rows.start, rows.stop),
                "player": names[tickets["player"]],
                "queued_hours": tickets["time"],
                "rating": tickets["rating"],
                "ended_hours": tickets["ended"],
                "match": np.where(tickets["match"] >= 0, tickets["match"], np.nan),
                "wait_minutes": 60.0 * (tickets["ended"] - tickets["time"]),
                **({"party": tickets["together"]} if loop.by_size.size else {}),
            }

        return LargeTable("tickets", int(loop.state["tickets"][0]), part, whole=("match",))


def _options(factors: LadderFactors) -> dict[str, Any]:
    """Return what the rules of the queue read, by the names of their parameters."""
    rule, numbers = factors.rule, factors.rule.numbers()
    return {
        **queue.options_of(rule, 24.0 * factors.days),
        "around": False,
        "oldest": rule.widening_age == "oldest",
        "policy": policies.place_of(rule.policy, policies.PAIR),
        "multiplier": rule.gamma / (1.0 - rule.gamma),
        "noise": factors.rating_beta**2,
        "true_noise": factors.match.beta**2,
        "source": PAIR,
        "review_seconds": rule.review_seconds or 0.0,
        "largest": factors.parties.largest,
        **(options_of(rule.preset, numbers) if rule.preset and numbers else {}),
    }


def rule_set_of(
    factors: LadderFactors, files: Mapping[str, Path]
) -> tuple[rule_table.Table, tuple[str, ...]]:
    """Return the rule set of a ladder, and what is to be said of it."""
    source, (table, remarks) = factors.source(files), factors.read_rules(files, None)
    attribute, team_num = factors.rule.skill_attribute, factors.rule.team_num
    if not table.attributes:  # no rule looks at players
        table = table._replace(attributes=(Attribute(attribute, "number"),))
    if source is None:
        size = Steps((), (team_num,))
        teams = tuple(team._replace(least=size, most=size) for team in table.teams)
        return table._replace(teams=teams), remarks
    document, lines = document_of(source), []
    kinds = {declared.name: declared.kind for declared in table.attributes}
    if kinds.get(attribute) != "number":
        wrong = f"is no number in {document.name}"
        if attribute not in kinds:
            wrong = f"is not declared in {document.name} ({hint(attribute, kinds)})"
        lines = [f"factors.rule.skill_attribute: {shown(attribute)} {wrong}"]
    if not lines:
        lines = [f"{document.place(*path)}: {text}" for path, text in _faults(table, attribute)]
    if not lines and size_of_teams(table) != team_num:
        what = f"{team_num}, but {document.name} has teams of another size"
        lines = [f"factors.rule.team_num: {what}"]
    if lines:
        raise InputError(*lines)
    return table, remarks


def _faults(table: rule_table.Table, attribute: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    for number, declared in enumerate(table.attributes):
        if declared.name != attribute and declared.default is None:
            text = f"{shown(declared.name)} has no default, and a ladder knows nothing of players"
            yield ("playerAttributes", number), f"{text} but the rating (a default is needed)"
    for number, rule in enumerate(table.rules):
        if isinstance(rule.predicate, Reached):
            text = f"{shown(rule.name)} is a latency rule, and a ladder has no regions (remove it)"
            yield ("rules", number), text
    if size_of_teams(table) is None:
        sizes = []
        for team in table.teams:
            players = [int(value) for steps in (team.least, team.most) for value in steps.numbers]
            least, most = min(players), max(players)
            sizes.append(f"{team.name} {least}" + f" to {most}" * (least < most))
        text = "a ladder plays two teams of one size, which does not change"
        yield ("teams",), f"{shortened(', '.join(sizes))}: {text}"
