"""Typed fields of config sections: strict numbers, ranges in words, located refusals."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Literal, Self, get_args, get_origin

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    Strict,
    model_serializer,
    model_validator,
)
from pydantic_core import PydanticCustomError

from valmatch.text.numerals import in_unit

Path = Sequence[str | int]


def _integer(value: object) -> object:
    """Accept 5.0 where 5 is meant."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


# Strict: a bool or a quoted number is not a number; an int is a float.
# A range must stand before these: Annotated[int, Field(ge=1), *Whole].
# -0.0 becomes 0.0, which is the same number and must give the same config id.
Real = (Field(allow_inf_nan=False), Strict(), AfterValidator(lambda value: value + 0.0))
Number = Annotated[float, *Real]
NonNegative = Annotated[float, Field(ge=0), *Real]
Fraction = Annotated[float, Field(gt=0, lt=1), *Real]
Positive = Annotated[float, Field(gt=0), *Real]
Whole = (Strict(), BeforeValidator(_integer))
Flag = Annotated[bool, Strict()]


def real(low: float, high: float) -> tuple[Any, ...]:
    """Return the annotation of a number from a range."""
    return Field(ge=low, le=high), *Real


def up_to(high: float) -> tuple[Any, ...]:
    """Return the annotation of a number above 0."""
    return Field(gt=0, le=high), *Real


def whole(low: int, high: int) -> tuple[Any, ...]:
    """Return the annotation of a whole number from a range."""
    return Field(ge=low, le=high), *Whole


Share = Annotated[float, *real(0, 1)]
Level = Annotated[float, *real(-1e6, 1e6)]  # points, far beyond any use
Minutes = Annotated[float, *real(1e-3, 1e6)]


