"""Findings in words: means, changes, and with what confidence they are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from valmatch.models.model import Response
from valmatch.plots.parts.source import RunFiles
from valmatch.plots.sheets.parts import listed
from valmatch.statistics.estimates import Estimate
from valmatch.statistics.rounding import mean_and_half

HEADLINE = 3  # responses that a finding names


def estimate_of(found: dict[str, Any]) -> Estimate:
    """Return an estimate that a summary holds."""
    keys = ("mean", "std", "std_error", "ci_low", "ci_high")
    mean, std, error, low, high = (_number(found.get(key)) for key in keys)
    ends = _number(found.get("min")), _number(found.get("max"))
    n, undefined = int(found["n"]), int(found.get("undefined", 0))
    level, remarks = float(found["confidence"]), tuple(found.get("remarks", ()))
    return Estimate(n, undefined, mean, std, error, low, high, level, *ends, remarks)


def _number(value: object) -> float | None:
    """Return a number of a summary; None for none."""
    if value is None:
        return None
    number = float(value)  # type: ignore[arg-type]
    return None if math.isnan(number) else number


def response_of(run: RunFiles, name: str) -> Response:
    """Return what is known of a response, of a model that knows it no more its name."""
    found = run.units.responses.get(name)
    return found or Response(name, run.units.of_response(name), "")


def headline(run: RunFiles, responses: Sequence[Response]) -> list[Response]:
    """Return the responses that a finding names: those that were asked for, or the first.

    Of several policies it is the first measure under each of them.
    """
    chosen = [response for response in responses if response.name in run.chosen]
    others = [response for response in responses if listed(response, ())]
    found = chosen or others or list(responses)
    window = found[0].window if found and not chosen else None
    if window:
        same = (window.measure, window.games)
        found = [one for one in found if one.window and (one.window[1:]) == same]
    return found[:HEADLINE]


def joined(parts: Sequence[str], last: str = "and") -> str:
    """Return parts as a list in a sentence."""
    if len(parts) < 3:
        return f" {last} ".join(parts)
    return f"{', '.join(parts[:-1])}, {last} {parts[-1]}"


def counted(n: int, what: str) -> str:
    """Return a number of things."""
    return f"{n:,} {what}{'s' * (n != 1)}"


def after(unit: str) -> str:
    """Return a unit as it stands behind a number."""
    return f" {unit}" if unit else ""


def meanings_in_words(responses: Sequence[Response]) -> str:
    """Say what responses are."""
    said = (f"{response.name}: {response.meaning}" for response in responses if response.meaning)
    return "; ".join(said)


def undefined_in(found: Estimate) -> str:
    """Say in how many replications a response is undefined; "" where in none."""
    return f", undefined in {found.undefined:,}" if found.undefined else ""


def mean_in_words(response: Response, found: Estimate) -> str:
    """Say what a mean is."""
    if found.mean is None:
        return f"{response.name} is undefined in all {counted(found.undefined, 'replication')}"
    return f"{response.name} is {value_in_words(found)}{after(response.unit)}{undefined_in(found)}"


def value_in_words(found: Estimate) -> str:
    """Return a mean with its interval."""
    mean, half = mean_and_half(found)
    if not half:
        return mean
    if found.asymmetric:
        digits = len(mean.partition(".")[2])
        return f"{mean} ({found.ci_low:.{digits}f} to {found.ci_high:.{digits}f})"
    return f"{mean} ± {half}"


def is_sure(found: Estimate) -> bool:
    """Return whether an interval leaves 0 out."""
    return (found.ci_low or 0.0) > 0.0 or (found.ci_high or 0.0) < 0.0


def change_in_words(response: Response, found: Estimate, base: float | None = None) -> str:
    """Say how a mean changes, with no more certainty than its interval gives."""
    if found.mean is None:
        return f"the change of {response.name} is undefined"
    unit = after(response.unit)
    if found.ci_low is None:
        return f"{response.name} changes by {found.mean:+.4g}{unit} (no interval)"
    if found.ci_low == 0.0 == found.ci_high:
        return f"{response.name} does not change"
    value = f"{value_in_words(found)}{unit}"
    if not is_sure(found):
        return f"{response.name} does not clearly change ({value}{undefined_in(found)})"
    value += _share(found.mean, base)
    rises = found.mean > 0.0
    value = value if found.asymmetric else value.removeprefix("-")
    return f"{response.name} {'rises' if rises else 'falls'} by {value}{undefined_in(found)}"


def _share(change: float, base: float | None) -> str:
    """Return a change in percent of what it changes from."""
    if not base or not math.isfinite(base):
        return ""
    percent = 100.0 * change / abs(base)
    text = f"{percent:+,.0f}" if abs(percent) >= 10.0 else f"{percent:+.2g}"
    return f" ({text} %)"


def confidence_in_words(confidence: float) -> str:
    """Return a level as a share of hundred."""
    return f"{100.0 * confidence:.6g}%"


def in_interval_words(founds: Sequence[Estimate], n: int, what: str, why: str = "") -> str:
    """Say with what confidence means are known, and from how many replications."""
    of = f"n = {counted(n, what)}"
    if all(found.ci_low is None for found in founds):
        return f"no intervals, {of}{f' ({why})' if why else ''}"
    return f"{confidence_in_words(founds[0].confidence)} intervals, {of}"
