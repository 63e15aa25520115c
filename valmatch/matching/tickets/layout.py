"""The arrays of a world of tickets: what rules say, what players have, who waits, what is tried.

Of texts there are numbers, of names too. An undefined number is NaN; what is computed of no player
is undefined. A step function is known by its first entry of `steps`; the others follow. There are
few arrays, as each travels as seven words.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from valmatch.arrays import Floats, Ints, Records, Words

WITHIN, COMPARED, COUNTED, REACHED, SPREAD, COMBINED, ORDERED = range(7)
"""Kinds of rules, after the predicates of the table."""

COMMON, HOLDERS, OVERLAP = range(3)
"""What a rule of the kind COUNTED counts."""

LESS, AT_MOST, EQUAL, OTHER, MORE, AT_LEAST = range(6)
"""Operations of a rule of the kind COMPARED."""

MIN, MAX, AVG, MEDIAN, SUM, STDDEV, COUNT, FLATTEN, INTERSECTION = range(9)
"""Functions of aggregates."""

AND, OR, XOR, NOT = -1, -2, -3, -4
"""Operators of a rule of the kind COMBINED; its other parts are rules."""

FALSE, TRUE, UNKNOWN = range(3)
"""Verdicts."""

AWAY, WAITING, PROPOSED, COMPLETED, CANCELLED, TIMED_OUT, SEARCHING = range(7)
"""States of a ticket; the last ones are ends."""

NONE = -1
"""No rule, team, step function or aggregate."""

AGGREGATE = np.dtype(
    [
        ("first_team", "i8"),
        ("teams", "i8"),
        ("grouped", "i8"),
        ("source", "i8"),  # column of the values; NONE: nothing but a number of things
        ("of_teams", "i8"),  # whether it is of teams, not of players
        ("first_function", "i8"),
        ("functions", "i8"),
        ("lists", "i8"),  # whether the source is lists
    ]
)
RULE = np.dtype(
    [
        ("kind", "i8"),
        ("alone", "i8"),  # whether it has to hold by itself
        ("unknown", "i8"),  # whether nothing can be said before a match is complete
        ("operation", "i8"),
        ("first_measure", "i8"),
        ("measures", "i8"),
        ("reference", "i8"),  # of step functions the first entry, or NONE
        ("least", "i8"),
        ("most", "i8"),
        ("spread", "i8"),
        ("row", "i8"),  # of `spreads` or `pings`
        ("first_part", "i8"),
        ("parts", "i8"),
    ]
)
TEAM = np.dtype([("least", "i8"), ("most", "i8"), ("ever", "i8")])  # the most at any age
TICKET = np.dtype(
    [
        ("time", "f8"),
        ("cancel", "f8"),  # infinity for never
        ("first", "i8"),  # of its players
        ("players", "i8"),
        ("running", "i8"),  # whether it is of a game that runs
        ("matchable", "i8"),
        ("first_answer", "i8"),
        ("answers", "i8"),
    ]
)
STEP = np.dtype(
    [
        ("wait", "f8"),
        ("value", "f8"),
        ("aggregate", "i8"),  # in place of the value, or NONE
        ("last", "i8"),
    ]
)
CELL = np.dtype([("value", "f8"), ("first", "i8"), ("end", "i8")])
PING = np.dtype([("ping", "f8"), ("low", "f8"), ("total", "f8"), ("least", "f8")])
ANSWER = np.dtype([("seconds", "f8"), ("accepts", "i8")])
SORT = np.dtype([("from_anchor", "i8"), ("descending", "i8")])
OPTIONS = np.dtype(
    [
        ("oldest", "i8"),
        ("exhaustive", "i8"),
        ("batch_size", "i8"),  # 0: one batch
        ("sorted", "i8"),  # whether batches are of the sorted pool, else of a random order
        ("backfill", "i8"),  # 0: anchors by age, 1: games that run first, 2: last
        ("passes", "i8"),  # 0: until one forms nothing
        ("timeout", "f8"),
        ("horizon", "f8"),
        ("review", "f8"),  # seconds between reviews; 0: whenever something changes
        ("acceptance", "f8"),  # 0: no match is proposed
    ]
)


class World(NamedTuple):
    """What does not change.

    Attributes
    ----------
    options : (1,) records of OPTIONS
    rules, aggregates, teams, steps, tickets : records
    links : ndarray of int64
        What rules and aggregates refer to: measures, parts, teams, functions.
    home : ndarray of int64
        Of players of games that run, the team.
    cells : (columns, players) records of CELL
        Numbers, or numbers of texts, or where lists are in `list_items`; the last column are ids.
    list_items : ndarray of float64
    spreads : (rules, tickets) ndarray of float64
        Of each ticket the value; of texts NaN where its players differ.
    pings : (rules, tickets, regions) records of PING
        Milliseconds of a ticket, NaN where not all its players report the region, the highest and
        the lowest that count; sum and least of its players.
    sorts : records of SORT
    sort_values : (sorts, tickets, keys + 1) ndarray of float64
        NaN where there is none; last the key whose value counts for a ticket as anchor, or NONE.
    batch_values : (attributes, tickets) ndarray of float64
    answers : records of ANSWER
        Seconds are NaN for never.
    waits : ndarray of float64
        Ages at which something may change.
    place : (3,) ndarray of uint64
        Where the random numbers lie.
    """

    options: Records
    rules: Records
    aggregates: Records
    teams: Records
    links: Ints
    steps: Records
    tickets: Records
    home: Ints
    cells: Records
    list_items: Floats
    spreads: Floats
    pings: Records
    sorts: Records
    sort_values: Floats
    batch_values: Floats
    answers: Records
    waits: Floats
    place: Words


NESTED = np.dtype(
    [
        ("depth", "i8"),
        ("items", "i8"),
        ("lists", "i8"),
        ("outer", "i8"),
        ("undefined", "i8"),  # whether the whole is
    ]
)
"""Sizes of a nested list: `items` values in `lists` lists in `outer` lists."""

LIST = np.dtype(
    [
        ("end", "i8"),  # of the list; the first begins at 0
        ("gap", "i8"),  # whether it is undefined
        ("outer_end", "i8"),  # of a list of lists
    ]
)

MEASURED, REFERRED = range(2)
"""Nested lists that there is room for."""


class Nested(NamedTuple):
    """Nested lists of up to three levels, in the place of aggregates.

    Attributes
    ----------
    size : (2,) records of NESTED
    items : (2, n) ndarray of float64
    lists : (2, m) records of LIST
    """

    size: Records
    items: Floats
    lists: Records


MATCH = np.dtype(
    [
        ("time", "f8"),  # when it was made, or is decided
        ("proposed", "f8"),
        ("anchor", "i8"),
        ("accepted", "i8"),
        ("tickets", "i8"),
        ("first", "i8"),  # of its tickets in `matched`
    ]
)
GROWING = np.dtype(
    [
        ("tickets", "i8"),
        ("players", "i8"),
        ("running", "i8"),
        ("newest", "f8"),
        ("oldest", "f8"),
        ("born", "f8"),  # of these two, whose age counts
        ("best", "i8"),  # tickets of the best match so far
        ("best_players", "i8"),
    ]
)
STATE = np.dtype(
    [
        ("joined", "i8"),
        ("waiting", "i8"),
        ("ended", "i8"),
        ("proposals", "i8"),  # matches that wait for answers
        ("matches", "i8"),  # matches ever made or proposed
        ("listed", "i8"),  # their tickets
        ("completed", "i8"),
        ("reviews", "i8"),
        ("tick", "i8"),
        ("too_many", "i8"),  # tickets that were too many for an exhaustive search
    ]
)
SLOT = np.dtype([("status", "i8"), ("end", "f8"), ("asked", "i8"), ("key", "f8")])
JUDGED = np.dtype([("verdict", "i8"), ("stack", "i8"), ("held", "i8"), ("refused", "i8")])

LINE, POOL, BATCH, OTHERS, SPARE, ENDED, PENDING, MADE = range(8)
"""Lists of `lists`: who waits, by age; the pool and a batch of a pass; whom an anchor tries; room
to sort; who has ended, in order; matches that wait for answers; those that were made, in order."""

MEMBERS, TEAMS, PLACES, BEST, BEST_TEAMS, BEST_PLACES = range(6)
"""Lists of `tried`: tickets of a match, their teams, their places in the order of the anchor; those
of the best match so far."""


class Queue(NamedTuple):
    """What changes: who waits, what is tried, what has come of it.

    Attributes
    ----------
    state : (1,) records of STATE
    growing : (1,) records of GROWING
        The match that is tried.
    slots : records of SLOT
        Of each ticket how and when it ended, how many proposals it has had, by what to sort it.
    lists : (8, n) ndarray of int64
    tried : (6, m) ndarray of int64
    sizes : (teams,) ndarray of int64
    players : (teams, players) ndarray of int64
    judged : records of JUDGED
        Of each rule the verdict, and how often it has held and has refused; room for logic.
    nested : Nested
        Room for aggregates.
    matches : records of MATCH
    matched : (2, n) ndarray of int64
        Tickets of matches and their teams.
    """

    state: Records
    growing: Records
    slots: Records
    lists: Ints
    tried: Ints
    sizes: Ints
    players: Ints
    judged: Records
    nested: Nested
    matches: Records
    matched: Ints
