"""JSON with places."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from valmatch.rule_sets.json_text import DEEPEST, Problem, Problems, plain, read_json


def read(text: str, lenient: bool = False) -> tuple[object, list[Problem]]:
    problems = Problems(text)
    node = read_json(text, problems, lenient)
    return (None if node is None else plain(node)), problems.sorted()


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**14), 10**14)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=60)
@given(VALUES, st.sampled_from([None, 1]))
def test_every_value_is_read_and_stands_where_it_is_written(
    value: object, indent: int | None
) -> None:
    text = json.dumps(value, indent=indent)
    assert read(text) == (value, [])
    node = read_json(text, Problems(text))
    assert node is not None
    nodes = [node]
    for one in nodes:
        assert json.loads(text[one.start : one.place.end]) == plain(one)
        nodes += one.items
        for key, member in one.members.items():
            assert text[member.place.key :].startswith(json.dumps(key))
            nodes.append(member)


@given(st.text(alphabet='{}[]",:\\/*0123456789.eEtrufalsn-\n '))
def test_what_python_does_not_read_is_an_error(text: str) -> None:
    try:
        json.loads(text, parse_constant=lambda word: 1 / 0)
        readable = True
    except (ValueError, ZeroDivisionError):
        readable = False
    _, problems = read(text, lenient=True)
    comments = [one for one in problems if "comment" in one.text]
    assert readable == (not any(one.severity == "error" for one in problems) and not comments)


@pytest.mark.parametrize(
    ("text", "place", "what"),
    [
        ("", (1, 1), "expected a value, found the end of the file"),
        ('{"a": 1,\n "b" 2}', (2, 6), "expected a colon, found '2'"),
        ('{"a": 1,}', (1, 8), "a comma before }"),
        ("[1, 2", (1, 6), "expected a comma or a closing bracket, found the end of the file"),
        ('{"a": NaN}', (1, 7), "'NaN' is no number of JSON"),
        ("[1e999]", (1, 2), "'1e999' is too large for a number"),
        ("[1e999skill]", (1, 2), "'1e999' is too large for a number"),
        (f"[{'9' * 5000}]", (1, 2), "is too large for a number"),
        ("['a']", (1, 2), "expected a value, found \"'a'\""),
        ('["a\nb"]', (1, 4), "a control character in a string"),
        ('["a', (1, 2), "a string without end"),
        ('["\\q"]', (1, 3), "an escape that stands for no character"),
        ('["\\ud800"]', (1, 2), "half of a character that is written as a pair"),
        ("{a: 1}", (1, 2), "expected a key in quotes, found 'a'"),
        ("/* no end", (1, 1), "expected a value, found '/*'"),
        ('{"NaN": [",", NaN]}', (1, 15), "'NaN' is no number of JSON"),
        ('["\x85 \u2028", \n\t"\U0001f600", 1e999]', (2, 7), "is too large"),
        ("[" * 100_000, (1, DEEPEST + 1), "nested deeper than 64 levels"),
    ],
)
def test_places_of_errors(text: str, place: tuple[int, int], what: str) -> None:
    value, problems = read(text)
    assert value is None
    (problem,) = [one for one in problems if one.severity == "error"]
    assert (problem.line, problem.column) == place
    assert problem.text.startswith("no JSON: ")
    assert what in problem.text


def test_comments_are_found_and_read_over() -> None:
    value, problems = read('// one\n{"a": /* two */ 1} // three')
    assert value == {"a": 1}
    assert [one[:3] for one in problems] == [
        (1, 1, "warning"),
        (2, 7, "warning"),
        (2, 20, "warning"),
    ]


def test_a_key_that_stands_twice_is_found_and_the_last_holds() -> None:
    text = '{"a": {"b": 1,\n"b": 2}}'
    value, problems = read(text)
    assert value == {"a": {"b": 2}}
    assert problems == [Problem(2, 1, "error", "a", 'key "b" twice in one object (first at 1:8)')]
    assert read(text, lenient=True)[1][0].severity == "warning"


def test_a_mark_of_the_encoding_is_read_over() -> None:
    assert read("\ufeff[1]") == ([1], [])
