"""The state of a ladder between two events, its rules, its log, and how its matches are rated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.kernels.compilation import at, macro, part
from valmatch.kernels.references import NOWHERE, Address, address_of, call
from valmatch.matching.queue import LINEUP
from valmatch.ratings.games import (
    Assessment,
    Games,
    Players,
    add_scores,
    one_game,
    open_game,
    unassessed,
)
from valmatch.ratings.matches import kernel_of
from valmatch.ratings.system import NO_VERBS, System, Values
from valmatch.ratings.zonestats import score_per_hour

strengths, chances, update = NO_VERBS
"""The functions of the system that what follows is compiled for."""


class Rater(NamedTuple):
    """A rating system with its parameters."""

    known: bool  # whether it is the system that knows the skills, and needs no functions
    deviation: int  # the column of its state that is the deviation of the rating; -1 without one
    numbers: Floats  # what its functions take when they rate
    stored: Floats  # what they take when they predict: by the deviations as they are stored
    predict: Address  # its functions, see `with_functions`
    rate: Address


def rater_of(system: System | None, values: Values) -> Rater:
    """Return a rating system with the values of its parameters; None is that which knows."""
    if system is None:
        return Rater(True, -1, np.zeros(1), np.zeros(1), NOWHERE, NOWHERE)
    still = {**values, **dict.fromkeys(system.drift, 0.0)}
    numbers, stored = (np.array(system.numbers(each), np.float64) for each in (values, still))
    return Rater(False, system.deviation, numbers, stored, NOWHERE, NOWHERE)


def with_functions(rater: Rater, system: System | None, loop: Loop) -> Rater:
    """Return a rater whose functions are compiled for what a replication keeps, once for all."""
    if system is None or rater.predict != NOWHERE:
        return rater
    predicts, rates = (kernel_of(function, system.verbs) for function in (_predict, _rate))
    kept = loop.match, loop.rated
    return rater._replace(
        predict=address_of(predicts, *kept, rater.stored, loop.assessment),
        rate=address_of(rates, *kept, rater.numbers, loop.assessment),
    )


@part(inline=True)
def predict(now: float, p: float, rater: Rater, loop: Loop) -> float:
    """Return the probability that side A wins by a rating system; p by the one that knows it."""
    if rater.known:
        return p
    loop.match.times[0] = now
    return call(rater.predict, (loop.match, loop.rated, rater.stored, loop.assessment))


def _predict(match: Games, rated: Players, stored: Floats, assessment: Assessment) -> float:
    strengths(0, match, rated, stored, assessment)
    return float(chances(0, 1, match, stored, assessment)[0])


@part(inline=True)
def rate(now: float, a_wins: bool, rater: Rater, loop: Loop) -> None:
    """Rate a match that ends: winners score 1, losers 0."""
    if rater.known:
        return
    match = loop.match
    match.times[0] = now
    match.points[0], match.points[1] = (1.0, 0.0) if a_wins else (0.0, 1.0)
    call(rater.rate, (match, loop.rated, rater.numbers, loop.assessment))


def _rate(match: Games, rated: Players, numbers: Floats, assessment: Assessment) -> float:
    """Rate a match by the points of its sides; return whether it could be."""
    for row in range(match.players.size):
        match.rates[row] = score_per_hour(match.points[match.sides[row]], match.minutes[row])
    strengths(0, match, rated, numbers, assessment)
    open_game(0, match, assessment)
    expected, _ = chances(0, 1, match, numbers, assessment)
    add_scores(0, 1, expected, match, assessment)
    return 1.0 if update(0, match, rated, numbers, assessment) else 0.0


# The key of the end of a player's patience is their number. The places of these are kept, as they
# may be taken out before they are the first. At equal times all others come later, those of a
# player together.

EVENT = np.dtype([("time", "f8"), ("key", "i8")])


class Agenda(NamedTuple):
    """What comes next of each player, in a heap by time, then by key."""

    size: Ints  # (1,); events in the heap
    events: Records
    places: NDArray[np.int32]  # (n,); where the events of the first n keys are in the heap


NONE = -1


@part(inline=True)
def break_end(player: int, agenda: Agenda) -> int:
    """Return the key of the end of a player's break; that of a session start is 1 more."""
    return agenda.places.size + 2 * player


@part(inline=True)
def schedule(time: float, key: int, agenda: Agenda) -> None:
    """Enter an event that is not there."""
    _rise(time, key, agenda.size[0], agenda)
    agenda.size[0] += 1


