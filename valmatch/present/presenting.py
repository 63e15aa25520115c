"""Presents results by their kind: as text, as a page in a notebook."""

from __future__ import annotations

import importlib
from contextlib import nullcontext

from valmatch.errors import InputError
from valmatch.present.document import Presentation, View
from valmatch.present.terminal import MOST_ROWS, text_of
from valmatch.storage.result_files import damaged
from valmatch.storage.results import Result
from valmatch.text.terminal import wrapped

MODULES = {
    **dict.fromkeys(("simulate", "replicate", "design", "compare"), "runs"),
    **dict.fromkeys(("rate", "systems", "whole_log"), "ratings"),
    **dict.fromkeys(("predict", "next_pairs", "plan"), "games"),
    **{name: name for name in ("optimize", "replay")},
}
"""The module of `kinds` for each kind of result."""


def present(result: Result, view: View = View()) -> Presentation:  # noqa: B008 - never changed
    """Return the finding, the tables and the charts of a result."""
    if not hasattr(result, "presented_by"):
        raise InputError(
            f"{type(result).__name__}: is shown by its files (give the function that made it"
            " out=FOLDER)"
        )
    module = importlib.import_module(f"valmatch.present.kinds.{MODULES[result.presented_by]}")
    file = result.folder / result.unchecked if result.folder and result.unchecked else None
    with damaged(file) if file else nullcontext():
        page: Presentation = getattr(module, f"present_{result.presented_by}")(result, view)
    page.header = page.header or result.title
    page.warnings, page.notes = result.warnings, result.notes_below(view.responses)
    return page


def finding_of(result: Result) -> str:
    """Return what came out, in a sentence."""
    return present(result, View(charts=False)).finding


def text_of_result(result: Result) -> str:
    """Return what a result shows at a prompt: its tables, its finding, its warnings."""
    page = present(result, View(charts=False))
    lines = [line for text in result.warned for line in wrapped(text)]
    return "\n".join([text_of(page, MOST_ROWS), *lines]).rstrip("\n")


def html_of_result(result: Result) -> str:
    """Return what a result shows in a notebook."""
    from valmatch.present.html import fragment_of

    return fragment_of(present(result))
