"""What tests of kernels have in common."""

from __future__ import annotations

from pathlib import Path

import numba
import pytest


@pytest.fixture
def compiled_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compile what is decorated in a test, though an earlier run has it in the cache."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
