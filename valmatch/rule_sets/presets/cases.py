"""Cases: a rule, tickets, and when a living matchmaker looked at them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.tickets import Event, Member, Party, Soldier, User


class Case(NamedTuple):
    """What a case says.

    Attributes
    ----------
    rule : RuleWords
    names : tuple of (str or int)
        The tickets' own names.
    parties, soldiers, users, members : tuple
        The tickets: of FAForever and Beyond All Reason, of ShieldBattery, of osu! and of lichess;
        three of them are empty.
    horizon : float
        When nothing happens any more.
    ticks : tuple of float
        When tickets are looked at, for bar and shieldbattery.
    once : bool
        Whether a queue of FAForever is searched once, at 0.
    events : tuple of Event
        What happens, for osu.
    at_once : bool
        Whether all users of osu! accept at once.
    seed : int or None
        Of the draws of osu! by a linear congruential generator; None: of addressed draws.
    backbone : dict
        Milliseconds between two regions, for shieldbattery.
    """

    rule: RuleWords
    names: tuple[str | int, ...]
    parties: tuple[Party, ...] = ()
    soldiers: tuple[Soldier, ...] = ()
    users: tuple[User, ...] = ()
    members: tuple[Member, ...] = ()
    horizon: float = 0.0
    ticks: tuple[float, ...] = ()
    once: bool = False
    events: tuple[Event, ...] = ()
    at_once: bool = True
    seed: int | None = None
    backbone: Mapping[tuple[str, str], float] = MappingProxyType({})
