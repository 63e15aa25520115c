"""The kinds of studies; each is a `StudySpec` in a file of its own, and an entry here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from valmatch.config.config import Config
from valmatch.optimization.studies.pareto import FrontSpec
from valmatch.optimization.studies.solver_study import SolverStudySpec
from valmatch.optimization.studies.study import StudyRequest, StudySpec
from valmatch.optimization.studies.sweep import SweepSpec

KINDS: Sequence[type[StudySpec[Any, Any]]] = (FrontSpec, SweepSpec, SolverStudySpec)
"""A study is of the first kind that takes the request; the last takes any."""


def spec_of(config: Config, request: StudyRequest) -> StudySpec[Any, Any]:
    """Return the study of a config that is asked for."""
    specs = (kind.requested(config, request) for kind in KINDS)
    return next(spec for spec in specs if spec)