@macro
def _move(source: int, index: int, agenda: Agenda) -> None:
    agenda.events[at(index)] = agenda.events[at(source)]
    key = agenda.events[at(index)]["key"]
    if key < agenda.places.size:
        agenda.places[at(key)] = index


@macro
def _before(time: float, key: int, other: Any) -> bool:  # noqa: ANN401 - a record
    return time < other["time"] or (time == other["time"] and key < other["key"])


@part(inline=True)
def cancel(index: int, agenda: Agenda) -> None:
    """Take the event at an index out, 0 for the earliest."""
    heap, places = agenda.events, agenda.places
    key = heap[at(index)]["key"]
    if key < places.size:
        places[at(key)] = NONE
    agenda.size[0] -= 1
    size = agenda.size[0]
    if index < size:
        # The earliest come up from below, to the bottom. The last event takes the index that is
        # then free, and seldom rises from there, so it is not compared on the way.
        while 2 * index + 1 < size:
            child = 2 * index + 1
            if child + 1 < size:
                right = heap[at(child + 1)]
                child += int(_before(right["time"], right["key"], heap[at(child)]))
            _move(child, index, agenda)
            index = child
        last = heap[at(size)]
        _rise(last["time"], last["key"], index, agenda)


@part(inline=True)
def _rise(time: float, key: int, index: int, agenda: Agenda) -> None:
    """Put an event at an index, or as far up from it as it is early."""
    heap, places = agenda.events, agenda.places
    while index > 0:
        parent = (index - 1) // 2
        if not _before(time, key, heap[at(parent)]):
            break
        _move(parent, index, agenda)
        index = parent
    heap[at(index)]["time"], heap[at(index)]["key"] = time, key
    if key < places.size:
        places[at(key)] = index


AWAY, QUEUED, PAUSING, PLAYING, LEFT = range(5)  # what a player does; who has left is gone for good
NEW = 10  # matches of a player that count as those of a newcomer
CAREER = 100  # matches of a career that the curves show

PLAYER = np.dtype(
    [
        ("skill", "f8"),
        ("mean", "f8"),  # of the rating, as the rule and all measures take it
        ("sigma", "f8"),  # its standard deviation, 0 without one
        ("rate", "f8"),  # session starts a profile day
        ("clock", "f8"),  # profile time of the next session start
        ("queued", "f8"),  # hour of the ticket
        ("ticket", "i8"),
        ("seen", "f8"),  # rating that the rule sees, as of the ticket
        ("finished", "i8"),  # matches that have ended
        ("leader", "i4"),  # with whom the player queues; alone, their own number
        ("friends", "i2"),  # players of the group that this one leads, who are the next numbers
        ("together", "i2"),  # players of the ticket
        ("tickets", "i4"),
        ("matches", "i4"),  # that have started
        ("sessions", "i4"),  # that have ended
        ("starts", "i4"),  # numbers of session starts that are used
        ("day", "i4"),  # of the last match
        ("state", "i1"),
        ("newcomer", "i1"),
        ("active", "i1"),  # whether there was a match after the warm-up
    ]
)
PLAYED = np.dtype([("end", "f8"), ("number", "i8"), ("a_wins", "i8")])

WHOLE_SUMS = (
    "matches fair_share stomp_share waits abandoned dropped active newcomer_games joined_games"
    " joined_firsts day_matches day_waits day_active"
)
REAL_SUMS = (
    "true_team_diff team_diff true_player_diff player_diff win_gap log_loss skill_log_loss"
    " newcomer_gap newcomer_wait joined_gap joined_wait joined_first_wait day_gap day_wait"
)
SUMS = [
    (name, kind)
    for kind, names in (("i8", WHOLE_SUMS), ("f8", REAL_SUMS))
    for name in names.split()
]
"""What is counted after the warm-up, waits in hours; and of the day, from the first on."""
OF_THE_DAY = tuple(name for name, _ in SUMS if name.startswith("day_"))

BY_SIZE = np.dtype(
    [
        ("players", "i8"),  # in matches, counted in each
        ("wait", "f8"),
        ("gap", "f8"),
        ("chance", "f8"),  # to win, by true skill
        ("abandoned", "i8"),
    ]
)
"""What is counted after the warm-up of players by the size of their party, waits in hours."""

STATE = np.dtype(
    [
        *SUMS,
        ("tickets", "i8"),
        ("numbered", "i8"),  # matches that have started
        ("first", "i8"),  # of the ring of matches at play
        ("playing", "i8"),
        ("ended", "i8"),  # matches that have ended
        ("day", "i8"),  # what the numbers of the day are of
    ]
)
TICKET = np.dtype(
    [
        ("player", "i8"),
        ("time", "f8"),
        ("rating", "f8"),
        ("ended", "f8"),
        ("match", "i8"),
        ("together", "i8"),  # players who queued with it, this one among them
    ]
)
MATCH = np.dtype([("time", "f8"), ("p", "f8"), ("predicted", "f8"), ("a_wins", "i8")])


