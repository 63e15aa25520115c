"""Configs: a YAML file plus ``--set`` overrides, checked against the factors of its model."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NoReturn, TextIO, TypeAlias

from pydantic import ValidationError
from pydantic_core import ErrorDetails
from yaml import MappingNode, Node

from valmatch.errors import InputError
from valmatch.fields import (
    Factors,
    Section,
    allowed,
    schema_at,
)
from valmatch.models.registry import MODELS, ModelEntry, unknown_model
from valmatch.nearest import correction, hint, nearest
from valmatch.options import SECTIONS
from valmatch.yaml_positions import (
    assign,
    find,
    from_command_line,
    kind,
    parse,
    place,
    show,
    to_value,
    written_key,
)

__all__ = [
    "Config",
    "ConfigLike",
    "changes",
    "config_id",
    "load",
    "problem_id",
    "resolved",
    "restore",
    "shipped_configs",
]


TOP_LEVEL = ("model", "factors", "arrivals", *SECTIONS)


ConfigLike: TypeAlias = "str | Path | Mapping[str, Any] | Config"
"""What `load` takes."""


@dataclass(frozen=True)
class Config:
    """What to simulate, checked.

    Attributes
    ----------
    model : name of the model, a key of `MODELS`
    factors : all factors of the model, defaults filled in
    arrivals : file of arrivals that replaces the random ones, or None
    arrivals_given : that file as the config names it ("" without one)
    arrivals_sha256 : digest of its bytes when the config was loaded ("" without one)
    replicate : the options of ``replicate`` that the config gives, by their names
    optimize : likewise for ``optimize``
    design : the points of an experiment, if the config gives any
    source : the file, as errors show it
    warnings : settings that are valid but probably not meant, one located line each
    places : ``file:line:column`` of what is written, by dotted path
    """

    model: str
    factors: Factors
    arrivals: Path | None = None
    arrivals_given: str = ""
    arrivals_sha256: str = ""
    replicate: Mapping[str, Any] = field(default_factory=dict)
    optimize: Mapping[str, Any] = field(default_factory=dict)
    design: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    warnings: tuple[str, ...] = ()
    places: Mapping[str, str] = field(default_factory=dict, compare=False)

    def at(self, path: str) -> str:
        """Return ``file:line:column: path``, with the place of the nearest thing written."""
        nearest = path
        while nearest and nearest not in self.places:
            nearest = nearest.rpartition(".")[0]
        return f"{self.places.get(nearest, self.source)}: {path}"


def load(
    source: ConfigLike,
    overrides: Sequence[str] | Mapping[str, Any] = (),
    levels: Sequence[str] = (),
) -> Config:
    """Read a config, apply overrides, check everything.

    Parameters
    ----------
    source : str, Path, mapping or Config
        A path; ``-`` for standard input; the name of a shipped config, which is any name without
        slash or suffix that is not a file in the working directory; or what such a file would
        hold. A `Config` is returned as it is, without overrides.
    overrides : sequence of str, or mapping
        ``KEY=VALUE`` each, the later wins. KEY is a dotted path in the config (list elements by
        index from 0) or starts with the bare name of a factor; VALUE is YAML. As a mapping, values
        by key.
    levels : sequence of str
        The same for the point of a design; they come last.

    Raises
    ------
    InputError
        With one line for each thing that is wrong, in the order of the file, overrides last.
    """
    if isinstance(source, Config):
        if overrides or levels:
            raise InputError("a Config cannot be overridden; override what it was loaded from")
        return source
    text, name, folder = _read(source)
    if isinstance(overrides, Mapping):
        overrides = [f"{key}={_json(value)}" for key, value in overrides.items()]
    root = parse(text, name)
    if root is None:
        raise InputError(f"{name}:1:1: the config is empty (it needs at least 'model: ...')")
    if not isinstance(root, MappingNode):
        raise InputError(f"{place(root)}: the config is {show(root)} (allowed: a mapping)")
    names = [f"--set {' '.join(override.split())}" for override in overrides]
    names += [f"design: {level}" for level in levels]
    for override, mark in zip((*overrides, *levels), names, strict=True):
        root = _override(root, override, mark)
    return _Check(root, names).config(name, folder)


def resolved(config: Config) -> dict[str, Any]:
    """Return everything that determines a run but the seed, as plain JSON-able values.

    All factors are spelt out; a null horizon means the last arrival of the file whose digest
    stands beside it.
    """
    result: dict[str, Any] = {
        "model": config.model,
        "factors": config.factors.model_dump(mode="json"),
    }
    if config.arrivals is not None:
        result["arrivals"] = {"path": config.arrivals_given, "sha256": config.arrivals_sha256}
    return result


def restore(content: Mapping[str, Any], source: str) -> Config:
    """Return the config of which `resolved` made `content`, read from the file `source`.

    Raises
    ------
    InputError
        If this version has no such model or factors, or the file of arrivals is not there.
    """
    arrivals, path = content.get("arrivals"), None
    try:
        factors = MODELS[content["model"]].factors.model_validate(
            content["factors"], context={"trace": arrivals is not None}
        )
        if arrivals is not None:
            tried = (Path(source).parent / arrivals["path"], Path(arrivals["path"]))
            path = next(
                p
                for p in tried
                if p.is_file() and hashlib.sha256(p.read_bytes()).hexdigest() == arrivals["sha256"]
            )
    except (KeyError, ValidationError):
        raise InputError(f"{source}: the config of the run is not valid in this version") from None
    except StopIteration:
        raise InputError(f"{source}: the run's arrivals {arrivals} are not there") from None
    given = arrivals or {"path": "", "sha256": ""}
    return Config(
        model=content["model"],
        factors=factors,
        arrivals=path,
        arrivals_given=given["path"],
        arrivals_sha256=given["sha256"],
        source=source,
    )


def changes(
    first: Mapping[str, Any], second: Mapping[str, Any]
) -> list[tuple[str, object, object]]:
    """Return (dotted path, value here, value there) of all in which two resolved configs differ."""
    mine, theirs = _flat(first), _flat(second)
    # The factors of different models have nothing in common.
    keys = {"model"} if mine["model"] != theirs["model"] else mine.keys() | theirs.keys()
    found = ((key, mine.get(key), theirs.get(key)) for key in sorted(keys))
    return [change for change in found if change[1] != change[2]]


def _flat(value: object, path: str = "") -> dict[str, object]:
    """Return the leaves of nested mappings and lists by dotted path."""
    if isinstance(value, Mapping):
        items: Any = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return {path: value}
    leaves: dict[str, object] = {}
    for key, inner in items:
        leaves.update(_flat(inner, f"{path}.{key}" if path else str(key)))
    return leaves


def config_id(config: Config) -> str:
    """Return 12 hex digits that identify what is simulated, however the config is written.

    They are the start of the SHA-256 of canonical JSON (sorted keys, shortest numbers) of the
    model, its factors and the digest of its arrivals; options of commands do not enter.
    """
    content = {**resolved(config), "arrivals": config.arrivals_sha256}
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def problem_id(config: Config) -> str:
    """Return 12 hex digits that identify the problem of the `optimize` section."""
    parts = {key: config.optimize.get(key) for key in ("variables", "objective", "constraints")}
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def shipped_configs() -> dict[str, Path]:
    """Return the files of the shipped configs by name."""
    package = Path(__file__).parent
    # Installed, the configs lie inside the package; in the source tree, beside it.
    inside = package / "configs"
    folder = inside if inside.is_dir() else package.parent / "configs"
    return {path.stem: path for path in sorted(folder.glob("*.yaml"), key=lambda path: path.stem)}


def _json(value: object) -> str:
    """Write plain values, and arrays and scalars of numpy, as JSON, which is YAML."""
    return json.dumps(value, default=lambda array: array.tolist())


def _read(source: str | Path | Mapping[str, Any]) -> tuple[bytes, str, Path]:
    """Return the bytes of a config, its name in errors, the folder its paths start from."""
    if isinstance(source, Mapping):
        return _json(source).encode(), "<mapping>", Path()
    source = str(source)
    if source == "-":
        return _all_of(sys.stdin), "<stdin>", Path()
    path = Path(source)
    shipped = shipped_configs()
    if source in shipped and not path.is_file():
        path = shipped[source]
    try:
        return path.read_bytes(), str(path), path.parent
    except FileNotFoundError:
        near = nearest(path.name.removesuffix(path.suffix), shipped)
        meant = f"did you mean the shipped config {near!r}? " if near else ""
        names = ", ".join(shipped)
        raise InputError(f"{source}: no such file ({meant}shipped configs: {names})") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{source}: cannot be read: {_reason(error)}") from None


@cache
def _all_of(stream: TextIO) -> bytes:
    """Return all of standard input, which can be read only once."""
    return stream.buffer.read()


def _reason(error: OSError | ValueError) -> str:
    return str(getattr(error, "strerror", None) or error).lower()


def _override(root: Node, override: str, name: str) -> Node:
    """Apply one ``KEY=VALUE``; what it writes is marked with `name` as its file."""
    key, equals, text = override.partition("=")
    path = key.strip().split(".")
    if not equals or not all(path):
        raise InputError(f"{name}: not of the form KEY=VALUE (for instance team_diff=300)")
    if path[0] not in TOP_LEVEL:
        path = ["factors", *path]
    value = parse(text, name) or parse("null", name)
    assert value is not None
    try:
        if path[0] == "factors" and len(path) > 2 and find(root, path[:2]) is None:
            root = assign(root, path[:2], _default(root, path[1], name))
        return assign(root, path, value)
    except InputError as error:
        raise InputError(f"{name}: {'.'.join(path)}: {error}") from None


def _default(root: Node, factor: str, name: str) -> Node:
    """Return the default of a factor, so that an override can change a part of it."""
    model = find(root, ["model"])
    entry = MODELS.get(str(to_value(model))) if model is not None else None
    known = entry is not None and factor in entry.factors.model_fields
    value = entry.factors.model_fields[factor].default if entry and known else None
    node = parse(json.dumps(value), name)
    assert node is not None
    return node


class _Check:
    """Makes a `Config` of a document, collecting what is wrong on the way.

    Attributes
    ----------
    root : the document, overrides applied
    overrides : names of the overrides in order
    problems : (node, message) pairs; the node tells where
    """

    def __init__(self, root: Node, overrides: Sequence[str]) -> None:
        self.root = root
        self.overrides = overrides
        self.problems: list[tuple[Node, str]] = []

    def config(self, source: str, folder: Path) -> Config:
        """Check all of the document; raise with one line for each problem."""
        model = self._model()
        entry = MODELS.get(model)
        inner = {name: f"factors.{name}" for name in entry.factors.model_fields} if entry else {}
        for key, _ in self.root.value:
            if key.value not in TOP_LEVEL:
                meant = _key_hint(key.value, TOP_LEVEL, inner)
                self.problems.append((key, f"{key.value}: unknown key ({meant})"))
        arrivals, given, digest = self._arrivals(entry, folder)
        options = {name: self._section(name, cls, {}) for name, cls in SECTIONS.items()}
        cls = entry.factors if entry else Factors
        factors = self._section("factors", cls, {"trace": bool(given)}) if entry else None
        if self.problems:
            self._raise()
        assert isinstance(factors, Factors)
        return Config(
            model=model,
            factors=factors,
            arrivals=arrivals,
            arrivals_given=given,
            arrivals_sha256=digest,
            **{
                name: section.model_dump(exclude_none=True)
                for name, section in options.items()
                if section
            },
            source=source,
            warnings=tuple(
                f"{place(self._nearest_node(('factors', name)))}: factors.{name}: {text}"
                for name, text in factors.remarks()
            ),
            places=dict(_places(self.root)),
        )

    def _raise(self) -> NoReturn:
        def order(problem: tuple[Node, str]) -> tuple[int, int, int]:
            mark = problem[0].start_mark
            file = self.overrides.index(mark.name) if mark.name in self.overrides else -1
            return file, mark.line, mark.column

        lines = (f"{place(node)}: {what}" for node, what in sorted(self.problems, key=order))
        raise InputError("\n".join(lines))

    def _model(self) -> str:
        node = find(self.root, ["model"])
        if node is None:
            self.problems.append((self.root, f"model: missing (allowed: {', '.join(MODELS)})"))
            return ""
        name = to_value(node)
        if isinstance(name, str) and name in MODELS:
            return name
        wrong = f"{_mismatch(node)} (allowed: {', '.join(MODELS)})"
        self.problems.append(
            (node, f"model: {unknown_model(name) if isinstance(name, str) else wrong}")
        )
        return ""

    def _arrivals(self, entry: ModelEntry | None, folder: Path) -> tuple[Path | None, str, str]:
        """Return the file of arrivals, its name as given and its digest, if there is one."""
        node = find(self.root, ["arrivals"])
        given = to_value(node) if node is not None else None
        if node is None or given is None:
            return None, "", ""
        path = None
        digest = ""
        if not isinstance(given, str):
            self.problems.append((node, f"arrivals: {_mismatch(node)} (allowed: a file)"))
        elif entry is not None and not entry.traces:
            self.problems.append((node, "arrivals: this model takes none"))
        else:
            path = (Path() if from_command_line(node) else folder) / given
            try:
                # A pipe would be empty once its digest is taken.
                if path.exists() and not path.is_file():
                    raise OSError(0, "not a regular file")
                digest = hashlib.sha256(path.read_bytes()).hexdigest()
            except (OSError, ValueError) as error:
                self.problems.append((node, f"arrivals: {str(path)!r}: {_reason(error)}"))
        return path, str(given), digest

    def _section(
        self, name: str, cls: type[Section], context: Mapping[str, object]
    ) -> Section | None:
        """Validate one section; an absent or empty one has only defaults."""
        node = find(self.root, [name])
        value = to_value(node) if node is not None else None
        try:
            return cls.model_validate({} if value is None else value, context=dict(context))
        except ValidationError as error:
            for problem in error.errors(include_url=False):
                # A list counts as short for pydantic if enough of its elements are refused.
                if problem["type"] == "too_short" and (
                    len(problem["input"]) >= problem["ctx"]["min_length"]
                ):
                    continue
                self.problems.append(self._translated(name, cls, problem))
            return None

    def _translated(self, name: str, cls: type[Section], error: ErrorDetails) -> tuple[Node, str]:
        """Turn an error of pydantic into a problem."""
        path = (name, *error["loc"])
        label = ".".join(str(part) for part in path)
        if error["type"] == "extra_forbidden":
            names = schema_at(cls, error["loc"][:-1])["properties"]
            # A bare name on the command line may have been meant for the top level.
            others = {top: top for top in TOP_LEVEL} if path[:-1] == ("factors",) else {}
            meant = _key_hint(str(path[-1]), names, others)
            key = written_key(self.root, path)
            return key or self._nearest_node(path), f"{label}: unknown key ({meant})"
        if error["type"] == "refused":
            at = error.get("ctx", {}).get("at", ())
            path = next(((name, key) for key in at if find(self.root, (name, key))), path)
            label = ".".join(str(part) for part in path)
            return self._nearest_node(path), f"{label}: {error['msg']}"
        node = find(self.root, path)
        limits = allowed(schema_at(cls, error["loc"]))
        unit = schema_at(cls, error["loc"]).get("unit")
        limits += f", in {unit}" if unit else ""
        if node is None:
            return self._nearest_node(path), f"{label}: missing (allowed: {limits})"
        if error["type"] == "literal_error" and kind(node) == "str":
            schema = schema_at(cls, error["loc"])
            options = schema.get("anyOf", [schema])  # that, or null
            names = [name for option in options for name in option.get("enum", ())]
            limits += correction(str(to_value(node)), names)
        return node, f"{label}: {_mismatch(node, error['type'])} (allowed: {limits})"

    def _nearest_node(self, path: Sequence[str | int]) -> Node:
        """Return what is written at `path`, or else the key of the section that lacks it."""
        for length in range(len(path), 0, -1):
            node = find(self.root, path[:length])
            if node is not None:
                return (
                    node if length == len(path) else written_key(self.root, path[:length]) or node
                )
        return self.root


def _places(node: Node, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield (dotted path, place) of everything below a node: of keys, but of values set anew."""
    if isinstance(node, MappingNode):
        for key, value in node.value:
            inner = f"{path}.{key.value}" if path else str(key.value)
            set_anew = value.start_mark.name != key.start_mark.name
            yield inner, place(value if set_anew else key)
            yield from _places(value, inner)


_WRONG = {
    "finite_number": "is not finite",
    "too_short": "is too short",
    "too_long": "is too long",
    "greater_than": "is too small",
    "greater_than_equal": "is too small",
    "less_than": "is too large",
    "less_than_equal": "is too large",
}


def _mismatch(node: Node, error: str = "") -> str:
    """Say what is wrong with a value, given the type of pydantic's error."""
    what = _WRONG.get(error)
    if what is None and kind(node) == "bool":
        what = "is a boolean"
    if what is None and kind(node) == "str" and error != "literal_error":
        what = "is a string"
    if what is None and error == "int_type" and kind(node) == "float":
        what = "is not a whole number"
    if what is None and error == "float_type" and kind(node) == "int":
        what = "is too large"
    return f"{show(node)} {what or 'is not allowed'}"


def _key_hint(key: str, names: Iterable[str], others: Mapping[str, str]) -> str:
    """Say which key is meant: one of `names`, or one of `others`, which stand elsewhere."""
    places = {**others, **{name: name for name in names}}
    near = nearest(key, places)
    return f"did you mean {places[near]}?" if near else hint(key, names)
