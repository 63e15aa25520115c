"""YAML with places, as values of rule sets are read."""

from __future__ import annotations

import math
import re

import yaml

from valmatch.errors import InputError
from valmatch.inputs.yaml_document import parse, to_value
from valmatch.rule_sets.json_text import Member, Node
from valmatch.rule_sets.problems import Problems
from valmatch.text.terminal import shown

PLACED = re.compile(r":([0-9]+):([0-9]+): (.*)", re.S)
"""A line of an error: place, and what is wrong."""


def read_yaml(text: str, problems: Problems) -> Node | None:
    """Return the value that a text is, None where it cannot be read."""
    try:
        root = parse(text, "")
    except InputError as error:
        for line in error.args:
            found = PLACED.fullmatch(line)
            place = (int(found[1]), int(found[2]), found[3]) if found else (1, 1, str(line))
            problems.at(*place)
        return None
    if root is None:
        problems.error(0, "", "an object is needed, not an empty file")
        return None
    return node_of(root, problems)


def node_of(node: yaml.Node, problems: Problems) -> Node:
    """Return a node of YAML as rule sets have them; numbers that are none are reported."""
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.MappingNode):
        members = {
            key.value: Member(key.start_mark.index, node_of(value, problems))
            for key, value in node.value
        }
        return Node("object", members, start, end)
    if isinstance(node, yaml.SequenceNode):
        return Node("array", [node_of(one, problems) for one in node.value], start, end)
    value = to_value(node)
    if value is None:
        return Node("null", None, start, end)
    if isinstance(value, bool):
        return Node("boolean", value, start, end)
    if isinstance(value, str):
        return Node("string", value, start, end)
    return Node("number", _number(node, value, problems), start, end)


def _number(node: yaml.Node, value: object, problems: Problems) -> int | float:
    """Return a number, 0 where it is not finite, which is reported."""
    try:
        if math.isfinite(number := float(value)):  # type: ignore[arg-type]
            return value if isinstance(value, int) and abs(value) < 10**15 else number
    except OverflowError:
        pass
    problems.error(node.start_mark.index, "", f"{shown(node.value)} is no finite number")
    return 0
