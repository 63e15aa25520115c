"""The arrays of a world of tickets: what rules say, what players have, who waits, what is tried.

Texts and names are numbers here, an undefined number is NaN, and an age is the number of waits of
the table that have passed.
"""

from typing import NamedTuple

import numpy as np

from valmatch.kernels.arrays import Floats, Ints, Records, Words

WITHIN, COMPARED, COUNTED, REACHED, SPREAD, ORDERED, COMBINED = range(7)
"""Kinds of rules, after the predicates of the types of rules."""

COMMON, HOLDERS, OVERLAP = range(3)  # what a rule of the kind COUNTED counts
LESS, AT_MOST, EQUAL, OTHER, MORE, AT_LEAST = range(6)  # operations of a rule of the kind COMPARED
MIN, MAX, AVG, MEDIAN, SUM, STDDEV, COUNT, FLATTEN, INTERSECTION, SAME = range(10)
"""Functions of aggregates, and of the players of a ticket; SAME: their value if they agree."""

AND, OR, XOR, NOT = -1, -2, -3, -4
"""Operators of a rule of the kind COMBINED; its other parts are rules."""

FALSE, UNKNOWN, TRUE, UNDECIDED = range(4)  # verdicts; UNDECIDED is one that tallies cannot give
AWAY, WAITING, PROPOSED, COMPLETED, CANCELLED, TIMED_OUT, SEARCHING = range(7)
"""States of a ticket; the last ones are ends."""

STATUSES = {
    COMPLETED: "COMPLETED",
    CANCELLED: "CANCELLED",
    TIMED_OUT: "TIMED_OUT",
    SEARCHING: "SEARCHING",
}
DONE = STATUSES[COMPLETED]  # the status of a ticket that was matched

NONE = -1  # no rule, team, step function, aggregate, tally or partition

BY_TEAM, AS_ONE = range(2)  # what tallies have an aggregate of: each team; all its teams as one

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
        ("column", "i8"),  # of stats, or NONE where tallies cannot give it
        ("shape", "i8"),
        ("inner", "i8"),  # function of players' values; NONE: the values themselves
        ("first_place", "i8"),  # of teams in tallies
        ("places", "i8"),
    ]
)
RULE = np.dtype(
    [
        ("kind", "i8"),
        ("alone", "i8"),  # whether it has to hold by itself
        ("unknown", "i8"),  # whether nothing can be said before a match is complete
        ("final", "i8"),  # whether a complete match may be judged otherwise than before
        ("operation", "i8"),
        ("first_measure", "i8"),
        ("measures", "i8"),
        ("reference", "i8"),  # of step functions the row, or NONE
        ("least", "i8"),
        ("most", "i8"),
        ("spread", "i8"),
        ("row", "i8"),  # the first of its columns of `values`
        ("first_part", "i8"),
        ("parts", "i8"),
        ("tallied", "i8"),  # whether tallies may give the verdict
        ("partly", "i8"),  # whether they can give no other than FALSE
        ("column", "i8"),  # of stats; of marks the first
        ("slack", "f8"),  # how far a sum may be from what the general code finds
    ]
)
TEAM = np.dtype([("least", "i8"), ("most", "i8")])  # players, at an age
TICKET = np.dtype(
    [
        ("time", "f8"),
        ("cancel", "f8"),  # infinity for never
        ("first", "i8"),  # of its players
        ("players", "i8"),
        ("running", "i8"),  # whether it is of a game that runs
        ("matchable", "i8"),
        ("answers", "i8"),  # row of its answers
        ("partition", "i8"),  # no match has tickets of two; NONE: no match has it
    ]
)
STEP = np.dtype(
    [
        ("value", "f8"),
        ("aggregate", "i8"),  # in place of the value, or NONE
        ("entry", "i8"),  # which of the function's values it is
    ]
)
SORT = np.dtype(
    [
        ("from_anchor", "i8"),
        ("descending", "i8"),
        ("highest", "i8"),  # whether the highest of an anchor's values says which key counts
        ("first", "i8"),  # in `Rows.values` it has a column for each key
        ("keys", "i8"),
    ]
)

# Columns of a region: the highest and the lowest milliseconds that count of a ticket, NaN where not
# all its players report the region; the sum and the least of its players; how many they are.
PING_HIGH, PING_LOW, PING_TOTAL, PING_LEAST, REGION = range(5)

# What columns of `Rows` are made of.
VALUE = np.dtype(
    [
        ("row", "i8"),  # of `cells`
        ("party", "i8"),  # function of its players that stands for a ticket
        ("partly", "i8"),  # whether players without a value are left out; else there is none
    ]
)
TALLIED = np.dtype([("row", "i8"), ("value", "i8")])  # row of `cells`, or column of `values`
LIMIT = np.dtype([("value", "i8"), ("most", "f8")])  # first column of regions; milliseconds

STAT = np.dtype([("low", "f8"), ("high", "f8"), ("total", "f8"), ("players", "i8")])
"""What tallies keep of the values of some players."""


class Options(NamedTuple):
    """How the service ticks and searches."""

    oldest: bool
    exhaustive: bool
    batch_size: int  # 0: one batch
    sorted: bool  # whether batches are of the sorted pool, else of a random order
    backfill: int  # 0: anchors by age, 1: games that run first, 2: last
    passes: int  # 0: until one forms nothing
    counted: bool  # whether each verdict on each rule is counted
    common: int  # of the order of rules, those whatever team a ticket is on
    regions: int
    timeout: float
    horizon: float
    review: float  # seconds between reviews; 0: whenever something changes
    acceptance: float  # 0: no match is proposed
    foresight: float  # seconds before a ticket leaves in which it is an anchor


