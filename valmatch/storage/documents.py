"""Results as the documents of ``summary.json``, and back: by the names of their fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Self, get_type_hints

from valmatch.storage.result_files import ResultFiles, damaged
from valmatch.storage.results import Result, warnings_entry, warnings_in

SUMMARY = "summary.json"


def plain(value: Any) -> Any:  # noqa: ANN401
    """Return a value as a document holds it, without fields that are None by default."""
    if is_dataclass(value):
        held = {field.name: getattr(value, field.name) for field in fields(value)}
        left_out = {field.name for field in fields(value) if field.default is None}
        return {k: plain(v) for k, v in held.items() if v is not None or k not in left_out}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(value._asdict())
    if isinstance(value, Mapping):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return list(map(plain, value))
    return value


def read_as(kind: Any, value: object, key: str) -> Any:  # noqa: ANN401
    """Return a value of a type from what a document holds under a key."""
    from pydantic import TypeAdapter, ValidationError  # takes long to import

    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
    at = ".".join(map(str, (key, *problem["loc"])))
    if problem["type"] == "missing":
        raise KeyError(at)
    raise ValueError(f"{at}: {problem['input']!r:.60}: {problem['msg']}")


class DocumentedResult(Result):
    """A result of which ``summary.json`` holds some fields as they are called."""

    documented: ClassVar[Sequence[str]]  # the fields

    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""
        held = {name: plain(getattr(self, name)) for name in self.documented}
        return {**held, **warnings_entry(self.warnings)}

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the result that a folder holds."""
        document, types = files.json(SUMMARY), get_type_hints(cls)
        with damaged(files.folder / SUMMARY):
            held = {name: read_as(types[name], document[name], name) for name in cls.documented}
            held |= {"warnings": warnings_in(document), "folder": files.folder}
            return cls(**held, **cls.held_elsewhere(files, document))

    @classmethod
    def held_elsewhere(cls, files: ResultFiles, document: dict[str, Any]) -> dict[str, Any]:
        """Return the other fields, by other entries of the document and by other files."""
        return {}
