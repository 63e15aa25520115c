"""Reader of the rule of a case: a preset or a mapping of words, and constants set over it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from valmatch.inputs.fields import allowed, schema_at
from valmatch.rule_sets.items import Item, called
from valmatch.rule_sets.json_text import Member, Node
from valmatch.rule_sets.presets.long_form import BAR_RULES
from valmatch.rule_sets.presets.meanings import WORDS, constants
from valmatch.rule_sets.presets.rule_words import RuleWords
from valmatch.rule_sets.presets.words import PRESETS, Form, Preset
from valmatch.rule_sets.short_form import plain
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown

SIZES = ("team_size", "team_count", "lobby_size")  # constants of which the word `teams` is made


class RuleReading(NamedTuple):
    """What the rule of a case says."""

    words: RuleWords
    seed: int | None  # of the draws of osu!
    backbone: dict[tuple[str, str], float]  # milliseconds between two regions


def read_rule(root: Item) -> RuleReading | None:
    """Return the rule of a case; None with errors, which are reported."""
    node = root.members.get("rule")
    if node is None:
        root.error("", f"no rule (a preset is needed: {', '.join(PRESETS)})")
        return None
    if node.node.kind not in ("string", "object"):
        root.error("rule", f"a preset or an object is needed, not {called(node.node)}")
        return None
    return _Reader(root, node.node).read()


class _Reader:
    """Reads the rule of one case."""

    def __init__(self, root: Item, rule: Node) -> None:
        self.root, self.rule = root, rule
        # the words, as they are validated
        self.document = cast("dict[str, Any]", plain(rule) if rule.kind == "object" else {})
        if rule.kind == "string":
            self.document["preset"] = rule.value
        # the key in the file and the value of each word that a constant is, by dotted name
        self.places: dict[str, tuple[str, Node]] = {}
        self.seed: int | None = None
        self.backbone: dict[tuple[str, str], float] = {}

    def read(self) -> RuleReading | None:
        """Return what the rule says; None with errors."""
        preset = self.document.get("preset")
        if preset not in PRESETS:
            key = "rule" if self.rule.kind == "string" else "rule.preset"
            node = self._node(("preset",)) or self.rule
            text = f"no preset ({hint('', PRESETS)})"
            if preset is not None:
                names = hint(str(preset), PRESETS)
                text = f"{shown(preset)} is no preset ({names})"
            self.root.problems.error(node.start, key, text)
            return None
        before = self.root.problems.errors
        given = self.root.get("constants", "object")
        if given is not None:
            own = Item(given, "constants", self.root.problems)
            self._take_constants(own, preset)
        if self.root.problems.errors > before:
            return None
        try:
            words = RuleWords.model_validate(self.document)
        except ValidationError as error:
            for one in error.errors(include_url=False):
                self._report(one)
            return None
        return RuleReading(words, self.seed, self.backbone)

    def _take_constants(self, own: Item, preset: Preset) -> None:
        """Put all constants into the document."""
        self._take_sizes(own, preset)
        teams = self.document.get("teams")
        duels = preset == "faf" and isinstance(teams, str) and teams.endswith("x1")
        form: Form = "faf_duels" if duels else preset
        paths = constants(form)
        # A constant of the other rule of FAForever is not read, and no error.
        unread = {**constants("faf"), **constants("faf_duels")} if preset == "faf" else {}
        special = _special(preset)
        for key, member in own.members.items():
            if key in special:
                self._take_special(own, key, member)
            elif key in paths or key in WORDS:
                self._set(paths.get(key, key), key, member.node)
            elif key not in unread:
                names = [*special, *paths]
                text = f"unknown key {shown(key)} ({hint(key, names)})"
                own.problems.error(member.start, own.path, text)

    def _take_sizes(self, own: Item, preset: Preset) -> None:
        """Make the word `teams` of sizes."""
        found = [key for key in SIZES if key in own.members and key in _special(preset)]
        sizes = {key: own.number(key, whole=True, least=1) for key in found}
        if not sizes or None in sizes.values():
            return
        if preset == "osu":
            self.document["teams"] = {"lobby": int(sizes["lobby_size"] or 0)}
        else:
            count, size = sizes.get("team_count", 2) or 0, sizes.get("team_size", 1) or 0
            self.document["teams"] = f"{count:.0f}x{size:.0f}"
        self.places["teams"] = found[0], own.members[found[0]].node

    def _take_special(self, own: Item, key: str, member: Member) -> None:
        """Take a constant that is no word."""
        if key == "seed":
            value = own.number(key, whole=True, least=0)
            self.seed = None if value is None else int(value)
        elif key == "backbone":
            self._take_backbone(own)
        elif key == "rule":
            name = own.choice(key, list(BAR_RULES))
            if "band" in own.members:  # which says more than the band that the rule has itself
                if name == "ignore_os":
                    own.error("band", "does not go with rule: ignore_os, which accepts everything")
            elif name is not None:
                self._put("accept.band", key, member.node, list(BAR_RULES[name]))

    def _take_backbone(self, own: Item) -> None:
        node = own.get("backbone", "object")
        inner = Item(node, own.inner("backbone"), own.problems) if node else None
        for key in inner.members if inner else ():
            assert inner is not None
            first, bar, second = key.partition("|")
            value = inner.number(key, least=0)
            if not bar:
                inner.error(key, f"two regions are needed, such as us-east|eu-west, not {key!r}")
            elif value is not None:
                self.backbone[first, second] = value

    def _set(self, path: str, key: str, node: Node) -> None:
        self._put(path, key, node, plain(node))

    def _put(self, path: str, key: str, node: Node, value: object) -> None:
        *sections, name = path.split(".")
        inner = self.document
        for section in sections:
            found = inner.get(section)
            inner[section] = dict(found) if isinstance(found, dict) else {}
            inner = inner[section]
        inner[name] = value
        self.places[path] = key, node

    def _node(self, path: Sequence[str | int]) -> Node | None:
        """Return what is written at a path of the rule's own mapping."""
        node: Node | None = self.rule
        for part in path:
            if node is None or node.kind != "object":
                return None
            member = cast("dict[str, Member]", node.value).get(str(part))
            node = member.node if member else None
        return node

    def _report(self, error: ErrorDetails) -> None:
        """Report an error of pydantic with its place."""
        path = tuple(_known(error["loc"]))
        at = error.get("ctx", {}).get("at", ())
        if error["type"] == "refused" and at:
            path = tuple(str(at[0]).split("."))
        label, node = self._place(path)
        problems = self.root.problems
        if error["type"] == "refused":
            problems.error(node.start, label, error["msg"])
        elif error["type"] == "extra_forbidden":
            *outer, key = path
            names = schema_at(RuleWords, outer).get("properties", {})
            problems.error(
                node.start, label, f"unknown word {shown(key)} ({hint(str(key), names)})"
            )
        else:
            schema = schema_at(RuleWords, path)
            limits = allowed(schema)
            unit = schema.get("unit")
            limits += f", in {unit}" if unit else ""
            problems.error(node.start, label, f"{called(node)} is not allowed (allowed: {limits})")

    def _place(self, path: Sequence[str | int]) -> tuple[str, Node]:
        """Return how messages name a path, and what is written there or around it."""
        dotted = ".".join(map(str, path))
        for length in range(len(path), 0, -1):
            outer = ".".join(map(str, path[:length]))
            if outer in self.places:
                key, node = self.places[outer]
                return f"constants.{key}", node
            found = self._node(path[:length])
            if found is not None:
                return f"rule.{dotted}", found
        return f"rule.{dotted}" if dotted else "rule", self.rule


def _known(loc: Sequence[str | int]) -> Iterator[str | int]:
    """Yield the parts of a path of pydantic's that are names of words."""
    section: Any = RuleWords
    for part in loc:
        fields = getattr(section, "model_fields", {})
        if isinstance(part, str) and fields and part not in fields:
            yield part
            return
        if part not in fields:
            return
        yield part
        section = type(fields[part].default)


def _special(preset: Preset) -> tuple[str, ...]:
    """Return the constants of a preset that are no words."""
    return {
        "faf": ("team_size",),
        "bar": ("team_size", "team_count", "rule"),
        "shieldbattery": ("team_size", "backbone"),
        "osu": ("lobby_size", "seed"),
        "lichess": (),
    }[preset]
