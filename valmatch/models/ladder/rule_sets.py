"""Rule sets that a ladder can go by: two teams of one size, and nothing but a skill to be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from valmatch.errors import InputError
from valmatch.models.tickets.rule_file import RuleSet, Source, document_of, read_rules
from valmatch.rule_sets.table import Attribute, Reached, Steps, Table
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shortened, shown

SIDES = 2  # teams of a match


def size_of_teams(table: Table) -> int | None:
    """Return the players of a team, None where there are not two teams of one size at all ages."""
    steps = [steps for team in table.teams for steps in (team.least, team.most)]
    sizes = {number for step in steps for number in step.numbers}
    return int(*sizes) if len(table.teams) == SIDES and len(sizes) == 1 else None


def rule_set_of(
    source: Source | None, values: Mapping[str, Any], attribute: str, team_num: int
) -> RuleSet:
    """Return the rule set of a ladder."""
    rules = read_rules(source, values, None)
    table = rules.table
    if not table.attributes:  # no rule looks at players
        table = table._replace(attributes=(Attribute(attribute, "number"),))
    if source is None:
        size = Steps((), (team_num,))
        teams = tuple(team._replace(least=size, most=size) for team in table.teams)
        return RuleSet(table._replace(teams=teams), rules.remarks)
    document = document_of(source)
    lines = [*_of_attribute(table, attribute, document.name)]
    if not lines:
        lines = [f"{document.place(*path)}: {text}" for path, text in _faults(table, attribute)]
    if not lines and size_of_teams(table) != team_num:
        what = f"{team_num}, but {document.name} has teams of another size"
        lines.append(f"factors.rule.team_num: {what}")
    if lines:
        raise InputError(*lines)
    return RuleSet(table, rules.remarks)


def _of_attribute(table: Table, attribute: str, where: str) -> Iterator[str]:
    """Yield what is wrong with the attribute that the rating is."""
    kinds = {declared.name: declared.kind for declared in table.attributes}
    label = f"factors.rule.skill_attribute: {shown(attribute)}"
    if attribute not in kinds:
        yield f"{label} is not declared in {where} ({hint(attribute, kinds)})"
    elif kinds[attribute] != "number":
        yield f"{label} is no number in {where}"


def _faults(table: Table, attribute: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield what a ladder cannot go by, and where it is."""
    for number, declared in enumerate(table.attributes):
        if declared.name != attribute and declared.default is None:
            text = f"{shown(declared.name)} has no default, and a ladder knows nothing of players"
            yield ("playerAttributes", number), f"{text} but the rating (a default is needed)"
    for number, rule in enumerate(table.rules):
        if isinstance(rule.predicate, Reached):
            text = f"{shown(rule.name)} is a latency rule, and a ladder has no regions (remove it)"
            yield ("rules", number), text
    if size_of_teams(table) is None:
        sizes = []
        for team in table.teams:
            players = [int(value) for steps in (team.least, team.most) for value in steps.numbers]
            least, most = min(players), max(players)
            sizes.append(f"{team.name} {least}" + f" to {most}" * (least < most))
        text = "a ladder plays two teams of one size, which does not change"
        yield ("teams",), f"{shortened(', '.join(sizes))}: {text}"
