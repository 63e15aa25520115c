"""Commands with bad input, made from the number of a case: all are refused in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random

from tests.bad_inputs.case import Case
from tests.bad_inputs.checks import check_case
from tests.bad_inputs.configs import config_case
from tests.bad_inputs.folders import (
    curves_case,
    journal_case,
    manifest_case,
    report_case,
    results_case,
    rows_case,
)
from tests.bad_inputs.logs import (
    belief_case,
    game_file_case,
    log_case,
    ratings_case,
    trace_case,
    whole_log_case,
)
from tests.bad_inputs.options import option_case
from tests.bad_inputs.rule_sets import rule_set_case

KINDS: Mapping[str, Callable[[int, Random, Path], Case]] = {
    "configs": config_case,
    "options": option_case,
    "traces": trace_case,
    "logs": log_case,
    "games": game_file_case,
    "ratings": ratings_case,
    "whole logs": whole_log_case,
    "beliefs": belief_case,
    "manifests": manifest_case,
    "rows": rows_case,
    "curves": curves_case,
    "journals": journal_case,
    "results": results_case,
    "reports": report_case,
    "rules": rule_set_case,
    "checks": check_case,
}
"""Makers of cases by what is bad."""


def case(kind: str, number: int, bases: Path) -> Case:
    """Return a case, the same for the same number, made of good runs in a folder."""
    return KINDS[kind](number, Random(f"{kind} {number}"), bases)