class Behaviour(NamedTuple):
    """How players and matches behave; times in hours."""

    warmup: float  # nothing before is measured
    normal: bool  # outcomes by normal performances instead of the logistic rule
    spread: float  # of the logistic rule, points
    beta: float  # of normal performances, points
    minutes: float  # what a match takes
    pause: float  # mean break
    patience: float  # its mean; infinite where nobody gives up
    after_win: float  # probability to queue again
    after_loss: float
    churn: float  # probability to leave for good, whenever a session ends
    conservative: bool  # the rule sees mean - 3 sigma instead of the mean


class LadderRules(NamedTuple):
    """The rules of everything."""

    queue: Any  # the numbers of the rule of the queue
    behaviour: Behaviour  # of players and matches
    rater: Rater  # the rating system
    newcomers_rating: float  # where the errors of a career are measured from
    mean_skill: float


class Sessions(NamedTuple):
    """Session starts that are given, not drawn."""

    times: Floats  # (m,); hours, player by player, those of each in order
    firsts: Ints  # (n + 1,); where those of each begin, and the end; empty if starts are drawn


NO_SESSIONS = Sessions(np.empty(0), np.empty(0, np.int64))  # session starts are drawn


class Loop(NamedTuple):
    """The state of a replication between two events, apart from those who wait."""

    state: Records  # (1,)
    players: Records  # (n,)
    rng_key: Words  # (3,); where the addressed numbers of the replication lie
    shares: Floats  # (25,); see `valmatch.models.ladder.population`
    sessions: Sessions  # session starts that are given, not drawn
    agenda: Agenda  # (2 n + 1,); session starts, ends of breaks and of patience
    ring: Records  # of `PLAYED`; the matches at play, with room for all players
    teams: Ints  # their players, those of the older team first
    matched: Records  # (2 team_num,); the players of a match as the rule of the queue gives them
    lineup: Ints  # (2 team_num,); the players of the match that starts or ends
    match: Games  # that match, whose players are the lineup
    assessment: Assessment  # what the rating system works out of it
    rated: Players  # what the rating system keeps of each player, and the matches that have ended
    careers: Floats  # (3, CAREER); sums of win gap, wait (hours) and error by game of a career
    careers_n: Ints  # (CAREER,); of how many they are
    by_size: Records  # (m,); of parties of 1 to m players; none where everybody queues alone


class Log(NamedTuple):
    """What happened, by ticket and by match, as far as there is room for it."""

    tickets: Records  # of `TICKET`; `ended` is NaN while it waits, `match` -1 without a match
    matches: Records  # of `MATCH`; in the order of their starts, which is that of their ends
    teams: Ints  # tickets
    before: Floats  # rating and its standard deviation
    after: Floats


def new_loop(
    players: Records,
    ratings: Floats,
    rng_key: Words,
    shares: Floats,
    sessions: Sessions,
    team_num: int,
    minutes: float,
    largest: int,
) -> Loop:
    """Return the start of a replication."""
    n, room = players.size, players.size // (2 * team_num) + 1
    match = one_game(np.full(2, team_num))
    match.minutes[:] = minutes
    return Loop(
        np.zeros(1, STATE),
        players,
        rng_key,
        shares,
        sessions,
        Agenda(np.zeros(1, np.int64), np.zeros(2 * n + 1, EVENT), np.full(n, NONE, np.int32)),
        np.zeros(room, PLAYED),
        np.zeros((room, 2 * team_num), np.int64),
        np.zeros(2 * team_num, LINEUP),
        match.players,
        match,
        unassessed(match),
        Players(ratings, players["finished"]),
        np.zeros((3, CAREER)),
        np.zeros(CAREER, np.int64),
        np.zeros(largest if largest > 1 else 0, BY_SIZE),
    )


def new_log(tickets: int, matches: int, team_num: int) -> Log:
    """Return a log with room for so many tickets and matches; 0 for no log."""
    ratings = (matches, 2 * team_num, 2)
    return Log(
        np.zeros(tickets, TICKET),
        np.zeros(matches, MATCH),
        np.zeros((matches, 2 * team_num), np.int64),
        np.zeros(ratings, np.float64),
        np.zeros(ratings, np.float64),
    )
