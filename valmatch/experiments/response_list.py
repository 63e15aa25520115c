"""The list of all responses of a model, with the groups by which the factor `measure` adds them."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from valmatch.config.config import Config
from valmatch.config.loading import ConfigLike, load_config
from valmatch.errors import InputError, option
from valmatch.execution.chunks import build
from valmatch.models.model import Axes, Response
from valmatch.models.registry import MODELS, load_model
from valmatch.text.suggestions import hint
from valmatch.text.terminal import shown


class Listed(NamedTuple):
    """A response, and the group of the factor `measure` that asks for it; "" for no need to."""

    response: Response
    group: str


def list_responses(source: ConfigLike, overrides: Sequence[str] = ()) -> list[Listed]:
    """Return every response of a model, in the order of groups."""
    if isinstance(source, str) and source in MODELS:
        source = {"model": source}
    config = load_config(source, overrides)
    model: Any = load_model(config.model)
    fixed = getattr(model, "responses", None)
    responses = {
        response.name: Listed(response, "") for response in (fixed or build(config).responses)
    }
    # What a model offers is no matter of its files: a log may be too small for all of it at once.
    groups = getattr(model, "measures", ())
    for measure in [(), *((group,) for group in groups)] if groups else ():
        for response in model.further(config.factors.model_copy(update={"measure": measure})):
            responses.setdefault(response.name, Listed(response, "".join(measure)))
    return list(responses.values())


def folded(listed: Iterable[Listed]) -> list[tuple[str, str, str, dict[str, None]]]:
    """Return name, unit, meaning, and parts: responses of several parts or policies are one."""
    rows: dict[str, tuple[str, str, str, dict[str, None]]] = {}
    for response, _ in listed:
        name, meaning, part = response.name, response.meaning, ""
        if response.part:
            part, name = response.part.name, f"{response.part.measure}.PART"
            meaning = meaning.partition("; by ")[0].partition("; of ")[0]
        elif response.window:
            part = response.window.policy
            name = name.replace(part, "POLICY")
        parts = rows.setdefault(name, (name, response.unit, meaning, {}))[-1]
        parts |= {part: None} if part else {}
    return list(rows.values())


def groups_of(names: Sequence[str], source: ConfigLike) -> list[str]:
    """Return the groups that must be asked for, so that all of some responses are there."""
    group_of = {response.name: group for response, group in list_responses(source)}
    for name in names:
        if name not in group_of:
            raise InputError(
                f"{option('responses')}: {shown(name)} is no response ({hint(name, group_of)})"
            )
    return list(dict.fromkeys(filter(None, map(group_of.get, names))))


def shown_by(config: Config) -> tuple[list[Response], Axes | None]:
    """Return the responses and the axes of a model, whose files need not be there any more."""
    model: Any = load_model(config.model)
    fixed = getattr(model, "responses", None)
    if fixed is None:
        made = model(config.factors, {})
        return list(made.responses), made.axes
    return [*fixed, *model.further(config.factors)], model.axes
