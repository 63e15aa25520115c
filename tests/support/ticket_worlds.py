"""Worlds of tickets, published and random with ties everywhere, and what is made of them."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from valmatch.experiments.replay import Played
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
        self.rng = rng = random.Random(seed)
        self.tickets, self.players = tickets, 0
        self.teams = [
            {
                "name": name,
                "minPlayers": rng.randint(int(rng.random() > 0.15), most),
                "maxPlayers": most,
                **self.maybe(0.2, quantity=2),
            }
            for name in ("red", "blue", "green")[: rng.randint(1, 3)]
            for most in [rng.randint(1, 3)]
        ]
        self.names = [
            team["name"] + (f"_{k + 1}" if "quantity" in team else "")
            for team in self.teams
            for k in range(team.get("quantity", 1))
        ]

    def maybe(self, share: float, **keys: Any) -> World:  # noqa: ANN401
        """Return keys in a share of the cases, else none."""
        return keys if self.rng.random() < share else {}

    def either(self, first: World, second: World) -> World:
        """Return one or the other, or both."""
        return self.rng.choice((first, first, second, {**first, **second}))

    def world(self) -> World:
        """Return the world."""
        rng = self.rng
        rules = [self.rule(f"R{k}") for k in range(rng.randint(0, 4))]
        rules += self.compounds(rules)
        rule_set = {
            "ruleLanguageVersion": "1.0",
            "playerAttributes": [
                {"name": name, "type": kind, **self.maybe(0.9, default=self.value(name))}
                for name, kind in ATTRIBUTES.items()
            ],
            "teams": self.teams,
            "rules": rules,
            "expansions": self.expansions(rules),
            "algorithm": self.algorithm(),
        }
        config = {
            "requestTimeoutSeconds": rng.choice([8, 12, 20]),
            "horizon": 40,
            **self.maybe(0.5, review=rng.choice([1, 2.5, 4])),
            **self.maybe(0.4, batchSize=rng.randint(2, 4)),
            **self.maybe(0.1, passes=1),
            **self.maybe(0.3, acceptanceTimeoutSeconds=3),
            "seed": rng.randint(0, 3),
        }
        times = sorted(rng.randint(0, 4 * self.tickets) / 2 for _ in range(self.tickets))
        tickets = [self.ticket(f"t{k}", time) for k, time in enumerate(times)]
        return {"ruleSet": rule_set, "config": config, "tickets": tickets}

    def value(self, name: str) -> Any:  # noqa: ANN401
        rng, letters = self.rng, [letter for letter in LETTERS if self.rng.random() < 0.5]
        return {
            "number": rng.choice([0, 1, 2, 3, 5, 8, 8, 12, 20]),
            "string": rng.choice("xxxyyz"),
            "string_list": letters,
            "string_number_map": {letter: rng.choice([10, 20, 30]) for letter in letters},
        }[ATTRIBUTES[name]]

    def some_teams(self) -> tuple[str, bool]:
        """Return an expression of teams, and whether it is of a single one."""
        rng, names, kind = self.rng, self.names, self.rng.random()
        if kind < 0.6:
            return "teams[*]", False
        if kind < 0.8 or len(names) == 1:
            name = rng.choice([*names, self.teams[0]["name"]])
            return f"teams[{name}]", name in names
        return f"teams[{','.join(rng.sample(names, rng.randint(2, len(names))))}]", False

    def values(self, *attributes: str) -> str:
        """Return an expression of the values of an attribute, flat or by team."""
        teams, single = self.some_teams()
        text = f"{teams}.players.attributes[{self.rng.choice(attributes)}]"
        return text if single or self.rng.random() < 0.5 else f"flatten({text})"

    def number(self) -> str:
        """Return an expression of a number."""
        rng, (teams, single) = self.rng, self.some_teams()
        attribute = f"{teams}.players.attributes[{rng.choice(['skill', 'level'])}]"
        values, counted = [(attribute, rng.choice(NUMERIC))], [(f"{teams}.players", "count")]
        shared = [(f"set_intersection({teams}.players.attributes[roles])", "count")]
        base, function = rng.choice(values * 7 + counted * 2 + shared)
        if single:
            return f"{function}({base})"
        if "set_intersection" not in base and rng.random() < 0.5:
            return f"{function}(flatten({base}))"
        return f"{rng.choice(NUMERIC)}({function}({base}))"

    def measure(self) -> str:
        """Return an expression of numbers, of any depth."""
        by_team = f"{self.rng.choice(NUMERIC)}(teams[*].players.attributes[skill])"
        values = self.values("skill", "level")
        return self.rng.choice([values, values, values, by_team, self.number(), self.number()])

    def rule(self, name: str) -> World:
        kinds = ("distance", "comparison", "collection", "latency", "batchDistance", "sort")
        kind = self.rng.choice(kinds)
        return {"name": name, "type": kind, **getattr(self, f"of_{kind}")()}

    def of_distance(self) -> World:
        rng = self.rng
        return {
            "measurements": [self.measure() for _ in range(rng.randint(1, 2))],
            "referenceValue": rng.choice([self.number()] * 4 + [5]),
            **self.either(
                {"maxDistance": rng.choice([2, 4, "8", 12])}, {"minDistance": rng.choice([0, 1])}
            ),
        }

    def of_comparison(self) -> World:
        rng, same = self.rng, {"operation": self.rng.choice(["=", "!="])}
        return rng.choice(
            [
                {"measurements": [self.values("skill", "mode")], **same},
                {
                    "measurements": [self.values("mode")],
                    **same,
                    "referenceValue": rng.choice("xyw"),
                },
                {
                    "measurements": [self.measure()],
                    "operation": rng.choice(["<", "<=", "=", "!=", ">", ">="]),
                    "referenceValue": rng.choice([self.number(), rng.choice([1, 3, 8])]),
                },
            ]
        )

    def of_collection(self) -> World:
        rng = self.rng
        kind = rng.choice(["contains", "intersection", "reference_intersection_count"])
        references: World = {
            "contains": {"referenceValue": rng.choice([*LETTERS, "none"])},
            "reference_intersection_count": {"referenceValue": rng.choice(LISTS_OF_TEXTS)},
        }
        return {
            "operation": kind,
            "measurements": [self.values("roles")],
            **references.get(kind, {}),
            **self.either({"maxCount": rng.randint(0, 3)}, {"minCount": rng.randint(0, 1)}),
        }

    def party(self) -> World:
        return self.maybe(0.6, partyAggregation=self.rng.choice(["avg", "min", "max"]))

    def of_latency(self) -> World:
        rng = self.rng
        near = {
            "maxDistance": rng.choice([10, 30]),
            "distanceReference": rng.choice(["min", "avg"]),
        }
        return {**self.either({"maxLatency": rng.choice([40, 60, 80])}, near), **self.party()}

    def of_batchDistance(self) -> World:  # noqa: N802
        name = self.rng.choice(["skill", "mode", "level"])
        most = {} if name == "mode" else {"maxDistance": self.rng.choice([3, "7", 12])}
        return {"batchAttribute": name, **most, **self.party()}

    def of_sort(self) -> World:
        rng, name = self.rng, self.rng.choice(["skill", "likes"])
        return {
            "type": rng.choice(["absoluteSort", "distanceSort"]),
            "sortDirection": rng.choice(["ascending", "descending"]),
            "sortAttribute": name,
            **self.maybe(float(name == "likes"), mapKey=rng.choice(["minValue", "maxValue"])),
            **self.party(),
        }

    def compounds(self, rules: list[World]) -> list[World]:
        names = [rule["name"] for rule in rules if rule["type"] != "batchDistance"]
        if not names or self.rng.random() > 0.35:
            return []
        first = {"name": "C0", "type": "compound", "statement": self.statement(names, 2)}
        more = self.statement([*names, "C0"], 1)
        second = {"name": "C1", "type": "compound", "statement": more}
        return [first, second] if self.rng.random() < 0.3 else [first]

    def statement(self, names: list[str], depth: int) -> str:
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice(names)
        first, second = (self.statement(names, depth - 1) for _ in range(2))
        both = f"{rng.choice(['and', 'or', 'xor'])}({first}, {second})"
        return rng.choice([both, both, both, f"not({first})"])

    def expansions(self, rules: list[World]) -> list[World]:
        counts, widths = [0, 1, 2, 4, 20], [1, 10, 30, 90]
        limits = {"maxCount": counts, "minCount": counts, "minDistance": [0, 1, 4]}
        limits |= {"maxDistance": widths, "maxLatency": widths}
        targets: dict[str, list[Any]] = {}
        for rule in rules:
            own = limits | {"referenceValue": self.references(rule)}
            targets |= {f"rules[{rule['name']}].{key}": own[key] for key in own if key in rule}
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
        return (
            list("xyw") if rule.get("referenceValue") in list("xyw") else [1, 3, 8, self.number()]
        )

    def algorithm(self) -> World:
        rng = self.rng
        names = rng.sample(["skill", "mode"], rng.randint(1, 2))
        plain = {
            "expansionAgeSelection": rng.choice(["newest", "oldest"]),
            "backfillPriority": rng.choice(["normal", "high", "low"]),
        }
        by_value = {**plain, "batchingPreference": "sorted", "sortByAttributes": names}
        large = {"strategy": "balanced", "balancedAttribute": "skill"}
        return rng.choice([plain] * 9 + [by_value] * 6 + [large])

    def ticket(self, name: str, time: float) -> World:
        rng = self.rng
        answers = [None, [1, True], [2, True], [0, True], [1, False], [0, False], [4, True]]
        players = [self.player() for _ in range(rng.choice([1, 1, 1, 1, 2, 2, 3]))]
        running = self.maybe(0.15, backfill=True)
        for player in players if running else ():
            player["team"] = rng.choice(self.names)
        return {
            "id": name,
            "time": time,
            "players": players,
            **running,
            **self.maybe(0.1, cancel=time + rng.choice([0, 1, 3, 6.5])),
            **self.maybe(0.4, answers=rng.choices(answers, k=rng.randint(0, 2))),
        }

    def player(self) -> World:
        self.players += 1
        rng = self.rng
        latency = {
            region: rng.choice([20, 40, 41, 60, 90]) for region in REGIONS if rng.random() < 0.9
        }
        return {
            "id": f"p{self.players}",
            "attributes": {name: self.value(name) for name in ATTRIBUTES if rng.random() < 0.9},
            **self.maybe(0.95, latency=latency),
        }


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
