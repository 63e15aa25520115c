"""Whatever is wrong with its input, a command says so in a line and leaves everything as it was.

All cases run by ``tests/verification/test_bad_inputs.py``; ``python -m tests.bad_inputs`` shows
single ones.
"""

from __future__ import annotations

from itertools import count, islice
from pathlib import Path

import pytest

from tests.bad_inputs import KINDS, case
from tests.bad_inputs.bases import make_bases
from tests.bad_inputs.case import Case
from tests.bad_inputs.judging import broken_promises

COUNTS = {"configs": 16, "options": 20, "rules": 30, "curves": 10, "journals": 4, "results": 3}
"""Cases by kind, others 16: as many as take some 20 seconds together."""


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_bases(tmp_path_factory.mktemp("bases"))


def _quick(one: Case) -> bool:
    """Return whether a case is done in a moment also where its command succeeds."""
    return one.kind == "results" or (one.argv[0] != "plot" and "--macroreps" not in one.argv)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_bad_input_is_refused_in_plain_words(kind: str, bases: Path) -> None:
    cases = filter(_quick, (case(kind, number, bases) for number in count()))
    broken = {
        f"{kind} {one.number}: {one.what}": broken_promises(one)
        for one in islice(cases, COUNTS.get(kind, 16))
    }
    assert {name: problems for name, problems in broken.items() if problems} == {}


@pytest.mark.slow
def test_a_case_is_the_same_whenever_it_is_made(bases: Path) -> None:
    for kind in KINDS:
        assert case(kind, 7, bases) == case(kind, 7, bases) != case(kind, 8, bases)


@pytest.mark.parametrize(
    ("argv", "certain", "problem"),
    [
        (("simulate", "valorant"), True, "exit code 0"),
        (("simulate", "valorant", "--out", "elsewhere"), False, "wrote a/b/elsewhere"),
        (("simulate", "nowhere"), True, "does not name faulty"),
    ],
)
def test_broken_promises_are_found(argv: tuple[str, ...], certain: bool, problem: str) -> None:
    problems = broken_promises(Case("options", 0, argv, names=("faulty",), certain=certain))
    assert any(one.startswith(problem) for one in problems)
