"""Protocol of the rules of the queue, numbers of those of ratings, and the loop of arrivals.

A rule is a module of this folder that has what `QueueRule` lists, and an entry in `registry`.
"""

import math
from collections.abc import Callable
from dis import get_instructions
from functools import cache
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from valmatch.kernels.arrays import Bools, Floats, Ints, Records, Words
from valmatch.kernels.compilation import at, kernel, macro, variant

Struct = Any  # one row of a structured array; the kernels see it as a C struct


class Rules(NamedTuple):
    """One set of matchmaking rules.

    Attributes
    ----------
    team_num : int
        Players on a team.
    player_diff, player_slack : float
        Largest rating range in a team, and its increase (Elo points).
    team_diff, team_slack : float
        Largest difference of mean ratings, and its increase (Elo points).
    wait_thresh : float
        Hours after which a player is prioritized.
    horizon : float
        End of the day in hours; no review by `continuous` happens at or after it.
    continuous : bool
        Also review when a waiting player becomes prioritized.
    pool_scope : bool
        One prioritized player anywhere relaxes every candidate.
    balanced : bool
        Among splits that tie, prefer the smallest difference of means (`joint` alone).
    around : bool
        Teams are formed around the player whose review it is (`team_first` alone).
    ticks_per_hour : float
        Resolution at which total waits are compared, see `ticks_per_hour`.
    known_team : tuple of int
        See `known_team`.
    """

    team_num: int
    player_diff: float
    player_slack: float
    team_diff: float
    team_slack: float
    wait_thresh: float
    horizon: float
    continuous: bool
    pool_scope: bool
    balanced: bool
    around: bool
    ticks_per_hour: float
    known_team: tuple[int, ...] = ()


KNOWN_SIZE = 5  # the players of a team that compiled code has as a constant, as in the source


def known_team(team_num: int) -> tuple[int, ...]:
    """Return a tuple as long as a team of `KNOWN_SIZE`, of no use but for its length."""
    # That is a constant of compiled code, whose loops over a team are then unrolled.
    return (0,) * KNOWN_SIZE if team_num == KNOWN_SIZE else ()


@macro
def team_size(rules: Rules) -> int:
    """Return `team_num`, as a constant of compiled code where there is a `known_team`."""
    return len(rules.known_team) if len(rules.known_team) > 0 else rules.team_num


def ticks_per_hour(horizon: float, team_num: int) -> float:
    """Return the resolution of total waits: 2**40 ticks an hour, less for very long horizons."""
    # Total waits are compared as whole ticks so that sums are exact: equal waits tie on every
    # platform. (2 team_num)**2 horizons have to fit 60 bits, which `joint` needs.
    bits = 60 - math.ceil(math.log2(max(1.0, horizon) * (2 * team_num) ** 2))
    return 2.0 ** min(40, bits)


@macro
def tick_of(time: float, rules: Rules) -> int:
    """Return an arrival time in ticks; a greater total wait is a smaller sum of ticks."""
    return int(time * rules.ticks_per_hour + 0.5)


def prioritized(arrival: Any, now: Any, rules: Rules) -> Any:  # noqa: ANN401
    """Return whether players who arrived at `arrival` count as prioritized at `now` (hours)."""
    # Strictly longer than the threshold; with continuous reviews from the very moment arrival +
    # wait_thresh on, of that player's own review. Takes arrays as well as numbers.
    if rules.continuous:
        return arrival + rules.wait_thresh <= now
    return now - arrival > rules.wait_thresh


is_prioritized = macro(prioritized)  # `prioritized` for the kernels


LINEUP = np.dtype([("player", "i8"), ("team", "i8"), ("arrival", "f8"), ("rating", "f8")])
"""A player of a match: who, the number of the team, since when, and the rating that the rule saw.

Teams are numbered in order of formation, those that are formed with their match 2m and 2m + 1.
"""

# Statistics of a queue, counted while it runs, whatever its rule.
STATISTICS = np.dtype(
    [
        ("matches", "i8"),
        ("matched", "i8"),  # players
        ("unmatched", "i8"),  # players who wait to the horizon
        ("prioritized", "i8"),  # players who became so, matched or not
        ("wait", "f8"),  # minutes, of matched players
        ("longest_wait", "f8"),  # minutes, of a matched player
        ("unmatched_wait", "f8"),  # minutes up to the horizon, or until giving up
        ("team_diff", "f8"),  # Elo points, differences of team means
        ("player_diff", "f8"),  # Elo points, rating ranges of matched teams
    ]
)


