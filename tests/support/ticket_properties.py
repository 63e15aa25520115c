"""What must hold of the answers to a world, whatever the order of search.

C1 everybody ends once, when it can be; C2 matches are made at reviews, of tickets that wait then;
C3 parties are whole, sizes and rules hold at the match's own age; C4 the anchor is in the match; C5
nobody waits beyond the timeout. Of exhaustive searches: C6 no valid match is left after a review;
C7 there is no larger one with that anchor; C8 no older ticket could have been the anchor.

Rules are judged here by code of its own, which shares none with the matchmaker nor with its twin.
"""

from __future__ import annotations

import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median, pstdev
from typing import Any

World = dict[str, Any]
Sides = dict[str, list[World]]

UNDEFINED = object()


COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

STATISTICS: dict[str, Callable[[list[float]], float]] = {
    "min": min,
    "max": max,
    "avg": fmean,
    "median": median,
    "stddev": pstdev,
}


def statistic(name: str, numbers: list[float]) -> Any:  # noqa: ANN401
    """Return a statistic of numbers; of none it is undefined, but for sum and count."""
    if name in ("count", "sum"):
        return len(numbers) if name == "count" else math.fsum(numbers)
    return STATISTICS[name](numbers) if numbers else UNDEFINED


class Rules:
    """The rules of one rule set, for one match at one moment."""

    def __init__(self, rule_set: World, sides: Sides, parties: list[World], now: float) -> None:
        self.rule_set, self.sides, self.parties, self.now = rule_set, sides, parties, now
        times = [party["time"] for party in parties]
        oldest = rule_set["algorithm"].get("expansionAgeSelection") == "oldest"
        self.age = now - (min(times) if oldest else max(times))
        self.steps = {one["target"]: one["steps"] for one in rule_set["expansions"]}
        self.kinds = {one["name"]: one for one in rule_set["playerAttributes"]}

    def current(self, target: str, value: Any) -> Any:  # noqa: ANN401
        """Return the value that holds at the age of the match."""
        for step in self.steps.get(target, []):
            value = step["value"] if self.age >= step["waitTimeSeconds"] else value
        return value

    def attribute(self, player: World, name: str) -> Any:  # noqa: ANN401
        return player["attributes"].get(name, self.kinds[name].get("default"))

    def compute(self, text: str) -> tuple[int, Any]:
        """Return depth and value of an expression."""
        *functions, base = re.split(r"\(", text.replace(")", ""))
        picked = re.match(r"teams\[(.*?)\]", base)
        assert picked
        names = list(self.sides) if picked[1] == "*" else self.named(picked[1])
        rest = base[picked.end() :]
        value: Any = [[self.member(player, rest) for player in self.sides[name]] for name in names]
        depth = 3 if self.kinds.get(rest[20:-1], {}).get("type") == "string_list" else 2
        if picked[1] != "*" and len(names) == 1:
            depth, value = depth - 1, value[0]
        for function in reversed(functions):
            value = self.apply(function, depth, value)
            depth -= 1
        return depth, value

    def named(self, names: str) -> list[str]:
        found = []
        for name in names.split(","):
            found += [one for one in self.sides if one == name or re.fullmatch(f"{name}_\\d+", one)]
        return found

    def member(self, player: World, rest: str) -> Any:  # noqa: ANN401
        if rest.startswith(".players.attributes["):
            return self.attribute(player, rest[20:-1])
        return player["id"]

    def apply(self, function: str, depth: int, value: Any) -> Any:  # noqa: ANN401
        if value is UNDEFINED:
            return UNDEFINED
        if function == "flatten":
            return list(itertools.chain(*(one for one in value if one is not UNDEFINED)))
        stop = 2 if function == "set_intersection" else 1
        if depth > stop:
            return [self.apply(function, depth - 1, one) for one in value]
        known = [one for one in value if one is not UNDEFINED]
        if function == "set_intersection":
            return sorted(set.intersection(*map(set, known))) if known else UNDEFINED
        return statistic(function, known)

    def atoms(self, value: Any) -> Iterator[Any]:  # noqa: ANN401
        if isinstance(value, list):
            for one in value:
                yield from self.atoms(one)
        elif value is not UNDEFINED:
            yield value

    def lists(self, depth: int, value: Any, wanted: int) -> Iterator[list[Any]]:  # noqa: ANN401
        """Yield the lists of a number of levels that a value consists of."""
        if value is UNDEFINED:
            return
        if depth == wanted:
            yield value
        else:
            for one in value:
                yield from self.lists(depth - 1, one, wanted)

    def all_hold(self) -> bool:
        """Return whether every rule holds that has to."""
        rules = self.rule_set["rules"]
        inside = " ".join(rule.get("statement", "") for rule in rules)
        taken = set(re.findall(r"\w+", inside))
        return all(self.holds(rule) for rule in rules if rule["name"] not in taken)

    def holds(self, rule: World) -> bool:
        name, kind = rule["name"], rule["type"]
        now = {
            key: self.current(f"rules[{name}].{key}", value)
            for key, value in rule.items()
            if key.startswith(("min", "max"))
        }
        low = float(now.get("minDistance", now.get("minCount", 0)))
        high = float(now.get("maxDistance", now.get("maxCount", math.inf)))
        if kind in ("distance", "comparison"):
            return self.of_numbers(rule, low, high)
        if kind == "collection":
            return all(low <= count <= high for count in self.counted(rule))
        if kind == "latency":
            return self.within_reach(rule, now)
        if kind == "batchDistance":
            return self.close(rule, high)
        return kind.endswith("Sort") or self.logic(rule["statement"])

    def reference(self, rule: World) -> Any:  # noqa: ANN401
        value = self.current(f"rules[{rule['name']}].referenceValue", rule["referenceValue"])
        if isinstance(value, str) and "teams[" in value:
            return self.compute(value)[1]
        return value

    def of_numbers(self, rule: World, low: float, high: float) -> bool:
        measured = [self.compute(text) for text in rule["measurements"]]
        if "referenceValue" not in rule:
            for depth, value in measured:
                for one in self.lists(depth, value, 1):
                    known = [x for x in one if x is not UNDEFINED]
                    distinct = len(set(known))
                    if distinct > 1 if rule["operation"] == "=" else distinct < len(known):
                        return False
            return True
        reference = self.reference(rule)
        if reference is UNDEFINED:
            return True
        values = [x for _, value in measured for x in self.atoms(value)]
        if rule["type"] == "distance":
            return all(low <= abs(x - reference) <= high for x in values)
        holds = COMPARISONS[rule["operation"]]
        return all(holds(x, reference) for x in values)

    def counted(self, rule: World) -> Iterator[int]:
        reference: Any = self.reference(rule) if "referenceValue" in rule else None
        if reference is UNDEFINED:
            return
        for text in rule["measurements"]:
            depth, value = self.compute(text)
            for group in self.lists(depth, value, 2):
                known = [set(one) for one in group if one is not UNDEFINED]
                if rule["operation"] == "contains":
                    yield len([one for one in known if reference in one])
                elif rule["operation"] == "intersection":
                    yield from [len(set.intersection(*known))] if known else []
                else:
                    yield from (len(one.intersection(reference)) for one in known)

    def within_reach(self, rule: World, now: World) -> bool:
        """Return whether there is a region for all."""
        party = rule.get("partyAggregation", "avg")
        every = [player.get("latency", {}) for one in self.parties for player in one["players"]]
        for region in {key for one in every for key in one}:
            if not all(region in one for one in every):
                continue
            tickets = [
                statistic(party, [player["latency"][region] for player in one["players"]])
                for one in self.parties
            ]
            if self.rule_set["latencyOf"] == "player":
                tickets = [one[region] for one in every]
            middle = statistic(rule.get("distanceReference", "avg"), [one[region] for one in every])
            if max(tickets) <= now.get("maxLatency", math.inf) and all(
                abs(one - middle) <= now.get("maxDistance", math.inf) for one in tickets
            ):
                return True
        return False

    def close(self, rule: World, high: float) -> bool:
        name = rule["batchAttribute"]
        own = [[self.attribute(p, name) for p in party["players"]] for party in self.parties]
        if self.kinds[name]["type"] == "string":
            return len(set(itertools.chain(*own))) == 1
        values = [statistic(rule.get("partyAggregation", "avg"), one) for one in own]
        return bool(max(values) - min(values) <= high)

    def logic(self, statement: str) -> bool:
        """Return the value of a statement, by Python's own operators."""
        rules = {rule["name"]: rule for rule in self.rule_set["rules"]}
        known: World = {
            name: self.holds(rules[name]) for name in re.findall(r"\b[RC]\d+", statement)
        }
        known |= {
            "and_": lambda a, b: a and b,
            "or_": lambda a, b: a or b,
            "xor_": lambda a, b: a != b,
            "not_": lambda a: not a,
        }
        text = re.sub(r"\b(and|or|xor|not)\b", r"\1_", statement)
        return bool(eval(text, {"__builtins__": {}}, known))


