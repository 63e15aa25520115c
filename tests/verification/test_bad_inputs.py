"""Thousands of commands with bad input; a subset runs in ``tests/cli/test_bad_inputs.py``.

pytest tests/verification/test_bad_inputs.py
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bad_inputs import KINDS, case
from tests.bad_inputs.bases import make_bases
from tests.bad_inputs.judging import broken_promises

CASES = {"rules": 1000, "whole logs": 500, "options": 1000}
"""Cases by kind, of others 220."""


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bases(tmp_path_factory.mktemp("bases"))


@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_refused_in_plain_words(kind: str, bases: Path) -> None:
    broken = {}
    for number in range(CASES.get(kind, 220)):
        one = case(kind, number, bases)
        if problems := broken_promises(one):
            broken[f"{number}: {one.what}"] = problems
    assert broken == {}
