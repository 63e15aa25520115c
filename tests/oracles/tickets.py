"""A matchmaker that plays a world of tickets one ticket and one rule at a time.

The readable twin of the matchmaker of `valmatch`: straight from the JSON of a world, by the
specification alone, in no hurry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.oracles.rule_judge import (
    FUNCTIONS,
    Judge,
    Match,
    Ticket,
    born_of,
    stepped,
    team_names,
    value_of,
)

Draw = Callable[[int, int, int], float]
"""Returns a number by which a ticket is put in a random order, given review, pass and ticket."""


def play(world: dict[str, Any], search: str, draw: Draw | None = None) -> dict[str, Any]:
    """Return the answers of a world by one of the searches, ``pass`` or ``exhaustive``."""
    return Matchmaker(world, search, draw).played()


class Matchmaker:
    """The state of one world."""

    def __init__(self, world: dict[str, Any], search: str, draw: Draw | None = None) -> None:
        self.config = world["config"]
        # Whose latency counts is no part of a rule set, but its rules are judged by it.
        self.rule_set = {**world["ruleSet"], "latencyOf": self.config.get("latencyOf")}
        self.tickets: list[Ticket] = world["tickets"]
        self.search, self.draw = search, draw
        self.place = {ticket["id"]: number for number, ticket in enumerate(self.tickets)}
        self.names = team_names(self.rule_set)
        self.algorithm = self.rule_set.get("algorithm", {})
        self.waiting: list[Ticket] = []
        self.proposals: list[tuple[float, dict[str, Any], list[Ticket], bool]] = []
        self.asked = dict.fromkeys(self.place, 0)
        self.ended: dict[str, dict[str, Any]] = {}
        self.seen: set[str] = set()
        self.matches: list[dict[str, Any]] = []
        self.reviews = self.tick = 0

    def played(self) -> dict[str, Any]:
        """Play from the first moment to the horizon."""
        horizon, now = self.config["horizon"], -1.0
        while (moment := self.next_moment(now)) is not None and moment <= horizon:
            again, now = moment == now, moment
            self.at(now, again)
        for ticket in self.tickets:
            if ticket["id"] not in self.ended and ticket["time"] <= horizon:
                self.end(ticket, "SEARCHING", horizon)
        return {"matches": self.matches, "tickets": self.ended}

    def next_moment(self, now: float) -> float | None:
        """Return the next moment at which something may happen."""
        moments = [end for end, *_ in self.proposals]
        for ticket in self.tickets:
            moments += [ticket["time"], ticket["time"] + self.config["requestTimeoutSeconds"]]
            moments += [ticket["cancel"]] if ticket.get("cancel") is not None else []
            moments += [ticket["time"] + wait for wait in self.waits()]
        if (every := self.config.get("review", "changes")) != "changes":
            moments.append(self.tick * every)
        later = [moment for moment in moments if moment > now]
        # What is refused at once ends at the moment of its review, which is then gone through anew.
        later += [now for end, *_ in self.proposals if end <= now]
        return min(later, default=None)

    def waits(self) -> list[float]:
        """Return all ages of steps."""
        expansions = self.rule_set.get("expansions", [])
        return [step["waitTimeSeconds"] for one in expansions for step in one["steps"]]

    def at(self, now: float, again: bool) -> None:
        """Let happen what happens at a moment, or happens again as proposals end at once."""
        returned = self.end_proposals(now)
        self.waiting.sort(key=lambda one: self.place[one["id"]])
        for ticket in list(self.waiting):
            if ticket.get("cancel") is not None and ticket["cancel"] <= now:
                self.leave(ticket, "CANCELLED", now)
        for ticket in list(self.waiting):
            if ticket["time"] + self.config["requestTimeoutSeconds"] <= now:
                self.leave(ticket, "TIMED_OUT", now)
        joined = [one for one in self.tickets if one["time"] == now and one["id"] not in self.seen]
        for ticket in joined:
            self.seen.add(ticket["id"])
            if ticket.get("cancel") is not None and ticket["cancel"] <= now:
                self.end(ticket, "CANCELLED", now)
            else:
                self.waiting.append(ticket)
        self.waiting.sort(key=lambda one: (one["time"], self.place[one["id"]]))
        every = self.config.get("review", "changes")
        if every != "changes":
            due = now == self.tick * every
            self.tick += due
        else:
            stepping = not again and any(
                ticket["time"] + wait == now for ticket in self.waiting for wait in self.waits()
            )
            due = bool(joined or returned or stepping)
        if due:
            self.review(now)

    def leave(self, ticket: Ticket, status: str, now: float) -> None:
        self.waiting.remove(ticket)
        self.end(ticket, status, now)

    def end(self, ticket: Ticket, status: str, now: float) -> None:
        self.ended[ticket["id"]] = {"status": status, "time": now}

    def end_proposals(self, now: float) -> bool:
        """End proposals that are due; return whether a ticket waits again."""
        returned = False
        due = [one for one in self.proposals if one[0] <= now]
        self.proposals = [one for one in self.proposals if one[0] > now]
        for _, match, tickets, accepted in due:
            if accepted:
                self.complete(match, tickets, now)
                continue
            for ticket in tickets:
                answer = self.answer(ticket, self.asked[ticket["id"]] - 1)
                if answer and answer[1] and match["time"] + answer[0] <= now:
                    self.waiting.append(ticket)
                    returned = True
                else:
                    self.end(ticket, "CANCELLED", now)
        return returned

    def answer(self, ticket: Ticket, number: int) -> Any:  # noqa: ANN401
        """Return when and what a ticket answers to a proposal; None for never.

        Who says nothing of it accepts at once, as all do who play already.
        """
        answers = ticket.get("answers")
        if ticket.get("backfill") or answers is None or number >= len(answers):
            return [0, True]
        answer = answers[number]
        if answer is None or answer[0] > self.config["acceptanceTimeoutSeconds"]:
            return None
        return answer

    def propose(self, match: dict[str, Any], tickets: list[Ticket], now: float) -> None:
        """Make a match, or ask for it to be accepted."""
        limit = self.config.get("acceptanceTimeoutSeconds")
        answers = [self.answer(one, self.asked[one["id"]]) for one in tickets] if limit else []
        for ticket in tickets:
            self.waiting.remove(ticket)
            self.asked[ticket["id"]] += 1
        refused = [answer[0] for answer in answers if answer and not answer[1]]
        accepted = not refused and None not in answers
        wait = (
            min(refused, default=limit) if not accepted else max((a[0] for a in answers), default=0)
        )
        if accepted and wait == 0:
            self.complete(match, tickets, now)
        else:
            self.proposals.append((now + wait, match, tickets, accepted))

    def complete(self, match: dict[str, Any], tickets: list[Ticket], now: float) -> None:
        self.matches.append({**match, "time": now})
        for ticket in tickets:
            self.end(ticket, "COMPLETED", now)

    def review(self, now: float) -> None:
        """Repeat passes until one forms nothing."""
        passes = 0
        while self.one_pass(now, passes):
            passes += 1
            if passes == self.config.get("passes"):
                break
        self.reviews += 1

    def one_pass(self, now: float, number: int) -> int:
        """Let every ticket that is free be an anchor once; return how many matches were made."""
        made = 0
        for batch in self.batches(number):
            for anchor, others in self.anchors(batch):
                if anchor not in self.waiting:
                    continue
                free = [one for one in others if one in self.waiting and one is not anchor]
                match = self.best(anchor, self.in_order(anchor, free), now)
                if match:
                    made += 1
                    self.propose(self.described(match, anchor, now), match.tickets, now)
        return made

    def described(self, match: Match, anchor: Ticket, now: float) -> dict[str, Any]:
        """Return a match as answers have it."""
        match.tickets.sort(key=lambda one: self.place[one["id"]])
        return {
            "time": now,
            "anchor": anchor["id"],
            "tickets": [ticket["id"] for ticket in match.tickets],
            "teams": {
                name: sorted(player["id"] for player in team)
                for name, team in zip(self.names, match.teams, strict=True)
            },
        }

    def batches(self, number: int) -> list[list[Ticket]]:
        """Return the tickets that can be matched, in batches, each by age."""
        pool = [ticket for ticket in self.waiting if self.matchable(ticket)]
        size = self.config.get("batchSize")
        if not size:
            return [pool]
        if self.algorithm.get("batchingPreference") == "sorted":
            names = self.algorithm["sortByAttributes"]
            pool.sort(key=lambda one: tuple(self.sorting_value(one, name) for name in names))
        else:
            assert self.draw
            draw = self.draw
            pool.sort(key=lambda one: draw(self.reviews, number, self.place[one["id"]]))
        batches = [pool[start : start + size] for start in range(0, len(pool), size)]
        by_age = lambda one: (one["time"], self.place[one["id"]])  # noqa: E731
        return [sorted(batch, key=by_age) for batch in batches]

    def matchable(self, ticket: Ticket) -> bool:
        """Return whether all players of a ticket have all attributes."""
        return all(
            value_of(self.rule_set, player, attribute["name"]) is not None
            for player in ticket["players"]
            for attribute in self.rule_set.get("playerAttributes", [])
        )

    def sorting_value(self, ticket: Ticket, name: str) -> Any:  # noqa: ANN401
        """Return by what batches are sorted: of a party the average, of strings the smallest."""
        values = [value_of(self.rule_set, player, name) for player in ticket["players"]]
        return min(values) if isinstance(values[0], str) else sum(values) / len(values)

    def anchors(self, batch: list[Ticket]) -> Iterator[tuple[Ticket, list[Ticket]]]:
        """Yield the tickets of a batch in the order of anchors, with whom they try."""
        running = [ticket for ticket in batch if ticket.get("backfill")]
        new = [ticket for ticket in batch if not ticket.get("backfill")]
        priority = self.algorithm.get("backfillPriority", "normal")
        if self.algorithm.get("strategy") == "balanced":
            priority = "high"
        if priority == "normal":
            yield from ((ticket, batch) for ticket in batch)
        else:
            parts = [[(ticket, batch) for ticket in running], [(ticket, new) for ticket in new]]
            for part in parts if priority == "high" else parts[::-1]:
                yield from part

    def in_order(self, anchor: Ticket, others: list[Ticket]) -> list[Ticket]:
        """Return tickets in the order in which an anchor tries them."""
        if self.algorithm.get("strategy") == "balanced":
            name = self.algorithm["balancedAttribute"]
            rule = {"type": "distanceSort", "sortAttribute": name, "sortDirection": "ascending"}
            others = self.sorted_by(rule, anchor, others)
        for rule in reversed(self.rule_set.get("rules", [])):
            if rule["type"] in ("absoluteSort", "distanceSort"):
                others = self.sorted_by(rule, anchor, others)
        return others

    def sorted_by(self, rule: dict[str, Any], anchor: Ticket, others: list[Ticket]) -> list[Ticket]:
        """Return tickets by a sort; those without a value last."""
        own = self.sort_value(rule, anchor)
        key: Any = None
        if isinstance(own, dict):
            if not own:
                return others
            sign = 1 if rule["mapKey"] == "minValue" else -1
            key = min(own, key=lambda one: (sign * own[one], one))

        def by(ticket: Ticket) -> tuple[bool, float]:
            value = self.sort_value(rule, ticket)
            if isinstance(value, dict):
                value = value.get(key)
            if value is None:
                return True, 0.0
            if rule["type"] == "distanceSort":
                value = abs(value - (own if key is None else own[key]))
            return False, value if rule["sortDirection"] == "ascending" else -value

        return sorted(others, key=by)

    def sort_value(self, rule: dict[str, Any], ticket: Ticket) -> Any:  # noqa: ANN401
        """Return the value of a ticket that a sort sees: a number, or numbers by key."""
        party = FUNCTIONS[rule.get("partyAggregation", "avg")]
        name = rule["sortAttribute"]
        values = [value_of(self.rule_set, player, name) for player in ticket["players"]]
        if not isinstance(values[0], dict):
            return party(values)
        keys = {key for one in values for key in one}
        return {key: party([one[key] for one in values if key in one]) for key in keys}

    def best(self, anchor: Ticket, others: list[Ticket], now: float) -> Match | None:
        """Return the match that an anchor makes of others in their order, if any."""
        return (self.greedy if self.search == "pass" else self.searched)(anchor, others, now)

    def greedy(self, anchor: Ticket, others: list[Ticket], now: float) -> Match | None:
        """Add ticket after ticket to the first team that takes it; the last valid match counts."""
        match, last = Match(self.rule_set), None
        for ticket in [anchor, *others]:
            if ticket.get("backfill") and any(one.get("backfill") for one in match.tickets):
                continue
            grown = self.with_ticket(match, ticket, now)
            if grown is None:
                if ticket is anchor:
                    return None
                continue
            match = grown
            if self.is_valid(match, now):
                last = match.copy()
            if all(
                len(team) >= most
                for team, (_, most) in zip(match.teams, self.sizes(match.tickets, now), strict=True)
            ):
                break
        return last

    def with_ticket(self, match: Match, ticket: Ticket, now: float) -> Match | None:
        """Return a match with another ticket, None if no team takes it."""
        sizes = self.sizes([*match.tickets, ticket], now)
        teams: list[int | None] = [None]
        if not ticket.get("backfill"):
            rooms = [
                (len(team) >= least, len(team) - most, number)
                for number, (team, (least, most)) in enumerate(zip(match.teams, sizes, strict=True))
            ]
            teams = [number for *_, number in sorted(rooms)]
        for team in teams:
            grown = match.copy()
            grown.add(ticket, team)
            fits = all(
                len(after) <= most or len(after) == len(before)
                for before, after, (_, most) in zip(match.teams, grown.teams, sizes, strict=True)
            )
            if fits and not Judge(self.rule_set, grown, now, partial=True).refuses():
                return grown
        return None

    def sizes(self, tickets: Sequence[Ticket], now: float) -> list[tuple[int, int]]:
        """Return least and most players of each team at the age of some tickets."""
        born, found = born_of(self.rule_set, tickets), []
        for team in self.rule_set["teams"]:
            least, most = (
                stepped(self.rule_set, f"teams[{team['name']}].{key}", team[key], now, born)
                for key in ("minPlayers", "maxPlayers")
            )
            found += [(least, most)] * team.get("quantity", 1)
        return found

    def is_valid(self, match: Match, now: float) -> bool:
        """Return whether a match can be made."""
        running = sum(bool(ticket.get("backfill")) for ticket in match.tickets)
        if running > 1 or running == len(match.tickets):
            return False
        sizes = self.sizes(match.tickets, now)
        if any(
            not least <= len(team) <= most
            for team, (least, most) in zip(match.teams, sizes, strict=True)
        ):
            return False
        return not Judge(self.rule_set, match, now, partial=False).refuses()

    def searched(self, anchor: Ticket, others: list[Ticket], now: float) -> Match | None:
        """Return the best of all valid matches with an anchor.

        Most players; then lexicographically smallest places; then smallest numbers of teams.
        """
        found: tuple[Any, Match] | None = None
        for match, places, teams in self.every([anchor, *others]):
            if self.is_valid(match, now):
                key = (-sum(map(len, match.teams)), places, teams)
                if found is None or key < found[0]:
                    found = (key, match)
        return found[1] if found else None

    def every(self, tickets: list[Ticket]) -> Iterator[tuple[Match, list[int], list[int]]]:
        """Yield all matches with the first of some tickets, and the places of their tickets."""
        most = [
            max([team["maxPlayers"], *self.values(f"teams[{team['name']}].maxPlayers")])
            for team in self.rule_set["teams"]
            for _ in range(team.get("quantity", 1))
        ]

        def grow(match: Match, places: list[int], teams: list[int], at: int) -> Any:  # noqa: ANN401
            if at:
                yield match, places, teams
            for place in range(at, 1 if at == 0 else len(tickets)):
                ticket = tickets[place]
                own = [-1] if ticket.get("backfill") else range(len(self.names))
                for team in own:
                    grown = match.copy()
                    grown.add(ticket, None if team == -1 else team)
                    if all(len(one) <= limit for one, limit in zip(grown.teams, most, strict=True)):
                        yield from grow(grown, [*places, place], [*teams, team], place + 1)

        yield from grow(Match(self.rule_set), [], [], 0)

    def values(self, target: str) -> list[float]:
        """Return the values of the steps of a target."""
        expansions = self.rule_set.get("expansions", [])
        return [s["value"] for one in expansions if one["target"] == target for s in one["steps"]]
