"""First in, first out: enough players for a match play as soon as they wait, dealt out in turn."""

from typing import Any, NamedTuple, TypeAlias

import numpy as np

from valmatch.kernels.arrays import Floats, Records
from valmatch.kernels.compilation import macro
from valmatch.matching.queue import LINEUP, Rules

# Rules whose players wait in a line take these functions for their own.

STATE = np.dtype([("waiting", "i8"), ("formed", "i8")])  # players who wait; teams formed so far


class QueueState(NamedTuple):
    """The players who wait, in order of arrival."""

    state: Records  # (1,)
    players: Records  # (capacity,); the first `waiting` of them wait


def new(capacity: int, rules: Rules) -> QueueState:
    """Return an empty line with room for `capacity` players."""
    return QueueState(np.zeros(1, STATE), np.zeros(capacity, LINEUP))


def grown(queue: QueueState, rules: Rules) -> QueueState:
    """Return a copy of a line with twice the room."""
    return QueueState(queue.state.copy(), np.append(queue.players, np.zeros_like(queue.players)))


Line: TypeAlias = Any  # a queue with `state` and `players` as this one has them


@macro
def reset(queue: Line) -> None:
    """Let nobody wait."""
    queue.state.view(np.uint8)[:] = 0


@macro
def has_room(rules: object, queue: Line) -> bool:
    """Return whether another player can join; see `grown`."""
    return bool(queue.state[0]["waiting"] < queue.players.size)


@macro
def next_review(rules: object, queue: Line) -> float:
    """Return that there is no review but by those who join."""
    return np.inf


@macro
def enqueue(now: float, rating: float, player: int, rules: object, queue: Line) -> int:
    """Let a newcomer wait as the last one; return the place."""
    index = queue.state[0]["waiting"]
    last = queue.players[index]
    last["player"], last["arrival"], last["rating"] = player, now, rating
    queue.state[0]["waiting"] = index + 1
    return int(index)


@macro
def place_of(player: int, queue: Line) -> int:
    """Return the place of a player who waits."""
    index = 0
    while queue.players[index]["player"] != player:
        index += 1
    return index


@macro
def remove(index: int, queue: Line) -> None:
    """Take a player out, after whom the others move up."""
    queue.state[0]["waiting"] -= 1
    for k in range(index, queue.state[0]["waiting"]):
        queue.players[k] = queue.players[k + 1]


@macro
def leave(player: int, rules: object, queue: Line) -> bool:
    """Let a player leave; no review is due by it."""
    remove(place_of(player, queue), queue)
    return False


@macro
def still_waiting(queue: Line, arrivals: Floats) -> None:
    """Give the arrivals of all who wait, in order."""
    for k in range(queue.state[0]["waiting"]):
        arrivals[k] = queue.players[k]["arrival"]


def waiting_teams(queue: object) -> list[tuple[int, list[int]]]:
    """Return the teams that wait for another, where teams are made in pairs: none."""
    return []


Parameters = Rules


@macro
def review(now: float, newcomer: int, rules: Rules, queue: QueueState) -> int:
    """Let those who wait play if they are a match; return the number of matches, 0 or 1."""
    state = queue.state[0]
    if state["waiting"] < 2 * rules.team_num:
        return 0
    state["waiting"] = 0
    state["formed"] += 2
    return 1


@macro
def players_of_match(match: int, rules: Rules, queue: QueueState, lineup: Records) -> None:
    """Give the players of the match, whose places have not been given to others yet."""
    for k in range(2 * rules.team_num):
        side = k % 2
        index = side * rules.team_num + k // 2
        lineup[index] = queue.players[k]
        lineup[index]["team"] = queue.state[0]["formed"] - 2 + side