class Counts(NamedTuple):
    """What is counted while players arrive, wait and are matched."""

    statistics: Records  # (1,); sums
    lineup: Records  # (2 team_num,); the players of the match that is counted
    waits: Floats  # minutes of each matched player in order of matching; room for all who come
    # (matches, 3 + 2 team_num); as many matches as there is room for: hour, numbers of both teams,
    # players of both
    log: Floats


def new_counts(waits: Floats, log: Floats) -> Counts:
    """Return counts of nothing, with this memory of waits and matches."""
    return Counts(np.zeros(1, STATISTICS), np.zeros(log.shape[1] - 3, LINEUP), waits, log)


@macro
def clear(statistics: Records) -> None:
    """Set all sums to 0 for the next replication."""
    statistics.view(np.uint8)[:] = 0


@macro
def count_match(now: float, rules: Rules, counts: Counts) -> None:
    """Count the match that is lined up, and log it where there is room."""
    statistics, team_num = counts.statistics[0], rules.team_num  # in variables, which are quicker
    matched, prioritized = statistics["matched"], statistics["prioritized"]
    wait, longest_wait = statistics["wait"], statistics["longest_wait"]
    gap, spread = 0.0, 0.0
    for side in range(2):
        total, least, most = 0.0, np.inf, -np.inf
        for k in range(side * team_num, (side + 1) * team_num):
            player = counts.lineup[at(k)]
            rating, arrival = player["rating"], player["arrival"]
            total += rating
            least, most = min(least, rating), max(most, rating)
            minutes = 60.0 * (now - arrival)
            counts.waits[at(matched)] = minutes
            matched += 1
            prioritized += int(is_prioritized(arrival, now, rules))
            wait += minutes
            longest_wait = max(longest_wait, minutes)
        gap = total / team_num - gap
        spread += most - least
    statistics["matched"], statistics["prioritized"] = matched, prioritized
    statistics["wait"], statistics["longest_wait"] = wait, longest_wait
    statistics["team_diff"] += abs(gap)
    statistics["player_diff"] += spread
    number = statistics["matches"]
    statistics["matches"] = number + 1
    if number < counts.log.shape[0]:
        row = counts.log[at(number)]
        row[0] = now
        for k in range(2 * team_num):
            player = counts.lineup[at(k)]
            row[at(1 + k // team_num)], row[at(3 + k)] = player["team"], player["player"]


F = TypeVar("F", bound=Callable[..., object])
Queue = TypeVar("Queue", bound=tuple[Any, ...])

NOBODY = -1  # stands for a newcomer at the review of a moment of the rule's own
DISSOLVED = -2  # stands for a newcomer at the review after a team has lost a player


class QueueRule(Protocol):
    """A rule of the queue: a module with a class and these functions."""

    # The first two functions are plain Python, the others parts of kernels. Times are in hours and
    # never decrease. What joins is called a player: where parties wait together, the number of a
    # ticket.

    Parameters: Any  # a named tuple: the rule's numbers as kernels read them, usually `Rules`

    def new(self, capacity: int, rules: Any) -> Any:  # noqa: ANN401
        """Return an empty queue with room for `capacity` players: a named tuple of arrays.

        `state`, (1,), is a record with the number of players that are `waiting`; `people` and
        `rng_key`, if there are such fields, are set by `with_people`.
        """

    def grown(self, queue: Any, rules: Any) -> Any:  # noqa: ANN401
        """Return a copy of a queue with twice the room."""

    def has_room(self, rules: Any, queue: Any) -> bool:  # noqa: ANN401
        """Return whether another player can join; else the queue has to be `grown`."""

    def next_review(self, rules: Any, queue: Any) -> float:  # noqa: ANN401
        """Return the next moment before the horizon at which it is to look, infinity for none."""

    def enqueue(self, now: float, rating: float, player: int, rules: Any, queue: Any) -> int:  # noqa: ANN401
        """Let a player wait; return what `review` knows the newcomer by, a number >= 0."""

    def leave(self, player: int, rules: Any, queue: Any) -> bool:  # noqa: ANN401
        """Let a player who waits give up; return whether a review is due by it."""

    def review(self, now: float, newcomer: int, rules: Any, queue: Any) -> int:  # noqa: ANN401
        """Look for matches, take their players out of the queue; return the number of matches.

        `newcomer` is what `enqueue` returned, if somebody has just joined; `NOBODY` at the moment
        that `next_review` named; `DISSOLVED` after somebody left.
        """

    def players_of_match(self, match: int, rules: Any, queue: Any, lineup: Records) -> None:  # noqa: ANN401
        """Give the players of a match of the last review, records of `LINEUP`, side A first.

        Nobody reads more than who they are where the rule sees more than ratings.
        """


class RatingRule(QueueRule, Protocol):
    """A rule that sees nothing but ratings: the model `valorant` knows it too."""

    # The first function is plain Python, and kernels can call it too.

    def reset(self, queue: Any) -> None:  # noqa: ANN401
        """Empty the queue for the next replication."""

    def waiting_teams(self, queue: Any) -> list[tuple[int, list[int]]]:  # noqa: ANN401
        """Return number and players of the teams that are formed and wait for another."""

    def still_waiting(self, queue: Any, arrivals: Floats) -> None:  # noqa: ANN401
        """Give the arrivals of all who wait, in order; a part of kernels."""


RULE = cast(RatingRule, None)
"""In a driver: the rule. It is put in place when the driver is compiled, see `kernel_of`."""

_DECORATORS: dict[Callable[..., object], Callable[..., Any]] = {}


def driver(decorator: Callable[..., Any]) -> Callable[[F], F]:
    """Mark a function as a driver, a kernel of each rule by this decorator of kernels."""
    # It may call another driver, and then that of the same rule; parts that it calls may not.

    def mark(function: F) -> F:
        _DECORATORS[function] = decorator
        return function

    return mark


@cache
def kernel_of(function: F, rule: ModuleType) -> F:
    """Return the kernel of a driver for a rule."""
    # It is a copy of the function with the rule in its globals: the cache of kernels knows no
    # closure again, and compiled code reads a function of a module like one of its own.
    used = {each.argval for each in get_instructions(function) if each.opname == "LOAD_GLOBAL"}
    known = {
        key: kernel_of(value, rule)
        for key, value in function.__globals__.items()
        if key in used and isinstance(value, FunctionType) and value in _DECORATORS
    }
    copy = variant(function, rule.__name__.rpartition(".")[2], RULE=rule, **known)
    return cast(F, _DECORATORS[function](copy))


def options_of(rule: Any, horizon: float) -> dict[str, Any]:  # noqa: ANN401
    """Return what rules read of factors, by the names of their parameters."""
    return {
        **dict(rule),
        "horizon": horizon,
        "continuous": rule.review == "continuous",
        "pool_scope": rule.slack_scope == "pool",
        "balanced": rule.tie_break == "balanced",
        "ticks_per_hour": ticks_per_hour(horizon, rule.team_num),
    }


def parameters_of(kind: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401
    """Return parameters of a kind: what they are of the options of a model."""
    # What is no option keeps its default, if it has one.
    kept = kind._field_defaults.keys() - options.keys()
    return kind(**{name: options[name] for name in kind._fields if name not in kept})


def with_people(queue: Queue, people: Records, rng_key: Words) -> Queue:
    """Let a rule see more of the players than ratings, if its queue has fields for it."""
    fields: Any = queue
    if "rng_key" in fields._fields:
        fields.rng_key[:] = rng_key
    return cast(Queue, fields._replace(people=people) if "people" in fields._fields else queue)


class Arrivals(NamedTuple):
    """Players who come, or the last of them."""

    times: Floats  # (n,); hours, ascending
    ratings: Floats  # (n,)
    first: int  # number of the first of them


class Departures(NamedTuple):
    """When players give up who are all known from the start, and how far that is."""

    times: Floats  # (n,); when they arrive
    hours: Floats  # (n,); when they give up unless they play by then; infinity for never
    order: Ints  # (n,); the players by these hours, equal ones by number
    gone: Bools  # (n,); whether a player has been matched, or has given up
    progress: Ints  # (1,); how many of `order` are done with


def next_arrivals(accounts: Ints, times: Floats) -> Floats:
    """Return when the account of each row, in order of arrival, comes again; infinity for never."""
    order = np.argsort(accounts, kind="stable")
    same = accounts[order][1:] == accounts[order][:-1]
    following = np.full(times.size, np.inf)
    following[order[:-1][same]] = times[order[1:][same]]
    return following


def departures_of(times: Floats, hours: Floats) -> Departures:
    """Return the departures of players who arrive and give up at these hours."""
    order = np.argsort(hours, kind="stable")
    return Departures(times, hours, order, np.zeros(hours.size, np.bool_), np.zeros(1, np.int64))


@driver(kernel)
def run(
    arrivals: Arrivals,
    departures: Departures | None,
    rules: Rules,
    queue: Any,  # noqa: ANN401
    counts: Counts,
) -> int:
    """Let players arrive and give up while the queue has room; return how many have arrived."""
    # There is a review at each arrival, and after a departure that dissolves a team. At equal times
    # those who give up come first, by their numbers; then reviews of the rule's own.
    statistics, times = counts.statistics[0], arrivals.times
    taken = 0
    while True:
        due = RULE.next_review(rules, queue)
        comes = times[at(taken)] if taken < times.size else np.inf
        quits = np.inf
        if departures is not None:
            order, progress = departures.order, departures.progress
            while progress[0] < order.size and departures.gone[at(order[at(progress[0])])]:
                progress[0] += 1
            # One who is still to come gives up after that, and all who follow in the order
            # likewise.
            if progress[0] < order.size and order[at(progress[0])] < arrivals.first + taken:
                quits = departures.hours[at(order[at(progress[0])])]
        if departures is not None and quits <= min(due, comes) and quits < rules.horizon:
            player = departures.order[at(departures.progress[0])]
            arrival = departures.times[at(player)]
            departures.gone[at(player)] = True
            dissolved = RULE.leave(player, rules, queue)
            statistics["prioritized"] += int(is_prioritized(arrival, quits, rules))
            statistics["unmatched_wait"] += 60.0 * (quits - arrival)
            if not dissolved:
                continue
            now, newcomer = quits, DISSOLVED
        elif comes < due:
            if not RULE.has_room(rules, queue):
                return taken
            now, player = comes, arrivals.first + taken
            newcomer = RULE.enqueue(now, arrivals.ratings[at(taken)], player, rules, queue)
            taken += 1
        elif due < np.inf:
            now, newcomer = due, NOBODY
        else:
            break
        matches = RULE.review(now, newcomer, rules, queue)
        for match in range(matches):
            RULE.players_of_match(match, rules, queue, counts.lineup)
            if departures is not None:
                for player in counts.lineup["player"]:
                    departures.gone[at(player)] = True
            count_match(now, rules, counts)
    waiting = counts.waits[statistics["matched"] :]
    RULE.still_waiting(queue, waiting)
    statistics["unmatched"] += queue.state[0]["waiting"]
    for k in range(queue.state[0]["waiting"]):
        statistics["prioritized"] += int(is_prioritized(waiting[at(k)], rules.horizon, rules))
        statistics["unmatched_wait"] += 60.0 * (rules.horizon - waiting[at(k)])
    return taken


def let_arrive(
    rule: QueueRule,
    arrivals: Arrivals,
    departures: Departures | None,
    rules: Any,  # noqa: ANN401
    queue: Queue,
    counts: Counts,
) -> tuple[Queue, Counts]:
    """Let players arrive and give up; return queue and counts, with room as it was needed."""
    function, taken = kernel_of(run, cast(ModuleType, rule)), 0
    if counts.waits.size < arrivals.times.size:
        counts = counts._replace(waits=np.empty(arrivals.times.size))
    while True:
        rest = Arrivals(arrivals.times[taken:], arrivals.ratings[taken:], taken)
        taken += function(rest, departures, rules, queue, counts)
        if taken == arrivals.times.size:
            return queue, counts
        queue = rule.grown(queue, rules)
