"""The tickets of a replication, drawn at once: times, parties, skills, homes, latencies, wishes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from valmatch.draws.addressed import fill_uniforms, fill_uniforms_of
from valmatch.kernels import halting
from valmatch.kernels.arrays import Bools, Floats, Ints, Words
from valmatch.matching.tickets.columns import Lists, Texts
from valmatch.models.tickets.beliefs import DEVIATION, USER, draw_beliefs, draw_ranges, users_of
from valmatch.models.tickets.factor_sections import HOURS
from valmatch.models.tickets.factors import TicketsFactors
from valmatch.models.tickets.latencies import RoundTrips
from valmatch.models.tickets.laws import kind_of
from valmatch.models.tickets.sources import (
    ACCEPTS,
    ANSWER,
    ATTRIBUTE,
    ERROR,
    GAP,
    HOME,
    LATENCY,
    MOST_ITEMS,
    MOST_REGIONS,
    OWN_SKILL,
    PATIENCE,
    ROOM,
    SIZE,
    SKILL,
)

HOUR = 3600.0

PROPOSALS = 16
"""Proposals of a ticket that are drawn; to further ones it accepts at once.

Of every proposal that fails, who has not accepted leaves, so that hardly a ticket sees so many.
"""


class Drawn(NamedTuple):
    """The tickets of a replication, in order of time; players stand in the order of tickets.

    Attributes
    ----------
    times, cancels : (tickets,) ndarray of float64
        Seconds; infinity where a ticket is never cancelled.
    sizes, homes : (tickets,) ndarray of int64
        Players; number of the home region.
    skills, seen : (players,) ndarray of float64
        True skills, and what the matchmaker sees.
    latencies : (players, data centres) ndarray of float64
        Whole milliseconds; NaN where a player of a log has none.
    attributes : mapping
        What the matchmaker sees, by name.
    missing : mapping
        By attribute which players have no value, where not all have one.
    regions : tuple of str
        Names of homes.
    place : (3,) ndarray of uint64
        Where the random numbers of the replication lie.
    """

    times: Floats
    cancels: Floats
    sizes: Ints
    homes: Ints
    skills: Floats
    seen: Floats
    latencies: Floats
    attributes: Mapping[str, Floats | Texts | Lists]
    missing: Mapping[str, Bools]
    regions: tuple[str, ...]
    place: Words

    @property
    def of(self) -> Ints:
        """Ticket of each player; made anew each time, as a long run has many players."""
        return _tickets_of(self.sizes)

    @property
    def places(self) -> Ints:
        """Place in the party of each player; made anew each time too."""
        return _places_in(self.sizes)


class Logged(NamedTuple):
    """Tickets of a log.

    Attributes
    ----------
    times : (tickets,) ndarray of float64
        Seconds.
    sizes : (tickets,) ndarray of int64
        Players.
    laid_over : callable
        Returns drawn tickets with what the log says of them.
    answered : callable
        Returns drawn answers with those of the log.
    """

    times: Floats
    sizes: Ints
    laid_over: Callable[[Drawn], Drawn]
    answered: Callable[[Floats], Floats]


def draw_tickets(
    factors: TicketsFactors, trips: RoundTrips, place: Words, log: Logged | None = None
) -> Drawn:
    """Draw the tickets of a replication; no rule enters.

    Parameters
    ----------
    factors : TicketsFactors
        The factors.
    trips : RoundTrips
        Milliseconds from the home regions, in the order of the factor ``regions.shares``.
    place : (3,) ndarray of uint64
        From `Streams.place`.
    log : Logged or None
        Tickets of a log; what it lacks is drawn.
    """
    times = _times(factors, place) if log is None else log.times
    n = times.size
    sizes = log.sizes if log else 1 + _chosen(factors.parties.shares, _uniforms(SIZE, n, place))
    regions = factors.regions.shares
    homes = _chosen(tuple(regions.values()), _uniforms(HOME, n, place))
    people = _People(_tickets_of(sizes), _places_in(sizes), place)
    users = people._replace(of=users_of(factors.ratings, people))
    skills = _skills(factors, sizes, people, users)
    beliefs = draw_beliefs(factors.ratings, users) if factors.ratings.any_given() else {}
    error: Floats | float = 0.0
    if factors.skill.error > 0.0 or beliefs:
        spread = np.hypot(factors.skill.error, beliefs.get(DEVIATION, 0.0))
        error = spread * users.normals(ERROR)
    seen = skills if isinstance(error, float) else skills + error
    if beliefs:
        beliefs |= {USER: users.of.astype(np.float64)}
        beliefs |= draw_ranges(factors.ratings, users, seen)
    attributes: dict[str, Floats | Texts | Lists] = dict(beliefs)
    attributes |= {
        name: _attribute(law, ATTRIBUTE + number, n, people)
        for number, (name, law) in enumerate(factors.attributes.items())
    }
    latencies = _latencies(factors.regions.spread, trips.milliseconds, homes, people)
    cancels = times + _patience(factors, n, place)
    attributes[factors.skill.attribute] = seen
    drawn = Drawn(
        times,
        cancels,
        sizes,
        homes,
        skills,
        seen,
        latencies,
        attributes,
        {},
        tuple(regions),
        place,
    )
    if log is None:
        return drawn
    drawn = log.laid_over(drawn)
    given = drawn.attributes[factors.skill.attribute]
    assert isinstance(given, np.ndarray)
    # What a log has of a skill is what the matchmaker sees.
    return drawn._replace(seen=given, skills=np.where(given == seen, skills, given - error))


def _tickets_of(sizes: Ints) -> Ints:
    """Return the ticket of each player."""
    return np.repeat(np.arange(sizes.size), sizes)


def _places_in(sizes: Ints) -> Ints:
    """Return the place of each player in the party."""
    firsts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.arange(firsts.size) - firsts


class _People(NamedTuple):
    """Players as addresses: ticket and place in the party."""

    of: Ints
    places: Ints
    place: Words

    def uniforms(self, source: int, counters: Ints | None = None) -> Floats:
        """Return a uniform number of each, at its place or at some counter."""
        halting.check()  # of very many tickets a source takes a while
        out = np.empty(self.of.size)
        where = self.places if counters is None else counters
        fill_uniforms_of(self.place, source, self.of, where, out)
        return out

    def normals(self, source: int, counters: Ints | None = None) -> Floats:
        """Return a normal number of each."""
        return np.asarray(ndtri(self.uniforms(source, counters)))


def _uniforms(source: int, n: int, place: Words) -> Floats:
    """Return the first uniform number of a source of each ticket."""
    out = np.empty(n)
    fill_uniforms(place, source, 0, out)
    return out


def _chosen(shares: Sequence[float], uniforms: Floats) -> Ints:
    """Return which of some things each number chooses by their shares."""
    found = np.searchsorted(np.cumsum(shares), uniforms, side="right")
    # Shares sum to 1 but for rounding: what has none is not chosen.
    last = max(k for k, share in enumerate(shares) if share > 0.0)
    return np.minimum(found, last).astype(np.int64)


def most_at_once(factors: TicketsFactors, timeout: float, times: Floats | None) -> int:
    """Return how many tickets wait at once if none is matched: at the busiest time of a log.

    Without a log that is expected at the busiest of the hours in which the run is.
    """
    if times is None:
        hours = np.arange(math.ceil(factors.hours)) % HOURS
        return math.ceil(float(_rates(factors)[hours].max()) * timeout / HOUR)
    before = times.searchsorted(times - timeout, side="right")
    return int((np.arange(1, times.size + 1) - before).max(initial=0))


def _rates(factors: TicketsFactors) -> Floats:
    """Return the tickets an hour of each hour of a day."""
    profile = np.array(factors.arrivals.hourly_profile) / max(factors.arrivals.hourly_profile)
    return np.asarray(factors.arrivals.per_hour * profile / profile.mean())


def _times(factors: TicketsFactors, place: Words) -> Floats:
    """Return when tickets come: gaps between them are exponential in expected tickets."""
    rates = _rates(factors)
    edges = np.append(np.arange(math.ceil(factors.hours), dtype=np.float64), factors.hours)
    masses = rates[edges[:-1].astype(np.int64) % HOURS] * np.diff(edges)
    before = np.append(0.0, np.cumsum(masses))
    total = float(before[-1])
    room = int(total + 6.0 * total**0.5) + 16
    while True:
        gaps = np.empty(room)
        counters, nobody = np.arange(room), np.zeros(room, np.int64)
        fill_uniforms_of(place, GAP, nobody, counters, gaps)
        arrived = np.cumsum(-np.log(gaps))
        if arrived[-1] >= total:
            break
        room *= 2
    arrived = arrived[arrived < total]
    hour = np.searchsorted(before, arrived, side="right") - 1
    rate = rates[edges[hour].astype(np.int64) % HOURS]
    return np.asarray(HOUR * (edges[hour] + (arrived - before[hour]) / rate))


def _skills(factors: TicketsFactors, sizes: Ints, people: _People, users: _People) -> Floats:
    """Return the true skills of players."""
    skill = factors.skill
    if factors.ratings.users is None:
        drawn = ndtri(_uniforms(SKILL, sizes.size, people.place))[people.of]
    else:  # of single players, the first number of each
        drawn = users.normals(SKILL)
    skills = skill.mean + skill.std * drawn
    if skill.party_std > 0.0:
        own = skill.party_std * people.normals(OWN_SKILL)
        skills = skills + np.where(sizes[people.of] > 1, own, 0.0)
    return np.asarray(skills)


def _latencies(spread: float, medians: Floats, homes: Ints, people: _People) -> Floats:
    """Return whole milliseconds of players to data centres, at least 1."""
    latencies = medians[homes[people.of]]
    for centre in range(medians.shape[1]) if spread > 0.0 else ():
        normals = people.normals(LATENCY, MOST_REGIONS * people.places + centre)
        latencies[:, centre] *= np.exp(spread * normals)
    np.rint(latencies, out=latencies)
    return np.maximum(latencies, 1.0, out=latencies)


def _patience(factors: TicketsFactors, n: int, place: Words) -> Floats:
    """Return after how many seconds tickets are cancelled."""
    median = factors.patience.median_seconds
    if median is None:
        return np.full(n, np.inf)
    normals = ndtri(_uniforms(PATIENCE, n, place))
    return np.asarray(median * np.exp(factors.patience.spread * normals))


def _attribute(
    law: Mapping[str, float | dict[str, float]], source: int, n: int, people: _People
) -> Floats | Texts | Lists:
    """Return what players have of an attribute."""
    kind = kind_of(law)
    if kind == "numbers":
        normals = people.normals(source, MOST_ITEMS * people.places)
        return np.asarray(law["mean"] + law["std"] * normals)  # type: ignore[operator]
    if kind == "texts":
        shares = [float(share) for share in law.values()]  # type: ignore[arg-type]
        return Texts(_chosen(shares, _uniforms(source, n, people.place))[people.of], list(law))
    items: dict[str, float] = law["lists"]  # type: ignore[assignment]
    columns = [
        people.uniforms(source, MOST_ITEMS * people.places + item) < probability
        for item, probability in enumerate(items.values())
    ]
    return Lists(np.stack(columns, axis=1), list(items))


def draw_answers(factors: TicketsFactors, drawn: Drawn, log: Logged | None = None) -> Floats:
    """Return after how many seconds tickets accept each proposal, NaN for never.

    A ticket accepts with the last of its players, if all do.
    """
    service, people = factors.service, _People(drawn.of, drawn.places, drawn.place)
    answers = np.empty((drawn.times.size, PROPOSALS))
    firsts = np.cumsum(drawn.sizes) - drawn.sizes
    for proposal in range(PROPOSALS) if drawn.times.size else ():
        counters = ROOM * proposal + drawn.places
        seconds = -service.answer_seconds * np.log(people.uniforms(ANSWER, counters))
        refuses = people.uniforms(ACCEPTS, counters) >= service.accept_prob
        seconds[refuses] = np.inf
        answers[:, proposal] = np.maximum.reduceat(seconds, firsts)
    answers[np.isinf(answers)] = np.nan
    return answers if log is None else log.answered(answers)
