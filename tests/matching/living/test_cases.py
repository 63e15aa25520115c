"""The rules give the answers that living matchmakers gave themselves."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.support.matchmaker_case import play_case
from tests.support.matchmaker_cases import CASES, FOLDER, differences, document


@pytest.mark.parametrize("name", CASES)
def test_matches_waits_and_values_are_those_of_the_game(name: str) -> None:
    case = document(name)
    assert differences(case, play_case(case)) == []


def test_there_are_cases_of_every_rule() -> None:
    rules = {name.partition("-")[0] for name in CASES}
    assert rules == {"faf", "bar", "shieldbattery", "osu", "lichess"}
    assert len(CASES) == 51


@pytest.mark.slow
@pytest.mark.parametrize("name", ["faf-15", "shieldbattery-12", "osu-09", "lichess-03"])
def test_kernels_give_the_same_answers_in_plain_python(name: str) -> None:
    command = [sys.executable, "-m", "tests.support.matchmaker_case", str(FOLDER / f"{name}.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == play_case(document(name))
