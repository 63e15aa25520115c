"""What tests of SimOpt's experiments have in common."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def _experiments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Keep SimOpt's folder out of the working directory, and all work in this process."""
    import joblib
    from simopt.experiment import multiple, single
    from simopt.plots import utils

    for module in (single, multiple, utils):
        monkeypatch.setattr(module, "EXPERIMENT_DIR", tmp_path)
    with joblib.parallel_config(backend="sequential"):
        yield
