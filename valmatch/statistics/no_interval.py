"""Sentences on what is undefined, has no interval, a doubtful one, or no control variates."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from valmatch.statistics.control_variates import Adjusted
from valmatch.statistics.estimates import FEW_VALUES, SKEWED, Estimate
from valmatch.text.terminal import Notice, some_of

NAMED = 4  # responses of one kind that are named

K = TypeVar("K")


def why_no_interval(estimates: Mapping[str, Estimate], of_all: str) -> str:
    """Return why some of several means have no interval; "" if all have one."""
    reasons = "undefined in every replication", "defined in one replication only"
    few = "defined in too few replications only"
    kinds = {
        name: reasons[mean.n] if mean.n < 2 else few
        for name, mean in estimates.items()
        if mean.ci_low is None
    }
    return of_all or "; ".join(_sentences(kinds))


def doubtful_intervals(
    estimates: Iterable[tuple[str, Estimate]], fixed: bool = False
) -> list[Notice]:
    """Return a warning for each reason why intervals may be too short, and what to do."""
    reasons = []
    for name, estimate in estimates:
        alike = "the same value in every replication" if estimate.std == 0.0 else "few values"
        words = {FEW_VALUES: alike, SKEWED: "skewed values"}
        reasons += [(name, (kind, words[kind])) for kind in estimate.remarks[:1]]
    advice = "" if fixed else "; run more replications"
    return [
        Notice(
            f"intervals that may be too short: {listed(names)} ({why}){advice}", kind, len(names)
        )
        for (kind, why), names in _grouped(reasons).items()
    ]


def why_not_adjusted(
    adjusted: Mapping[str, Adjusted], estimates: Mapping[str, Estimate], controls: int
) -> str:
    """Return why some means are not adjusted by control variates; "" if all are."""
    few = f"known from too few replications for {controls} control variates"
    kinds = {
        name: "undefined in some replications" if estimates[name].undefined else few
        for name, values in adjusted.items()
        if values.ci_high_cv is None
    }
    return "; ".join(_sentences(kinds))


def undefined_in(counts: Mapping[str, int], total: int, what: str) -> list[Notice]:
    """Return a warning for all things that are undefined equally often."""
    some = {name: count for name, count in counts.items() if count}
    kinds = {name: f"undefined in {count} of {total} {what}" for name, count in some.items()}
    sentences = zip(_sentences(kinds), dict.fromkeys(some.values()), strict=True)
    return [Notice(text, "undefined_values", count) for text, count in sentences]


def reason_of_each(reasons: Mapping[str, str]) -> str:
    """Return the reasons of several things in one line; one that is common to all alone."""
    groups = _grouped((name, reason) for name, reason in reasons.items() if reason)
    if [*map(len, groups.values())] == [len(reasons)]:
        return next(iter(groups))
    return "; ".join(
        f"{names[0]}{f' and {len(names) - 1:,} more' if len(names) > 1 else ''}: {reason}"
        for reason, names in groups.items()
    )


def _sentences(kinds: Mapping[str, str]) -> list[str]:
    """Return a sentence for each kind."""
    return [
        f"{listed(names)} {'is' if len(names) == 1 else 'are'} {kind}"
        for kind, names in _grouped(kinds.items()).items()
    ]


def _grouped(pairs: Iterable[tuple[str, K]]) -> dict[K, list[str]]:
    """Return the names, each once, by what they are given with."""
    groups: dict[K, dict[str, None]] = {}
    for name, key in pairs:
        groups.setdefault(key, {})[name] = None
    return {key: list(names) for key, names in groups.items()}


def listed(names: Sequence[str]) -> str:
    """Return the first of some names, and how many more there are."""
    return some_of(names, NAMED)
