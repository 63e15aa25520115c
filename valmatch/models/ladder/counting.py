"""Counts of a ladder's matches: fairness, waits, newcomers, careers, parties, the day."""

from __future__ import annotations

import math

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import at, expanded
from valmatch.models.ladder.state import CAREER, NEW, Behaviour, Loop, World

LEAST = 1e-15  # a prediction below counts as this in the log loss, as in `valmatch rate`


@expanded
def rating_seen(player: int, behaviour: Behaviour, loop: Loop) -> float:
    """Return the rating that the rule sees."""
    entry = loop.players[at(player)]
    return entry["mean"] - 3.0 * entry["sigma"] if behaviour.conservative else entry["mean"]


@expanded
def count_match(p: float, predicted: float, a_wins: bool, behaviour: Behaviour, loop: Loop) -> None:
    """Count a match by true skill, by what the rule sees, and by its predictions."""
    sums = loop.state[0]
    gap = abs(p - 0.5)
    sums["matches"] += 1
    sums["win_gap"] += gap
    sums["fair"] += int(gap <= 0.1)
    sums["stomps"] += int(gap >= 0.4)
    sums["loss"] -= math.log(max(predicted if a_wins else 1.0 - predicted, LEAST))
    sums["skill_loss"] -= math.log(max(p if a_wins else 1.0 - p, LEAST))
    team_num = loop.lineup.size // 2
    skill = seen = 0.0
    for side in range(2):
        sign = 1.0 - 2.0 * side
        least, most, lowest, highest = np.inf, -np.inf, np.inf, -np.inf
        skill_sum = seen_sum = 0.0
        for k in range(side * team_num, (side + 1) * team_num):
            player = loop.lineup[at(k)]
            true, rating = loop.players[at(player)]["skill"], rating_seen(player, behaviour, loop)
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


@expanded
def count_players(now: float, p: float, world: World, loop: Loop, waits: Floats) -> None:
    """Count waits, newcomers and careers of the players of a match."""
    sums, gap = loop.state[0], abs(p - 0.5)
    for player in loop.lineup:
        entry = loop.players[at(player)]
        wait, game = now - entry["queued"], entry["matches"]
        waits[at(sums["waits"])] = wait
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
            error = (entry["mean"] - world.newcomers_rating) - (entry["skill"] - world.mean_skill)
            loop.careers_n[at(game)] += 1
            loop.careers[0, at(game)] += gap
            loop.careers[1, at(game)] += wait
            loop.careers[2, at(game)] += abs(error)


@expanded
def count_parties(now: float, p: float, loop: Loop) -> None:
    """Count the players of a match by the size of their party."""
    for k in range(loop.lineup.size):
        entry = loop.players[at(loop.lineup[at(k)])]
        sums = loop.by_size[at(entry["together"] - 1)]
        sums["players"] += 1
        sums["wait"] += now - entry["queued"]
        sums["gap"] += abs(p - 0.5)
        sums["chance"] += p if k < loop.lineup.size // 2 else 1.0 - p


@expanded
def count_day(now: float, p: float, loop: Loop) -> None:
    """Count a match of the day."""
    sums = loop.state[0]
    sums["day_matches"] += 1
    sums["day_gap"] += abs(p - 0.5)
    for player in loop.lineup:
        entry = loop.players[at(player)]
        sums["day_waits"] += 1
        sums["day_wait"] += now - entry["queued"]
        sums["day_active"] += int(entry["day"] != sums["day"])
        entry["day"] = sums["day"]
