"""The section `algorithm`, which says how matches are searched for.

Source: "FlexMatch rule set property definitions" and the page on the algorithm: strategy
exhaustiveSearch (default) with batches that are random or sorted, or balanced for 41 to 200 players
with batches by largest population or fastest region.
"""

from __future__ import annotations

from valmatch.rule_sets.expressions import Known
from valmatch.rule_sets.items import Item
from valmatch.rule_sets.table import Search
from valmatch.text.terminal import shown

BATCHES = {
    "exhaustiveSearch": ("random", "sorted"),
    "balanced": ("largestPopulation", "fastestRegion"),
}
"""Strategies, and how they may form batches."""

PRIORITIES = ("normal", "high", "low")
AGES = ("newest", "oldest")

KEYS = (
    "strategy",
    "batchingPreference",
    "sortByAttributes",
    "balancedAttribute",
    "expansionAgeSelection",
    "backfillPriority",
)


def read_algorithm(item: Item | None, known: Known) -> tuple[Search, bool]:
    """Return how to search, and whether the age of a match is that of its oldest ticket."""
    if item is None:
        return Search(), False
    item.known(KEYS)
    strategy = item.choice("strategy", list(BATCHES)) or "exhaustiveSearch"
    large = strategy == "balanced"
    batching = _batching(item, strategy)
    order = _batch_order(item, batching, known)
    balance = _balance(item, large, known)
    age = item.choice("expansionAgeSelection", AGES)
    priority = item.choice("backfillPriority", PRIORITIES) or "normal"
    if large and "backfillPriority" in item.members:
        _no_effect(item, "backfillPriority", "with balanced, which takes backfill first")
    search = Search(
        large,
        balance,
        "sorted" if batching == "sorted" else "random",
        order,
        "high" if large else priority,  # type: ignore[arg-type]
    )
    return search, age == "oldest"


def _batching(item: Item, strategy: str) -> str | None:
    """Return how batches are formed."""
    every = [name for names in BATCHES.values() for name in names]
    batching = item.choice("batchingPreference", every)
    if batching and batching not in BATCHES[strategy]:
        allowed = " or ".join(BATCHES[strategy])
        text = f"{batching} does not go with the strategy {strategy} ({allowed} does)"
        item.error("batchingPreference", text)
    return batching


def _batch_order(item: Item, batching: str | None, known: Known) -> tuple[int, ...]:
    """Return the attributes by which the pool is sorted before it is cut."""
    names = [attribute.name for attribute in known.attributes]
    order = []
    for path, node in item.list_of("sortByAttributes", "string"):
        if node.value not in names:
            item.problems.error(node.start, path, f"no attribute {shown(node.value)} is declared")
        elif known.attributes[names.index(str(node.value))].kind not in ("number", "text"):
            text = f"{shown(node.value)} is neither a number nor a string"
            item.problems.error(node.start, path, text)
        else:
            order.append(names.index(str(node.value)))
    given = item.members.get("sortByAttributes")
    if batching == "sorted" and (given is None or not given.node.value):
        item.error("batchingPreference", "sorted needs sortByAttributes")
    if given and batching != "sorted":
        _no_effect(item, "sortByAttributes", "without batchingPreference sorted")
    return tuple(order) if batching == "sorted" else ()


def _balance(item: Item, large: bool, known: Known) -> int | None:
    """Return the attribute by which large matches are balanced."""
    name = item.text("balancedAttribute", required=large)
    if name is None:
        return None
    names = [attribute.name for attribute in known.attributes]
    if name not in names:
        item.error("balancedAttribute", f"no attribute {shown(name)} is declared")
        return None
    number = names.index(name)
    if known.attributes[number].kind != "number":
        item.error("balancedAttribute", f"{shown(name)} is no number")
        return None
    if not large:
        _no_effect(item, "balancedAttribute", "without the strategy balanced")
        return None
    return number


def _no_effect(item: Item, key: str, when: str) -> None:
    item.problems.warn(item.at(key), item.inner(key), f"has no effect {when}")
