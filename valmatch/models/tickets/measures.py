"""Responses of a replication of tickets, of all and of groups."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np
from scipy.special import expit

from valmatch.kernels.arrays import Bools, Floats, Ints, Shorts
from valmatch.matching.tickets.columns import Tickets
from valmatch.matching.tickets.layout import COMPLETED
from valmatch.models.model import ANY, Part, Response
from valmatch.models.tickets.factors import LEAVES, STAYS, TicketsFactors
from valmatch.models.tickets.groups import (
    Replication,
    count,
    covered,
    figures,
    group_of,
    masks,
    mean,
    over,
    percentile,
    span,
    time_average,
    worst_percentile,
)
from valmatch.models.tickets.matchmaking import users_by_ticket
from valmatch.models.tickets.population import HOUR, players_of
from valmatch.models.tickets.responses import (
    OF_GROUPS,
    REASONS,
    groups,
    level,
    number,
    passed_waits,
    rule_names,
    share,
)
from valmatch.rule_sets.table import Reached, Steps, Table

# Matches as they run: who leaves, who joins in their place, how full and how fair they are.


def draw_stays(factors: TicketsFactors, drawn: Tickets) -> Floats:
    """Return which part of what is left of the match each player stays; infinity: all."""
    share, people = factors.match.leave_prob, players_of(drawn)
    if share == 0.0:
        return np.full(drawn.skills.size, np.inf)
    return np.where(people.uniforms(LEAVES) < share, people.uniforms(STAYS), np.inf)


def presence(run: Replication) -> tuple[Floats, Floats]:
    """Return when players of matches joined them and left, in the order of `Matches.of_players`."""
    matches = run.matches
    joins, stays = run.played.ends[matches.ticket_of], run.stays[matches.people]
    left = np.maximum(run.ends[matches.of_players] - joins, 0.0)
    return joins, joins + np.where(stays < 1.0, stays, 1.0) * left


def running_figures(run: Replication) -> dict[str, float]:
    """Return what is measured of matches as they run, and of backfill tickets."""
    backfills, matches, window, ends = run.backfills, run.matches, run.window, run.ends
    joins, leaves = presence(run)
    early = (leaves < ends[matches.of_players]) & (leaves >= window[0]) & (leaves < window[1])
    came, brought = backfills.times >= window[0], backfills.statuses == COMPLETED
    late = run.played.filled[matches.place_of] & (joins >= window[0])
    matches_running = time_average(run.played.times, ends, 1, window)
    players = time_average(joins, leaves, 1, window)
    gap, full = _over_time(run, joins, leaves)
    return {
        "players_left": count(early),
        "players_backfilled": count(late),
        "backfill_tickets": count(came),
        "backfill_filled": mean(brought[came]),
        "time_to_fill": mean((backfills.ends - backfills.times)[came & brought]),
        "places_taken": players / (run.places * matches_running) if matches_running else np.nan,
        "full_time": full,
        "played_win_gap": gap,
    }


def _over_time(run: Replication, joins: Floats, leaves: Floats) -> tuple[float, float]:
    """Return time means over running matches: of |p - 1/2|, and of whether all places are taken."""
    # Of every match there is a row for each moment at which a player joins or leaves; what holds
    # from there on lasts until the next one.
    matches, (start, stop) = run.matches, run.window
    teams = int(matches.team_of.max(initial=0)) + 1
    skills, n = run.drawn.skills[matches.people], joins.size
    times = np.concatenate([joins, leaves])
    signs = np.repeat([1.0, -1.0], n)
    order = np.lexsort((times, np.tile(matches.of_players, 2)))
    of: Shorts = np.tile(matches.of_players, 2)[order]
    times = times[order]
    until = np.append(times[1:], 0.0)
    last = np.append(of[1:] != of[:-1], True)[: of.size]
    until = np.where(last, times, until)
    spent = np.clip(until, start, stop) - np.clip(times, start, stop)
    counts = np.zeros((times.size, teams))
    sums = np.zeros((times.size, teams))
    camp = np.tile(matches.team_of, 2)
    counts[np.arange(2 * n), camp] = signs
    sums[np.arange(2 * n), camp] = signs * np.tile(skills - run.factors.skill.mean, 2)
    counts = np.cumsum(counts[order], axis=0)
    sums = np.cumsum(sums[order], axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(counts > 0.5, sums / counts, np.nan)
    differences = span(means)
    several = ~np.isnan(differences)
    gaps = np.where(several, expit(differences / run.factors.match.spread) - 0.5, 0.0)
    length = time_average(run.played.times, run.ends, 1, (start, stop)) * (stop - start)
    full = spent[counts.sum(axis=1) > run.places - 0.5].sum()
    played = spent[several].sum()
    return (
        float((gaps * spent).sum() / played) if played > 0.0 else np.nan,
        float(full / length) if length > 0.0 else np.nan,
    )


# Responses that only the rule of a living matchmaker has.

BEYOND = (2.0, 2.5, 3.0)
"""Standard deviations of skill off the mean from which on tickets are looked at by themselves."""

RECENTLY = 600.0  # seconds within which the same opponents are a repetition

OF_THE_FAR = ("matched_fraction", "time_to_match", "time_to_match_p90")


def preset_responses(factors: TicketsFactors) -> Iterator[Response]:
    """Yield the responses of a rule of a preset; none of a rule set."""
    numbers = factors.rule.numbers()
    if numbers is None:
        return
    unit, meaning = numbers.value
    yield Response("match_value", unit, f"mean over matches of the {meaning}", limits=ANY)
    older = "an older ticket, which waits on, would have done in place of a member"
    yield share("skipped", f"share of matches in which {older}")
    yield level("candidates", "", "candidates that are valued, a review in the mean")
    yield number("reviews", "reviews")
    spread = "mean over matches of the standard deviation of the true skills of all players"
    yield level("skill_spread", "points", spread)
    if factors.ratings.users is not None:
        met = "share of matches of duels whose players met in the ten minutes before"
        yield share("repeat_share", met)
    for beyond in BEYOND:
        whose = f"of tickets with a mean true skill over {beyond:g} skill.std off the mean"
        for name in OF_THE_FAR:
            full, text = f"{name}.beyond_{beyond:g}sd", f"{name} {whose}"
            is_share = name == "matched_fraction"
            yield share(full, text) if is_share else level(full, "seconds", text)
    if numbers.relaxes:
        less = "share of reviews that ask for less than threshold, as the population is small"
        yield share("relaxed", less)
    if numbers.believes:
        yield share(
            "win_error", "mean over matches of the difference of believed and true win chance"
        )
        chance = "mean over tickets in matches of the believed chance to win; by size"
        for size in _sizes(factors):
            part = Part("believed_win_prob", "size", f"size_{size}")
            yield share(f"believed_win_prob.size_{size}", f"{chance}: size_{size}", part=part)


def _sizes(factors: TicketsFactors) -> range:
    """Return the sizes of parties that are looked at by themselves."""
    every = range(1, len(factors.parties.shares) + 1)
    return every if "sizes" in factors.measure else range(0)


def measure_preset(run: Replication) -> dict[str, float]:
    """Return those responses."""
    report, factors, made = run.report, run.factors, run.made
    numbers = factors.rule.numbers()
    if report is None or numbers is None:
        return {}
    values: dict[str, float] = {
        "match_value": mean(report.values[made]),
        "skipped": mean(report.skipped[made]),
        "candidates": report.examined / report.reviews if report.reviews else math.nan,
        "reviews": report.reviews,
        "skill_spread": mean(skill_spreads(run)[made]),
    }
    if factors.ratings.users is not None:
        values["repeat_share"] = mean(repeated(run)[made])
    off = np.abs(run.drawn.of_party(run.drawn.skills, "avg") - factors.skill.mean)
    for beyond in BEYOND:
        far = figures(run, off > beyond * factors.skill.std)
        values |= {f"{name}.beyond_{beyond:g}sd": far[name] for name in OF_THE_FAR}
    if numbers.relaxes:
        values["relaxed"] = report.relaxed / report.reviews if report.reviews else math.nan
    if numbers.believes:
        values |= _beliefs(run, report.chances)
    return values


def skill_spreads(run: Replication) -> Floats:
    """Return the standard deviation of the true skills of the players of each match."""
    matches, n = run.matches, run.played.times.size
    skills = run.drawn.skills[matches.people]
    of, players = matches.of_players, matches.players
    means = np.bincount(of, skills, n) / players
    return np.asarray(np.sqrt(np.bincount(of, (skills - means[of]) ** 2, n) / players))


def _beliefs(run: Replication, chances: Floats) -> dict[str, float]:
    """Return what is believed of win chances, against what is true."""
    played, n = run.played, run.drawn.times.size
    first = played.teams == 0
    believed, true = np.full(n, np.nan), np.full(played.times.size, np.nan)
    chances_of_tickets = chances[played.matches]
    believed[played.tickets] = np.where(first, chances_of_tickets, 1.0 - chances_of_tickets)
    true[played.matches[first]] = run.matches.wins[played.tickets[first]]
    values = {"win_error": mean(np.abs(chances - true)[run.made])}
    for size in _sizes(run.factors):
        group = run.came & (run.drawn.sizes == size)
        values[f"believed_win_prob.size_{size}"] = mean(believed[group])
    return values


def repeated(run: Replication) -> Bools:
    """Return which matches are of the same two users as one in the ten minutes before."""
    users, played = users_by_ticket(run.drawn), run.played
    again = np.zeros(played.times.size, np.bool_)
    last: dict[tuple[int, ...], float] = {}
    ends = np.searchsorted(played.matches, np.arange(played.times.size + 1))
    for match, time in enumerate(played.times.tolist()):
        pair = users[played.tickets[ends[match] : ends[match + 1]]]
        key = tuple(sorted(pair.tolist()))
        again[match] = time - last.get(key, -math.inf) < RECENTLY
        last[key] = time
    return again


def measure(run: Replication) -> dict[str, float]:
    """Return all responses by name, but those of `pools`; NaN where undefined."""
    played, matches, made = run.played, run.matches, run.made
    values = figures(run, np.ones(run.drawn.times.size, np.bool_))
    del values["timed_out_fraction"], values["win_prob"]
    moves = run.factors.match.leave_prob > 0.0 or run.factors.match.backfill != "none"
    playing: tuple[Floats, Floats, int | Ints] = played.times, run.ends, matches.players
    if moves:
        playing = *presence(run), 1
    matched = run.came & (played.statuses == COMPLETED)
    waits = (played.ends - run.drawn.times)[matched]
    divisions = [group_of(run.factors, of, run.drawn)[matched] for of in ("sizes", "regions")]
    latencies = matches.latencies[made[matches.of_players]]
    values |= {
        "n_matches": count(made),
        "players_per_match": mean(matches.players[made]),
        "full_share": mean(matches.full[made]),
        "players_in_matches": time_average(*playing, run.window),
        "step_used": mean(matches.steps[made]),
        "latency": mean(latencies),
        "latency_p95": percentile(latencies, 95),
        "latency_over_limit": over(latencies, run.limit),
        "true_team_diff": mean(matches.true_diffs[made]),
        "seen_team_diff": mean(matches.seen_diffs[made]),
        "win_gap": mean(matches.gaps[made]),
        "worst_wait_ratio": worst_percentile(waits, divisions, 90, FEW),
        "matchmaking_hours": covered(run.drawn.times, played.ends, run.window) / HOUR,
    }
    values |= measure_preset(run)
    for of in dict.fromkeys(run.factors.measure):
        values |= _further(run, of)
    return values


def _further(run: Replication, of: str) -> dict[str, float]:
    """Return the responses of one kind that `measure` asks for."""
    factors = run.factors
    if of == "pools":
        return {}
    if of == "backfill":
        return running_figures(run)
    if of == "steps":
        steps = run.matches.steps[run.made]
        numbers = range(len(passed_waits(factors.expansions)) + 1)
        return {f"step_used.{step}": mean(steps == step) for step in numbers}
    if of == "reasons":
        why = run.unmatchable[run.came]
        return {f"never_matchable.{name}": count(why == k) for k, name in enumerate(REASONS)}
    if of == "rules":
        names = rule_names(factors.rules)
        counts = (("passed", run.played.held), ("failed", run.played.refused))
        return {
            f"rule_{verdict}.{name}": int(number)
            for verdict, numbers in counts
            for name, number in zip(names, numbers, strict=True)
        }
    values: dict[str, float] = {}
    for (_, name), group in zip(groups(factors, of), masks(run, of), strict=True):
        of_group = figures(run, group)
        values |= {f"{response.name}.{name}": of_group[response.name] for response in OF_GROUPS}
    return values


FEW = 20  # matched tickets of a group from which on its percentile says something


# Tickets that no match can ever take, and why; the latency that a rule set begins with.

PARTY, VALUE, LATENCY = range(len(REASONS))


def lacking(table: Table, known: Collection[str]) -> list[str]:
    """Return the attributes that have neither a value nor a default."""
    return [
        attribute.name
        for attribute in table.attributes
        if attribute.default is None and attribute.name not in known
    ]


def unmatchable(table: Table, drawn: Tickets, timeout: float) -> Ints:
    """Return why no match can ever take each ticket, as the number of one of `REASONS`."""
    why = np.full(drawn.times.size, -1)
    for rule, limit in _limits(table):  # over it in all data centres, whenever they are matched
        steps = zip((0.0, *limit.waits), limit.numbers, strict=True)
        most = max(value for wait, value in steps if wait < timeout)
        pings = drawn.of_party(drawn.latencies, "max" if rule.each else rule.party)
        why[~(pings <= most).any(axis=1)] = LATENCY
    for attribute in table.attributes:
        why[drawn.lacks(attribute)] = VALUE
    why[drawn.sizes > max(team.largest for team in table.teams)] = PARTY
    return why


def first_limit(table: Table) -> float:
    """Return the least latency that a rule allows at first; NaN where none has a limit."""
    limits = [float(limit.values[0]) for _, limit in _limits(table)]  # type: ignore[arg-type]
    return min(limits, default=math.nan)


def _limits(table: Table) -> list[tuple[Reached, Steps]]:
    """Return the rules that limit latencies, and their limits."""
    rules = [rule.predicate for rule in table.rules if rule.alone]
    return [
        (rule, rule.most) for rule in rules if isinstance(rule, Reached) and rule.most is not None
    ]
