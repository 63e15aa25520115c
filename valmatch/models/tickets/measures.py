"""The responses of the model `tickets`, of all tickets and of groups of them."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias, get_args

import numpy as np
from scipy.special import expit

from valmatch.kernels.arrays import Bools, Floats, Ints
from valmatch.matching.tickets.columns import Tickets
from valmatch.matching.tickets.layout import CANCELLED, COMPLETED, SEARCHING, TIMED_OUT
from valmatch.models.model import ANY, WIN_GAP, Response, Responses, Table, amount, of_part, share
from valmatch.models.model import count as number
from valmatch.models.tickets.factors import HOURS, Grouping, TicketsFactors, kind_of
from valmatch.models.tickets.population import HOUR, users_by_ticket
from valmatch.models.tickets.replication import REASONS, Replication, span


def count(which: Bools) -> int:
    """Return how many are True."""
    return int(np.count_nonzero(which))


def mean(values: Floats | Ints | Bools) -> float:
    """Return the mean of the values that are defined; NaN of none."""
    known = values[~np.isnan(values)]
    return math.fsum(known.tolist()) / known.size if known.size else math.nan


def percentile(values: Floats, percent: float) -> float:
    """Return a percentile of the values that are defined; NaN of none."""
    known = values[~np.isnan(values)]
    return float(np.percentile(known, percent, overwrite_input=True)) if known.size else math.nan


def worst_percentile(
    values: Floats, divisions: Iterable[Ints], percent: float, enough: int
) -> float:
    """Return a percentile in the worst group with enough values over that of all."""
    groups = [values[of == number] for of in divisions for number in np.unique(of)]
    of_groups = [percentile(group, percent) for group in groups if group.size >= enough]
    worst, every = np.fmax.reduce([math.nan, *of_groups]), percentile(values, percent)
    return float(worst / every) if every > 0.0 else math.nan


def time_average(
    begin: Floats, end: Floats, weights: float | Ints, within: tuple[float, float]
) -> float:
    """Return the time average of a number of things that begin and end, each with its weight."""
    start, stop = within
    spent = np.clip(end, start, stop) - np.clip(begin, start, stop)
    return math.fsum((weights * spent).tolist()) / (stop - start)


def covered(begin: Floats, end: Floats, within: tuple[float, float]) -> float:
    """Return how long at least one of some things is there."""
    begins, ends = np.clip(begin, *within), np.clip(end, *within)
    order = np.argsort(begins, kind="stable")
    begins, latest = begins[order], np.maximum.accumulate(ends[order])
    apart = np.ones(begins.size, np.bool_)
    apart[1:] = begins[1:] > latest[:-1]
    return math.fsum((latest[np.roll(apart, -1)] - begins[apart]).tolist())


MATCHED = "share of tickets that were matched"
GAP = "|p - 1/2|"

RESPONSES = Responses(
    amount("time_to_match", "seconds", "mean wait of matched tickets"),
    *(
        amount(f"time_to_match_p{p}", "seconds", f"{p}th percentile of the wait of matched tickets")
        for p in (50, 90, 99)
    ),
    share("matched_fraction", MATCHED),
    number("n_tickets", "tickets that came"),
    number("tickets_matched", "tickets matched"),
    number("tickets_timed_out", "tickets that timed out"),
    number("tickets_cancelled", "tickets cancelled, or dropped as a match was not accepted"),
    number("tickets_searching", "tickets that wait at the end"),
    number("never_matchable", "tickets that no match can ever take"),
    amount("current_tickets", "tickets", "time average of the number of waiting tickets"),
    number("n_matches", "matches"),
    amount("players_per_match", "players", "mean number of players of a match"),
    share("full_share", "share of matches that are full"),
    amount("players_in_matches", "players", "time average of the number of players in matches"),
    amount(
        "step_used",
        "",
        "mean over matches of the number of expansion steps that their age had passed",
    ),
    amount(
        "latency",
        "milliseconds",
        "mean latency of players to the data centre of the match, that of the least mean",
    ),
    amount("latency_p95", "milliseconds", "95th percentile of these latencies"),
    share(
        "latency_over_limit",
        "share of these latencies over the limit that the rule set begins with",
    ),
    amount(
        "true_team_diff",
        "points",
        "mean over matches of the largest difference between mean true skills of teams",
    ),
    amount("seen_team_diff", "points", "the same of what the matchmaker sees"),
    Response(
        "win_gap",
        "",
        f"mean over matches of {GAP}, p of the best team against the worst, by true skill",
        WIN_GAP,
    ),
    amount(
        "worst_wait_ratio",
        "",
        "90th percentile of the wait in the worst group by size or home, over that of all",
    ),
    amount(
        "matchmaking_hours",
        "hours",
        "time in which a ticket waits: at most this is charged for evaluating",
    ),
)

OF_GROUPS = (
    RESPONSES[0],
    RESPONSES[2],
    share("matched_fraction", MATCHED),
    share("timed_out_fraction", "share of tickets that timed out"),
    amount("latency", "milliseconds", "mean latency of tickets in matches"),
    Response("win_gap", "", f"mean over tickets of {GAP} of the match", WIN_GAP),
    share(
        "win_prob", "mean over tickets in matches of two teams of the chance to win, by true skill"
    ),
)
"""What is measured of a group of tickets."""

FEW = 20  # matched tickets of a group from which on its percentile says something


def measure(run: Replication) -> dict[str, float]:
    """Return all responses by name, but those of `pools`; NaN where undefined."""
    factors, drawn, played, window = run.factors, run.drawn, run.played, run.window
    moves = factors.match.leave_prob > 0.0 or factors.match.backfill != "none"
    playing: tuple[Floats, Floats, int | Ints] = played.times, run.ends, run.players
    if moves:
        playing = *run.presence, 1
    matched = run.came & (played.statuses == COMPLETED)
    waits = (played.ends - drawn.times)[matched]
    divisions = [group_of(of, drawn)[matched] for of in ("sizes", "regions")]
    values = figures(run, None) | {
        "n_matches": count(run.made),
        "players_in_matches": time_average(*playing, window),
        "worst_wait_ratio": worst_percentile(waits, divisions, 90, FEW),
        "matchmaking_hours": covered(drawn.times, played.ends, window) / HOUR,
    }
    values = {name: values[name] for name in RESPONSES.names}
    values |= {response.name: value(run) for response, value in of_preset(factors)}
    for of in (of for of in dict.fromkeys(factors.measure) if of != "pools"):
        names = (response.name for response in further_responses(factors, of))
        values |= zip(names, _further(run, of), strict=True)
    return values


def figures(run: Replication, group: Bools | None) -> dict[str, float]:
    """Return what is measured of a group of tickets, or of all; of matches a mean over tickets."""
    drawn, played = run.drawn, run.played
    came = run.came if group is None else run.came & group
    statuses, there = played.statuses[came], slice(None) if group is None else group
    waits = (played.ends - drawn.times)[came & (played.statuses == COMPLETED)]
    matches = run.match[came]
    matches = matches[matches >= 0]
    latencies = run.latencies[came[played.tickets[run.row]]]
    mean_latency = mean(run.latency[came])
    if group is None:  # of all a mean over matches
        matches, latencies = np.flatnonzero(run.made), run.latencies[run.made[run.of]]
        mean_latency = mean(latencies)
    known = latencies[~np.isnan(latencies)]
    beyond = known[:0] if math.isnan(run.first_limit) else known > run.first_limit
    return dict(
        n_tickets=count(came),
        tickets_matched=count(statuses == COMPLETED),
        tickets_timed_out=count(statuses == TIMED_OUT),
        tickets_cancelled=count(statuses == CANCELLED),
        tickets_searching=count(statuses == SEARCHING),
        never_matchable=count(run.unmatchable[came] >= 0),
        matched_fraction=mean(statuses == COMPLETED),
        timed_out_fraction=mean(statuses == TIMED_OUT),
        time_to_match=mean(waits),
        **{f"time_to_match_p{percent}": percentile(waits, percent) for percent in (50, 90, 99)},
        current_tickets=time_average(drawn.times[there], played.ends[there], 1, run.window),
        players_per_match=mean(run.players[matches]),
        full_share=mean(run.full[matches]),
        step_used=mean(run.steps[matches]),
        latency=mean_latency,
        latency_p95=percentile(latencies, 95),
        latency_over_limit=mean(beyond),
        true_team_diff=mean(run.true_diffs[matches]),
        seen_team_diff=mean(run.seen_diffs[matches]),
        win_gap=mean(run.gaps[matches]),
        win_prob=mean(run.wins[came]),
    )


BY = dict(zip(get_args(Grouping), ("size", "region", "hour", "skill", "attribute"), strict=True))
"""By what tickets are grouped, for each value of `measure` that groups them."""

DECILES, QUARTERS = 10, 4


def groups(factors: TicketsFactors, of: str) -> list[tuple[str, str]]:
    """Return by what tickets are grouped, and the names of the groups."""
    if of == "attributes":
        laws = factors.attributes.items()
        return [(name, f"{name}.{value}") for name, law in laws for value in _values_of_law(law)]
    hours = range(min(HOURS, math.ceil(factors.hours)))
    names = {
        "sizes": [f"size_{size}" for size in range(1, len(factors.parties.shares) + 1)],
        "regions": list(factors.regions.shares),
        "hours": [f"{hour}-{hour + 1}h" for hour in hours],
        "deciles": [f"decile_{number}" for number in range(1, DECILES + 1)],
    }
    return [(BY[of], name) for name in names[of]]


def _values_of_law(law: Mapping[str, Any]) -> list[str]:
    """Return the values of an attribute by which tickets are grouped: of numbers quarters."""
    if kind_of(law) == "number":
        return [f"quarter_{number}" for number in range(1, QUARTERS + 1)]
    return list(law["lists"] if kind_of(law) == "texts" else law)


def masks(run: Replication, of: str) -> Iterator[Bools]:
    """Yield which tickets are in each group, in the order of `groups`."""
    factors, drawn = run.factors, run.drawn
    if of != "attributes":
        numbers = group_of(of, drawn)
        yield from (numbers == number for number in range(len(groups(factors, of))))
        return
    for name, law in factors.attributes.items():
        values, kind = drawn.values[name], kind_of(law)
        for code, value in enumerate(_values_of_law(law)):
            if kind == "number":
                yield _ranked(drawn.of_party(values, "avg"), QUARTERS) == code
            else:  # those of whom a player has it
                has = values == value
                if kind == "texts":
                    has = np.array([value in (held or ()) for held in values.tolist()], np.bool_)
                yield np.bincount(drawn.of, has, drawn.times.size) > 0


def group_of(of: str, drawn: Tickets) -> Ints:
    """Return the number of the group of each ticket, by what puts each into one group."""
    if of == "sizes":
        return drawn.sizes - 1
    if of == "regions":
        return drawn.homes
    if of == "hours":
        return (drawn.times / HOUR).astype(np.int64) % HOURS
    return _ranked(drawn.of_party(drawn.skills, "avg"), DECILES)


def _ranked(values: Floats, parts: int) -> Ints:
    """Return in which of some equal parts each value is, by its rank."""
    ranks = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return np.asarray(ranks * parts // max(ranks.size, 1), np.int64)


def groups_table(run: Replication) -> Table:
    """Return a row for all tickets and for each group, with what is measured of it."""
    rows = [{"by": "all", "group": "", **figures(run, np.ones(run.drawn.times.size, np.bool_))}]
    for of in BY:
        for (by, name), group in zip(groups(run.factors, of), masks(run, of), strict=True):
            name_in_group = name.removeprefix(f"{by}.")
            rows.append({"by": by, "group": name_in_group, **figures(run, group)})
    return Table("groups", {name: [row[name] for row in rows] for name in rows[0]})


POOLS = (
    Response(
        "search_gap",
        "",
        "share of the players whom an exhaustive search matches that a pass leaves out, in pools of"
        " the latest tickets",
        limits=(-math.inf, 1.0),
    ),
    share(
        "blocked_by",
        "share of reviews after which others would have a match but for one of the oldest tickets",
    ),
)
"""What is measured of pools that are looked at again, see `pools`."""

BACKFILL = (
    number("players_left", "players who left a match early"),
    number("players_backfilled", "players who joined a match that ran"),
    number("backfill_tickets", "backfill tickets"),
    share("backfill_filled", "share of backfill tickets that brought players"),
    amount("time_to_fill", "seconds", "mean wait of backfill tickets that brought players"),
    share("places_taken", "share of the places of running matches that are taken"),
    share("full_time", "share of their time in which matches are full"),
    Response(
        "played_win_gap",
        "",
        f"time mean over running matches of {GAP} by the true skills of the players there",
        WIN_GAP,
    ),
)
"""What is measured of matches as they run, and of backfill tickets."""


def further_responses(factors: TicketsFactors, of: str) -> Iterator[Response]:
    """Yield the responses of one kind of groups that factors ask for."""
    if of == "steps":
        for step in range(len(passed_waits(factors.expansions)) + 1):
            meaning = f"share of matches whose age had passed {step} expansion steps"
            yield of_part(share("step_used", ""), "step", str(step), meaning)
    elif of == "rules":
        for name, values in factors.rules.items():
            # Values of the algorithm and of teams are not those of a rule.
            if name == "algorithm" and "expansionAgeSelection" in values:
                continue
            if name == "teams" and all(isinstance(value, dict) for value in values.values()):
                continue
            for verdict, meaning in (("passed", "let pass"), ("failed", "refused")):
                verdicts = number(f"rule_{verdict}", "")
                yield of_part(verdicts, "rule", name, f"candidates that {name} {meaning}")
    elif of == "reasons":
        for name, meaning in REASONS.items():
            never = number("never_matchable", "")
            yield of_part(never, "reason", name, f"tickets that are {meaning}")
    elif of in ("pools", "backfill"):
        yield from POOLS if of == "pools" else BACKFILL
    else:
        by = BY[of]
        for measure in OF_GROUPS:
            for _, name in groups(factors, of):
                yield of_part(measure, by, name, f"{measure.meaning}; by {by}: {name}")


def _further(run: Replication, of: str) -> Sequence[float]:
    """Return what `further_responses` has of one kind, in its order."""
    if of == "backfill":
        backfills, window, ends, (joins, leaves) = run.backfills, run.window, run.ends, run.presence
        early = (leaves < ends[run.of]) & (leaves >= window[0]) & (leaves < window[1])
        came, brought = backfills.times >= window[0], backfills.statuses == COMPLETED
        late = run.played.filled[run.row] & (joins >= window[0])
        running = time_average(run.played.times, ends, 1, window)
        players = time_average(joins, leaves, 1, window)
        waits = (backfills.ends - backfills.times)[came & brought]
        taken = players / (run.table.largest * running) if running else np.nan
        counts = count(early), count(late), count(came)
        return *counts, mean(brought[came]), mean(waits), taken, *_over_time(run, joins, leaves)
    if of == "steps":
        steps, numbers = run.steps[run.made], range(len(passed_waits(run.factors.expansions)) + 1)
        return [mean(steps == step) for step in numbers]
    if of == "reasons":
        why = run.unmatchable[run.came]
        return [count(why == k) for k in range(len(REASONS))]
    if of == "rules":
        return np.stack([run.played.held, run.played.refused], axis=1).ravel().tolist()
    of_groups = [figures(run, group) for group in masks(run, of)]
    return [values[response.name] for response in OF_GROUPS for values in of_groups]


def passed_waits(expansions: Mapping[str, Any]) -> set[float]:
    """Return the ages at which something changes, as far as all steps are there."""
    of_names = [properties for properties in expansions.values() if isinstance(properties, dict)]
    lists = [steps for properties in of_names for steps in properties.values()]
    return {float(step["wait"]) for steps in lists for step in steps if isinstance(step, dict)}


def _over_time(run: Replication, joins: Floats, leaves: Floats) -> tuple[float, float]:
    """Return time means over running matches: whether all places are taken, and of |p - 1/2|."""
    # Of every match there is a row for each moment at which a player joins or leaves; what holds
    # from there on lasts until the next one.
    (start, stop), side = run.window, run.played.teams[run.row]
    n, teams = joins.size, int(side.max(initial=0)) + 1
    times, of = np.concatenate([joins, leaves]), np.tile(run.of, 2)
    order = np.lexsort((times, of))
    times, of = times[order], of[order]
    last = np.append(of[1:] != of[:-1], True)[: of.size]
    until = np.where(last, times, np.append(times[1:], 0.0))
    spent = np.clip(until, start, stop) - np.clip(times, start, stop)
    changes = np.zeros((2, 2 * n, teams))
    skills = run.drawn.skills[run.people] - run.factors.skill.mean
    signs, at = np.repeat([1.0, -1.0], n), (np.arange(2 * n), np.tile(side, 2))
    changes[0][at], changes[1][at] = signs, signs * np.tile(skills, 2)
    counts, sums = np.cumsum(changes[:, order], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        differences = span(np.where(counts > 0.5, sums / counts, np.nan))
    several = ~np.isnan(differences)
    gaps = np.where(several, expit(differences / run.factors.match.spread) - 0.5, 0.0)
    length = time_average(run.played.times, run.ends, 1, (start, stop)) * (stop - start)
    full = spent[counts.sum(axis=1) > run.table.largest - 0.5].sum()
    played = spent[several].sum()
    return (
        float(full / length) if length > 0.0 else np.nan,
        float((gaps * spent).sum() / played) if played > 0.0 else np.nan,
    )


BEYOND = (2.0, 2.5, 3.0)
"""Standard deviations of skill off the mean from which on tickets are looked at by themselves."""


Value: TypeAlias = Callable[[Replication], float]


def of_preset(factors: TicketsFactors) -> Iterator[tuple[Response, Value]]:
    """Yield the responses of the rule of a preset, and what gives them; none of a rule set."""
    numbers = factors.rule.numbers()
    if numbers is None:
        return
    unit, meaning = numbers.value
    valued = Response("match_value", unit, f"mean over matches of the {meaning}", limits=ANY)
    yield valued, lambda run: mean(run.report.values[run.made])
    older = "an older ticket, which waits on, would have done in place of a member"
    skipped = share("skipped", f"share of matches in which {older}")
    yield skipped, lambda run: mean(run.report.skipped[run.made])
    candidates = amount("candidates", "", "candidates that are valued, a review in the mean")
    yield candidates, lambda run: _a_review(run, run.report.examined)
    yield number("reviews", "reviews"), lambda run: run.report.reviews
    meaning = "mean over matches of the standard deviation of the true skills of all players"
    yield amount("skill_spread", "points", meaning), _skill_spread
    if factors.ratings.users is not None:
        meaning = "share of matches of duels whose players met in the ten minutes before"
        yield share("repeat_share", meaning), lambda run: mean(repeated(run)[run.made])
    for beyond in BEYOND:
        whose = f"of tickets with a mean true skill over {beyond:g} skill.std off the mean"
        for name in ("matched_fraction", "time_to_match", "time_to_match_p90"):
            of_far = amount(f"{name}.beyond_{beyond:g}sd", "seconds", f"{name} {whose}")
            if name == "matched_fraction":
                of_far = share(of_far.name, of_far.meaning)
            yield of_far, partial(_of_the_far, beyond, name)
    if numbers.relaxes:
        less = "share of reviews that ask for less than threshold, as the population is small"
        yield share("relaxed", less), lambda run: _a_review(run, run.report.relaxed)
    if numbers.believes:
        meaning = "mean over matches of the difference of believed and true win chance"
        yield share("win_error", meaning), _win_error
        meaning = "mean over tickets in matches of the believed chance to win"
        believed = share("believed_win_prob", meaning)
        sizes = range(1, len(factors.parties.shares) + 1) if "sizes" in factors.measure else ()
        for size in sizes:
            name = f"size_{size}"
            response = of_part(believed, "size", name, f"{meaning}; by size: {name}")
            yield response, partial(_belief, size)


def _a_review(run: Replication, total: float) -> float:
    return total / run.report.reviews if run.report.reviews else math.nan


def _of_the_far(beyond: float, name: str, run: Replication) -> float:
    off = run.drawn.of_party(run.drawn.skills, "avg") - run.factors.skill.mean
    return figures(run, np.abs(off) > beyond * run.factors.skill.std)[name]


def _skill_spread(run: Replication) -> float:
    n, of, skills = run.played.times.size, run.of, run.drawn.skills[run.people]
    means = np.bincount(of, skills, n) / run.players
    spreads = np.sqrt(np.bincount(of, (skills - means[of]) ** 2, n) / run.players)
    return mean(spreads[run.made])


def _win_error(run: Replication) -> float:
    played, true = run.played, np.full(run.played.times.size, np.nan)
    first = played.teams == 0
    true[played.matches[first]] = run.wins[played.tickets[first]]
    return mean(np.abs(run.report.chances - true)[run.made])


def _belief(size: int, run: Replication) -> float:
    played, believed = run.played, np.full(run.drawn.times.size, np.nan)
    chances = run.report.chances[played.matches]
    believed[played.tickets] = np.where(played.teams == 0, chances, 1.0 - chances)
    return mean(believed[run.came & (run.drawn.sizes == size)])


def repeated(run: Replication) -> Bools:
    """Return which matches are of the same two users as one in the ten minutes before."""
    users, played = users_by_ticket(run.drawn), run.played
    again = np.zeros(played.times.size, np.bool_)
    last: dict[tuple[int, ...], float] = {}
    ends = np.searchsorted(played.matches, np.arange(played.times.size + 1))
    for match, time in enumerate(played.times.tolist()):
        pair = users[played.tickets[ends[match] : ends[match + 1]]]
        key = tuple(sorted(pair.tolist()))
        again[match] = time - last.get(key, -math.inf) < 600.0
        last[key] = time
    return again
