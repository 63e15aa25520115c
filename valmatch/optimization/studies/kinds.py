"""The kinds of studies; each is a `StudySpec` in a file of its own, and a line here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from valmatch.config.config import Config
from valmatch.experiments.run_manifests import OptimizeManifest
from valmatch.optimization.studies.pareto import FrontSpec
from valmatch.optimization.studies.solver_study import SolverStudySpec
from valmatch.optimization.studies.study import StudyRequest, StudySpec
from valmatch.optimization.studies.sweep import SweepSpec

KINDS: Sequence[type[StudySpec[Any, Any]]] = (FrontSpec, SweepSpec, SolverStudySpec)
"""The kinds in their order: a study is of the first kind that takes it, the last takes any."""


def spec_of_request(config: Config, request: StudyRequest) -> StudySpec[Any, Any]:
    """Return the study of a config that a command line asks for.

    Raises
    ------
    InputError
        If it asks for what there is not.
    """
    specs = (kind.requested(config, request) for kind in KINDS)
    return next(spec for spec in specs if spec)


def spec_of_manifests(config: Config, manifests: Sequence[OptimizeManifest]) -> StudySpec[Any, Any]:
    """Return the study that folders are parts of.

    Raises
    ------
    InputError
        If one of its solvers is not there.
    """
    specs = (kind.restored(config, manifests) for kind in KINDS)
    return next(spec for spec in specs if spec)
