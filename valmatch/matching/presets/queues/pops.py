"""Pops of FAForever: reviews whose distance follows from how many wait."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats
from valmatch.kernels.compilation import internal
from valmatch.matching.presets.queues.line import Line
from valmatch.rule_sets.presets.rules import FafRule

LEAST_SPAN = 1.0
"""Seconds between two pops at least.

Where more players wait at each pop than the matches that are aimed at would take, the rule lets
pops follow each other faster and faster, without a limit but the time that a server takes.
"""


class Pops(NamedTuple):
    """Numbers of the rule, see `valmatch.rule_sets.presets.rules.FafRule`."""

    first: float
    most: float
    wanted: float
    average: int


def pops_of(rule: FafRule) -> Pops:
    """Return the numbers of a rule."""
    wanted = rule.pop_matches * 2 * rule.team_size
    return Pops(rule.pop_first, rule.pop_max, wanted, rule.pop_average)


@internal
def first_review(line: Line, own: Any) -> float:  # noqa: ANN401
    """Return when the first pop is."""
    return own.pops.first


def memory_of(rule: FafRule) -> Floats:
    """Return what is remembered: spans and sizes of the last pops, each in its turn."""
    memory = np.zeros(2 * rule.pop_average)
    memory[0] = rule.pop_first
    return memory


@internal
def next_pop(now: float, players: int, line: Line, pops: Pops) -> float:
    """Return when the next pop is, after one with so many players."""
    number, average = line.state[0]["reviews"], pops.average
    line.memory[average + number % average] = players
    spans, sizes = 0.0, 0.0
    for k in range(max(0, number + 1 - average), number + 1):
        spans += line.memory[k % average]
        sizes += line.memory[average + k % average]
    span = pops.most
    if sizes > 0.0:
        span = max(LEAST_SPAN, min(pops.most, pops.wanted * spans / sizes))
    line.memory[(number + 1) % average] = span
    return now + span
