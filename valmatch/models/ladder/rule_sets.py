"""Rule sets that a ladder can go by: two teams of one size, and nothing but a skill to be known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from valmatch.errors import InputError
from valmatch.models.tickets.rule_file import OfRules, document_of
from valmatch.rule_sets.table import Attribute, Reached, Steps, Table
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shortened, shown

SIDES = 2  # teams of a match


def size_of_teams(table: Table) -> int | None:
    """Return the players of a team, None where there are not two teams of one size at all ages."""
    sizes = {n for team in table.teams for n in (*team.least.numbers, *team.most.numbers)}
    return int(*sizes) if len(table.teams) == SIDES and len(sizes) == 1 else None


def rule_set_of(
    factors: OfRules, files: Mapping[str, Path], attribute: str, team_num: int
) -> tuple[Table, tuple[str, ...]]:
    """Return the rule set of a ladder, and what is to be said of it."""
    source, (table, remarks) = factors.source(files), factors.read_rules(files, None)
    if not table.attributes:  # no rule looks at players
        table = table._replace(attributes=(Attribute(attribute, "number"),))
    if source is None:
        size = Steps((), (team_num,))
        teams = tuple(team._replace(least=size, most=size) for team in table.teams)
        return table._replace(teams=teams), remarks
    document, lines = document_of(source), []
    kinds = {declared.name: declared.kind for declared in table.attributes}
    if kinds.get(attribute) != "number":
        wrong = f"is no number in {document.name}"
        if attribute not in kinds:
            wrong = f"is not declared in {document.name} ({hint(attribute, kinds)})"
        lines = [f"factors.rule.skill_attribute: {shown(attribute)} {wrong}"]
    if not lines:
        lines = [f"{document.place(*path)}: {text}" for path, text in _faults(table, attribute)]
    if not lines and size_of_teams(table) != team_num:
        what = f"{team_num}, but {document.name} has teams of another size"
        lines = [f"factors.rule.team_num: {what}"]
    if lines:
        raise InputError(*lines)
    return table, remarks


def _faults(table: Table, attribute: str) -> Iterator[tuple[tuple[str | int, ...], str]]:
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
