"""Cases that are wrong: one line for each fault, with its place, exit code 2, nothing written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.command import valmatch

PLAYER = {"rating": 1000, "deviation": 80, "games": 50}


def case(**changes: Any) -> dict[str, Any]:  # noqa: ANN401
    tickets = [{"id": "a", "time": 1, "players": [{"rating": 25, "deviation": 5}]}]
    document = {"rule": "bar", "tickets": tickets, "horizon": 10, **changes}
    return {key: value for key, value in document.items() if value is not None}


WRONG = {
    "preset": (case(rule="baar"), "1:10: error: rule: 'baar' is no preset (did you mean bar?)"),
    "no rule": (case(rule=None), "1:1: error: case: no rule (a preset is needed: faf,"),
    "word": (
        case(rule={"preset": "bar", "acept": {"band": [0.2, 0.8]}}),
        "error: rule.acept: unknown word 'acept' (did you mean accept?)",
    ),
    "constant": (
        case(constants={"team_sise": 2}),
        "error: constants: unknown key 'team_sise' (did you mean team_size?)",
    ),
    "party": (
        case(tickets=[{"id": "a", "time": 1, "players": [{}, {}]}]),
        "error: tickets[0].players: 2 players, and a team has 1",
    ),
    "tick": (
        case(constants={"tick": 0}),
        "error: constants.tick: 0 is not allowed (allowed: a number from 0.01 to 3600 or null, in"
        " seconds)",
    ),
    "ticks": (case(ticks=[0, 5]), "error: ticks[0]: more than 0 is needed, not 0.0"),
    "order of ticks": (case(ticks=[5, 5]), "ticks[1]: ticks come in order of time: 5 after 5"),
    "size": (
        case(rule="shieldbattery", constants={"team_size": 4}, tickets=[]),
        "error: constants.team_size: preset shieldbattery knows no teams of 4 (allowed: 1 to 3)",
    ),
    "teams": (
        case(rule={"preset": "faf", "teams": "3x2"}, tickets=[]),
        "error: rule.teams: preset faf knows no 3 teams (allowed: 2)",
    ),
    "words that do not go together": (
        case(rule={"preset": "bar", "search": "pairs"}),
        "error: rule.search: search: pairs does not go with value.unit: probability",
    ),
    "word of another rule": (
        case(constants={"window.start": 20}),
        "error: constants.window.start: window.start does not go with search: first",
    ),
    "twice": (
        case(tickets=[{"id": "a", "time": 1, "players": [{}]}] * 2),
        "error: tickets[1].id: there is a ticket 'a' already",
    ),
    "event": (
        case(rule="osu", tickets=[{"id": 1, "rating": 1500}], events=[["jion", 1, 1]]),
        "error: events[0]: 'jion' is none (did you mean join?)",
    ),
    "event of nobody": (
        case(rule="osu", tickets=[{"id": 1, "rating": 1500}], events=[["join", 1, 7]]),
        "error: events[0]: the id of a ticket is needed, not 7",
    ),
    "horizon": (
        case(rule="lichess", tickets=[], horizon=None),
        "error: case: no horizon (a number is needed)",
    ),
    "horizon that is no number": (
        case(rule="lichess", tickets=[], horizon="x"),
        "error: horizon: a number is needed, not 'x'",
    ),
    "horizon that no case reaches": (
        case(rule="faf", tickets=[], horizon=1e300),
        "error: horizon: more than 10,000,000 reviews until then",
    ),
    "no tickets": (
        case(rule="osu", tickets=None, events=[["join", 1, 1], ["tick", 2]]),
        "1:1: error: case: no tickets (a list is needed)",
    ),
    "neither tickets nor a horizon": (
        {"rule": "bar", "ticks": [5]},
        "1:1: error: case: no tickets (a list is needed)",
    ),
    "event of a list": (
        case(rule="osu", tickets=[{"id": 1, "rating": 1500}], events=[["join", 1, [1]]]),
        "error: events[0]: the id of a ticket is needed, not a list",
    ),
    "large rating": (
        case(rule="lichess", tickets=[{"id": "a", "time": 1, "user": "u", "rating": 10**30}]),
        "error: tickets[0].rating: at most 1,000,000,000 is needed, not 1e+30",
    ),
    "large range": (
        case(
            rule="lichess",
            tickets=[{"id": "a", "time": 1, "user": "u", "rating": 9, "range": [0, 10**30]}],
        ),
        "error: tickets[0].range: numbers from -1,000,000,000 to 1,000,000,000 are allowed",
    ),
    "band beside a rule that has one": (
        case(constants={"rule": "ignore_os", "band": [0.4, 0.6]}),
        "error: constants.band: does not go with rule: ignore_os, which accepts everything",
    ),
    "pops without an end": (
        case(
            rule="faf",
            horizon=600,
            tickets=[
                {"id": k, "time": 0, "players": [{**PLAYER, "rating": 3000 * k}]} for k in range(60)
            ],
        ),
        ": 60 players who find no match let pops follow each other at once from 101.111 s on",
    ),
    "neither teams nor a lobby": (
        case(rule={"preset": "osu", "teams": {"loby": 2}}, tickets=[], events=[]),
        "error: rule.teams: no teams (allowed: such as 2x4, or {lobby: 8} of 2 to 1000 users)",
    ),
    "sit": (
        case(rule="lichess", tickets=[{"id": "a", "time": 1, "user": "u", "rating": 9, "sit": 1}]),
        "error: tickets[0].sit: at most 0 is needed, not 1",
    ),
    "region": (
        case(rule="shieldbattery", tickets=[], constants={"backbone": {"useast": 5}}),
        "error: constants.backbone.useast: two regions are needed",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_fault_is_one_line_with_its_place(name: str, tmp_path: Path) -> None:
    document, text = WRONG[name]
    file = tmp_path / "case.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    done = valmatch("rules", "replay", file, "--out", tmp_path / "out")
    assert (done.code, done.out) == (2, "")
    assert text in done.err
    assert done.err.startswith(f"{file}:1:")
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_options_of_rule_sets_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(case()), encoding="utf-8")
    done = valmatch("rules", "replay", file, "--search", "pass")
    assert (done.code, done.err) == (2, f"{file}: is a case, which takes no --search\n")


def test_without_ticks_the_clock_of_the_rule_ticks(tmp_path: Path) -> None:
    tickets: list[dict[str, Any]] = [{"id": k, "time": 6, "players": [{}]} for k in "ab"]
    file = tmp_path / "case.json"
    file.write_text(json.dumps(case(tickets=tickets)), encoding="utf-8")
    done = valmatch("rules", "replay", file, "--out", tmp_path / "out")
    assert done.code == 0
    result = json.loads((tmp_path / "out" / "result.json").read_text(encoding="utf-8"))
    assert result["matches"] == [
        {"time": 10.0, "teams": [["b"], ["a"]], "win": pytest.approx([0.5, 0.5], abs=1e-8)}
    ]


def test_a_rule_in_words_is_that_of_its_constants(tmp_path: Path) -> None:
    tickets = [
        {"id": "a", "time": 1, "players": [{"rating": 25, "deviation": 5}]},
        {"id": "b", "time": 1, "players": [{"rating": 32, "deviation": 5}]},
    ]
    results = []
    for changes in (
        {"rule": {"preset": "bar", "accept": {"band": [0, 1]}}},
        {"constants": {"rule": "ignore_os"}},
        {"constants": {"accept.band": [0, 1]}},
        {},
    ):
        file = tmp_path / "case.json"
        file.write_text(json.dumps(case(tickets=tickets, **changes)), encoding="utf-8")
        done = valmatch("rules", "replay", file, "--json")
        assert done.code == 0
        results.append(json.loads(done.out)["matches"])
    assert results == [1, 1, 1, 0]


def test_keys_for_people_are_remarked_and_not_read(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(case(comment="an evening")), encoding="utf-8")
    done = valmatch("rules", "replay", file, "--json")
    assert done.code == 0
    assert "unknown key 'comment'" in done.err


def test_keys_of_other_rules_are_remarked(tmp_path: Path) -> None:
    file = tmp_path / "case.json"
    file.write_text(json.dumps(case(kind="find")), encoding="utf-8")
    done = valmatch("rules", "replay", file)
    assert done.code == 0
    assert "case: unknown key 'kind' (" in done.err
