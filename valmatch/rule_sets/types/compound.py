"""Compound: logic over rules that stand before it and need not hold alone.

Source: "FlexMatch rule types", compound rule: matches of up to 40 players; no batchDistance in it;
it has no expansion itself, its members may have.
"""

from __future__ import annotations

from valmatch.rule_sets.items import Item
from valmatch.rule_sets.rule_type import Context, Names, RuleType
from valmatch.rule_sets.statements import StatementFault, read_statement
from valmatch.rule_sets.table import Combined
from valmatch.text.terminal import shown


def _read(item: Item, target: str, context: Context) -> Combined | None:
    statement = item.text("statement", required=True)
    if statement is None:
        return None
    try:
        program = read_statement(statement, context.earlier)
    except StatementFault as fault:
        item.error("statement", str(fault))
        return None
    numbers = {number for number in program if isinstance(number, int)}
    for name, number in context.earlier.items():
        if number in numbers and context.combined[name] == "batchDistance":
            item.error("statement", f"{shown(name)} is a batchDistance, which no compound can use")
            return None
    return Combined(program)


def _sentence(rule: Combined, names: Names) -> str:
    stack: list[str] = []
    for part in rule.program:
        if isinstance(part, int):
            stack.append(names.rules[part])
        elif part == "not":
            stack.append(f"not {stack.pop()}")
        else:
            second, first = stack.pop(), stack.pop()
            joined = f"either {first} or {second}" if part == "xor" else f"{first} {part} {second}"
            stack.append(f"({joined})")
    return stack[0].removeprefix("(").removesuffix(")") if stack[0].count("(") == 1 else stack[0]


COMPOUND = RuleType(("statement",), _read, _sentence)
