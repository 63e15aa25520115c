"""The loop of the model `ladder`: one event at a time, each the earliest of its kind.

Friends who play a session together share the break and the patience of their leader, who decides
whether they go on: of a party the leader alone is on the agenda.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from valmatch.draws.streams import exponential_at, uniform_at
from valmatch.kernels.arrays import Floats, Ints, Records, Words
from valmatch.kernels.compilation import at, kernel, macro, part
from valmatch.kernels.references import NOWHERE, Address, address_of, by_reference, call
from valmatch.matching.queue import DISSOLVED, LINEUP, NOBODY, RULE, driver
from valmatch.models.ladder import population as draws
from valmatch.models.ladder.population import moment_of, profile_time
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
from valmatch.ratings.trueskill import normal_cdf
from valmatch.ratings.zonestats import predicted_outcome, score_per_hour

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


def with_functions(rater: Rater, system: System | None, loop: "Loop") -> Rater:
    """Return a rater whose functions are compiled for what a replication keeps, once for all."""
    if system is None or rater.predict != NOWHERE:
        return rater
    predicts, rates = (kernel_of(function, system.verbs) for function in (_predict, _rate))
    kept = loop.match, loop.rated
    return rater._replace(
        predict=address_of(predicts, *kept, rater.stored, loop.assessment),
        rate=address_of(rates, *kept, rater.numbers, loop.assessment),
    )


@macro
def predict(now: float, p: float, rater: Rater, loop: "Loop") -> float:
    """Return the probability that side A wins by a rating system; p by the one that knows it."""
    if rater.known:
        return p
    loop.match.times[0] = now
    return call(rater.predict, (loop.match, loop.rated, rater.stored, loop.assessment))


def _predict(match: Games, rated: Players, stored: Floats, assessment: Assessment) -> float:
    strengths(0, match, rated, stored, assessment)
    return float(chances(0, 1, match, stored, assessment)[0])


@macro
def rate(now: float, a_wins: bool, rater: Rater, loop: "Loop") -> None:
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


@macro
def break_end(player: int, agenda: Agenda) -> int:
    """Return the key of the end of a player's break; that of a session start is 1 more."""
    return agenda.places.size + 2 * player


@macro
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


@macro
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


@macro
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


# What happens.

LEAST = 1e-15  # a prediction below counts as this in the log loss, as in `valmatch rate`


@macro
def rating_seen(player: int, behaviour: Behaviour, loop: Loop) -> float:
    """Return the rating that the rule sees."""
    entry = loop.players[player]
    return entry["mean"] - 3.0 * entry["sigma"] if behaviour.conservative else entry["mean"]


@macro
def count_match(p: float, predicted: float, a_wins: bool, behaviour: Behaviour, loop: Loop) -> None:
    """Count a match by true skill, by what the rule sees, and by its predictions."""
    sums = loop.state[0]
    gap = abs(p - 0.5)
    sums["matches"] += 1
    sums["win_gap"] += gap
    sums["fair_share"] += int(gap <= 0.1)
    sums["stomp_share"] += int(gap >= 0.4)
    sums["log_loss"] -= math.log(max(predicted if a_wins else 1.0 - predicted, LEAST))
    sums["skill_log_loss"] -= math.log(max(p if a_wins else 1.0 - p, LEAST))
    team_num = loop.lineup.size // 2
    skill = seen = 0.0
    for side in range(2):
        sign = 1.0 - 2.0 * side
        least, most, lowest, highest = np.inf, -np.inf, np.inf, -np.inf
        skill_sum = seen_sum = 0.0
        for k in range(side * team_num, (side + 1) * team_num):
            player = loop.lineup[k]
            true, rating = loop.players[player]["skill"], rating_seen(player, behaviour, loop)
            skill_sum += true
            seen_sum += rating
            least, most = min(least, true), max(most, true)
            lowest, highest = min(lowest, rating), max(highest, rating)
        skill += sign * (skill_sum / team_num)
        seen += sign * (seen_sum / team_num)
        sums["true_player_diff"] += most - least
        sums["player_diff"] += highest - lowest
    sums["true_team_diff"] += abs(skill)
    sums["team_diff"] += abs(seen)