class Checker:
    """Checks the answers to one world."""

    def __init__(self, world: World, search: str, answers: World) -> None:
        self.config = world["config"]
        # Whose latency counts is no part of a rule set, but its rules are judged by it.
        self.rule_set = {**world["ruleSet"], "latencyOf": self.config.get("latencyOf")}
        self.tickets = {one["id"]: one for one in world["tickets"]}
        self.search, self.answers = search, answers
        self.teams = {}
        for team in self.rule_set["teams"]:
            count = team.get("quantity", 1)
            for k in range(count):
                self.teams[team["name"] + (f"_{k + 1}" if count > 1 else "")] = team
        self.proposing = bool(self.config.get("acceptanceTimeoutSeconds"))

    def check(self) -> None:
        """Raise where something does not hold."""
        self.endings()
        for match in self.answers["matches"]:
            self.match(match)
        if self.search == "exhaustive" and self.is_plain():
            self.reviews()

    def is_plain(self) -> bool:
        """Return whether nothing but the rules says who may be matched with whom."""
        normal = self.rule_set["algorithm"].get("backfillPriority", "normal") == "normal"
        large = "strategy" in self.rule_set["algorithm"]
        cut = self.config.get("batchSize") or self.config.get("passes")
        return normal and not (large or cut or self.proposing)

    def endings(self) -> None:
        """C1 and C5."""
        horizon, limit = self.config["horizon"], self.config["requestTimeoutSeconds"]
        ended = self.answers["tickets"]
        assert set(ended) == {k for k, one in self.tickets.items() if one["time"] <= horizon}
        matched = [k for match in self.answers["matches"] for k in match["tickets"]]
        completed = [k for k, end in ended.items() if end["status"] == "COMPLETED"]
        assert sorted(matched) == sorted(completed)
        slack = self.config.get("acceptanceTimeoutSeconds") or 0
        for name, end in ended.items():
            ticket, status, time = self.tickets[name], end["status"], end["time"]
            assert ticket["time"] <= time <= horizon
            if status != "SEARCHING":
                assert time <= ticket["time"] + limit + slack
            if status == "TIMED_OUT":
                assert time >= ticket["time"] + limit
                assert self.proposing or time == ticket["time"] + limit
            if status == "CANCELLED" and not self.proposing:
                assert time == max(ticket["cancel"], ticket["time"])
            if status == "SEARCHING":
                assert time == horizon

    def moments(self) -> set[float]:
        """Return when there may be reviews, where nobody returns."""
        every = self.config.get("review", "changes")
        if every != "changes":
            return {every * k for k in range(int(self.config["horizon"] / every) + 1)}
        steps = [
            step["waitTimeSeconds"] for one in self.rule_set["expansions"] for step in one["steps"]
        ]
        return {one["time"] + wait for one in self.tickets.values() for wait in (0, *steps)}

    def match(self, match: World) -> None:
        """C2, C3 and C4."""
        parties = [self.tickets[name] for name in match["tickets"]]
        assert match["anchor"] in match["tickets"]
        home = {player: side for side, own in match["teams"].items() for player in own}
        assert sorted(home) == sorted(p["id"] for one in parties for p in one["players"])
        for party in parties:
            sides = {home[player["id"]] for player in party["players"]}
            if party.get("backfill"):
                assert all(home[p["id"]] == p["team"] for p in party["players"])
            else:
                assert len(sides) == 1
        if self.proposing:
            return
        assert match["time"] in self.moments()
        for party in parties:
            assert (
                party["time"]
                <= match["time"]
                < party["time"] + self.config["requestTimeoutSeconds"]
            )
        players = {p["id"]: p for one in parties for p in one["players"]}
        sides_ = {side: [players[k] for k in own] for side, own in match["teams"].items()}
        assert self.is_valid(sides_, parties, match["time"])

    def is_valid(self, sides: Sides, parties: list[World], now: float) -> bool:
        """Return whether a match may be made."""
        running = [party for party in parties if party.get("backfill")]
        if len(running) > 1 or len(running) == len(parties):
            return False
        rules = Rules(self.rule_set, sides, parties, now)
        for side, own in sides.items():
            target, team = f"teams[{self.teams[side]['name']}]", self.teams[side]
            least = rules.current(f"{target}.minPlayers", team["minPlayers"])
            most = rules.current(f"{target}.maxPlayers", team["maxPlayers"])
            if not least <= len(own) <= most:
                return False
        return rules.all_hold()

    def can_match(self, ticket: World) -> bool:
        """Return whether all players of a ticket have all attributes."""
        needed = [one["name"] for one in self.rule_set["playerAttributes"] if "default" not in one]
        return all(name in p["attributes"] for p in ticket["players"] for name in needed)

    def possible(self, pool: Sequence[World], now: float) -> Iterator[tuple[list[World], int]]:
        """Yield the tickets and numbers of players of all valid matches of a pool."""
        for size in range(1, len(pool) + 1):
            for chosen in itertools.combinations(pool, size):
                players = sum(len(one["players"]) for one in chosen)
                places = [[""] if one.get("backfill") else list(self.teams) for one in chosen]
                for homes in itertools.product(*places):
                    sides: Sides = {side: [] for side in self.teams}
                    for one, place in zip(chosen, homes, strict=True):
                        for player in one["players"]:
                            sides[place or player["team"]].append(player)
                    if self.is_valid(sides, list(chosen), now):
                        yield list(chosen), players
                        break

    def reviews(self) -> None:
        """C6, C7 and C8."""
        ended = self.answers["tickets"]
        order = list(self.tickets)
        for now in sorted(self.moments()):
            made = [match for match in self.answers["matches"] if match["time"] == now]
            free = [
                one
                for name, one in self.tickets.items()
                if one["time"] <= now
                and (ended[name]["time"] > now or any(name in m["tickets"] for m in made))
                and self.can_match(one)
            ]
            for match in made:
                found = list(self.possible(free, now))
                anchor = match["anchor"]
                with_anchor = [n for own, n in found if anchor in [one["id"] for one in own]]
                size = sum(len(self.tickets[name]["players"]) for name in match["tickets"])
                assert size == max(with_anchor)
                first = min(order.index(one["id"]) for own, _ in found for one in own)
                assert order.index(anchor) == first
                free = [one for one in free if one["id"] not in match["tickets"]]
            assert not list(self.possible(free, now))
