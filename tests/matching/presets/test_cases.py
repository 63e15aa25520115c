"""The searches give the answers that living matchmakers gave themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.command import valmatch
from tests.support.matchmaker_cases import CASES, FOLDER, differences, document
from valmatch.experiments.replay_case import replay_case


@pytest.mark.parametrize("name", CASES)
def test_matches_waits_and_values_are_those_of_the_game(name: str) -> None:
    result = replay_case(FOLDER / f"{name}.json").answers()
    assert differences(document(name), result) == []


def test_there_are_cases_of_every_rule() -> None:
    rules = {name.partition("-")[0] for name in CASES}
    assert rules == {"faf", "bar", "shieldbattery", "osu", "lichess"}
    assert len(CASES) == 51


def test_the_command_writes_the_form_of_the_answers(tmp_path: Path) -> None:
    for name in ("faf-15", "bar-06", "shieldbattery-12", "osu-09", "lichess-03"):
        done = valmatch("rules", "replay", FOLDER / f"{name}.json", "--out", tmp_path / name)
        assert (done.code, done.err) == (0, f"results in {tmp_path / name}\n")
        result = json.loads((tmp_path / name / "result.json").read_text(encoding="utf-8"))
        case = document(name)
        assert differences(case, result) == []
        assert set(result) - set(case["expected"]) <= {"waves"}
        assert f"rule {case['rule']}: {len(result['matches'])} matches" in done.out
