"""Bases of the results of all public functions, and their documents."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from valmatch.text.terminal import Notice

if TYPE_CHECKING:
    from valmatch.storage.result_files import ResultFiles


SUMMARY = "summary.json"  # the document of a result

T = TypeVar("T")


class Result(ABC):
    """What a public function returns: numbers by name, as text, as arrays, as plain values."""

    presented_by: ClassVar[str]  # its kind: `present_KIND` of its room in `valmatch.present`
    # the file of a folder whose entries are shown as they stand, "" where all of them are checked
    unchecked: ClassVar[str] = ""
    folder: Path | None  # where the files of the result are; None where none were written

    @property
    def warnings(self) -> Sequence[str]:
        """What has to be known of the result, a sentence each: left out, guessed, doubtful."""
        return ()

    def notes_below(self, chosen: Collection[str] = ()) -> list[Notice]:
        """Return the warnings below its tables, those about the chosen responses if any are."""
        notices = map(Notice.of, self.warnings)
        return [notice for notice in notices if notice.kind == "note"]

    @property
    def warned(self) -> list[str]:
        """The warnings that stand nowhere else."""
        below = self.notes_below()
        return [warning for warning in self.warnings if warning not in below]

    @property
    def finding(self) -> str:
        """What came out, in a sentence with its interval."""
        presenting = importlib.import_module("valmatch.present.presenting")
        return str(presenting.finding_of(self))

    @property
    @abstractmethod
    def title(self) -> str:
        """What the result is of, in one line."""

    @abstractmethod
    def summary(self) -> dict[str, Any]:
        """Return what ``summary.json`` holds."""

    def as_json(self) -> dict[str, Any]:
        """Return what a command prints as JSON."""
        return self.summary()

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return what the result found as a table, equally long columns by name."""

    @classmethod
    def read(cls, files: ResultFiles) -> Self:
        """Return the result that a folder holds."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, NDArray[Any]]:
        """Return arrays by name, one for each column, as ``pandas.DataFrame`` takes them."""
        return arrays(self.columns())

    def __repr__(self) -> str:
        presenting = importlib.import_module("valmatch.present.presenting")
        return str(presenting.text_of_result(self))

    def _repr_html_(self) -> str:
        return str(importlib.import_module("valmatch.present.html").fragment_of(self))


class Warnings(list[Notice]):
    """Keeps what is warned of, and passes it on."""

    def __init__(self, warn: Callable[[str], None]) -> None:
        super().__init__()
        self._warn = warn

    def __call__(self, text: str) -> None:
        """Take in a sentence."""
        if text not in self:
            self.append(Notice.of(text))
            self._warn(text)


def warnings_of_parts(warnings: Mapping[str, Sequence[str]]) -> list[Notice]:
    """Return what is warned of the parts of a result by name; one of all parts once, unnamed."""
    parts_of: dict[Notice, list[str]] = {}
    for name, texts in warnings.items():
        for text in texts:
            parts_of.setdefault(Notice.of(text), []).append(name)
    return [
        text if len(names) == len(warnings) else text.after(", ".join(names))
        for text, names in parts_of.items()
    ]


def warnings_entry(warnings: Iterable[str], key: str = "warnings") -> dict[str, Any]:
    """Return the entry of a file that holds warnings, each once; nothing without any."""
    rows = [Notice.of(text).as_dict() for text in dict.fromkeys(warnings)]
    return {key: rows} if rows else {}


def warnings_in(document: Mapping[str, Any], key: str = "warnings") -> list[Notice]:
    """Return the warnings that an entry of a file holds."""
    rows = document.get(key, ())
    return [Notice(str(row["text"]), str(row["kind"]), int(row["count"])) for row in rows]


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows of the same names as columns."""
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}


def among(numbers: Mapping[str, T], chosen: Collection[str]) -> dict[str, T]:
    """Return the numbers of the chosen responses, all without any."""
    return {name: of for name, of in numbers.items() if not chosen or name in chosen}


def arrays(columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return columns as arrays; None among numbers becomes NaN."""
    named = {}
    for name, values in columns.items():
        array = np.asarray(values)
        numbers = array.dtype == object and not any(isinstance(value, str) for value in values)
        named[name] = array.astype(np.float64) if numbers else array
    return named


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
        from valmatch.storage.result_files import damaged

        document, types = files.json(SUMMARY), get_type_hints(cls)
        with damaged(files.folder / SUMMARY):
            held = {name: read_as(types[name], document[name], name) for name in cls.documented}
            held |= {"warnings": warnings_in(document), "folder": files.folder}
            return cls(**held, **cls.held_elsewhere(files, document))

    @classmethod
    def held_elsewhere(cls, files: ResultFiles, document: dict[str, Any]) -> dict[str, Any]:
        """Return the other fields, by other entries of the document and by other files."""
        return {}
