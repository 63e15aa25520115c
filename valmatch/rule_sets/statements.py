"""Statements of compound rules: logic over rules that stand before them.

Source: the page "FlexMatch rule types", compound: and, or, xor of two arguments, not of one.
"""

from __future__ import annotations

import re

from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

ARITIES = {"and": 2, "or": 2, "xor": 2, "not": 1}  # operators and how many arguments they take
DEEPEST = 64  # most operators in each other

TOKEN = re.compile(r"\s*(?:([(),])|([^(),\s](?:[^(),]*[^(),\s])?))")


class StatementFault(Exception):  # noqa: N818 - caught where the statement is read
    """A statement says nothing; its text says why."""


def read_statement(text: str, rules: dict[str, int]) -> tuple[int | str, ...]:
    """Return a statement as a program in postfix order: numbers of rules, and operators."""
    program: list[int | str] = []
    open_: list[tuple[str, int]] = []
    expecting = "argument"
    for bracket, word, follows in _tokens(text):
        if word and expecting == "argument":
            if follows == "(":
                _open(word, open_)
                expecting = "("
            else:
                program.append(_number(word, rules))
                expecting = "end"
        elif bracket == "(" and expecting == "(":
            expecting = "argument"
        elif bracket and bracket != "(" and expecting == "end" and open_:
            expecting = _go_on(bracket, open_, program)
        else:
            raise StatementFault(f"{shown(word or bracket)} stands where it has no meaning")
    if open_ or expecting != "end":
        raise StatementFault("it ends too early" if text.strip() else "it is empty")
    return tuple(program)


def _tokens(text: str) -> list[tuple[str, str, str]]:
    """Return brackets and words of a statement, each with the bracket that follows it."""
    tokens = TOKEN.findall(text)
    following = [*tokens[1:], ("", "")]
    return [(*token, after) for token, (after, _) in zip(tokens, following, strict=False)]


def _open(word: str, open_: list[tuple[str, int]]) -> None:
    """Begin the arguments of an operator."""
    if word not in ARITIES:
        raise StatementFault(f"no operator {shown(word)} ({hint(word, ARITIES)})")
    if len(open_) >= DEEPEST:
        raise StatementFault(f"nested deeper than {DEEPEST} operators")
    open_.append((word, 1))


def _go_on(bracket: str, open_: list[tuple[str, int]], program: list[int | str]) -> str:
    """Go on after an argument; return what is expected then."""
    operator, arguments = open_.pop()
    if bracket == ",":
        open_.append((operator, arguments + 1))
        return "argument"
    if arguments != ARITIES[operator]:
        raise StatementFault(f"{operator} takes {ARITIES[operator]}, not {arguments}")
    program.append(operator)
    return "end"


def _number(word: str, rules: dict[str, int]) -> int:
    """Return the number of a rule."""
    if word not in rules:
        raise StatementFault(f"no rule {shown(word)} before this one ({hint(word, rules)})")
    return rules[word]
