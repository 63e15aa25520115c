"""Declaration of the words of rules: each with its meaning, unit, range, and default by preset."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import Field

Form = Literal["faf", "faf_duels", "bar", "shieldbattery", "osu", "lichess"]
"""A preset; FAForever has one rule for teams and another for 1v1."""

Preset = Literal["faf", "bar", "shieldbattery", "osu", "lichess"]

PRESETS: tuple[Preset, ...] = ("faf", "bar", "shieldbattery", "osu", "lichess")

FORMS: tuple[Form, ...] = ("faf", "faf_duels", "bar", "shieldbattery", "osu", "lichess")

SEARCH: Mapping[Form, str] = MappingProxyType(
    {
        "faf": "greedy",
        "faf_duels": "proposals",
        "bar": "first",
        "shieldbattery": "greedy",
        "osu": "pivots",
        "lichess": "pairs",
    }
)
"""How each form looks for matches."""

UNIT: Mapping[Form, str] = MappingProxyType(
    {
        "faf": "quality",
        "faf_duels": "quality",
        "bar": "probability",
        "shieldbattery": "seconds",
        "lichess": "points",
    }
)
"""In what each form values matches; one has a window in place of a value."""


def word(
    unit: str,
    meaning: str,
    by_form: Mapping[Form, object],
    constant: str = "",
    choices: Mapping[Form, tuple[str, ...]] = MappingProxyType({}),
) -> Any:  # noqa: ANN401 - of any type
    """Return the field of a word, which stands for its default by preset unless it is given."""
    extra: Any = {
        "unit": unit,
        "by_form": {form: by_form[form] for form in FORMS if form in by_form},
        "constant": constant,
        "choices": dict(choices),
    }
    return Field(None, description=meaning, json_schema_extra=extra)


def of(*forms: Form, default: object) -> dict[Form, object]:
    """Return one default for several forms."""
    return dict.fromkeys(forms, default)
