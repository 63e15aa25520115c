"""Worlds of tickets, published and random with ties everywhere, and what is made of them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from valmatch.experiments.replay_result import Played
from valmatch.matching.tickets.columns import Search
from valmatch.matching.tickets.playing import play
from valmatch.matching.tickets.reading import WorldReading, read_world

World = dict[str, Any]

REGIONS = ("eu", "us", "ap")
LETTERS = ("m", "n", "o", "p")
NUMERIC = ("min", "max", "avg", "median", "sum", "stddev")

ATTRIBUTES = {
    "skill": "number",
    "level": "number",
    "mode": "string",
    "roles": "string_list",
    "likes": "string_number_map",
}


def reading_of(world: World) -> WorldReading:
    """Return a world as it is read."""
    reading, problems = read_world(json.dumps(world))
    assert reading is not None, problems
    return reading


def replay_of(world: World, search: Search, counted: bool = True) -> Played:
    """Return what the matchmaker makes of a world, with its verdicts counted or not."""
    reading = reading_of(world)
    return Played(reading, search, play(*reading[:3], search, counted=counted))


def answers_of(world: World, search: Search, counted: bool = True) -> dict[str, Any]:
    """Return the answers of the matchmaker to a world."""
    answers: dict[str, Any] = replay_of(world, search, counted).answers()
    return answers


LISTS_OF_TEXTS = (
    "set_intersection(flatten(teams[*].players.attributes[roles]))",
    "flatten(teams[*].players[playerId])",
    "flatten(set_intersection(teams[*].players.attributes[roles]))",
)


class Maker:
    """Makes one random world of so many tickets."""

    def __init__(self, seed: int, tickets: int) -> None:
        self.rng = random.Random(seed)
        self.tickets = tickets
        self.players = 0

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def world(self) -> World:
        """Return the world."""
        rng = self.rng
        self.teams = self.some_teams()
        rules = [rule for k in range(rng.randint(0, 4)) for rule in [self.rule(f"R{k}")] if rule]
        rules += self.compounds(rules)
        rule_set = {
            "ruleLanguageVersion": "1.0",
            "playerAttributes": [self.attribute(name) for name in ATTRIBUTES],
            "teams": self.teams,
            "rules": rules,
            "expansions": self.expansions(rules),
            "algorithm": self.algorithm(),
        }
        return {"ruleSet": rule_set, "config": self.config(), "tickets": self.all_tickets()}

    def some_teams(self) -> list[World]:
        rng, teams = self.rng, []
        for name in ("red", "blue", "green")[: rng.randint(1, 3)]:
            most = rng.randint(1, 3)
            team: World = {
                "name": name,
                "minPlayers": rng.randint(0 if self.chance(0.15) else 1, most),
                "maxPlayers": most,
            }
            if self.chance(0.2):
                team["quantity"] = 2
            teams.append(team)
        return teams

    def attribute(self, name: str) -> World:
        attribute: World = {"name": name, "type": ATTRIBUTES[name]}
        if not self.chance(0.1):
            attribute["default"] = self.value(name)
        return attribute

    def value(self, name: str) -> Any:  # noqa: ANN401
        rng = self.rng
        if ATTRIBUTES[name] == "number":
            return rng.choice([0, 1, 2, 3, 5, 8, 8, 12, 20])
        if ATTRIBUTES[name] == "string":
            return rng.choice("xyz"[: rng.randint(1, 3)])
        letters = [letter for letter in LETTERS if self.chance(0.5)]
        if ATTRIBUTES[name] == "string_list":
            return letters
        return {letter: rng.choice([10, 20, 30]) for letter in letters}

    def names(self) -> list[str]:
        """Return the names of single teams."""
        names: list[str] = []
        for team in self.teams:
            several = [f"{team['name']}_{k + 1}" for k in range(team.get("quantity", 1))]
            names += several if len(several) > 1 else [team["name"]]
        return names

    def some(self) -> str:
        """Return an expression of teams."""
        rng, names = self.rng, self.names()
        if self.chance(0.6):
            return "teams[*]"
        if self.chance(0.5) or len(names) == 1:
            return f"teams[{rng.choice([*names, self.teams[0]['name']])}]"
        return f"teams[{','.join(rng.sample(names, rng.randint(2, len(names))))}]"

    def is_single(self, teams: str) -> bool:
        inner = teams[6:-1]
        several = {team["name"] for team in self.teams if team.get("quantity", 1) > 1}
        return inner != "*" and "," not in inner and inner not in several

    def of_values(self, name: str, depth: int) -> str:
        """Return an expression of the values of an attribute, of a number of levels, 1 or 2."""
        teams = self.some()
        text = f"{teams}.players.attributes[{name}]"
        if self.is_single(teams):
            return text
        return f"flatten({text})" if depth == 1 or self.chance(0.5) else text

    def number(self) -> str:
        """Return an expression of a number."""
        rng, function = self.rng, self.rng.choice(NUMERIC)
        teams = self.some()
        base = f"{teams}.players.attributes[{rng.choice(['skill', 'level'])}]"
        if self.chance(0.2):
            base, function = f"{teams}.players", "count"
        if self.chance(0.1):
            base, function = f"set_intersection({teams}.players.attributes[roles])", "count"
        if self.is_single(teams):
            return f"{function}({base})"
        if self.chance(0.5) and "set_intersection" not in base:
            return f"{function}(flatten({base}))"
        return f"{rng.choice(NUMERIC)}({function}({base}))"

    def measure(self) -> str:
        """Return an expression of numbers, of any depth."""
        if self.chance(0.5):
            return self.of_values(self.rng.choice(["skill", "level"]), 2)
        if self.chance(0.3):
            return f"{self.rng.choice(NUMERIC)}(teams[*].players.attributes[skill])"
        return self.number()

    def rule(self, name: str) -> World:
        kinds = ("distance", "comparison", "collection", "latency", "batchDistance", "sort")
        kind = self.rng.choice(kinds)
        rule: World = {"name": name, "type": kind}
        getattr(self, f"make_{kind}")(rule)
        return rule

    def make_distance(self, rule: World) -> None:
        rule["measurements"] = [self.measure() for _ in range(self.rng.randint(1, 2))]
        rule["referenceValue"] = self.number() if self.chance(0.8) else 5
        if self.chance(0.8):
            rule["maxDistance"] = self.rng.choice([2, 4, "8", 12])
        if self.chance(0.2) or "maxDistance" not in rule:
            rule["minDistance"] = self.rng.choice([0, 1])

    def make_comparison(self, rule: World) -> None:
        rng = self.rng
        if self.chance(0.5):
            rule["measurements"] = [self.of_values(rng.choice(["skill", "mode"]), 2)]
            rule["operation"] = rng.choice(["=", "!="])
        elif self.chance(0.3):
            rule["measurements"] = [self.of_values("mode", 2)]
            rule |= {"operation": rng.choice(["=", "!="]), "referenceValue": rng.choice("xyw")}
        else:
            rule["measurements"] = [self.measure()]
            rule["operation"] = rng.choice(["<", "<=", "=", "!=", ">", ">="])
            rule["referenceValue"] = self.number() if self.chance(0.5) else rng.choice([1, 3, 8])

    def make_collection(self, rule: World) -> None:
        rng = self.rng
        rule["operation"] = rng.choice(["contains", "intersection", "reference_intersection_count"])
        teams = self.some()
        roles = f"{teams}.players.attributes[roles]"
        flat = not self.is_single(teams) and self.chance(0.5)
        rule["measurements"] = [f"flatten({roles})" if flat else roles]
        if rule["operation"] == "contains":
            rule["referenceValue"] = rng.choice([*LETTERS, "none"])
        elif rule["operation"] == "reference_intersection_count":
            rule["referenceValue"] = rng.choice(LISTS_OF_TEXTS)
        if self.chance(0.6):
            rule["minCount"] = rng.randint(0, 1)
        if self.chance(0.5) or "minCount" not in rule:
            rule["maxCount"] = rng.randint(0, 3)

    def make_latency(self, rule: World) -> None:
        rng = self.rng
        if self.chance(0.8):
            rule["maxLatency"] = rng.choice([40, 60, 80])
        if self.chance(0.3) or "maxLatency" not in rule:
            rule |= {
                "maxDistance": rng.choice([10, 30]),
                "distanceReference": rng.choice(["min", "avg"]),
            }
        self.maybe_party(rule)

    def maybe_party(self, rule: World) -> None:
        if self.chance(0.6):
            rule["partyAggregation"] = self.rng.choice(["avg", "min", "max"])

    def make_batchDistance(self, rule: World) -> None:  # noqa: N802
        rule["batchAttribute"] = self.rng.choice(["skill", "mode", "level"])
        if rule["batchAttribute"] != "mode":
            rule["maxDistance"] = self.rng.choice([3, "7", 12])
        self.maybe_party(rule)

    def make_sort(self, rule: World) -> None:
        rng = self.rng
        rule["type"] = rng.choice(["absoluteSort", "distanceSort"])
        rule["sortDirection"] = rng.choice(["ascending", "descending"])
        rule["sortAttribute"] = rng.choice(["skill", "likes"])
        if rule["sortAttribute"] == "likes":
            rule["mapKey"] = rng.choice(["minValue", "maxValue"])
        self.maybe_party(rule)

    def compounds(self, rules: list[World]) -> list[World]:
        names = [rule["name"] for rule in rules if rule["type"] != "batchDistance"]
        if not names or not self.chance(0.35):
            return []
        found = [{"name": "C0", "type": "compound", "statement": self.statement(names, 2)}]
        if self.chance(0.3):
            more = self.statement([*names, "C0"], 1)
            found.append({"name": "C1", "type": "compound", "statement": more})
        return found

    def statement(self, names: list[str], depth: int) -> str:
        if depth == 0 or self.chance(0.3):
            return self.rng.choice(names)
        if self.chance(0.2):
            return f"not({self.statement(names, depth - 1)})"
        one, other = (self.statement(names, depth - 1) for _ in range(2))
        return f"{self.rng.choice(['and', 'or', 'xor'])}({one}, {other})"

    def expansions(self, rules: list[World]) -> list[World]:
        targets: dict[str, list[Any]] = {}
        for rule in rules:
            for key in ("maxDistance", "maxLatency", "maxCount", "minCount"):
                if key in rule:
                    values = [0, 1, 2, 4, 20] if "Count" in key else [1, 10, 30, 90]
                    targets[f"rules[{rule['name']}].{key}"] = values
            if "minDistance" in rule:
                targets[f"rules[{rule['name']}].minDistance"] = [0, 1, 4]
            if "referenceValue" in rule:
                targets[f"rules[{rule['name']}].referenceValue"] = self.references(rule)
        for team in self.teams:
            targets[f"teams[{team['name']}].minPlayers"] = list(range(team["maxPlayers"] + 1))
            targets[f"teams[{team['name']}].maxPlayers"] = [1, 2, 3, 4]
        chosen = self.rng.sample(sorted(targets), min(len(targets), self.rng.randint(0, 3)))
        return [
            {
                "target": target,
                "steps": [
                    {"waitTimeSeconds": wait, "value": self.rng.choice(targets[target])}
                    for wait in sorted(self.rng.sample([2, 4, 5, 9, 15], self.rng.randint(1, 3)))
                ],
            }
            for target in chosen
        ]

    def references(self, rule: World) -> list[Any]:
        """Return what a rule may be held against at later ages: of the kind that it has."""
        if rule["type"] == "collection":
            contains = rule["operation"] == "contains"
            return [*LETTERS, "none"] if contains else list(LISTS_OF_TEXTS)
        if rule["referenceValue"] in list("xyw"):
            return list("xyw")
        return [1, 3, 8, self.number()]

    def algorithm(self) -> World:
        rng = self.rng
        algorithm: World = {
            "expansionAgeSelection": rng.choice(["newest", "oldest"]),
            "backfillPriority": rng.choice(["normal", "high", "low"]),
        }
        if self.chance(0.4):
            names = rng.sample(["skill", "mode"], rng.randint(1, 2))
            algorithm |= {"batchingPreference": "sorted", "sortByAttributes": names}
        elif self.chance(0.1):
            algorithm = {"strategy": "balanced", "balancedAttribute": "skill"}
        return algorithm

    def config(self) -> World:
        rng = self.rng
        config: World = {"requestTimeoutSeconds": rng.choice([8, 12, 20]), "horizon": 40}
        if self.chance(0.5):
            config["review"] = rng.choice([1, 2.5, 4])
        if self.chance(0.4):
            config["batchSize"] = rng.randint(2, 4)
        if self.chance(0.1):
            config["passes"] = 1
        if self.chance(0.3):
            config["acceptanceTimeoutSeconds"] = 3
        config["seed"] = rng.randint(0, 3)
        return config

    def all_tickets(self) -> list[World]:
        rng = self.rng
        times = sorted(rng.randint(0, 4 * self.tickets) / 2 for _ in range(self.tickets))
        return [self.ticket(f"t{k}", time) for k, time in enumerate(times)]

    def ticket(self, name: str, time: float) -> World:
        rng = self.rng
        size = rng.choice([1, 1, 1, 1, 2, 2, 3])
        ticket: World = {"id": name, "time": time, "players": [self.player() for _ in range(size)]}
        if self.chance(0.15):
            ticket["backfill"] = True
            for player in ticket["players"]:
                player["team"] = rng.choice(self.names())
        if self.chance(0.1):
            ticket["cancel"] = time + rng.choice([0, 1, 3, 6.5])
        if self.chance(0.4):
            ticket["answers"] = [
                rng.choice(
                    [None, [1, True], [2, True], [0, True], [1, False], [0, False], [4, True]]
                )
                for _ in range(rng.randint(0, 2))
            ]
        return ticket

    def player(self) -> World:
        self.players += 1
        attributes = {name: self.value(name) for name in ATTRIBUTES if not self.chance(0.1)}
        player: World = {"id": f"p{self.players}", "attributes": attributes}
        if self.chance(0.95):
            player["latency"] = {
                region: self.rng.choice([20, 40, 41, 60, 90])
                for region in REGIONS
                if self.chance(0.9)
            }
        return player


def random_world(seed: int, tickets: int = 8) -> World:
    """Return a random world; in one of five each player counts in latency rules."""
    world = Maker(seed, tickets).world()
    if seed % 5 == 0:
        world["config"]["latencyOf"] = "player"
    return world


def in_tenths(world: World) -> World:
    """Return a world with values and distances divided by ten, so that rounding decides."""

    def tenth(value: Any) -> float:  # noqa: ANN401
        return float(value) / 10

    numbers = ("skill", "level")
    for attribute in world["ruleSet"]["playerAttributes"]:
        if attribute["name"] in numbers and "default" in attribute:
            attribute["default"] = tenth(attribute["default"])
    for ticket in world["tickets"]:
        for player in ticket["players"]:
            own = player["attributes"]
            own |= {name: tenth(own[name]) for name in numbers if name in own}
    rules = world["ruleSet"]["rules"]
    kinds = {rule["name"]: rule["type"] for rule in rules}
    for rule in rules:
        if rule["type"] in ("distance", "batchDistance", "comparison"):
            for key in ("maxDistance", "minDistance", "referenceValue"):
                if key in rule and (key != "referenceValue" or not isinstance(rule[key], str)):
                    rule[key] = tenth(rule[key])
    for expansion in world["ruleSet"]["expansions"]:
        target = expansion["target"].removeprefix("rules[").partition("]")[0]
        if kinds.get(target) in ("distance", "batchDistance", "comparison"):
            for step in expansion["steps"]:
                if not isinstance(step["value"], str):
                    step["value"] = tenth(step["value"])
    return world


def plain_world(seed: int, tickets: int = 8) -> World:
    """Return a random world in one batch and by age: anchors go on from what they have kept."""
    world = Maker(seed, tickets).world()
    world["config"].pop("batchSize", None)
    left: set[str] = set()
    kept = []
    for rule in world["ruleSet"]["rules"]:
        if "Sort" in rule["type"] or any(name in rule.get("statement", "") for name in left):
            left.add(rule["name"])
        else:
            kept.append(rule)
    world["ruleSet"]["rules"] = kept
    return world


def team(name: str, least: int, most: int, **more: object) -> World:
    """Return a team."""
    return {"name": name, "minPlayers": least, "maxPlayers": most, **more}


def solo(number: int, time: float = 0.0, **attributes: Any) -> World:  # noqa: ANN401
    """Return a ticket of one player."""
    player = {"id": f"p{number}", "attributes": attributes}
    return {"id": f"t{number}", "time": time, "players": [player]}


def party(number: int, players: Sequence[World], time: float = 0.0) -> World:
    """Return a ticket of several players, given their attributes."""
    named = [
        {"id": f"p{number}{chr(97 + k)}", "attributes": attributes}
        for k, attributes in enumerate(players)
    ]
    return {"id": f"t{number}", "time": time, "players": named}


def world(teams: Sequence[World], tickets: Sequence[World], **rule_set: Any) -> World:  # noqa: ANN401
    """Return a world with a review at every change."""
    config = {"requestTimeoutSeconds": rule_set.pop("timeout", 100), "horizon": 200}
    return {
        "ruleSet": {"ruleLanguageVersion": "1.0", "teams": list(teams), **rule_set},
        "config": config,
        "tickets": list(tickets),
    }


def ages(age: str, *steps: tuple[float, int]) -> World:
    """Return the world of the thread on ages: four of four, fewer after some seconds."""
    listed = [{"waitTimeSeconds": wait, "value": value} for wait, value in steps]
    return world(
        [team("players", 4, 4)],
        [solo(1, 0.0), solo(2, 10.0)],
        expansions=[{"target": "teams[players].minPlayers", "steps": listed}],
        algorithm={"expansionAgeSelection": age},
    )


def distance(maximum: float) -> World:
    """Return the rule of the published example 1."""
    return {
        "name": "FairTeamSkill",
        "type": "distance",
        "measurements": ["avg(teams[*].players.attributes[skill])"],
        "referenceValue": "avg(flatten(teams[*].players.attributes[skill]))",
        "maxDistance": maximum,
    }


SKILL = [{"name": "skill", "type": "number"}]
