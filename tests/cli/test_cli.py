"""The commands as a user meets them: output, files, exit codes."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from itertools import chain, repeat
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import valmatch as library
from tests.support.case_tables import cases
from tests.support.command import refusal, valmatch
from tests.support.folders import rows
from valmatch.config.factor_paths import factor_names
from valmatch.config.loading import load_config
from valmatch.models.registry import MODELS


def test_simulate_prints_and_writes_the_same_numbers_in_the_documented_columns(
    tmp_path: Path,
) -> None:
    done = valmatch("simulate", "valorant", "--replication", 2, "--out", tmp_path / "o", "--json")
    assert (done.code, done.err) == (0, "")
    document = json.loads(done.out)
    assert document == json.loads((tmp_path / "o" / "responses.json").read_text())
    table = valmatch("simulate", "valorant", "--replication", 2).out
    shown = dict(line.split()[:2] for line in table.splitlines()[2:])
    assert float(shown["avg_wait_time"]) == pytest.approx(
        document["responses"]["avg_wait_time"], abs=1e-4
    )
    players, matches = rows(tmp_path / "o" / "players.csv"), rows(tmp_path / "o" / "matches.csv")
    assert document["responses"]["n_players"] == len(players)
    assert document["responses"]["n_matches"] == len(matches)
    assert ",".join(players[0]) == (
        "player,arrival_hours,elo,kd,wr,rating,team,match,match_hours,wait_minutes,prioritized"
    )
    assert ",".join(matches[0]) == "match,time_hours,team_a,team_b,mean_a,mean_b,team_diff"
    alone = [player for player in players if not player["match"]]
    assert alone
    assert {player["wait_minutes"] for player in alone} == {""}
    first = [players[int(k)] for k in matches[0]["team_a"].split(";")]
    mean = sum(float(player["rating"]) for player in first) / 5
    assert float(matches[0]["mean_a"]) == mean
    assert {player["match"] for player in first} == {"0"}


def test_replicate_writes_rows_summary_and_manifest(tmp_path: Path) -> None:
    out = tmp_path / "o"
    done = valmatch("replicate", "valorant", "-n", 12, "--seed", 5, "--out", out, "--json")
    assert (done.code, done.err) == (0, "")
    summary = json.loads((out / "summary.json").read_text())
    assert json.loads(done.out) == summary
    table = rows(out / "replications.csv")
    assert list(table[0])[:3] == ["config_id", "seed", "replication"]
    assert [row["replication"] for row in table] == [str(k) for k in range(12)]
    assert {(row["config_id"], row["seed"]) for row in table} == {(summary["config_id"], "5")}
    waits = [float(row["avg_wait_time"]) for row in table]
    one = summary["responses"]["avg_wait_time"]
    assert one["mean"] == pytest.approx(np.mean(waits), rel=1e-14)
    assert one["std_error"] == pytest.approx(np.std(waits, ddof=1) / 12**0.5, rel=1e-12)
    assert set(one) == {
        "n", "undefined", "mean", "std", "std_error", "ci_low", "ci_high", "confidence", "min",
        "max", "remarks",
    }  # fmt: skip
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["status"] == "complete"
    assert manifest["config"]["factors"]["team_diff"] == 400.0
    assert {"argv", "config_id", "versions", "platform", "seed", "wall_seconds"} <= set(manifest)


def test_row_k_of_replicate_is_simulate_k(tmp_path: Path) -> None:
    valmatch("replicate", "valorant", "-n", 4, "--out", tmp_path)
    row = rows(tmp_path / "replications.csv")[3]
    alone = json.loads(valmatch("simulate", "valorant", "--replication", 3, "--json").out)
    assert {name: repr(value) for name, value in alone["responses"].items()} == {
        name: row[name] for name in alone["responses"]
    }


def test_undefined_replications_are_counted_not_dropped(tmp_path: Path) -> None:
    narrow = ["--set", "player_diff=0", "--set", "player_slack=0"]
    done = valmatch("replicate", "valorant", "-n", 3, *narrow, "--out", tmp_path, "--json")
    one = json.loads(done.out)["responses"]["avg_wait_time"]
    assert (one["n"], one["undefined"], one["mean"], one["ci_low"]) == (0, 3, None, None)
    assert "avg_wait_time, wait_p50 and 4 more are undefined in 3 of 3 replications" in done.err
    assert {row["avg_wait_time"] for row in rows(tmp_path / "replications.csv")} == {""}
    assert "nan" not in (tmp_path / "replications.csv").read_text().lower()


def test_options_may_stand_in_the_config(tmp_path: Path) -> None:
    config = tmp_path / "c.yaml"
    config.write_text("model: valorant\nreplicate: {n: 3, seed: 9, confidence: 0.5}\n")
    document = json.loads(valmatch("replicate", config, "--json").out)
    assert (document["replications"], document["seed"]) == (3, 9)
    assert document["responses"]["n_players"]["confidence"] == 0.5
    assert json.loads(valmatch("replicate", config, "--seed", 2, "--json").out)["seed"] == 2
    assert json.loads(valmatch("simulate", config, "--json").out)["seed"] == 9
    made = library.replicate(config)  # from Python, too
    assert (made.count, made.seed, made.confidence) == (3, 9, 0.5)
    assert library.compare(config, "valorant").base.seed == 9


@pytest.mark.parametrize("model", list(MODELS))
def test_factors_prints_a_config_of_the_main_ones(model: str, tmp_path: Path) -> None:
    names = factor_names(MODELS[model].factors)
    config = tmp_path / "c.yaml"
    config.write_text(valmatch("factors", model).out)
    load_config(config)
    assert "\n# Section `replicate`" in valmatch("factors", model, "--all").out
    assert set(MODELS[model].main.split()) <= set(names)
    last = names[-1].rpartition(".")[2]
    assert f"\n{last}:" in valmatch("factors", model, "--search", last).out.replace(" ", "")


@pytest.mark.parametrize("name", ["smoke", "smoke-opponent", "smoke-zonestats"])
def test_smoke_configs_meet_their_expectations(name: str) -> None:
    done = valmatch("replicate", name)
    assert (done.code, done.err) == (0, "5 of 5 expected means met\n")
    quiet = valmatch("replicate", name, "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("smoke-opponent", "gamma=0.98", "(expected "),
        ("smoke-zonestats", "T=119.9", "(expected "),
        ("smoke", "replicate.expect.avg_wait_time.mean=1", "avg_wait_time: mean 19.1"),
    ],
)
def test_a_slightly_other_model_fails_its_smoke_config(name: str, change: str, said: str) -> None:
    off = valmatch("replicate", name, "--set", change)
    assert off.code == 1
    assert " of 5 expected means met" in off.err
    assert said in off.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    cases("""
