"""Base of the results of all public functions."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from valmatch.text.terminal import Notice

if TYPE_CHECKING:
    from valmatch.storage.result_files import ResultFiles


class Result(ABC):
    """What a public function returns: numbers by name, as text, as arrays, as plain values."""

    presented_by: ClassVar[str]  # the module of `valmatch.present.kinds` that says what it shows
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
        presenting = importlib.import_module("valmatch.present.presenting")
        return str(presenting.html_of_result(self))


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


def arrays(columns: Mapping[str, Sequence[Any] | NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return columns as arrays; None among numbers becomes NaN."""
    named = {}
    for name, values in columns.items():
        array = np.asarray(values)
        numbers = array.dtype == object and not any(isinstance(value, str) for value in values)
        named[name] = array.astype(np.float64) if numbers else array
    return named
