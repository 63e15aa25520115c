"""Configs, read, changed and checked: YAML files, names of shipped ones, mappings, overrides."""

from __future__ import annotations

import json
import re
import shlex
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, TextIO, TypeAlias, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails, PydanticUndefined
from yaml import MappingNode, Node, SequenceNode

from valmatch.config import config as c
from valmatch.config import factor_paths as f
from valmatch.errors import MOST, InputError, in_lines, option
from valmatch.inputs import arguments
from valmatch.inputs.fields import Factors, Misplaced, Section, schema_at
from valmatch.inputs.files import MAX_DOCUMENT, kind_of_text, read_document, reason, sha256, up_to
from valmatch.inputs.yaml_document import (
    MAX_DEPTH,
    Override,
    assign,
    entries,
    find,
    from_override,
    kind,
    parse,
    place,
    show,
    to_value,
    value_at,
    without,
    written_key,
)
from valmatch.models.registry import MODELS, OWN, ModelEntry, load_model, unknown_model
from valmatch.text.numerals import SECONDS, in_unit, whole_number
from valmatch.text.suggestions import by_last_part, closest_name, correction, hint
from valmatch.text.terminal import Notice, escaped, shown

if TYPE_CHECKING:
    from valmatch.models.model import Response

BOUNDS = ("at_most", "at_least")

BY_FACTOR: dict[tuple[str, ...], Collection[str]] = {
    ("optimize", "variables"): c.VariableOptions.model_fields,
    ("design", "ranges"): c.RangeOptions.model_fields,
    ("design", "grid"): (),
}
"""Mappings by factor, in whose unit their numbers are, with the keys in each; none: a list."""


def problem_names(root: Node) -> dict[str, list[str]]:
    """Return the path of the bound of each constraint and of the weight of each term, by name."""
    terms = (key.value for key, _ in entries(root, ["optimize", "objective"]))
    paths = {name: ["optimize", "objective", name, "weight"] for name in terms}
    for key, constraint in entries(root, ["optimize", "constraints"]):
        for bound in BOUNDS:
            if value_at(constraint, [bound]) is not None:
                paths[key.value] = ["optimize", "constraints", key.value, bound]
                break
    return paths


RESPONSES_OF = (
    *(("optimize", key, "response") for key in ("objective", "constraints", "objectives")),
    ("replicate", "expect"),
)
"""Mappings that name responses: by a key of their entries, or by their own keys."""

TOP_LEVEL = ("model", "factors", *c.SECTIONS)

S = TypeVar("S", bound=Section)
Place: TypeAlias = tuple[str | int, ...]  # keys and indices on the way to a value

FILES = tuple(dict.fromkeys(key for entry in OWN.values() for key in entry.files))
"""The keys of files of some model of this package."""