class Rows(NamedTuple):
    """What is known of tickets, each a row, but for the records worked out by `note_ticket`."""

    tickets: Records  # (tickets,)
    stats: Records  # (tickets, columns); what each adds to tallies
    marks: Words  # (tickets, columns); regions that all its players reach
    values: Floats  # (tickets, columns); what rules SPREAD and REACHED, sorts and batches look at


class World(NamedTuple):
    """What does not change."""

    options: Options
    rules: Records
    aggregates: Records
    links: Ints  # what rules and aggregates refer to: measures, parts, teams, functions
    steps: Records  # (functions, ages); of step functions what holds at each age
    teams: Records  # (teams, ages + 1); NONE, the last: at any age
    order: Ints  # rules in the order in which a match that is not complete is judged by them
    sorts: Records
    batches: Ints  # columns of `values` by which the pool is sorted before it is cut
    waits: Floats  # waits at which something may change, increasing
    # (rows, players); attributes, ids, latencies by region, others that sorts and batches look at:
    # numbers, or those of texts or of lists
    cells: Floats
    list_items: Floats
    list_ends: Ints  # of the list before, of each list, then of the last
    home: Ints  # (players,); of games that run, the team
    # values, stats, limits: what the columns of values, stats and marks of `rows` are
    values: Records
    stats: Records
    limits: Records
    rows: Rows
    answers: Floats  # (tickets, proposals); as in `columns.Tickets`
    rng_key: Words  # (3,)


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

MEASURED, REFERRED = range(2)  # nested lists that there is room for


MATCH = np.dtype(
    [
        ("time", "f8"),  # when it was made, or is decided
        ("proposed", "f8"),
        ("review", "i8"),  # how many there were before the one that found it
        ("anchor", "i8"),
        ("accepted", "i8"),
        ("tickets", "i8"),
        ("first", "i8"),  # of its tickets in `matched`
    ]
)
CURRENT = np.dtype(
    [
        ("tickets", "i8"),
        ("players", "i8"),
        ("running", "i8"),
        ("age", "i8"),  # of its newest or oldest ticket, whichever counts
        ("full", "i8"),  # whether no team has room
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
        ("counted_from", "f8"),  # what is judged before does not count; infinity: that is past
        ("next_end", "f8"),  # no ticket leaves before
        ("now", "f8"),
    ]
)
SLOT = np.dtype(
    [
        ("status", "i8"),
        ("end", "f8"),
        ("proposals", "i8"),
        ("key", "f8"),  # by which it is sorted
        ("age", "i8"),  # waits that have passed
        ("news", "i8"),
        # the next one that an anchor tries, and of whom there are news in the partition, or NONE
        ("next", "i8"),
        ("next_news", "i8"),
    ]
)
JUDGED = np.dtype([("verdict", "i8"), ("stack", "i8"), ("held", "i8"), ("refused", "i8")])

NOTHING_NEW, OLDER, NEW = range(3)
"""News of a ticket since the last review: it has passed one of the waits; it has joined."""

LINE, POOL, OTHERS, SPARE, ENDED, PENDING, MADE = range(7)
"""Lists of `lists`: who waits, by age; the pool of a pass; whom an anchor tries; room to sort; who
has ended, in order; matches that wait for answers; those that were made, in order."""

MEMBERS, TEAMS, PLACES, BEST, BEST_TEAMS, BEST_PLACES, AGES = range(7)
"""Lists of `tried`: tickets of a match, their teams, their places in the order of the anchor; those
of the best match so far; the age of the match with each ticket."""

PARTITION = np.dtype([("head", "i8"), ("news", "i8")])
"""The first of the tickets of a partition that wait, and of those with news."""

SAVED_TICKET = np.dtype([("ticket", "i8"), ("team", "i8")])
SAVED_SEARCH = np.dtype([("anchor", "i8"), ("tickets", "i8"), ("full", "i8")])
"""A match that an anchor could not complete: how many tickets, and whether it had no room."""


class Candidate(NamedTuple):
    """A match that is tried: who is in it, and what is judged of it."""

    current: Records  # (1,)
    tried: Ints  # (7, m)
    sizes: Ints  # (teams,)
    players: Ints  # (teams, players)
    # of each rule the verdict, how often it has held and has refused; room for logic
    judged: Records
    # size, items, lists: nested lists of up to three levels, in the place of aggregates: (2,),
    # (2, n), (2, m)
    size: Records
    items: Floats
    lists: Records
    stats: Records  # (columns, teams + 1); tallies by team, the last of all teams
    marks: Words  # (columns,); regions that all players reach, of nobody all ones


class Queue(NamedTuple):
    """What changes: who waits, what is tried, what has come of it."""

    state: Records  # (1,)
    slots: Records  # (tickets,)
    lists: Ints  # (7, n)
    candidate: Candidate
    partitions: Records
    saved: Records  # searches that have found no match
    saved_tickets: Records  # (searches, m)
    matches: Records
    matched: Ints  # (2, n); tickets of matches and their teams
    reviews: Floats  # when reviews were held; empty where they are held by the clock
