"""The loop of the model `ladder`: one event at a time, each the earliest of its kind.

Friends who play a session together share the break and the patience of their leader, who decides
whether they go on: of a party the leader alone is on the agenda.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from valmatch.draws.streams import exponential_at, uniform_at
from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import kernel, macro, part
from valmatch.kernels.references import by_reference
from valmatch.matching.queue import DISSOLVED, NOBODY, RULE, driver
from valmatch.models.ladder import population as draws
from valmatch.models.ladder import state as s
from valmatch.models.ladder.population import moment_of, profile_time
from valmatch.models.ladder.state import (
    Behaviour,
    Log,
    Loop,
    break_end,
    cancel,
    predict,
    rate,
    schedule,
)
from valmatch.ratings.trueskill import normal_cdf
from valmatch.ratings.zonestats import predicted_outcome

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
def count_players(now: float, p: float, rules: s.LadderRules, loop: Loop, waits: Floats) -> None:
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
        if game < s.NEW:
            sums["newcomer_games"] += 1
            sums["newcomer_gap"] += gap
            sums["newcomer_wait"] += wait
            if entry["newcomer"]:
                sums["joined_games"] += 1
                sums["joined_gap"] += gap
                sums["joined_wait"] += wait
                sums["joined_firsts"] += int(game == 0)
                sums["joined_first_wait"] += wait if game == 0 else 0.0
        if game < s.CAREER:
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
    rules: s.LadderRules,
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
def _next_to_queue(now: float, event: int, rules: s.LadderRules, loop: Loop) -> int:
    """Take the next queueing out of the heap; return the player, NOBODY if the start is dropped."""
    cancel(0, loop.agenda)
    player = event // 2
    entry = loop.players[player]
    if event % 2 == 0:  # the end of a break
        return player
    if entry["state"] == s.LEFT:
        return NOBODY
    _expect_session(player, loop)
    if entry["state"] != s.AWAY:
        loop.state[0]["dropped"] += int(now >= rules.behaviour.warmup)
        return NOBODY
    # Friends come along if all are free; who is gone or yet to join has no say.
    free, end = True, player + entry["friends"]
    for friend in range(player + 1, end):
        other = loop.players[friend]
        free = free and (other["state"] == s.AWAY or other["state"] == s.LEFT)
    for friend in range(player + 1, end):
        other = loop.players[friend]
        if free and other["state"] == s.AWAY and other["starts"] > 0:
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
def _queue(now: float, player: int, rules: s.LadderRules, loop: Loop, log: Log) -> float:
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
        entry["state"], entry["queued"], entry["ticket"] = s.QUEUED, now, state["tickets"]
        if state["tickets"] < log.tickets.size:
            ticket = log.tickets[state["tickets"]]
            ticket["player"], ticket["time"], ticket["rating"] = member, now, entry["seen"]
            ticket["ended"], ticket["match"], ticket["together"] = np.nan, -1, together
        entry["tickets"] += 1
        state["tickets"] += 1
    return leader["seen"]


@part
def _give_up(now: float, player: int, rules: s.LadderRules, loop: Loop, log: Log) -> None:
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
            entry["state"] = s.LEFT if leaves else s.AWAY
            entry["sessions"] += 1
            entry["leader"] = player


@part
def _start_match(now: float, rules: s.LadderRules, loop: Loop, waits: Floats, log: Log) -> None:
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
        entry["state"] = s.PLAYING
        entry["matches"] += 1
        if behaviour.patience < np.inf and entry["leader"] == player:
            cancel(int(loop.agenda.places[player]), loop.agenda)
    state["playing"] += 1
    state["numbered"] += 1


@part
def _end_match(now: float, rules: s.LadderRules, loop: Loop, log: Log) -> None:
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
        if entry["leader"] == player and entry["state"] == s.PLAYING:
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
                loop.players[member]["state"] = s.PAUSING
        pause = behaviour.pause * exponential_at(loop.rng_key, draws.BREAK, player, game)
        schedule(now + pause, break_end(player, loop.agenda), loop.agenda)
    else:
        _end_sessions(player, behaviour, loop)