@macro
def count_players(now: float, p: float, rules: LadderRules, loop: Loop, waits: Floats) -> None:
    """Count the players of a match: of the day, and after the warm-up waits, careers, parties."""
    sums, gap, size = loop.state[0], abs(p - 0.5), loop.lineup.size
    for k in range(size):
        entry = loop.players[loop.lineup[k]]
        wait, game = now - entry["queued"], entry["matches"]
        sums["day_waits"] += 1
        sums["day_wait"] += wait
        sums["day_active"] += int(entry["day"] != sums["day"])
        entry["day"] = sums["day"]
        if now < rules.behaviour.warmup:
            continue
        waits[sums["waits"]] = wait
        sums["waits"] += 1
        sums["active"] += 1 - entry["active"]
        entry["active"] = 1
        if game < NEW:
            sums["newcomer_games"] += 1
            sums["newcomer_gap"] += gap
            sums["newcomer_wait"] += wait
            if entry["newcomer"]:
                sums["joined_games"] += 1
                sums["joined_gap"] += gap
                sums["joined_wait"] += wait
                sums["joined_firsts"] += int(game == 0)
                sums["joined_first_wait"] += wait if game == 0 else 0.0
        if game < CAREER:
            error = (entry["mean"] - rules.newcomers_rating) - (entry["skill"] - rules.mean_skill)
            loop.careers_n[game] += 1
            loop.careers[0, game] += gap
            loop.careers[1, game] += wait
            loop.careers[2, game] += abs(error)
        if loop.by_size.size > 0:
            of_size = loop.by_size[entry["together"] - 1]
            of_size["players"] += 1
            of_size["wait"] += wait
            of_size["gap"] += gap
            of_size["chance"] += p if k < size // 2 else 1.0 - p


DONE, NO_ROOM_IN_QUEUE, NO_ROOM_FOR_WAITS = range(3)  # why `advance` returns
NEVER = 1e12  # a profile time that no session starts after


@driver(kernel)
def advance(
    until: float,
    rules: LadderRules,
    loop: Loop,
    queue: Any,  # noqa: ANN401
    waits: Floats,
    log: Log,
) -> int:
    """Let everything happen before the hour `until`."""
    queue_rules, rules = rules.queue, by_reference(rules)
    loop, log = by_reference(loop), by_reference(log)
    state = loop.state[0]
    while True:
        due = RULE.next_review(queue_rules, queue)
        ends = loop.ring[state["first"]]["end"] if state["playing"] > 0 else np.inf
        event, happens = loop.agenda.events[0]["key"], np.inf
        if loop.agenda.size[0] > 0:
            happens = loop.agenda.events[0]["time"]
        now = min(min(ends, happens), due)
        if now >= until:
            return DONE
        if not RULE.has_room(queue_rules, queue):
            return NO_ROOM_IN_QUEUE
        # All who wait may be matched at once, with those who come now.
        most = queue.state[0]["waiting"] + loop.by_size.size + 1
        if state["waits"] + most > waits.size:
            return NO_ROOM_FOR_WAITS
        newcomer = NOBODY
        if ends <= now:
            _end_match(now, rules, loop, log)
            continue
        if happens <= now and event < loop.players.size:
            dissolved = RULE.leave(event, queue_rules, queue)
            _give_up(now, event, rules, loop, log)
            if not dissolved:
                continue
            newcomer = DISSOLVED
        elif happens <= now:
            player = _next_to_queue(now, event - loop.players.size, rules, loop)
            if player == NOBODY:
                continue
            rating = _queue(now, player, rules, loop, log)
            newcomer = RULE.enqueue(now, rating, player, queue_rules, queue)
        matches = RULE.review(now, newcomer, queue_rules, queue)
        for match in range(matches):
            RULE.players_of_match(match, queue_rules, queue, loop.matched)
            for k in range(loop.lineup.size):
                loop.lineup[k] = loop.matched[k]["player"]
            _start_match(now, rules, loop, waits, log)


@part
def _next_to_queue(now: float, event: int, rules: LadderRules, loop: Loop) -> int:
    """Take the next queueing out of the heap; return the player, NOBODY if the start is dropped."""
    cancel(0, loop.agenda)
    player = event // 2
    entry = loop.players[player]
    if event % 2 == 0:  # the end of a break
        return player
    if entry["state"] == LEFT:
        return NOBODY
    _expect_session(player, loop)
    if entry["state"] != AWAY:
        loop.state[0]["dropped"] += int(now >= rules.behaviour.warmup)
        return NOBODY
    # Friends come along if all are free; who is gone or yet to join has no say.
    free, end = True, player + entry["friends"]
    for friend in range(player + 1, end):
        other = loop.players[friend]
        free = free and (other["state"] == AWAY or other["state"] == LEFT)
    for friend in range(player + 1, end):
        other = loop.players[friend]
        if free and other["state"] == AWAY and other["starts"] > 0:
            other["leader"] = player
    return player


