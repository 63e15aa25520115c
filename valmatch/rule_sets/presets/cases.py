"""Cases: a rule, tickets, and when a living matchmaker looked at them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.tickets import Event, Member, Party, Soldier, User


class Case(NamedTuple):
    """What a case says."""

    rule: RuleWords
    names: tuple[str | int, ...]  # the tickets' own names
    # parties, soldiers, users, members: the tickets: of FAForever and Beyond All Reason, of
    # ShieldBattery, of osu! and of lichess; three of them are empty
    parties: tuple[Party, ...] = ()
    soldiers: tuple[Soldier, ...] = ()
    users: tuple[User, ...] = ()
    members: tuple[Member, ...] = ()
    horizon: float = 0.0  # when nothing happens any more
    ticks: tuple[float, ...] = ()  # when tickets are looked at, for bar and shieldbattery
    once: bool = False  # whether a queue of FAForever is searched once, at 0
    events: tuple[Event, ...] = ()  # what happens, for osu
    at_once: bool = True  # whether all users of osu! accept at once
    # of the draws of osu! by a linear congruential generator; None: of addressed draws
    seed: int | None = None
    # milliseconds between two regions, for shieldbattery
    backbone: Mapping[tuple[str, str], float] = MappingProxyType({})
