"""The names of an optimisation problem, and the numbers in the config that they stand for."""

from __future__ import annotations

from yaml import Node

from valmatch.config.yaml_document import find, to_value

BOUNDS = ("at_most", "at_least")


def problem_names(root: Node) -> dict[str, list[str]]:
    """Return the path of the bound of each constraint and of the weight of each term, by name.

    Parameters
    ----------
    root : Node
        The document. Where a constraint and a term have one name, it is that of the constraint.
    """
    paths = {name: ["optimize", "objective", name, "weight"] for name in _part(root, "objective")}
    for name, given in _part(root, "constraints").items():
        bounds = [key for key in BOUNDS if isinstance(given, dict) and given.get(key) is not None]
        if bounds:
            paths[name] = ["optimize", "constraints", name, bounds[0]]
    return paths


def _part(root: Node, key: str) -> dict[str, object]:
    node = find(root, ["optimize", key])
    found = to_value(node) if node is not None else None
    return found if isinstance(found, dict) else {}
