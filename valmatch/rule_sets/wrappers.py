"""Rule sets inside files of other tools: taken out with the place of each character, or named.

Shapes as of November 2026: the answer of `aws gamelift describe-matchmaking-rule-sets`, templates
of CloudFormation (JSON and YAML), Terraform's `awscc_gamelift_matchmaking_rule_set`; queues of
PlayFab and Unity, profiles of Open Match, rule sets of Game Center, queries of Nakama.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import yaml

from valmatch.text.terminal import shown

BODY = "RuleSetBody"  # the key whose value is a rule set, as a text

MARKS = re.compile(
    "rule_?set_?body|MatchmakingQueue|DifferenceRule|matchDefinition|matchLogic"
    r"|doubleRangeFilters|gameCenterMatchmaking|\+properties\.",
    re.IGNORECASE,
)
"""What a file holds that is a wrapper, or of another service."""

HEREDOC = re.compile(r"rule_set_body\s*=\s*<<-?\s*(\w+)[^\n]*\n(.*?)^\s*\1\b", re.S | re.M)
ENCODED = re.compile(r"rule_set_body\s*=\s*jsonencode\(\s*(\{.*?^\s*\}|\{.*?\})\s*\)", re.S | re.M)
HCL_BODY = re.compile(r"rule_set_body\s*=\s*(\S[^\n]*)")
CODE_BODY = re.compile(r"\brule_?set_?body\b\s*[:=(]", re.IGNORECASE)
PLACEHOLDER = re.compile(r"\$\{([^}]*)\}")
ESCAPE = re.compile(r"\\u[dD][89abAB]..\\u....|\\u....|\\.")
PLAYFAB = "PlayFab matchmaking queue"
SERVICES = {
    PLAYFAB: ("matchmakingqueue", "differencerules", "stringequalityrules"),
    "Unity Matchmaker queue": ("matchdefinition", "matchlogic"),
    "Open Match profile": ("doublerangefilters",),
    "Game Center rule set": ("gamecentermatchmakingrulesets", "gamecentermatchmakingrules"),
}
"""Files of other services, by keys and types in lower case."""


ALLOWED = " (allowed: a FlexMatch rule set, or a short form)"
ASK = "save what `aws gamelift describe-matchmaking-rule-sets` prints"


class Body(NamedTuple):
    """A rule set that stands in another file."""

    text: str
    places: Sequence[int]  # of each of its characters, and of its end: which one of the file it is


class NoRuleSetError(Exception):
    """A file is of another kind, or the rule set in it cannot be taken out."""

    def __init__(self, what: str, at: int = 0) -> None:
        super().__init__(what)
        self.what, self.at = what, at


def body_of(text: str) -> Body | None:
    """Return the rule set inside the text of a file, None where it is not in a wrapper."""
    mark = MARKS.search(text)
    if mark is None:
        return None
    try:
        root = yaml.compose(text.replace("\t", " "), Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError):
        return _in_code(text)
    if isinstance(root, yaml.ScalarNode):
        return _in_code(text)
    mappings = list(_mappings(root, set()))
    keys = {key.lower() for mapping in mappings for key in mapping}
    keys |= {_text(mapping.get("type")).lower() for mapping in mappings}
    is_playfab = any(_text(mapping.get("Type")).endswith("Rule") for mapping in mappings)
    for service, words in SERVICES.items():
        if not keys.isdisjoint(words) or (service == PLAYFAB and is_playfab):
            raise NoRuleSetError(f"this is a {service}, which is not read{ALLOWED}")
    if mark[0].startswith("+"):
        raise NoRuleSetError(f"this is a query of Nakama, which is not read{ALLOWED}")
    outer = [mapping for mapping in mappings if BODY in mapping]
    if len(outer) > 1:
        names = [_text(mapping.get("RuleSetName", mapping.get("Name"))) for mapping in outer[:5]]
        listed = ", ".join(shown(name or "no name") for name in names)
        what = f"{len(outer)} rule sets stand here ({listed})"
        raise NoRuleSetError(f"{what}: keep one of them in the file", text.rindex(BODY))
    if not outer:
        return None if text.lstrip().startswith(("{", "[")) else _in_code(text)
    # In a template, with the defaults of its parameters.
    values = {
        name: _text(_members(parameter)["Default"])
        for name, parameter in _members(_members(root).get("Parameters")).items()
        if "Default" in _members(parameter)
    }
    body: yaml.Node | None = outer[0][BODY]
    if isinstance(body, yaml.MappingNode):
        body = _members(body).get("Fn::Sub")
    parts: list[yaml.Node] = body.value if isinstance(body, yaml.SequenceNode) else []
    if len(parts) == 2 and isinstance(parts[1], yaml.MappingNode):
        values |= {name: _text(value) for name, value in _members(parts[1]).items()}
        body = parts[0]
    if not isinstance(body, yaml.ScalarNode):
        raise NoRuleSetError(f"{BODY} is put together when it is deployed: {ASK}", text.index(BODY))
    return _substituted(body.value, _aligned(body, text), values)


def _members(node: yaml.Node | None) -> dict[str, yaml.Node]:
    pairs = node.value if isinstance(node, yaml.MappingNode) else ()
    return {str(key.value): value for key, value in pairs}


def _mappings(node: yaml.Node | None, seen: set[int]) -> Iterator[dict[str, yaml.Node]]:
    """Yield the members of each mapping in a document once."""
    if isinstance(node, yaml.CollectionNode) and id(node) not in seen:
        seen.add(id(node))
        members = _members(node)
        if isinstance(node, yaml.MappingNode):
            yield members
        for inner in members.values() if isinstance(node, yaml.MappingNode) else node.value:
            yield from _mappings(inner, seen)


def _text(node: yaml.Node | None) -> str:
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def _aligned(node: yaml.ScalarNode, text: str) -> list[int]:
    """Return where the characters of a value stand in the text that it is written in."""
    places, at, end = list[int](), node.start_mark.index, node.end_mark.index
    for character in node.value:
        while at < end:
            escape = ESCAPE.match(text, at) if node.style == '"' else None
            unit = escape[0] if escape else text[at]
            if _meant(unit) == character:
                places.append(at)
                at += len(unit)
                break
            at += len(unit)
        else:
            places.append(at)
    return [*places, at]


def _meant(unit: str) -> str:
    """Return the character that one of a text, or an escape, stands for."""
    if len(unit) == 1:
        return unit
    try:
        return str(json.loads(f'"{unit}"'))
    except ValueError:
        return ""


def _substituted(text: str, places: Sequence[int], values: Mapping[str, str]) -> Body:
    """Return a rule set with values for its placeholders; those without one are refused."""
    parts, where, last = [], [], 0
    for mark in PLACEHOLDER.finditer(text):
        if mark[1] not in values:
            what = f"{mark[0]} is filled in when the rule set is deployed: {ASK}"
            raise NoRuleSetError(what, places[mark.start()])
        value = values[mark[1]]
        parts += [text[last : mark.start()], value]
        where += [*places[last : mark.start()], *[places[mark.start()]] * len(value)]
        last = mark.end()
    return Body("".join([*parts, text[last:]]), [*where, *places[last:]])


def _in_code(text: str) -> Body | None:
    """Return the rule set in a file of Terraform; one in source code is refused."""
    if heredoc := HEREDOC.search(text):
        first = heredoc.start(2)
        body = heredoc[2]
        return _substituted(body, range(first, first + len(body) + 1), {})
    if encoded := ENCODED.search(text):
        with suppress(ValueError):
            json.loads(encoded[1])
            return Body(encoded[1], range(encoded.start(1), encoded.end(1) + 1))
    if hcl := HCL_BODY.search(text):
        file = re.match(r'file\("([^"]*)"\)', hcl[1])
        what = f"the rule set is {file[1]}: name that file" if file else IN_CODE
        raise NoRuleSetError(what, hcl.start(1))
    if code := CODE_BODY.search(text):
        raise NoRuleSetError(IN_CODE, code.start())
    return None


IN_CODE = f"the rule set is made by the code here: {ASK}"
