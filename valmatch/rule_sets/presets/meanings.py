"""Meanings of the words of a rule: their values, their long form, their constants."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any, NamedTuple, cast

from pydantic import BaseModel

from valmatch.inputs.fields import refuse
from valmatch.rule_sets.presets.vocabulary import Lobby, Vocabulary
from valmatch.rule_sets.presets.words import SEARCH, UNIT, Form

OWN = ("preset",)  # what a rule has that is no word of a preset


RANKED = 2  # users of a lobby of ranked play

QUICK_PLAY: Mapping[str, float] = {"never.recent": 0.0, "acceptance.ban": 0.0}
"""Words whose default is another one in a larger lobby: it remembers and bans nobody."""


class Word(NamedTuple):
    """A word of the vocabulary."""

    path: str  # its dotted name
    unit: str
    meaning: str
    by_form: Mapping[Form, object]  # its default with each form in which it has a meaning
    constant: str  # what lists of constants call it
    choices: Mapping[Form, tuple[str, ...]]  # which names it can be with a form


def words(section: type[BaseModel] = Vocabulary, outer: str = "") -> Iterator[Word]:
    """Yield all words of the vocabulary, in its order."""
    for name, field in section.model_fields.items():
        path = f"{outer}{name}"
        if isinstance(field.default, BaseModel):
            yield from words(type(field.default), f"{path}.")
        elif path not in OWN:
            extra = cast("dict[str, Any]", field.json_schema_extra)
            constant = extra["constant"] or path.replace(".", "_")
            yield Word(
                path,
                extra["unit"],
                str(field.description),
                extra["by_form"],
                constant,
                extra["choices"],
            )


WORDS: Mapping[str, Word] = {one.path: one for one in words()}  # all words by their dotted names


def team_sizes(teams: str) -> tuple[int, int]:
    """Return how many teams there are, and of how many players, of text such as 2x4."""
    count, _, size = teams.partition("x")
    return int(count), int(size)


def form_of(rule: Vocabulary) -> Form:
    """Return the form of a preset that a rule is of."""
    if rule.preset == "faf" and isinstance(rule.teams, str) and team_sizes(rule.teams)[1] == 1:
        return "faf_duels"
    return rule.preset


def given(rule: Vocabulary, path: str) -> object:
    """Return what a rule says of a word; None where it leaves it to the preset."""
    value: object = rule
    for part in path.split("."):
        value = getattr(value, part)
    return value


def defaults(form: Form) -> dict[str, Any]:
    """Return the values of all words of a form of a preset, by dotted name."""
    return {path: one.by_form[form] for path, one in WORDS.items() if form in one.by_form}


def filled(rule: Vocabulary) -> dict[str, Any]:
    """Return the values of all words that have a meaning for a rule, by dotted name."""
    found = defaults(form_of(rule))
    if isinstance(rule.teams, Lobby) and rule.teams.lobby != RANKED:
        found |= QUICK_PLAY
    for path in found:
        if (value := given(rule, path)) is not None:
            found[path] = _plain(value)
    return found


def _plain(value: object) -> object:
    """Return a value as the defaults have it."""
    if isinstance(value, BaseModel):
        return value.model_dump(exclude_none=True)
    if isinstance(value, tuple):
        return tuple(_plain(one) for one in value)
    return value


def check(rule: Vocabulary) -> None:
    """Refuse words that have no meaning together, by the names of both."""
    form = form_of(rule)
    for path, one in WORDS.items():
        value = given(rule, path)
        if value is None:
            continue
        if form not in one.by_form:
            goes = " or ".join(dict.fromkeys(SEARCH[other] for other in one.by_form))
            text = f"{path} does not go with {_search(form)} (it goes with search: {goes})"
            raise refuse(text, path)
        allowed = one.choices.get(form)
        if allowed and value not in allowed:
            other = f"value.unit: {UNIT[form]}" if path == "search" and form in UNIT else ""
            fits = " or ".join(allowed)
            text = f"{path}: {value} does not go with {other or _search(form)} (allowed: {fits})"
            raise refuse(text, path)
    _check_teams(rule, form)
    _check_numbers(rule)


def _search(form: Form) -> str:
    if form in ("faf", "faf_duels"):
        return f"search: {SEARCH[form]} of preset: faf"
    return f"search: {SEARCH[form]}"


TEAM_SIZES: Mapping[Form, tuple[int, int]] = {
    "faf": (2, 100),
    "faf_duels": (1, 1),
    "bar": (1, 100),
    "shieldbattery": (1, 3),
    "lichess": (1, 1),
}
"""Fewest and most players of a team that a form knows."""


def _check_teams(rule: Vocabulary, form: Form) -> None:
    teams = rule.teams
    if teams is None:
        return
    if isinstance(teams, str) is (form == "osu"):
        kind = "a lobby, such as {lobby: 2}" if form == "osu" else "teams, such as 2x1"
        raise refuse(f"preset {rule.preset} has {kind}", "teams")
    if not isinstance(teams, str):
        return
    count, size = team_sizes(teams)
    if count != 2 and (form != "bar" or count < 2):
        fits = "at least 2" if form == "bar" else "2"
        raise refuse(f"preset {rule.preset} knows no {count} teams (allowed: {fits})", "teams")
    low, high = TEAM_SIZES[form]
    if not low <= size <= high:
        fits = f"{low} to {high}" if high > low else f"{low}"
        text = f"preset {rule.preset} knows no teams of {size} (allowed: {fits})"
        raise refuse(text, "teams")


def _check_numbers(rule: Vocabulary) -> None:
    """Refuse numbers that do not go together."""
    band = rule.accept.band
    if band is not None and band[0] > band[1]:
        raise refuse(f"{band[0]:g} is above {band[1]:g}", "accept.band")
    steps = rule.accept.at_most
    if steps is not None and any(a[0] >= b[0] for a, b in pairwise(steps)):
        raise refuse("ratings from which limits hold have to increase", "accept.at_most")
    expand = rule.accept.expand
    if expand is not None:
        kinds = [(one.top is not None, bool(one.newcomers)) for one in expand]
        if kinds != [(True, False), (False, True), (False, False)]:
            text = "of the best (top), of newcomers, and of all others are needed, in this order"
            raise refuse(text, "accept.expand")


def constants(form: Form) -> dict[str, str]:
    """Return the dotted names of the constants of a form, by what lists of them call them."""
    return {
        one.constant: path
        for path, one in WORDS.items()
        if form in one.by_form and is_constant(one.by_form[form])
    }


def is_constant(value: object) -> bool:
    """Return whether a word is a constant: a number, a switch, or a list of numbers."""
    return isinstance(value, bool | int | float | tuple)