replicate nowhere.yaml | nowhere.yaml: no such file
replicate valorant --scheduler tcp://x:1 --executor local | --scheduler: of no use with --executor
replicate valorant --scheduler tls://127.0.0.1:1 | TLS needs certificates
replicate smoke --resume | --resume: needs --out
warm tickest | tickest: nothing that has kernels (did you mean tickets?)
optimize valorant | shipped problems of valorant: chess-1, valor
rules chek | valmatch rules chek: no such command (did you mean check?)
help models | valmatch models: no such command (valmatch configs names the models
replicate valorant --set 'replicate.expect={avg_wait: {mean: 1}}' | replicate.expect.avg_wait:
  valorant has no response 'avg_wait' (did you mean
replicate valorant --set 'replicate.expect={avg_pair_diff: {mean: 1}}' | 'avg_pair_diff' is measured
  only on request (add measure: [pairs] to factors)
"""),
)
def test_bad_usage_is_one_line_and_exit_2(arguments: str, message: str, tmp_path: Path) -> None:
    alone = arguments.startswith(("warm", "help")) or "--resume" in arguments
    out = [] if alone else ["--out", tmp_path / "o"]
    assert message in refusal(*shlex.split(arguments), *out)
    assert not (tmp_path / "o").exists()


@pytest.mark.slow
def test_results_of_another_run_are_never_touched(tmp_path: Path) -> None:
    first = ["replicate", "valorant", "-n", 2, "--out", tmp_path]
    assert valmatch(*first).code == 0
    before = (tmp_path / "replications.csv").read_bytes()
    for other in (
        ["replicate", "valorant", "-n", 2, "--set", "team_diff=1", "--out", tmp_path],
        ["replicate", "valorant", "-n", 2, "--seed", 2, "--out", tmp_path],
        ["simulate", "valorant", "--out", tmp_path],
    ):
        assert "holds the results of another run" in refusal(*other)
    assert (tmp_path / "replications.csv").read_bytes() == before
    assert valmatch(*first).code == 0


def test_full_disk_is_a_failed_run_that_keeps_what_it_has(tmp_path: Path) -> None:
    # Manifest, header and the first chunk fit; the second chunk does not; the manifest does.
    effects = chain([None] * 3, [OSError(28, "No space left on device")], repeat(None))
    with mock.patch("os.fsync", side_effect=effects):
        done = valmatch("replicate", "valorant", "-n", 500, "--out", tmp_path)
    assert done.code == 1
    assert (
        done.err == f"{tmp_path / 'replications.csv'}: cannot be written: No space left on device\n"
    )
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert manifest["status"] == "failed"
    assert manifest["replications"] == 1
    assert not (tmp_path / "summary.json").exists()


@pytest.mark.slow
def test_quiet_and_verbose(tmp_path: Path) -> None:
    run = ["replicate", "valorant", "-n", 3, "--out"]
    quiet = valmatch(*run, tmp_path / "q", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    assert (tmp_path / "q" / "summary.json").exists()
    document = valmatch(*run, tmp_path / "j", "-q", "--json")
    assert json.loads(document.out)["replications"] == 3
    change = ["--set", "team_diff=150", "--verbose"]
    verbose = valmatch(*run, tmp_path / "v", *change).err.splitlines()
    assert verbose[0].endswith("; changed factors: team_diff=150.0")
    assert verbose[1] == "executor: local, 1 workers"
    assert verbose[2].startswith("replications: 3 done after ")
    assert "done after" not in valmatch(*run, tmp_path / "n").err
    for command in (["simulate", "valorant"], ["optimize", "valorant-20min", "--budget", 100]):
        assert valmatch(*command, "-v").err.startswith("config: "), command
    assert valmatch("replicate", "valorant", "-n", 0, "-q").err.count("\n") == 1


@pytest.mark.slow
def test_completion_knows_configs_solvers_and_models() -> None:
    def completed(words: str) -> list[str]:
        asked = {"_VALMATCH_COMPLETE": "complete_bash", "COMP_WORDS": words}
        asked["COMP_CWORD"] = str(len(words.split(" ")) - 1)
        program = Path(sys.executable).parent / "valmatch"
        return subprocess.check_output([program], env=os.environ | asked, text=True).split()

    assert completed("valmatch replicate valorant-x") == ["valorant-x10", "valorant-x2"]
    assert "auto,bayes" in completed("valmatch optimize valorant-x2 --solver auto,b")