def factor(
    default: object,
    unit: str = "",
    description: str | None = None,
    of: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> Any:  # noqa: ANN401 - of any type
    """Return the field of a factor, by default described by the docstring that follows it."""
    extra: Any = {"unit": unit, "of": dict(of)}
    return Field(default, description=description, json_schema_extra=extra)


class Misplaced(Exception):  # noqa: N818 - caught where the config is checked
    """A factor does not go with a file of the config."""

    def __init__(self, path: Path, text: str, others: "Sequence[Misplaced]" = ()) -> None:
        super().__init__(text)
        self.path, self.text = tuple(path), text
        self.others = tuple(others)  # what is wrong, too


class Section(BaseModel):
    """A frozen config section in which every key is known; docstrings of fields describe them."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        validate_default=True,
        defer_build=True,
        use_attribute_docstrings=True,
    )

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:  # noqa: ANN401
        """Describe each field in one line, with the choices that it is used with."""
        for field in cls.model_fields.values():
            extra, text = field.json_schema_extra, " ".join((field.description or "").split())
            of: Any = extra.get("of", {}) if isinstance(extra, dict) else {}
            for choices in list(of.values())[-1:]:
                used = f" Used with {' and '.join(choices)} alone."
                text = text.removesuffix(used) + used
            field.description = text or None


class Factors(Section):
    """The factors of a model, or a section of them.

    A field whose type is such a class is a section: its factors have dotted names, and an empty
    section has its defaults. Validation gets the context ``{"files": frozenset}``: the keys of the
    files that the config names.
    """

    unwritten: ClassVar[Collection[str]] = ()  # fields that are not written down at their default

    @model_serializer(mode="wrap")
    def _as_before(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what results without it do not know, unless it is set: the id is as before."""
        fields = type(self).model_fields
        usual = {name for name in self.unwritten if getattr(self, name) == fields[name].default}
        return {name: value for name, value in handler(self).items() if name not in usual}

    @model_validator(mode="before")
    @classmethod
    def _as_people_write(cls, data: object) -> object:
        """Take null for an empty section; durations with a unit; names with commas for a list."""
        if not isinstance(data, dict):
            return {} if data is None else data
        written = {}
        for key, value in data.items():
            unit, choices = _written(cls, key)
            written[key] = in_unit(value, unit)
            if choices and isinstance(value, str):
                names = [name.strip() for name in value.split(",")]
                written[key] = names if {*names} <= {*choices} else value
        return written

    def remarks(self) -> Iterator[tuple[str, str]]:
        """Yield (dotted factor, warning) for settings that are valid but probably not meant."""
        yield from ()

    def with_files(self, files: Mapping[str, FilePath], given: Collection[str]) -> Self:
        """Return the factors that hold with files, or raise `Misplaced` where one does not go."""
        return self

    def rewritten(self, files: Mapping[str, FilePath]) -> Mapping[str, str]:
        """Return the texts of files, by name, that differ by values of these factors."""
        return {}

    def starred_ranges(self) -> Mapping[str, tuple[float, float]]:
        """Return the ranges of factors that a name with ``*`` stands for, by dotted name."""
        return {}

    def one_history(self, files: Collection[str]) -> bool:
        """Return whether every replication with these files is the same."""
        return False

    def brief(self) -> bool:
        """Return whether a replication surely takes less time than importing numba."""
        return False


@cache
def _written(section: type[BaseModel], name: str) -> tuple[str, tuple[str, ...]]:
    """Return the unit of a field, and the names of which it is a list; "" and () without them."""
    field = section.model_fields.get(name)
    if field is None:
        return "", ()
    extra = field.json_schema_extra
    inner = get_args(field.annotation)[0] if get_origin(field.annotation) is tuple else None
    unit = extra.get("unit", "") if isinstance(extra, dict) else ""
    return str(unit), get_args(inner) if get_origin(inner) is Literal else ()


def refuse(message: str, *at: str) -> PydanticCustomError:
    """Build the error of a check, to be raised by a validator.

    Parameters
    ----------
    message : str
        What is wrong.
    *at : str
        Keys of the section that the message is about, dotted if they are in sections of it: it is
        shown at the first of them that is written in the config. None: at the validated key itself.
    """
    return PydanticCustomError("refused", message, {"at": at})


def plain_number(value: float) -> str:
    """Write a number as people do: 200 for 200.0; reading it back gives the same value."""
    return repr(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(value)


_schema = cache(lambda section: section.model_json_schema())


def schema_at(section: type[BaseModel], path: Path) -> dict[str, Any]:
    """Return the JSON schema of the value at `path` in `section`; {} where there is none."""
    root: dict[str, Any] = _schema(section)

    def target(schema: dict[str, Any]) -> dict[str, Any]:
        name = schema.get("$ref", "").removeprefix("#/$defs/")
        return root["$defs"][name] if name else schema

    schema = root
    for part in path:
        options = [option for option in schema.get("anyOf", ()) if option != {"type": "null"}]
        outer = target(options[0]) if options else schema
        if isinstance(part, int):
            places = outer.get("prefixItems", ())
            inner = places[part] if part < len(places) else outer.get("items", {})
        else:
            inner = outer.get("properties", {}).get(part) or outer.get("additionalProperties") or {}
        # True: anything.
        schema = target(inner) if isinstance(inner, dict) else {}
    return schema


def allowed(schema: dict[str, Any]) -> str:
    """Say in words which values a JSON schema allows, for instance "a number >= 0"."""
    if "anyOf" in schema:
        return " or ".join(allowed(option) for option in schema["anyOf"])
    if "enum" in schema:
        return " or ".join(schema["enum"])
    if "const" in schema:
        return str(schema["const"])
    if "words" in schema:
        return str(schema["words"])
    kind = schema.get("type")
    if kind == "array":
        size = schema.get("minItems")
        exact = f"{size} " if size == schema.get("maxItems") and size else ""
        items = schema["prefixItems"][0] if "prefixItems" in schema else schema["items"]
        words = allowed(items)  # such as "a number >= 0", of which there are "numbers >= 0"
        plural = words if "enum" in items else re.sub(r"^\S+ (\S+)", r"\1s", words)
        return f"a list of {exact}{plural}"
    if kind in _NOUNS:
        return f"{_NOUNS[kind]}{_range(schema)}"
    example = schema.get("example")
    return f"a mapping such as {example}" if example else "a mapping"


_NOUNS = {
    "number": "a number",
    "integer": "an integer",
    "string": "a string",
    "boolean": "true or false",
    "null": "null",
}


def _range(schema: dict[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if low is not None and high is not None:
        return f" from {plain_number(low)} to {plain_number(high)}"
    if above is not None and below is not None:
        return f" between {plain_number(above)} and {plain_number(below)}"
    limits = ((">=", low), (">", above), ("<=", high), ("<", below))
    shown = [f"{sign} {plain_number(limit)}" for sign, limit in limits if limit is not None]
    return f" {' and '.join(shown)}" if shown else ""
