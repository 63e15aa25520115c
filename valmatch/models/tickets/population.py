"""The people of tickets: parties, skills, homes, latencies and wishes, drawn by their numbers."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri

from valmatch.draws.streams import fill_uniforms_of
from valmatch.kernels.arrays import Floats, Ints, Words
from valmatch.matching.tickets.columns import Tickets, Values, values_of
from valmatch.models.tickets.factors import (
    HOURS,
    MOST_ITEMS,
    MOST_REGIONS,
    RatingsFactors,
    RoundTrips,
    TicketsFactors,
    kind_of,
)

# Sources of addressed randomness, see `valmatch.draws.streams`: U a uniform, E an exponential, N a
# normal number (ndtri of U). Tickets are numbered from 0 in the order in which they come; j is the
# place of a player in the party, from 0. The source 1 is that of random batches. In brackets is the
# counter, where it is not 0; the numbers are of tickets but for those of gaps.

GAP = 2  # [ticket], of player 0: gap before it comes: E, in expected tickets
SIZE = 3  # size of the party: the first whose shares sum to over U
HOME = 4  # home region, likewise
SKILL = 5  # skill of the party: mean + std N
OWN_SKILL = 6  # [j] of several players, what each adds to it: party_std N
ERROR = 7  # [j] what the matchmaker sees beside the skill: error N
LATENCY = 8  # [64 j + data centre] latency: that of the table times exp(spread N)
PATIENCE = 9  # patience: median times exp(spread N)
ACCEPTS = 10  # [16 proposal + j] the player accepts if U < accept_prob
ANSWER = 11  # [16 proposal + j] after answer_seconds E
LEAVES = 12  # [j] the player leaves the match early if U < leave_prob
STAYS = 13  # [j] after the part U of what was left when joining it
# [8 j + k] U: k = 0 number of the user, 1 whether the player is new, 2 games; N: 3 deviation; U: 4
# whether there is a range; with users, but for 0, of the user in place of the ticket
BELIEF = 15
# + k, of the k-th attribute: [256 j + item] a number N, for each item of a list U; a text has
# j = 0: U by its shares
ATTRIBUTE = 16
ROOM = 16  # counters of a proposal: at least as many as a party has players
HOUR = 3600.0


def draw_times(factors: TicketsFactors, rng_key: Words) -> Floats:
    """Draw when tickets come: gaps are exponential in expected tickets."""
    rates = _rates(factors)
    edges = np.append(np.arange(math.ceil(factors.hours), dtype=np.float64), factors.hours)
    masses = rates[edges[:-1].astype(np.int64) % HOURS] * np.diff(edges)
    before = np.append(0.0, np.cumsum(masses))
    total = float(before[-1])
    arrived, count = np.zeros(1), math.ceil(total + 5.0 * math.sqrt(total)) + 1
    while arrived[-1] < total:  # drawn anew in the rare case that these gaps are not enough
        gaps = np.empty(count)
        fill_uniforms_of(rng_key, GAP, np.zeros(count, np.int64), np.arange(count), gaps)
        arrived, count = np.cumsum(-np.log(gaps)), 2 * count
    arrived = arrived[arrived < total]
    hour = np.searchsorted(before, arrived, side="right") - 1
    rate = rates[edges[hour].astype(np.int64) % HOURS]
    return HOUR * (edges[hour] + (arrived - before[hour]) / rate)


def most_at_once(factors: TicketsFactors, timeout: float, times: Floats | None) -> int:
    """Return how many tickets wait at once if none is matched: at the busiest time of a log."""
    # Without a log that is expected at the busiest of the hours in which the run is.
    if times is None:
        hours = np.arange(math.ceil(factors.hours)) % HOURS
        return math.ceil(float(_rates(factors)[hours].max()) * timeout / HOUR)
    before = times.searchsorted(times - timeout, side="right")
    return int((np.arange(1, times.size + 1) - before).max(initial=0))


def _rates(factors: TicketsFactors) -> Floats:
    profile = np.array(factors.arrivals.hourly_profile) / max(factors.arrivals.hourly_profile)
    return factors.tickets_per_hour * profile / profile.mean()


DEVIATION, GAMES, NEW, USER, LOW, HIGH = "deviation", "games", "newcomer", "user", "low", "high"
"""Attributes of players: of numbers, NaN where there is no range."""

BELIEFS = (DEVIATION, GAMES, NEW, USER, LOW, HIGH)
FIELDS = 8  # counters of a player
AS_USER, AS_NEW, AS_GAMES, AS_SPREAD, AS_RANGE = range(5)


class People(NamedTuple):
    """Tickets or players as addresses."""

    of: Ints  # (people,); the number of the ticket, or of a user
    seats: Ints  # (people,); the place in the party
    rng_key: Words  # (3,)

    def uniforms(self, source: int, counters: Ints | None = None) -> Floats:
        """Return a uniform number of each, at its place or at some counter."""
        out, where = np.empty(self.of.size), self.seats if counters is None else counters
        fill_uniforms_of(self.rng_key, source, self.of, where, out)
        return out

    def normals(self, source: int, counters: Ints | None = None) -> Floats:
        """Return a normal number of each."""
        return ndtri(self.uniforms(source, counters))


def _beliefs(ratings: RatingsFactors, people: People) -> dict[str, Floats]:
    """Return what is believed of players, by attribute; of users, the same each time."""
    firsts, n = FIELDS * people.seats, people.of.size
    new = np.zeros(n, np.bool_)
    games, deviation = np.full(n, float(ratings.games)), np.full(n, ratings.deviation)
    if ratings.newcomers > 0.0:
        new = people.uniforms(BELIEF, firsts + AS_NEW) < ratings.newcomers
        uniforms = people.uniforms(BELIEF, firsts + AS_GAMES)
        games = np.where(new, np.floor((ratings.newcomer_games + 1) * uniforms), games)
        if ratings.newcomer_deviation is not None:
            deviation = np.where(new, ratings.newcomer_deviation, deviation)
    if ratings.spread > 0.0:
        deviation = deviation * np.exp(ratings.spread * people.normals(BELIEF, firsts + AS_SPREAD))
    return {DEVIATION: deviation, GAMES: games, NEW: new.astype(np.float64)}


PROPOSALS = 16
"""Proposals of a ticket that are drawn, of which hardly one sees so many; to others it accepts."""


def draw_tickets(factors: TicketsFactors, trips: RoundTrips, rng_key: Words) -> Tickets:
    """Draw the tickets of a replication; no rule enters."""
    return draw_people(factors, trips, rng_key, draw_times(factors, rng_key))[0]


def draw_people(
    factors: TicketsFactors,
    trips: RoundTrips,
    rng_key: Words,
    times: Floats,
    sizes: Ints | None = None,
) -> tuple[Tickets, Floats | float]:
    """Draw who comes at some times, and how far what is seen of the players is off."""
    n, ratings, skill, patience = times.size, factors.ratings, factors.skill, factors.patience
    tickets = People(np.arange(n), np.zeros(n, np.int64), rng_key)
    if sizes is None:
        sizes = 1 + chosen(factors.parties.shares, tickets.uniforms(SIZE))
    homes = chosen(tuple(factors.regions.shares.values()), tickets.uniforms(HOME))
    none = np.empty((n, 0))
    drawn = Tickets(times, times, sizes, {}, trips.centres, none, none, rng_key, homes=homes)
    of, seats = drawn.of, drawn.seats
    people = users = People(of, seats, rng_key)
    if ratings.users is None:
        skills = skill.mean + skill.std * tickets.normals(SKILL)[of]
    else:  # of single players, by the numbers of users in place of those of tickets
        which = people.uniforms(BELIEF, FIELDS * seats + AS_USER)
        users = people._replace(of=(ratings.users * which).astype(np.int64))
        skills = skill.mean + skill.std * users.normals(SKILL)
    if skill.party_std > 0.0:
        added = skill.party_std * people.normals(OWN_SKILL)
        skills = skills + np.where(sizes[of] > 1, added, 0.0)
    beliefs = _beliefs(ratings, users) if ratings != RatingsFactors() else {}
    error: Floats | float = 0.0
    if skill.error > 0.0 or beliefs:
        error = np.hypot(skill.error, beliefs.get(DEVIATION, 0.0)) * users.normals(ERROR)
    seen = skills if isinstance(error, float) else skills + error
    if beliefs:
        wide = np.full(seen.size, np.nan)
        if ratings.ranges > 0.0:
            ranged = users.uniforms(BELIEF, FIELDS * seats + AS_RANGE) < ratings.ranges
            wide = np.where(ranged, ratings.range_width, np.nan)
        beliefs |= {USER: users.of.astype(np.float64)}
        beliefs |= {LOW: np.rint(seen - wide), HIGH: np.rint(seen + wide)}
    attributes: dict[str, Values] = dict(beliefs)
    for number, (name, law) in enumerate(factors.attributes.items()):
        attributes[name] = _attribute(law, ATTRIBUTE + number, tickets, people)
    latencies = _latencies(factors.regions.spread, trips.milliseconds[homes[of]], people)
    cancels = np.full(n, np.inf)
    if patience.median_seconds is not None:
        spread = np.exp(patience.spread * tickets.normals(PATIENCE))
        cancels = times + patience.median_seconds * spread
    attributes[skill.attribute] = seen
    drawn = drawn._replace(
        cancels=cancels, values=attributes, latencies=latencies, skills=skills, seen=seen
    )
    return drawn, error


def chosen(shares: Sequence[float], uniforms: Floats) -> Ints:
    """Return which of some things each number chooses by their shares."""
    numbers = np.searchsorted(np.cumsum(shares), uniforms, side="right")
    # Shares sum to 1 but for rounding: what has none is not chosen.
    last = max(k for k, share in enumerate(shares) if share > 0.0)
    return np.minimum(numbers, last).astype(np.int64)


def _latencies(spread: float, latencies: Floats, people: People) -> Floats:
    """Return whole milliseconds of players to data centres, at least 1, about their medians."""
    for centre in range(latencies.shape[1]) if spread > 0.0 else ():
        normals = people.normals(LATENCY, MOST_REGIONS * people.seats + centre)
        latencies[:, centre] *= np.exp(spread * normals)
    return np.maximum(np.rint(latencies), 1.0)


def _attribute(law: Mapping[str, Any], source: int, tickets: People, people: People) -> Values:
    kind, firsts = kind_of(law), MOST_ITEMS * people.seats
    if kind == "number":
        return law["mean"] + law["std"] * people.normals(source, firsts)
    if kind == "text":
        shares = [float(share) for share in law.values()]
        return values_of("text", law)[chosen(shares, tickets.uniforms(source))[people.of]]
    items: dict[str, float] = law["lists"]
    columns = [
        people.uniforms(source, firsts + item) < probability
        for item, probability in enumerate(items.values())
    ]
    every = np.stack(columns, axis=1).tolist()
    lists = (tuple(item for item, has in zip(items, row, strict=True) if has) for row in every)
    return values_of("texts", lists)


def draw_answers(factors: TicketsFactors, drawn: Tickets) -> Floats:
    """Return after how many seconds tickets accept each proposal, NaN for never."""
    # A ticket accepts with the last of its players, if all do.
    service, people = factors.service, People(drawn.of, drawn.seats, drawn.rng_key)
    answers = np.empty((drawn.times.size, PROPOSALS))
    for proposal in range(PROPOSALS):
        counters = ROOM * proposal + people.seats
        seconds = -service.answer_seconds * np.log(people.uniforms(ANSWER, counters))
        seconds[people.uniforms(ACCEPTS, counters) >= service.accept_prob] = np.inf
        answers[:, proposal] = drawn.of_party(seconds, "max")
    answers[np.isinf(answers)] = np.nan
    return answers


def draw_stays(factors: TicketsFactors, drawn: Tickets) -> Floats:
    """Return which part of what is left of the match each player stays; infinity: all."""
    share, people = factors.match.leave_prob, People(drawn.of, drawn.seats, drawn.rng_key)
    if share == 0.0:
        return np.full(drawn.skills.size, np.inf)
    return np.where(people.uniforms(LEAVES) < share, people.uniforms(STAYS), np.inf)


def users_by_ticket(drawn: Tickets) -> Ints:
    """Return the number of the user of each ticket, its own where nobody comes twice."""
    users = drawn.values.get(USER)
    if not isinstance(users, np.ndarray):
        return np.arange(drawn.times.size)
    return users[drawn.firsts].astype(np.int64)
