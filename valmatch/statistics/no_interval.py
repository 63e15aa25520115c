"""Sentences on what is undefined, has no interval, a doubtful one, or no control variates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.estimates import FEW_VALUES, SKEWED, Estimate
from valmatch.text.terminal import Notice

TOO_SHORT = "intervals that may be too short"
"""What a line begins with that names some; see `short_intervals`."""

NAMED = 4  # responses of one kind that are named


def why_no_interval(estimates: Mapping[str, Estimate], of_all: str) -> str:
    """Return why some of several means have no interval; "" if all have one."""
    if of_all:
        return of_all
    return "; ".join(
        _sentences(
            {
                name: _kind(estimate)
                for name, estimate in estimates.items()
                if estimate.ci_low is None
            }
        )
    )


def short_intervals(estimates: Iterable[tuple[str, Estimate]], fixed: bool = False) -> str:
    """Return which means have intervals that may be too short, why, and what to do; "" if none.

    Shapes: `estimates` (str, Estimate).
    """
    parts = [f"{listed(names)} ({words})" for (_, words), names in _doubtful(estimates).items()]
    advice = [] if fixed or not parts else ["run more replications"]
    return "; ".join([*parts, *advice])


def doubtful_intervals(estimates: Iterable[tuple[str, Estimate]]) -> list[Notice]:
    """Return a warning for each reason why intervals may be too short."""
    return [
        Notice(f"{TOO_SHORT}: {listed(names)} ({words})", kind, len(names))
        for (kind, words), names in _doubtful(estimates).items()
    ]


def _doubtful(estimates: Iterable[tuple[str, Estimate]]) -> dict[tuple[str, str], list[str]]:
    """Return the means whose intervals may be too short by reason: its kind, and its words."""
    kinds: dict[tuple[str, str], list[str]] = {}
    for name, estimate in estimates:
        if estimate.remarks:
            alike = "the same value in every replication" if estimate.std == 0.0 else "few values"
            kind = estimate.remarks[0]
            words = {FEW_VALUES: alike, SKEWED: "skewed values"}[kind]
            names = kinds.setdefault((kind, words), [])
            if name not in names:
                names.append(name)
    return kinds


def why_not_adjusted(
    adjusted: Mapping[str, Adjusted], estimates: Mapping[str, Estimate], controls: int
) -> str:
    """Return why some means are not adjusted by control variates; "" if all are."""
    return "; ".join(
        _sentences(
            {
                name: "undefined in some replications"
                if estimates[name].undefined
                else f"known from too few replications for {controls} control variates"
                for name, values in adjusted.items()
                if values.ci_high_cv is None
            }
        )
    )


def undefined_in(counts: Mapping[str, int], total: int, what: str) -> list[Notice]:
    """Return a warning for all things that are undefined equally often."""
    kinds = {
        name: f"undefined in {count} of {total} {what}" for name, count in counts.items() if count
    }
    times = dict.fromkeys(count for count in counts.values() if count)
    sentences = zip(_sentences(kinds), times, strict=True)
    return [Notice(text, "undefined_values", count) for text, count in sentences]


def reason_of_each(reasons: Mapping[str, str]) -> str:
    """Return the reasons of several things in one line; one that is common to all alone."""
    places: dict[str, list[str]] = {}
    for name, reason in reasons.items():
        if reason:
            places.setdefault(reason, []).append(name)
    if [*map(len, places.values())] == [len(reasons)]:
        return next(iter(places))
    return "; ".join(
        f"{names[0]}{f' and {len(names) - 1:,} more' if len(names) > 1 else ''}: {reason}"
        for reason, names in places.items()
    )


def _sentences(kinds: Mapping[str, str]) -> list[str]:
    """Return a sentence for each kind."""
    together: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        together.setdefault(kind, []).append(name)
    return [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} {kind}"
        for kind, names in together.items()
    ]


def _kind(estimate: Estimate) -> str:
    """Say in how many replications something is defined that has no interval."""
    if estimate.n == 0:
        return "undefined in every replication"
    return f"defined in {'one replication' if estimate.n == 1 else 'too few replications'} only"


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{', '.join(names[:NAMED])}{more}"