@macro
def _expect_session(player: int, loop: Loop) -> None:
    """Schedule a player's next session start, drawn or taken from those that are given."""
    entry, number, time = loop.players[player], loop.players[player]["starts"], np.inf
    entry["starts"] += 1
    if loop.sessions.firsts.size > 0:
        start = loop.sessions.firsts[player] + number
        if start < loop.sessions.firsts[player + 1]:
            time = loop.sessions.times[start]
    else:
        gap = exponential_at(loop.rng_key, draws.SESSIONS, player, number)
        entry["clock"] += gap / entry["rate"]
        if entry["clock"] <= NEVER:
            time = moment_of(entry["clock"], loop.shares)
    if time < np.inf:
        schedule(time, break_end(player, loop.agenda) + 1, loop.agenda)


@kernel
def set_clocks(joining: Floats, loop: Loop) -> None:
    """Schedule everybody's first session; newcomers start one when they join."""
    old = loop.players.size - joining.size
    for player in range(loop.players.size):
        entry = loop.players[player]
        entry["newcomer"] = int(player >= old)
        if player >= old:
            entry["clock"] = profile_time(joining[player - old], loop.shares)
            schedule(joining[player - old], break_end(player, loop.agenda) + 1, loop.agenda)
        else:
            _expect_session(player, loop)


@part
def _queue(now: float, player: int, rules: LadderRules, loop: Loop, log: Log) -> float:
    """Give a player and who comes along their tickets; return the rating that the rule sees."""
    behaviour, state, leader = rules.behaviour, loop.state[0], loop.players[player]
    if behaviour.patience < np.inf:
        counter = leader["tickets"]
        wait = behaviour.patience * exponential_at(loop.rng_key, draws.PATIENCE, player, counter)
        schedule(now + wait, player, loop.agenda)
    together = 0
    for member in range(player, player + leader["friends"]):
        together += int(loop.players[member]["leader"] == player)
    for member in range(player, player + leader["friends"]):
        entry = loop.players[member]
        if entry["leader"] != player:
            continue
        entry["together"], entry["seen"] = together, rating_seen(member, behaviour, loop)
        entry["state"], entry["queued"], entry["ticket"] = QUEUED, now, state["tickets"]
        if state["tickets"] < log.tickets.size:
            ticket = log.tickets[state["tickets"]]
            ticket["player"], ticket["time"], ticket["rating"] = member, now, entry["seen"]
            ticket["ended"], ticket["match"], ticket["together"] = np.nan, -1, together
        entry["tickets"] += 1
        state["tickets"] += 1
    return leader["seen"]


@part
def _give_up(now: float, player: int, rules: LadderRules, loop: Loop, log: Log) -> None:
    """End the tickets and the session of a player whose patience ends, and of their party."""
    behaviour, state = rules.behaviour, loop.state[0]
    cancel(0, loop.agenda)
    together = loop.players[player]["together"]
    if now >= behaviour.warmup:
        state["abandoned"] += together
        if loop.by_size.size > 0:
            loop.by_size[together - 1]["abandoned"] += together
    for member in range(player, player + loop.players[player]["friends"]):
        entry = loop.players[member]
        if entry["leader"] == player and entry["ticket"] < log.tickets.size:
            log.tickets[entry["ticket"]]["ended"] = now
    _end_sessions(player, behaviour, loop)


@macro
def _end_sessions(leader: int, behaviour: Behaviour, loop: Loop) -> None:
    """Let a party go away, or for good, each by their own draw."""
    for player in range(leader, leader + loop.players[leader]["friends"]):
        entry = loop.players[player]
        if entry["leader"] == leader:
            uniform = uniform_at(loop.rng_key, draws.CHURN, player, entry["sessions"])
            leaves = uniform < behaviour.churn
            entry["state"] = LEFT if leaves else AWAY
            entry["sessions"] += 1
            entry["leader"] = player