class ConfigCheck:
    """Makes a `Config` of a document, collecting what is wrong on the way."""

    def __init__(self, root: Node, overrides: Sequence[str]) -> None:
        self.root = root  # the document, overrides applied
        self.overrides = overrides  # names of the overrides in order
        self.problems: list[tuple[Node, str]] = []  # (node, message) pairs; the node tells where
        self.further = 0  # how many problems there are besides
        self.model = self._model()
        self.entry = entry = MODELS.get(self.model)
        # what may stand at the top level with the model; with none, all that may with any
        self.keys = ("model", "factors", *(entry.files if entry else FILES), *c.SECTIONS)
        self.factors: Factors | None = None  # once they are known
        # keys under which a mapping stood, by the names of the factors that it is
        self.moved: dict[str, str] = {}

    def config(self, source: str, folder: Path) -> c.Config:
        """Check all of the document; raise with one line for each problem."""
        entry, files = self.entry, dict[str, c.InputFile]()
        for key in (key for path in BY_FACTOR for key, _ in entries(self.root, path)):
            key.value = f.dotted(key.value)  # indices in brackets are parts of a name
        if entry:
            self._move_files(entry)
            self._move_mappings(entry)
        # Without a factor that is no mapping, what goes with it would be refused, too.
        complete = self._check_keys()
        for name in entry.files if entry else ():
            node = find(self.root, [name])
            if node is not None and kind(node) != "null":
                files[name] = self._file(name, node, folder)
        if entry and complete:
            context = {"files": frozenset(files)}
            self.factors = self._section("factors", entry.factors, context)
        factors, replicate = self.factors, self._section("replicate", c.ReplicateOptions)
        # Names with ``*`` of mappings by factor are taken out of them.
        ranges = [path for path, keys in BY_FACTOR.items() if keys]
        pairs = [(path, *names) for path in ranges for names in entries(self.root, path)]
        starred = [pair for pair in pairs if "*" in pair[1].value]
        for path, key, _ in starred:
            self.root = without(self.root, [*path, key.value])
        if entry and factors and not self.problems:
            if files or entry.mappings:
                factors = self._with_files(factors, files)
            for path, key, value in starred:
                self._spread(path, key, value, factors)
        optimize = self._section("optimize", c.OptimizeOptions)
        design = self._section("design", c.DesignOptions)
        if self.problems or not (factors and replicate and optimize and design):
            self._raise()
        remarks = []
        for name, text in factors.remarks():
            written = place(self._closest_node(["factors", *name.split(".")]))
            remarks.append(Notice(f"{written}: factors.{name}: {text}", "setting"))
        return c.Config(
            model=self.model,
            factors=factors,
            files=files,
            replicate=replicate,
            optimize=optimize,
            design=design,
            source=source,
            warnings=tuple(remarks),
            places=dict(_places(self.root)),
        )

    def _check_keys(self) -> bool:
        """Find unknown keys; return whether each mapping that is a factor is one."""
        entry, complete = self.entry, True
        inner = {name: ".".join(path) for name, path in problem_names(self.root).items()}
        if entry:
            names = dict.fromkeys((*entry.factors.model_fields, *f.factor_names(entry.factors)))
            inner |= by_last_part(f"factors.{name}" for name in names)
        known = self.keys if entry else TOP_LEVEL
        others = [(key, value) for key, value in self.root.value if key.value not in known]
        self.further += max(len(others) - MOST, 0)
        for key, value in others[:MOST]:
            name = key.value
            if entry and name in entry.mappings:
                complete, schema = False, schema_at(entry.factors, [entry.mappings[name]])
                example = f"{schema.get('example')} (got {show(value)})"
                self._wrong(value, [name], f"should be a mapping such as {example}")
            elif name not in FILES or kind(value) in ("map", "seq"):
                # A file is named by a text: a mapping is something else.
                self._wrong(key, [name], f"unknown key ({_key_hint(name, self.keys, inner)})")
            elif kind(value) != "null":
                self._wrong(value, [name], "this model takes none")
        return complete

    def _spread(self, path: tuple[str, ...], key: Node, value: Node, factors: Factors) -> None:
        """Put the factors that a name with ``*`` stands for in its place, with their ranges."""
        name, options = key.value, to_value(value)
        ranges = {n: ends for n, ends in factors.starred_ranges().items() if fnmatchcase(n, name)}
        if not ranges or not isinstance(options, dict | None):
            what = "should be a mapping" if ranges else "stands for no step of a rule set"
            known = ", ".join(list(factors.starred_ranges())[:2]) or "none without a rule set"
            allowed = f"allowed: expansions.* or expansions.*.wait, for steps such as {known}"
            self._wrong(key, (*path, name), f"{what} ({allowed})")
            return
        for factor, (low, high) in ranges.items():
            if find(self.root, [*path, factor]) is not None:
                continue  # it has a range of its own
            node = parse(json.dumps({"low": low, "high": high, **(options or {})}), "")
            assert node is not None
            for inner in (node, *(part for pair in cast(MappingNode, node).value for part in pair)):
                inner.start_mark, inner.end_mark = key.start_mark, key.end_mark
            self.root = assign(self.root, [*path, factor], node)

    def _responses(self) -> list[Response]:
        """Return the responses of the model, where factors are wrong those of all groups."""
        model: Any = load_model(self.model)
        responses: list[Response] = list(getattr(model, "responses", ()))
        if self.factors is not None:
            further = model.further(self.factors) if hasattr(model, "further") else ()
            return [*responses, *further]
        with suppress(ValidationError):
            factors = MODELS[self.model].factors.model_validate({})
            for group in getattr(model, "measures", ()):
                responses += model.further(factors.model_copy(update={"measure": (group,)}))
        return responses

    def _check_names(self, cls: type[Factors]) -> None:
        """Find names of no factor and no response, which commands refuse, to say all at once."""
        # Of the first entries of each mapping: more lines are not shown.
        names = by_last_part(f.factor_names(cls))
        for path in BY_FACTOR:
            for key, _ in entries(self.root, path)[:MOST]:
                name = key.value.removeprefix("factors.")
                field, _ = f.factor_at(cls, name.split("."))
                if "*" not in name and (field is None or f.section_of(field)):
                    near = hint(name.rpartition(".")[2], names, names)
                    self._wrong(key, (*path, name), f"is no factor ({near})")
        known = dict.fromkeys(response.name.partition(".")[0] for response in self._responses())
        for section, part, *inner in RESPONSES_OF:
            for entry, value in entries(self.root, (section, part))[:MOST] if known else ():
                node = find(value, inner) if inner else entry
                text = "" if node is None else str(to_value(node))
                if node is not None and text.partition(".")[0] not in known:
                    what = f"{self.model} has no response {shown(text)} ({hint(text, known)})"
                    self._wrong(node, (section, part, entry.value, *inner), what)

    def _wrong(self, node: Node, path: Sequence[str | int], what: str) -> None:
        """Add what is wrong with what a path names."""
        self.problems.append((node, f"{f.label(path)}: {what}"))

    def _raise(self) -> NoReturn:
        if self.entry:
            self._check_names(self.entry.factors)

        def order(problem: tuple[Node, str]) -> tuple[int, int, int]:
            mark = problem[0].start_mark
            file = self.overrides.index(mark.name) if mark.name in self.overrides else -1
            return file, mark.line, mark.column

        lines = []
        for node, what in sorted(self.problems, key=order):
            for name, key in self.moved.items():
                what = re.sub(f"^{re.escape(name)}", key, what)
            lines.append(f"{place(node)}: {what}")
        raise InputError(*in_lines(lines, self.further))

    def _move_files(self, entry: ModelEntry) -> None:
        """Put a file that stands in a section of the factors at the top level."""
        for key, section in entry.homes.items():
            path = ["factors", section, key]
            node, other = find(self.root, path), find(self.root, [key])
            if node is None:
                continue
            if other is not None and kind(other) != "null":
                if from_override(node) == from_override(other):
                    self._wrong(node, path, f"there is another one, {key}: ...")
                node = node if from_override(node) else other
            self.root = assign(without(self.root, path), [key], node)

    def _move_mappings(self, entry: ModelEntry) -> None:
        """Put a mapping that stands under the key of a file where it is a factor."""
        for key, name in entry.mappings.items():
            node = find(self.root, [key])
            if not isinstance(node, MappingNode):
                continue
            root = without(self.root, [key])
            other = find(root, ["factors", name])
            if other is not None and from_override(node) == from_override(other):
                what = f"{name}: there is another one, {key}: ... (write one of both)"
                self._wrong(other, ["factors"], what)
            elif other is not None and from_override(other):
                self.root = root  # it wins over what the file says
                continue
            with suppress(InputError):  # factors are no mapping, which is reported
                self.root = assign(root, ["factors", name], node)
                self.moved[f"factors.{name}"] = key

    def _model(self) -> str:
        node, name, allowed = find(self.root, ["model"]), "", ", ".join(MODELS)
        if node is None:
            self._wrong(self.root, ["model"], f"is required (allowed: {allowed})")
        elif not isinstance(value := to_value(node), str):
            self._wrong(node, ["model"], f"should be one of {allowed} (got {show(node)})")
        elif value not in MODELS:
            self._wrong(node, ["model"], unknown_model(value))
        else:
            name = value
        return name

    def _file(self, key: str, node: Node, folder: Path) -> c.InputFile:
        """Return a file with its digest."""
        name = to_value(node)
        if not isinstance(name, str):
            self._wrong(node, [key], f"should be the path of a file (got {show(node)})")
            return c.InputFile(folder, str(name), "")
        path, digest = (Path() if from_override(node) else folder) / name, ""
        try:
            # A pipe would be empty once its digest is taken.
            digest = sha256(path)
        except (OSError, ValueError) as error:
            self._wrong(node, [key], f"{shown(str(path))}: {reason(error).lower()}")
        return c.InputFile(path, name, digest)

    def _with_files(self, factors: Factors, files: Mapping[str, c.InputFile]) -> Factors:
        """Return the factors that hold with the files of the config."""
        # Those that stand beside a file in the config were written for it; beside one that an
        # override names, only those are that an override gives.
        written = set(f.factor_names(type(factors)))
        if any(self._overridden(path.split(".")) for path in (*files, *self.moved)):
            written = {name for name in written if self._overridden(["factors", *f.parts(name)])}
        try:
            return factors.with_files({key: file.path for key, file in files.items()}, written)
        except Misplaced as wrong:
            for factor in (wrong, *wrong.others):
                path = ("factors", *factor.path)
                node = written_key(self.root, path)
                if node is None or self._overridden(path):
                    node = self._closest_node(path)
                self._wrong(node, path, factor.text)
            return factors

    def _overridden(self, path: Sequence[str | int]) -> bool:
        """Return whether what stands at a path is from an override."""
        node = find(self.root, path)
        return node is not None and from_override(node)

    def _section(
        self, name: str, cls: type[S], context: Mapping[str, object] = MappingProxyType({})
    ) -> S | None:
        """Validate one section; an absent or empty one has only defaults."""
        value = self._in_units(value_at(self.root, [name]), (name,))
        try:
            return cls.model_validate({} if value is None else value, context=dict(context))
        except ValidationError as error:
            refusals: dict[tuple[int, Place], tuple[Node, str, list[str]]] = {}
            problems = error.errors(include_url=False)
            self.further += max(len(problems) - _LOOKED_AT, 0)
            for problem in problems[:_LOOKED_AT]:
                # A list counts as short for pydantic if enough of its elements are refused.
                if problem["type"] == "too_short" and (
                    len(problem["input"]) >= problem["ctx"]["min_length"]
                ):
                    continue
                node, path, what, got = self._refusal(name, cls, problem)
                refusals.setdefault((id(node), path), (node, got, []))[2].append(what)
            for (_, path), (node, got, (first, *others)) in refusals.items():
                # Each form that a value may have is refused for itself.
                forms = dict.fromkeys(other.removeprefix("should be ") for other in others)
                self._wrong(node, path, f"{' or '.join([first, *forms])}{got}")
            return None

    def _in_units(self, value: object, path: tuple[str, ...], outer: object = None) -> object:
        """Return a section in which durations that are written with a unit are plain numbers."""
        if isinstance(value, dict) and len(path) < 4:
            return {key: self._in_units(part, (*path, key), value) for key, part in value.items()}
        if len(path) < 4 or not isinstance(value, str):
            return value
        unit = self._unit(path, outer)
        # In any unit where what it is of will be refused.
        return in_unit(value, "hours" if unit is None else unit)

    def _unit(self, path: Sequence[str | int], outer: object) -> str | None:
        """Return the unit of the number at a path in an outer mapping; None if it is not known."""
        section, key, name, inner = map(str, path) if len(path) == 4 else [""] * 4
        bound = (section, key) == ("optimize", "constraints") and inner in BOUNDS
        if not (bound or (section, key) in BY_FACTOR):
            return ""
        if self.entry is None:
            return None
        if not bound:
            return f.unit_at(self.entry.factors, name)
        responses = self._responses()
        response = outer.get("response") if isinstance(outer, dict) else None
        return next((known.unit for known in responses if known.name == response), None)

    def _refusal(
        self, name: str, cls: type[Section], error: ErrorDetails
    ) -> tuple[Node, Place, str, str]:
        """Return where an error of pydantic is, its path, what is wrong, what is there."""
        path = (name, *error["loc"])
        if error["type"] == "extra_forbidden":
            key = written_key(self.root, path)
            meant = self._meant(cls, path, key is not None and from_override(key))
            return key or self._closest_node(path), path, f"unknown key ({meant})", ""
        if error["type"] == "refused":
            section = path[: 1 + f.factor_at(cls, error["loc"])[1]]
            at = [(*section, *key.split(".")) for key in error.get("ctx", {}).get("at", ())]
            # A default may be what is wrong, which is written nowhere.
            path = next((key for key in at if find(self.root, key)), (*at, path)[0])
            return self._closest_node(path), path, error["msg"], ""
        what = _WORDS.get(error["type"]) or _BEGIN.sub("", error["msg"])
        what = _LONG.sub(lambda number: f"{float(number[0]):g}", _COUNTED.sub("", what))
        outer = path
        while len(outer) > 1 and find(self.root, outer) is None:
            outer = outer[:-1]  # a form of the value, or an element that is not there
        node = find(self.root, outer)
        schema = schema_at(cls, outer[1:])
        size = schema.get("minItems")
        if isinstance(node, SequenceNode) and error["type"] in ("missing", "too_short", "too_long"):
            what = f"should have {size} items" if size == schema.get("maxItems") else what
        elif node is None or (outer != path and (error["type"] == "missing" or len(outer) == 1)):
            return self._closest_node(path), path, what, ""
        if what == _MAPPING and "example" in schema:
            what += f" such as {schema['example']}"
        unit = schema.get("unit") or self._unit(path, value_at(self.root, path[:-1]))
        what += f", in {unit}" if unit else ""
        if kind(node) == "str" and unit in SECONDS:
            what += ", or with a unit, such as 12 min"
        near = ""
        if error["type"] == "literal_error" and kind(node) == "str":
            near = correction(str(to_value(node)), re.findall("'([^']+)'", error["msg"]))
        return node, outer, what, f" (got {show(node)}{near})"

    def _meant(self, cls: type[Section], path: Sequence[str | int], bare: bool) -> str:
        """Say which key an unknown one is meant to be; a bare one stands on the command line."""
        name, *outer, key = path
        names = schema_at(cls, outer)["properties"]
        if name != "factors":
            return _key_hint(str(key), names, {})
        factors = f.factor_names(cls)
        if not outer and key in factors:
            *sections, last = str(key).split(".")
            return f"write it as {': {'.join(sections)}: {{{last}: ...{'}' * len(sections)}"
        section = ".".join(map(str, outer))
        others = by_last_part(factors, section)
        if not outer:
            # A bare name may have been meant for the top level.
            names_of_problem = problem_names(self.root).items()
            top = {name: name if bare else ".".join(path) for name, path in names_of_problem}
            others = {**top, **{key: key for key in self.keys}, **others}
        return _key_hint(str(key), names, others, f"{section}." if section else "")

    def _closest_node(self, path: Sequence[str | int]) -> Node:
        """Return what is written at `path`, or else the key of the section that lacks it."""
        for length in range(len(path), 0, -1):
            if node := find(self.root, path[:length]):
                key = written_key(self.root, path[:length]) if length < len(path) else None
                return key or node
        return self.root


