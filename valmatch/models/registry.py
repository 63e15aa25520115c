"""The models by name; their code is imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from valmatch.errors import InputError
from valmatch.inputs.fields import Factors
from valmatch.kernels.plugins import Extended
from valmatch.text.suggestions import correction, hint
from valmatch.text.terminal import shown

if TYPE_CHECKING:
    from valmatch.models.model import Model


@dataclass(frozen=True)
class ModelEntry:
    """What is known of a model without importing its code.

    Attributes
    ----------
    factors : type
        The class of its factors.
    summary : str
        What it simulates, in one line.
    path : str
        ``module:class`` of the model.
    version : str
        Changes whenever the same factors and random numbers give something else, so that results
        of both are never mixed.
    files : mapping of str to str
        Files that the model reads: their keys at the top level of a config, with their meanings.
    mappings : mapping of str to str
        Keys of files under which a mapping may stand instead, with the factors that it then is.
    homes : mapping of str to str
        Keys of files that may stand in a section of the factors instead of the top level.
    main : str
        Names of the factors that are shown first; "" for the first twenty.
    """

    factors: type[Factors]
    summary: str
    path: str
    version: str = "1"
    files: Mapping[str, str] = field(default_factory=dict)
    mappings: Mapping[str, str] = field(default_factory=dict)
    homes: Mapping[str, str] = field(default_factory=dict)
    main: str = ""


class OwnEntry(ModelEntry):
    """An entry of this package, whose factors are imported when they are asked for."""

    def __getattribute__(self, attribute: str) -> Any:  # noqa: ANN401
        value = super().__getattribute__(attribute)
        return _imported(value) if attribute == "factors" else value


def _imported(path: str) -> Any:  # noqa: ANN401
    module, _, name = path.partition(":")
    return getattr(importlib.import_module(module), name)


def _own(name: str, summary: str, **further: Any) -> OwnEntry:  # noqa: ANN401
    """Return the entry of a model of this package, such as ``ZoneStats``."""
    folder = f"valmatch.models.{name.lower()}"
    factors: Any = f"{folder}.factors:{name}Factors"
    return OwnEntry(factors, summary, f"{folder}.model:{name}Model", **further)


GROUP = "valmatch.models"
"""Entry points by which other packages bring models: ``name = "module:entry"``."""


OWN: dict[str, ModelEntry] = {
    "valorant": _own(
        "Valorant",
        "players arrive, form teams of similar rating, and teams of similar mean are paired",
        files={
            "arrivals": "A CSV file of arrivals that replaces the random ones, relative to this"
            " file, with the columns arrival_hours (hours or date-times) and rating or elo, kd,"
            " wr; optionally player. The factors in log say how it is read."
        },
    ),
    "opponent": _own(
        "Opponent", "one player meets opponents of unknown skill, chosen by policies that learn"
    ),
    "targeting": _own(
        "Targeting", "alternatives of unknown value are measured to find one near a target"
    ),
    "zonestats": _own(
        "ZoneStats", "a population with latent skills plays games that ZoneStats rates"
    ),
    "ladder": _own(
        "Ladder",
        "players of unknown skill come in sessions, queue, play, are rated, and come back",
        files={
            "arrivals": "A CSV file of session starts that replaces the random ones, relative to"
            " this file, with the columns player and arrival_hours (or time), hours since the start"
            " of the run. Its players, or those of skills, are there from the start; nobody joins.",
            "skills": "A CSV file of the players at the start and their true skills, relative to"
            " this file, with the columns player and skill (or rating), such as the ratings.csv of"
            " valmatch rate.",
            "rules": "The rule set of rule.matching flexmatch, FlexMatch JSON or a short form,"
            " relative to this file; or a mapping that is one. It may also stand in rule. Without"
            " it: two teams, and no rule.",
        },
        mappings={"rules": "rule_set"},
        homes={"rules": "rule"},
        main="days population.players population.skill_std population.newcomers_per_day"
        " sessions.per_day sessions.hourly_profile sessions.patience_minutes sessions.churn"
        " match.minutes match.outcome match.beta rule.matching rule.team_num rule.player_diff"
        " rule.team_diff rule.wait_thresh rule.policy rating.system parties.shares rules",
        version="2",
    ),
    "tickets": _own(
        "Tickets",
        "parties with latencies and wishes come, and the rule set that a game deploys matches them",
        files={
            "rules": "A rule set, FlexMatch JSON or a short form, relative to this file; or a"
            " mapping that is one. Without it: two teams of five, and no rule.",
            "arrivals": "A list of tickets that replaces the random ones, relative to this file: a"
            " JSON object a line with id, time (seconds) and players, or CSV, as rules replay takes"
            " it. What it lacks is drawn.",
            "latency": "A CSV file of round-trip times that replaces the built-in ones, relative to"
            " this file: a header home and the data centres, in each row a home region and"
            " milliseconds.",
        },
        mappings={"rules": "rule_set", "rule": "rule"},
        main="hours warmup_minutes service.search service.request_timeout_seconds"
        " arrivals.per_hour arrivals.hourly_profile population.players_per_hour parties.shares"
        " skill.attribute skill.mean skill.std skill.party_std regions.shares attributes"
        " patience.median_seconds match.minutes rule.preset rules expansions measure",
        version="2",
    ),
}

MODELS = Extended(OWN, GROUP, "model")
"""The models of this package, and those that installed packages bring under `GROUP`."""


def origin(name: str) -> dict[str, str]:
    """Return the version of a model; of another package's also where its code comes from."""
    entry = MODELS[name]
    if name in OWN:
        return {"version": entry.version}
    modules = entry.path.partition(":")[0], entry.factors.__module__
    return {"version": entry.version, **MODELS.origin(name, *modules)}


def load_model(name: str) -> Callable[[Factors, Mapping[str, Path]], Model[object]]:
    """Import and return the class of the model called `name`."""
    model: Callable[[Factors, Mapping[str, Path]], Model[object]] = _imported(entry_of(name).path)
    return model


def entry_of(name: str) -> ModelEntry:
    """Return what is known of a model; refuse a name of none."""
    if name not in MODELS:
        raise InputError(unknown_model(name))
    return MODELS[name]


def unknown_model(name: str) -> str:
    """Say that there is no model called `name`, with what is meant or allowed."""
    further = (
        correction(name, MODELS)
        or f"; installed packages bring others by entry points of the group {GROUP}"
    )
    return f"{name!r} is not a model (allowed: {', '.join(MODELS)}{further})"


def no_response(model: str, factors: Any, name: str, names: Collection[str]) -> str:  # noqa: ANN401
    """Return what to say of a response that is not there: which group asks for it, if one does."""
    measuring: Any = load_model(model)
    for group in getattr(measuring, "measures", ()):
        changed = factors.model_copy(update={"measure": (*factors.measure, group)})
        if any(response.name == name for response in measuring.further(changed)):
            return f"{shown(name)} is measured only on request (add measure: [{group}] to factors)"
    return f"{model} has no response {shown(name)} ({hint(name, names)})"