@part
def _start_match(now: float, rules: LadderRules, loop: Loop, waits: Floats, log: Log) -> None:
    state, behaviour, team_num = loop.state[0], rules.behaviour, loop.lineup.size // 2
    # The probability that side A wins, by the true skills.
    a = b = 0.0
    for k in range(team_num):
        a += loop.players[loop.lineup[k]]["skill"]
        b += loop.players[loop.lineup[team_num + k]]["skill"]
    if behaviour.normal:
        p = normal_cdf((a - b) / (behaviour.beta * math.sqrt(2.0 * team_num)))
    else:
        p = predicted_outcome(a / team_num, b / team_num, behaviour.spread)
    predicted = predict(now, p, rules.rater, loop)
    lowest = loop.lineup[0]
    for player in loop.lineup:
        lowest = min(lowest, player)
    games = loop.players[lowest]["matches"]
    a_wins = uniform_at(loop.rng_key, draws.OUTCOME, lowest, games) < p
    slot = (state["first"] + state["playing"]) % loop.ring.size
    played = loop.ring[slot]
    played["end"], played["number"] = now + behaviour.minutes, state["numbered"]
    played["a_wins"] = int(a_wins)
    number = state["numbered"]
    is_logged = number < log.matches.size
    if is_logged:
        match = log.matches[number]
        match["time"], match["p"], match["predicted"] = now, p, predicted
        match["a_wins"] = int(a_wins)
    state["day_matches"] += 1
    state["day_gap"] += abs(p - 0.5)
    if now >= behaviour.warmup:
        count_match(p, predicted, a_wins, behaviour, loop)
    count_players(now, p, rules, loop, waits)
    for k in range(loop.lineup.size):
        player = loop.lineup[k]
        entry = loop.players[player]
        loop.teams[slot, k] = player
        if is_logged:
            ticket = entry["ticket"]
            log.teams[number, k] = ticket
            log.tickets[ticket]["ended"], log.tickets[ticket]["match"] = now, number
            log.before[number, k, 0] = entry["mean"]
            log.before[number, k, 1] = entry["sigma"]
        entry["state"] = PLAYING
        entry["matches"] += 1
        if behaviour.patience < np.inf and entry["leader"] == player:
            cancel(int(loop.agenda.places[player]), loop.agenda)
    state["playing"] += 1
    state["numbered"] += 1


@part
def _end_match(now: float, rules: LadderRules, loop: Loop, log: Log) -> None:
    """End the match that started first: rate its players, who go on or end their session."""
    behaviour, rater, rated = rules.behaviour, rules.rater, loop.rated.state
    state, slot = loop.state[0], loop.state[0]["first"]
    played, size = loop.ring[slot], loop.lineup.size
    a_wins, number = played["a_wins"] > 0, played["number"]
    for k in range(size):
        loop.lineup[k] = loop.teams[slot, k]
    rate(now, a_wins, rater, loop)
    for k in range(size):  # what the rule sees, and all measures
        player = loop.lineup[k]
        entry = loop.players[player]
        entry["mean"] = rated[player, 0]
        if rater.deviation > 0:
            entry["sigma"] = rated[player, rater.deviation]
        if number < log.matches.size:
            log.after[number, k, 0] = entry["mean"]
            log.after[number, k, 1] = entry["sigma"]
    state["first"] = slot + 1 if slot + 1 < loop.ring.size else 0
    state["playing"] -= 1
    state["ended"] += 1
    for k in range(size):
        player = loop.lineup[k]
        entry = loop.players[player]
        entry["finished"] += 1
        # Who was with a leader is not at play any more once the leader has gone on.
        if entry["leader"] == player and entry["state"] == PLAYING:
            _go_on(now, player, a_wins == (k < size // 2), behaviour, loop)


@macro
def _go_on(now: float, player: int, won: bool, behaviour: Behaviour, loop: Loop) -> None:
    """Let a party queue again after a break, or end the session."""
    entry = loop.players[player]
    game = entry["matches"] - 1
    chance = behaviour.after_win if won else behaviour.after_loss
    if uniform_at(loop.rng_key, draws.CONTINUE, player, game) < chance:
        for member in range(player, player + entry["friends"]):
            if loop.players[member]["leader"] == player:
                loop.players[member]["state"] = PAUSING
        pause = behaviour.pause * exponential_at(loop.rng_key, draws.BREAK, player, game)
        schedule(now + pause, break_end(player, loop.agenda), loop.agenda)
    else:
        _end_sessions(player, behaviour, loop)
