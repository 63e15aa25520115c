"""Cases played by the search of their preset, in plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from valmatch.draws.addressed import uniform_at
from valmatch.draws.streams import Streams
from valmatch.matching.plain_presets import bar, faf, lichess, osu, shieldbattery
from valmatch.rule_sets.presets.building import (
    bar_rule,
    faf_rule,
    lichess_rule,
    osu_rule,
    shieldbattery_rule,
)
from valmatch.rule_sets.presets.cases import Case
from valmatch.rule_sets.presets.tickets import Played

CANDIDATES = SAMPLES = JITTER = 1
"""Source of random numbers: of lobbies of osu!, of samples of ShieldBattery, of waves of lichess.

No rule draws for two of them.
"""

PAIRS = 2**31  # numbers of tickets that can be drawn for a pivot
SEED = 0  # of addressed draws: a case has none for them


class Searches(NamedTuple):
    """Searches that give what the plain ones give, faster or at all."""

    line_ups: bar.Search  # see `valmatch.matching.plain_presets.bar.search`
    rosters: shieldbattery.Search  # see `valmatch.matching.plain_presets.shieldbattery.search`
    # how pairs of lichess are chosen, see `valmatch.matching.plain_presets.lichess`
    pairs: lichess.Choose


def play(case: Case, searches: Searches) -> Played:
    """Play a case."""
    preset = case.rule.preset
    if preset == "faf":
        rule = faf_rule(case.rule)
        if case.once:
            return faf.find(case.parties, rule)
        return faf.play(case.parties, rule, case.horizon)
    if preset == "bar":
        return bar.play(
            case.parties, bar_rule(case.rule), case.ticks, case.horizon, searches.line_ups
        )
    if preset == "shieldbattery":
        return shieldbattery.play(
            case.soldiers,
            shieldbattery_rule(case.rule),
            case.backbone,
            case.ticks,
            case.horizon,
            addressed_samples(SEED),
            searches.rosters,
        )
    if preset == "osu":
        draw = addressed(SEED) if case.seed is None else osu.congruential(case.seed)
        return osu.play(case.users, osu_rule(case.rule), case.events, case.at_once, draw)
    return lichess.play(case.members, lichess_rule(case.rule), case.horizon, searches.pairs)


def addressed(seed: int) -> osu.Draw:
    """Return draws that are found by update, pivot and candidate."""
    place = Streams(seed).place(0)

    def draw(update: int, pivot: int, candidate: int) -> float:
        return float(uniform_at(place, CANDIDATES, pivot * PAIRS + candidate, update))

    return draw


def addressed_samples(seed: int) -> Callable[[int, int], float]:
    """Return draws that are found by review and ticket."""
    place = Streams(seed).place(0)

    def draw(review: int, ticket: int) -> float:
        return float(uniform_at(place, SAMPLES, ticket, review))

    return draw