def _places(node: Node, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (dotted path, place) of everything below a node: of keys, but of values set anew."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            inner = f"{path}.{key.value}" if path else str(key.value)
            set_anew = value.start_mark.name != key.start_mark.name
            yield inner, place(value if set_anew else key)
            yield from _places(value, inner)


_LOOKED_AT = 50  # errors of a section that are put into words
_MAPPING = "should be a mapping"

_WORDS = {
    "missing": "is required",
    "model_type": _MAPPING,
    "dict_type": _MAPPING,
    "tuple_type": "should be a list",
    "list_type": "should be a list",
    "bool_type": "should be true or false",
}
"""What is said in other words than those of pydantic."""

_COUNTED = re.compile(r" after validation, not \d+$")
_LONG = re.compile(r"[\d.]{25,}")  # a number that is written with all of its zeros
_BEGIN = re.compile(r"^(Input|List|Tuple|String|Dictionary) ")  # of what pydantic says


def _key_hint(key: str, names: Iterable[str], others: Mapping[str, str], section: str = "") -> str:
    """Say which key is meant: one of `names` in `section`, or one of `others` elsewhere."""
    inside = {name: f"{section}{name}" for name in names}
    places = {**others, **inside}
    near = closest_name(key, places)
    return f"did you mean {places[near]}?" if near else hint(key, inside, inside)


SHOWN = 80  # characters of an override in messages


def _shown(text: str) -> str:
    """Return an override in moderate length."""
    line = " ".join(text.split())
    return escaped(line if len(line) <= SHOWN else f"{line[: SHOWN - 3]}...")


def _override(root: Node, override: str, name: Override) -> Node:
    """Apply one ``KEY=VALUE``; what it writes is marked with `name` as its file."""
    key, equals, text = override.partition("=")
    path = f.dotted(key.strip()).split(".")
    if not equals or not all(path):
        raise InputError(f"{name}: not of the form KEY=VALUE (for instance team_diff=300)")
    if key.encode(errors="ignore").decode() != key:
        raise InputError(f"{name}: the key holds half a character (a surrogate)")
    if len(path) > MAX_DEPTH:
        raise InputError(f"{name}: a key of {len(path)} parts (allowed: {MAX_DEPTH})")
    entry = MODELS.get(str(value_at(root, ["model"])))
    path = _full_path(root, entry, path)
    for file, factor in entry.mappings.items() if entry else ():
        there = find(root, [file])  # where a factor may stand
        if path[:2] == ["factors", factor] and there and kind(there) in ("map", "null"):
            path = [file, *path[2:]]
    if entry and path[0] == "factors":
        field, sections = f.factor_at(entry.factors, path[1:])
        length = 2 + sections
        if field is not None and len(path) > length and find(root, path[:length]) is None:
            # A part of a factor is changed, whose default is written first.
            default = field.get_default(call_default_factory=True)
            node = parse(json.dumps(None if default is PydanticUndefined else default), name)
            assert node is not None
            root = assign(root, path[:length], node)
    value = parse(text, name) or parse("null", name)
    assert value is not None
    try:
        return assign(root, path, value)
    except InputError as error:
        raise InputError(f"{name}: {f.label(path)}: {error}") from None


def _full_path(root: Node, entry: ModelEntry | None, path: list[str]) -> list[str]:
    """Return a path from the top: of a key there, a factor, or a name of the problem, in turn."""
    first, *rest = path
    if tuple(path[:2]) in BY_FACTOR and len(path) > 2:
        return [*path[:2], *_by_factor(entry, path[2:], BY_FACTOR[path[0], path[1]])]
    # A file has no parts: what has them is a factor of that name.
    of_factor = rest and entry and first in entry.factors.model_fields
    files = (*FILES, *(entry.files if entry else ()))
    if first in TOP_LEVEL or (first in files and not of_factor):
        return path
    named = problem_names(root).get(first)
    if named is None or (entry and first in entry.factors.model_fields):
        return ["factors", *path]
    return [*named[:-1], *rest] if rest else named


def _by_factor(entry: ModelEntry | None, path: list[str], keys: Collection[str]) -> list[str]:
    """Return a path below the name of a factor with that name, dots and all, as one part."""
    field, sections = f.factor_at(entry.factors, path) if entry else (None, 0)
    length = 1 + sections
    unknown = entry is not None and (field is None or f.is_open(field))
    for part in path[length:]:
        index = whole_number(part) is not None
        if part in keys or (index and not keys) or not (index or unknown):
            break
        length += 1
    return [".".join(path[:length]), *path[length:]]


ConfigLike: TypeAlias = "str | Path | Mapping[str, Any] | c.Config"  # what `load_config` takes


def load_config(
    source: ConfigLike,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    levels: Sequence[tuple[str, str]] = (),
) -> c.Config:
    """Read a config, apply overrides, check everything.

    Parameters
    ----------
    source : ConfigLike
        A path; ``-`` for standard input; the name of a shipped config,
        which is any name without slash or suffix that is not a file in the working directory; or
        what such a file would hold. A `Config` is returned as it is, without overrides.
    overrides : sequence of str, or mapping
        ``KEY=VALUE`` each, the later wins. KEY is a dotted path in the config (list elements by
        index from 0), starts with the bare name of a factor or a section of factors, or is the
        name of a constraint or of a term of the objective, for its bound or weight; a factor of
        that name comes first. VALUE is YAML. As a mapping, values by key.
    levels : sequence of tuple
        The same for the point of a design, each with what messages call it; they come last.

    Raises
    ------
    InputError
        With one line for each thing that is wrong, in the order of the file, overrides last.
    """
    if isinstance(source, c.Config):
        if overrides or levels:
            raise InputError("a Config cannot be overridden; override what it was loaded from")
        return source
    content, name, folder = _read(source)
    if isinstance(overrides, Mapping):
        overrides = [f"{key}={_as_yaml(value)}" for key, value in overrides.items()]
    try:
        root = parse(content, name)
    except InputError:
        _refuse_others(content, name)
        raise
    if root is None:
        raise InputError(f"{name}:1:1: the config is empty (it needs at least 'model: ...')")
    if not isinstance(root, MappingNode) or find(root, ["model"]) is None:
        _refuse_others(content, name)
    if not isinstance(root, MappingNode):
        raise InputError(f"{place(root)}: the config is {show(root)} (allowed: a mapping)")
    # What an override writes is marked with what messages call it as its file.
    marks = [Override(f"{option('overrides')} {_shown(override)}") for override in overrides]
    marks += [Override(f"{called}={_shown(text.partition('=')[2])}") for called, text in levels]
    for text, mark in zip((*overrides, *(level for _, level in levels)), marks, strict=True):
        root = _override(root, text, mark)
    return ConfigCheck(root, marks).config(name, folder)


def _refuse_others(text: bytes, name: str) -> None:
    """Refuse a file that is no config but something else that is known, with what to do with it."""
    from valmatch.rule_sets.wrappers import MARKS, NoRuleSetError, body_of

    content, file = text.decode("utf-8", "replace").removeprefix("\ufeff"), shlex.quote(name)
    form = kind_of_text(content)
    if form in ("JSON", "YAML", "list", "text"):
        try:
            wrapped = MARKS.search(content) is not None and body_of(content) is not None
        except NoRuleSetError as error:
            raise InputError(f"{name}: no config: {error.what}") from None
        if wrapped or re.search(r'^\W*(ruleLanguageVersion|teams)"?\s*:', content, re.M):
            made = shlex.quote(f"{Path(name).stem}.yaml")
            raise InputError(
                f"{name}: this is a rule set, not a config (valmatch rules config {file} > {made}"
                " writes one that simulates it)"
            )
    what = {
        "table": f"a table: name it under arrivals of a config (valmatch check {file} --write"
        " mine.yaml writes one for a queue log)",
        "PGN": f"a file of games in PGN, not a config (valmatch rate {file} rates them)",
        "JSON lines": f"a log, not a config (valmatch check {file} says what it is good for)",
    }.get(form)
    if what:
        raise InputError(f"{name}: this is {what}")


def shipped_configs() -> dict[str, Path]:
    """Return the files of the shipped configs by name."""
    package = Path(__file__).parents[1]
    # Installed, the configs lie inside the package; in the source tree, beside it.
    inside = package / "configs"
    folder = inside if inside.is_dir() else package.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem)}


