"""The eleven published examples (match-examples-1 to -11): their known problems, and no others."""

from __future__ import annotations

from pathlib import Path

import pytest

from valmatch.rule_sets.descriptions import describe
from valmatch.rule_sets.files import read_rule_file
from valmatch.rule_sets.flexmatch import ALONE
from valmatch.rule_sets.table import Steps

FOLDER = Path(__file__).parents[1] / "fixtures" / "rule_sets"

COMMENT = ("warning", "rule set", "a comment: the service takes JSON without comments")
NEVER = ("warning", "rule set", "no expansion: who waits is never granted more")

PROBLEMS: dict[int, list[tuple[str, str, str]]] = {
    1: [COMMENT] * 4,
    2: [("warning", "expansions[0].steps[0]", ALONE)],
    3: [COMMENT] * 2,
    4: [NEVER, COMMENT, COMMENT],
    5: [],
    6: [NEVER],
    7: [
        (
            "error",
            "expansions[0]",
            'key "target" twice in one object: the expansion of rules[low-latency].maxLatency is'
            " lost (first at 14:7)",
        ),
        ("error", "expansions[0]", 'key "steps" twice in one object (first at 15:7)'),
        ("warning", "expansions[0].steps[0]", ALONE),
    ],
    8: [("warning", "expansions[0].steps[0]", ALONE)],
    9: [],
    10: [("warning", "algorithm", "balanced is for more than 40 players; there are at most 40")],
    11: [NEVER],
}


def path(number: int) -> Path:
    return FOLDER / f"example-{number:02d}.json"


@pytest.mark.parametrize("number", PROBLEMS)
def test_known_problems(number: int) -> None:
    assert [one[2:] for one in read_rule_file(path(number)).problems] == PROBLEMS[number]


def test_the_lost_expansion_is_read_leniently() -> None:
    reading = read_rule_file(path(7), lenient=True)
    assert reading.table is not None
    assert [one.severity for one in reading.problems] == ["warning"] * 3
    (team,) = reading.table.teams
    assert team.least == Steps((10, 15), (175, 150, 100))
    assert reading.table.rules[0].predicate.most == Steps((), (150,))  # type: ignore[attr-defined]


SENTENCES = {
    1: "avg(teams[*].players.attributes[skill]): at most 10 (50 from 5 s, 100 from 15 s) away from"
    " avg(flatten(teams[*].players.attributes[skill]))",
    2: "teams[monster].players.attributes[wantsToBeMonster]: equal to 1",
    4: "tickets with the highest value of mapPreference at the highest key of the ticket that a"
    " match is built around come first",
    5: "flatten(teams[*].players.attributes[myCharacter]): of each player at least 1 (0 from 15 s)"
    " strings among"
    " set_intersection(flatten(teams[*].players.attributes[preferredOpponents]))",
    6: "flatten(teams[*].players.attributes[gameMode]): all the same",
    8: "some region that all report, with at most 150 ms for every ticket",
    9: "league: all tickets within 2 of each other (of a party the mean)",
}


@pytest.mark.parametrize("number", SENTENCES)
def test_first_rules_in_words(number: int) -> None:
    table = read_rule_file(path(number)).table
    assert table is not None
    assert describe(table).rules[0][1] == SENTENCES[number]


def test_a_compound_in_words() -> None:
    table = read_rule_file(path(10)).table
    assert table is not None
    *members, (name, sentence) = describe(table).rules
    assert name == "CompoundRuleMatchmaker"
    assert sentence == (
        "((SameMapComparison and SameModeComparison) or"
        " (SimilarSkillDistance and SimilarLeagueDistance))"
    )
    assert all(text.endswith(" (counts in compounds alone)") for _, text in members)


def test_teams_and_changes_in_words() -> None:
    table = read_rule_file(path(8)).table
    assert table is not None
    description = describe(table)
    assert description.teams == [
        ("Monsters", "5 players"),
        ("Hunters_1 to Hunters_10", "12 (10 from 15 s, 8 from 20 s) to 15 players"),
    ]
    assert [tuple(change) for change in description.changes] == [
        (0.0, "Hunters_1 to Hunters_10: least players", "12"),
        (15.0, "Hunters_1 to Hunters_10: least players", "10"),
        (20.0, "Hunters_1 to Hunters_10: least players", "8"),
    ]
