"""A config for a rule set that nobody has simulated yet: with all that its rules ask of players."""

import json
from pathlib import Path
from typing import Any

from valmatch.models.tickets.factors import Parties, Regions, Service
from valmatch.rule_sets.table import Steps, Table
from valmatch.rule_sets.types import Compared, Counted, Reached, Spread, Within

ASSUMED = "  # assumed"
SKILLS = ("skill", "mmr", "rating", "elo")  # usual names of the number that skill is

TO_OPTIMIZE = """\

# Remove the marks for `valmatch optimize`: it chooses all steps of the expansions.
# optimize:
#   variables: {expansions.*: }
#   objective: {fairness: {response: win_gap}}
#   constraints:
#     wait: {response: time_to_match_p90, at_most: 60 s}"""


def first_config(table: Table, file: Path) -> str:
    """Return a config of a rule set that runs at once; what is not in the rule set is marked."""
    used = {k for rule in table.rules for k in rule.attributes}
    used |= {sort.attribute for sort in table.sorts}
    numbers = [
        k
        for k, attribute in enumerate(table.attributes)
        if attribute.kind == "number" and k in used
    ]
    named = [k for k in numbers if table.attributes[k].name.lower() in SKILLS]
    skill = next(iter(named or numbers), None)
    # A ticket lives past the last step, and no party is larger than a team.
    timeout = max([Service().request_timeout_seconds, *(1.5 * wait for wait in table.waits)])
    parties = Parties().shares[: max(team.largest for team in table.teams)]
    parties = (round(1.0 - sum(parties[1:]), 4), *parties[1:])
    lines = [
        f"# A first config for {json.dumps(file.name, ensure_ascii=False)}. Lines marked `assumed`"
        " say who comes: put in your own numbers.",
        "# `valmatch factors tickets --all` prints every factor with its meaning, unit and range.",
        "model: tickets",
        f"rules: {json.dumps(str(file), ensure_ascii=False)}",
        "",
        "factors:",
        "  hours: 4",
        "  warmup_minutes: 20       # nothing before is measured",
        f"  service: {{request_timeout_seconds: {timeout:g}}}{ASSUMED}",
        f"  arrivals: {{per_hour: 1200}}{ASSUMED}; tickets an hour",
        "  # population: {players_per_hour: 1800}  # in place of arrivals, if you know players",
        f"  parties: {{shares: {list(parties)}}}{ASSUMED}; of tickets, by size from 1 on",
    ]
    if skill is not None:
        name = json.dumps(table.attributes[skill].name, ensure_ascii=False)
        mean, std = _normal(table, skill)
        law = f"attribute: {name}, mean: {mean:g}, std: {std:g}, party_std: {std / 2:g}"
        lines.append(f"  skill: {{{law}}}{ASSUMED}")
    if any(isinstance(rule.predicate, Reached) for rule in table.rules):
        shares = json.dumps(Regions().shares)
        lines.append(f"  regions: {{shares: {shares}}}{ASSUMED}; built-in latencies")
    # Without a value and a default no ticket could be matched, even by rules that do not look.
    used |= {k for k, attribute in enumerate(table.attributes) if attribute.default is None}
    others = [k for k in sorted(used) if k != skill and table.attributes[k].kind != "map"]
    if others:
        lines.append("  attributes:")
        for k in others:
            name = json.dumps(table.attributes[k].name, ensure_ascii=False)
            law = json.dumps(_law(table, k), ensure_ascii=False)
            lines.append(f"    {name}: {law}{ASSUMED}")
    if table.waits:
        ping = "  regions:" in " ".join(lines)
        lines += [TO_OPTIMIZE, *["#     ping: {response: latency, at_most: 50}"] * ping]
    return "\n".join(lines) + "\n"


def _normal(table: Table, attribute: int) -> tuple[float, float]:
    """Return mean and standard deviation of a number: by its default, else by what rules allow."""
    default = float(table.attributes[attribute].default or 0.0)  # type: ignore[arg-type]
    limits = [
        rule.predicate.most.numbers[0]
        for rule in table.rules
        if attribute in rule.attributes and isinstance(rule.predicate, Within | Spread)
        if rule.predicate.most and rule.predicate.most.numbers
    ]
    std = abs(default) / 5.0 or 1.5 * max(limits, default=0.0) or 300.0
    return default or 5.0 * std, std


def _law(table: Table, attribute: int) -> dict[str, Any]:
    declared = table.attributes[attribute]
    if declared.kind == "number":
        mean, std = _normal(table, attribute)
        return {"mean": mean, "std": std}
    named = list[object]()
    for rule in table.rules:
        reference = getattr(rule.predicate, "reference", None)
        is_named = attribute in rule.attributes and isinstance(rule.predicate, Compared | Counted)
        named += reference.values if is_named and isinstance(reference, Steps) else ()
    named += declared.default if isinstance(declared.default, list | tuple) else [declared.default]
    texts = list(dict.fromkeys(text for text in named if isinstance(text, str))) or ["a", "b"]
    if declared.kind == "texts":
        return {"lists": dict.fromkeys(texts, 1.0 if len(texts) == 1 else 0.7)}
    shares = [round(1.0 / len(texts), 4)] * (len(texts) - 1)
    return dict(zip(texts, [round(1.0 - sum(shares), 4), *shares], strict=True))
