"""The pools of lichess: waves in which as many pairs as can be meet, of least total score."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from valmatch.rule_sets.presets.rules import LichessRule
from valmatch.rule_sets.presets.tickets import Formed, Member, Played

Score = float | None  # points against a pair; None: it is not allowed

Choose = Callable[[Sequence[Member], LichessRule], Sequence[int]]
"""Returns whose partner each of some members is, -1 for none: as many pairs as can be, of least
total score."""

GOOD, POOR, BAD = -2, -5, -12
"""Sits of players who are polite, of those who are not, and of those who are rude."""

FREE_SITS = -3  # sits up to which the credit of waiting is not lowered


def manners(first: int, second: int) -> int:
    """Return the points for two who leave games alike."""
    if first >= GOOD and second >= GOOD:
        return 30
    if first <= BAD and second <= BAD:
        return 60
    if first <= POOR and second <= POOR:
        return 30
    return -20 * min(10, abs(first - second))


def credit(member: Member, rule: LichessRule) -> float:
    """Return the points for the waves that a member missed."""
    most = rule.cap + rule.per_sit * (min(member.sit, FREE_SITS) - FREE_SITS)
    return max(0.0, min(rule.rate * member.misses, most))


def limit(rating: int, rule: LichessRule) -> float:
    """Return the most points of a pair whose lower rating is given."""
    found = 0.0
    for lowest, most in rule.at_most:
        if rating >= lowest:
            found = most if most >= 0 else rating // int(-most)
    return found


def score(first: Member, second: Member, rule: LichessRule) -> Score:
    """Return the points against a pair."""
    if first.user == second.user:
        return None
    if rule.ranges and not (_takes(first, second) and _takes(second, first)):
        return None
    if rule.blocks and (first.user in second.blocks or second.user in first.blocks):
        return None
    points = rule.gap * abs(first.rating - second.rating)
    points -= min(credit(first, rule), credit(second, rule))
    if first.range is not None and second.range is not None:
        points += rule.shared_range
    if rule.manners:
        points -= manners(first.sit, second.sit)
    if first.provisional and second.provisional:
        points += rule.provisional
    return points if points <= limit(min(first.rating, second.rating), rule) else None


def _takes(member: Member, other: Member) -> bool:
    return member.range is None or member.range[0] <= other.rating <= member.range[1]


def search(members: Sequence[Member], rule: LichessRule, choose: Choose) -> list[tuple[int, int]]:
    """Return the pairs of a wave, the earlier first."""
    marked = [k for k, one in enumerate(members) if one.lame]
    marked.sort(key=lambda k: -members[k].rating)
    pairs = [(min(pair), max(pair)) for pair in zip(marked[::2], marked[1::2], strict=False)]
    others = [k for k, one in enumerate(members) if not one.lame]
    for place, partner in enumerate(choose([members[k] for k in others], rule)):
        if partner > place:
            pairs.append((others[place], others[partner]))
    return sorted(pairs)


def play(
    tickets: Sequence[Member],
    rule: LichessRule,
    horizon: float,
    choose: Choose,
    jitter: Callable[[int], float] = lambda wave: 0.0,
) -> Played:
    """Play a pool until the horizon."""
    matches: list[Formed] = []
    waves: list[dict[str, float]] = []
    pool: dict[int, Member] = {}
    paired: set[str] = set()
    due = rule.every + jitter(0)

    def wave(now: float) -> None:
        nonlocal due
        # Those who cancel at this moment leave first, and do not count for another wave in it.
        for k in [k for k, one in pool.items() if one.cancel <= now]:
            del pool[k]
        numbers = list(pool)
        waves.append({"time": now, "members": len(numbers)})
        paired.clear()
        for first, second in search([pool[k] for k in numbers], rule, choose):
            pair = (numbers[first], numbers[second])
            matches.append(Formed(now, tuple((k,) for k in pair), {}))
            paired.update(pool[k].user for k in pair)
            for k in pair:
                del pool[k]
        for k, one in list(pool.items()):
            pool[k] = one._replace(misses=one.misses + 1)
        due = now + rule.every + jitter(len(waves))

    for number in sorted(range(len(tickets)), key=lambda k: tickets[k].time):
        ticket = tickets[number]
        if ticket.time > horizon:
            break
        while due < ticket.time:
            wave(due)
        _leave(pool, ticket.time)
        if _joins(pool, number, ticket, paired if rule.just_paired else set()) and (
            len(pool) >= rule.players
        ):
            wave(ticket.time)
    while due <= horizon:
        wave(due)
    waiting = [k for k, one in pool.items() if one.cancel > horizon]
    return Played(matches, waiting, {"waves": waves})


def _leave(pool: dict[int, Member], now: float) -> None:
    """Let those leave who cancelled before."""
    for k in [k for k, one in pool.items() if one.cancel < now]:
        del pool[k]


def _joins(pool: dict[int, Member], number: int, ticket: Member, paired: set[str]) -> bool:
    """Let a member join; return whether the pool is larger now.

    One who is there already only changes its range, and has missed no waves then.
    """
    if ticket.user in paired:
        return False
    for k, one in pool.items():
        if one.user == ticket.user:
            if one.range != ticket.range:
                pool[k] = one._replace(range=ticket.range, misses=0)
            return False
    pool[number] = ticket
    return True
