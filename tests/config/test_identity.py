"""What a folder is refused for: another config, a changed default, changed code of a model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from tests.support.case_tables import cases
from tests.support.command import refusal, success, valmatch
from valmatch.config.identity import changes, config_id, identity
from valmatch.config.loading import load_config
from valmatch.models import registry

PLUG_IN = """
import numpy as np
from pydantic import Field
from valmatch import Factors, Model, ModelEntry, Outcome, Record, Response, Responses

class ThrowFactors(Factors):
    sides: int = Field(6, description="Sides.")

class Throws(Model):
    responses = Responses(Response("mean", "", "mean of ten throws"))
    drawn_by = frozenset({"sides"})

    def __init__(self, factors, files):
        self.factors = factors

    def draw(self, streams, replication):
        return streams.stream(replication, 0).integers(1, self.factors.sides + 1, 10)

    def run(self, inputs):
        return Outcome({"mean": inputs.mean()})

    def record(self, inputs):
        return Record({"mean": inputs.mean()}, [])

ENTRY = ModelEntry(ThrowFactors, "dice", "throws:Throws")
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a short run."""
    assert valmatch("replicate", "valorant", "-n", 3, "--out", tmp_path / "run").code == 0
    return tmp_path / "run"


def rewrite(folder: Path, **changes: Any) -> None:  # noqa: ANN401
    """Change what the manifest says, as if another version had written it."""
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for key, value in changes.items():
        *steps, name = key.split("__")
        section = manifest
        for step in steps:
            section = section[step]
        if value is None:
            del section[name]
        else:
            section[name] = value
    path.write_text(json.dumps(manifest))


def again(folder: Path, run: Callable[..., Any]) -> Any:  # noqa: ANN401
    return run("replicate", "valorant", "-n", 5, "--resume", "--out", folder)


def test_a_new_factor_keeps_every_folder_usable(folder: Path) -> None:
    # The older version did not know the factor `review`, whose default means "as before".
    rewrite(folder, config__factors__review=None)
    again(folder, success)
    rewrite(folder, config__factors__review=None)
    assert valmatch("combine", folder.parent / "all", folder).code == 0


def test_a_changed_default_is_refused(folder: Path) -> None:
    rewrite(folder, config__factors__team_diff=350.0)
    assert again(folder, refusal) == (
        f"--out {folder}: holds the results of another version of the model (factors.team_diff was"
        " 350.0, now 400.0); choose another folder"
    )
    refused = refusal("combine", folder.parent / "all", folder)
    assert "factors.team_diff was 350.0, now 400.0" in refused
    assert not (folder.parent / "all").exists()


def test_a_changed_version_of_the_model_is_refused(folder: Path) -> None:
    rewrite(folder, identity__version="0", config_id="0123456789ab")
    for refused in (again(folder, refusal), refusal("combine", folder.parent / "all", folder)):
        assert "the model has changed: version 0, now 1" in refused


@pytest.fixture
def throws(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the source of a model of another package."""
    source = tmp_path / "throws.py"
    source.write_text(PLUG_IN)
    monkeypatch.syspath_prepend(tmp_path)
    point = EntryPoint("throws", "throws:ENTRY", registry.GROUP)
    monkeypatch.setitem(vars(registry.MODELS), "_others", {"throws": point})
    yield source
    sys.modules.pop("throws", None)


def test_changed_code_of_another_package_is_refused(throws: Path, tmp_path: Path) -> None:
    config, out = tmp_path / "c.yaml", tmp_path / "out"
    config.write_text("model: throws\n")
    done = valmatch("replicate", config, "-n", 3, "--out", out)
    assert (done.code, done.err.splitlines()[-1]) == (0, f"results in {out}")
    assert valmatch("replicate", config, "-n", 5, "--resume", "--out", out).code == 0
    before = config_id(load_config(config))
    throws.write_text(PLUG_IN.replace("inputs.mean()", "inputs.mean() + 1.0"))
    assert config_id(load_config(config)) != before
    assert set(identity(load_config(config))) >= {"version", "distribution", "source"}
    resumed = ("replicate", config, "-n", 7, "--resume", "--out", out)
    for command in (resumed, ("combine", tmp_path / "all", out)):
        assert "the code of the model has changed: digest " in refusal(*command)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    cases("""
{"mean": inputs.mean()}) | {}) | Throws: response 'mean' is missing
{"mean": inputs.mean()}) | {"mean": 1.0, "men": 2.0}) | Throws: response 'men' is none of mean
{"mean": inputs.mean()}) | {"mean": inputs}) | Throws: response 'mean' is an array of shape (10,)
Responses(Response("mean", "", "mean of ten throws")) | (Response("mean", "", "mean of ten
  throws"),) | Throws: its responses are no valmatch.Responses(...)
"""),
)
def test_a_model_that_breaks_its_word_fails_at_once(
    old: str, new: str, message: str, throws: Path, tmp_path: Path
) -> None:
    throws.write_text(PLUG_IN.replace(old, new))
    config = tmp_path / "c.yaml"
    config.write_text("model: throws\n")
    failed = valmatch("replicate", config, "-n", 3)
    assert (failed.code, failed.err) == (1, f"{message}\n")


def test_a_file_is_what_it_holds_whatever_path_leads_there(tmp_path: Path) -> None:
    held = {"model": "valorant", "factors": {}, "arrivals": {"path": "a.csv", "sha256": "1"}}
    elsewhere = held | {"arrivals": {"path": "../a.csv", "sha256": "1"}}
    assert changes(held, elsewhere) == []
    other = held | {"arrivals": {"path": "b.csv", "sha256": "2"}}
    assert [key for key, *_ in changes(held, other)] == ["arrivals.path", "arrivals.sha256"]
