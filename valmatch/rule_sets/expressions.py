"""Property expressions: what they say, and of what kind and depth their value is.

Source: the pages "FlexMatch property expressions" and, for set_intersection and flatten, the
process description of the published example 5. "All operations on a nested list operate on each
sublist individually": a function acts on the innermost lists, set_intersection on the two innermost
levels, flatten on the two outermost.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from valmatch.rule_sets.table import Aggregate, Attribute, Kind
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

NUMERIC = ("min", "max", "avg", "median", "sum", "stddev")
FUNCTIONS = (*NUMERIC, "count", "flatten", "set_intersection")

CALL = re.compile(r"\s*([A-Za-z_]+)\s*\(")
BASE = re.compile(
    r"\s*(teams?)\s*\[([^\]]*)\]"
    r"(?:\.(players)(?:\[\s*(playerId)\s*\]|\.(playerId)|\.attributes\[([^\]]*)\])?)?\s*"
)
# What begins like an expression; else a text is meant literally.
LIKE = re.compile(rf"\s*(?:teams?\s*\[|(?:{'|'.join(FUNCTIONS)})\s*\()")

UNGIVEN = "teams[...].players.attributes[...] is meant, in functions or alone"


class Known(NamedTuple):
    """What an expression may name."""

    attributes: tuple[Attribute, ...]  # attributes of players
    teams: dict[str, tuple[int, ...]]  # by name: one, or all that a quantity makes of it
    number: int  # how many teams there are

    @property
    def numbers(self) -> dict[str, int]:
        """The numbers of the attributes by name."""
        return {attribute.name: number for number, attribute in enumerate(self.attributes)}


class ExpressionFault(Exception):  # noqa: N818 - caught where the expression is read
    """An expression says nothing; its text says why."""


def read_expression(text: str, known: Known) -> Aggregate:
    """Return what an expression says."""
    functions, at = list[str](), 0
    while call := CALL.match(text, at):
        if call[1] not in FUNCTIONS:
            raise ExpressionFault(f"no function {shown(call[1])} ({hint(call[1], FUNCTIONS)})")
        functions.append(call[1])
        at = call.end()
    base = BASE.match(text, at)
    if base is None:
        raise ExpressionFault(f"{shown(text)}: {UNGIVEN}")
    closing = re.sub(r"\s", "", text[base.end() :])
    if closing != ")" * len(functions):
        if set(closing) - {")"}:
            raise ExpressionFault(f"{shown(text)}: {shown(closing)} is one too many; {UNGIVEN}")
        raise ExpressionFault(
            f"{shown(text)}: {len(functions)} brackets opened by functions, {len(closing)} closed"
        )
    aggregate = _base(text.strip(), base, known)
    for function in reversed(functions):
        aggregate = _applied(function, aggregate)
    return aggregate


def _base(text: str, base: re.Match[str], known: Known) -> Aggregate:
    """Return the teams or players that functions are applied to."""
    if base[1] == "team":
        raise ExpressionFault(f"{shown(text)}: did you mean teams[{base[2]}]?")
    grouped, teams = base[2].strip() == "*", tuple(range(known.number))
    if not grouped:
        teams = ()
        for team in map(str.strip, base[2].split(",")):
            if team not in known.teams:
                raise ExpressionFault(f"no team {shown(team)} ({hint(team, known.teams)})")
            if set(teams) & set(known.teams[team]):
                raise ExpressionFault(f"team {shown(team)} twice")
            teams += known.teams[team]
        grouped = len(teams) > 1
    if not base[3]:
        return Aggregate(text, teams, grouped, "teams", (), "team", int(grouped))
    depth = 1 + grouped
    if base[4] or base[5]:
        return Aggregate(text, teams, grouped, "ids", (), "text", depth)
    if base[6] is None:
        return Aggregate(text, teams, grouped, "players", (), "player", depth)
    name = base[6].strip()
    if name not in known.numbers:
        near = hint(name, known.numbers)
        raise ExpressionFault(f"no attribute {shown(name)} is declared ({near})")
    number = known.numbers[name]
    kind = known.attributes[number].kind
    if kind == "map":
        raise ExpressionFault(f"{name} is a map, which no expression can use; sorts can")
    inner: Kind = "number" if kind == "number" else "text"
    return Aggregate(text, teams, grouped, number, (), inner, depth + (kind == "texts"))


def _applied(function: str, of: Aggregate) -> Aggregate:
    fits, least, wanted = True, 1, "a list"
    if function in NUMERIC:
        fits, wanted = of.kind == "number", "a list of numbers"
    elif function == "flatten":
        least, wanted = 2, "a list of lists"
    elif function == "set_intersection":
        fits, least, wanted = of.kind == "text", 2, "a list of lists of strings"
    if not fits or of.depth < least:
        raise ExpressionFault(f"{function} takes {wanted}, not {described(of.kind, of.depth)}")
    kind: Kind = "number" if function == "count" else of.kind
    return of._replace(functions=(*of.functions, function), kind=kind, depth=of.depth - 1)


def described(kind: Kind, depth: int) -> str:
    """Return what has a kind and a depth, in words."""
    name = "string" if kind == "text" else kind
    return f"a {name}" if depth == 0 else f"a list of {'lists of ' * (depth - 1)}{name}s"
