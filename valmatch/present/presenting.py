"""Presents results by their kind: as text, as a page in a notebook."""

from __future__ import annotations

import importlib
from typing import Any

from valmatch.errors import InputError
from valmatch.present.document import Presentation, View
from valmatch.present.terminal import MOST_ROWS, text_of
from valmatch.storage.results import Result
from valmatch.text.terminal import wrapped


def present(result: Result, view: View = View()) -> Presentation:  # noqa: B008 - never changed
    """Return the finding, the tables and the charts of a result."""
    if not hasattr(result, "presented_by"):
        raise InputError(
            f"{type(result).__name__}: is shown by its files (give the function that made it"
            " out=FOLDER)"
        )
    module: Any = importlib.import_module(f"valmatch.present.kinds.{result.presented_by}")
    found: Presentation = module.present(result, view)
    found.header = found.header or result.title
    found.warnings = result.warned
    return found


def finding_of(result: Result) -> str:
    """Return what came out, in a sentence."""
    return present(result, View(charts=False)).finding


def text_of_result(result: Result) -> str:
    """Return what a result shows at a prompt: its tables, its finding, its warnings."""
    found = present(result, View(charts=False))
    said = [line for text in (found.finding, *found.warnings) if text for line in wrapped(text)]
    return "\n".join([text_of(found, MOST_ROWS), *said]).rstrip("\n")


def html_of_result(result: Result) -> str:
    """Return what a result shows in a notebook."""
    from valmatch.present.html import fragment_of

    return fragment_of(present(result))