def _as_yaml(value: object) -> str:
    """Write plain values, and arrays and scalars of numpy, as JSON, which is YAML."""
    return json.dumps(value, default=lambda array: array.tolist())


def _read(source: str | Path | Mapping[str, Any]) -> tuple[bytes, str, Path]:
    """Return the bytes of a config, its name in errors, the folder its paths start from."""
    if isinstance(source, Mapping):
        return _as_yaml(source).encode(), "<mapping>", Path()
    source = str(source)
    if source == "-":
        return _all_of(sys.stdin), "<stdin>", Path()
    path = arguments.path("config", source)
    shipped = shipped_configs()
    if source in shipped and not path.is_file():
        path = shipped[source]
    try:
        return read_document(path), str(path), path.parent
    except FileNotFoundError:
        others = [other.name for other in path.parent.glob(f"*{path.suffix or '.yaml'}")]
        near = hint(path.name if path.suffix else path.stem, [*others, *shipped])
        lists = "valmatch configs lists the shipped ones, valmatch check FILE says what a file is"
        near = near if near.startswith("did") else lists
        raise InputError(f"{source}: no such file or shipped config ({near})") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{source}: cannot be read: {reason(error).lower()}") from None


@cache
def _all_of(stream: TextIO) -> bytes:
    """Return all of standard input, which can be read only once."""
    try:
        return up_to(MAX_DOCUMENT, stream.buffer)
    except OSError as error:
        raise InputError(f"<stdin>: cannot be read: {reason(error).lower()}") from None


def listed() -> list[dict[str, str]]:
    """Return name, model and the first sentence of the comment that each shipped config has."""
    rows = []
    for name, path in shipped_configs().items():
        text = path.read_text(encoding="utf-8")
        comment = takewhile(lambda line: line.startswith("# "), text.splitlines())
        about = " ".join(line.removeprefix("# ") for line in comment)
        (model,) = re.findall("^model: *([a-z]+)", text, re.MULTILINE)
        rows.append({"config": name, "model": model, "about": re.split(r"(?<=\.) ", about)[0]})
    return rows
