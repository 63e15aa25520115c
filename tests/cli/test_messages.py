"""Messages and tables, whatever names, numbers and paths hold: plain, short, in their place."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path

import pytest

from tests.support.case_tables import cases
from tests.support.command import Outcome, python, refusal, success, valmatch
from valmatch.config.loading import load_config, shipped_configs
from valmatch.inputs.arguments import LEVEL, RANGES
from valmatch.statistics.estimates import t_quantile
from valmatch.storage.results import warnings_of_parts
from valmatch.text.numerals import in_words
from valmatch.text.terminal import Note, Notice, escaped

NASTY = "a\x1b[31mb\x9b\x7f\r\nc\u2028d\u202ee"


def lines_of(done: Outcome) -> list[str]:
    """Return the lines of a message, all of them plain and of moderate length."""
    assert done.code == 2
    assert done.out == ""
    *lines, end = done.err.split("\n")
    assert end == ""
    for line in lines:
        assert len(line) <= 500
        assert escaped(line) == line
    return lines


@pytest.mark.slow
def test_tables_and_figures_take_any_name(tmp_path: Path) -> None:
    log, out = tmp_path / f"l\x1b\n{'o' * 100}g.csv", tmp_path / "o"
    names = [NASTY.replace("\r\n", "").replace("\x7f", ""), "[bold]$x_{$", "y" * 3000]
    log.write_text(
        "winner,loser,minutes\n" + "".join(f"{name},ann,{n}\n" for n, name in enumerate(names, 1)),
        encoding="utf-8",
    )
    done = success("rate", log, "--system", "elo", "--out", out)
    assert r"a\x1b[31mb\x9bc\u2028d\u202ee" in done.out
    assert "[bold]$x_{$" in done.out
    assert all(escaped(line) == line for line in done.out.split("\n"))
    assert max(map(len, done.out.split("\n"))) < 200
    drawn = valmatch("plot", out)
    assert (drawn.code, drawn.err) == (0, "")


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_a_terminal_without_all_characters(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\n\u00e4nn,あ\U0001f600\n", encoding="utf-8")
    ascii_ = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = python("-m", "valmatch", "rate", log, "--system", "elo", env=ascii_)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"\xe4nn" in done.stdout
    config = tmp_path / "\u00e4\u00f6.yaml"
    config.write_text("model: valorant\nfactors: {horizon: 2}\n")
    compare = ("compare", config, "--set", "team_diff=1", "-n", 2, "--json")
    done = python("-m", "valmatch", *compare, env=ascii_)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["a"]["source"] == str(config)


@pytest.mark.parametrize(
    ("section", "message"),
    cases("""
replicate: {target: [wait=1%]} | 3:13: replicate.target wait=1%: no resp
design: {ranges: {team_diff: {low: -2, high: -1}}, points: 1} | 3:19: design.ranges.team_diff=-1.
"""),
)
def test_what_stands_in_a_config_is_named_by_its_place(
    section: str, message: str, tmp_path: Path
) -> None:
    config, out = tmp_path / "c.yaml", tmp_path / "o"
    config.write_text(f"model: valorant\nfactors: {{horizon: 2}}\n{section}\n")
    (line,) = lines_of(valmatch("replicate", config, "--out", out))
    assert line.startswith(f"{config}:{message}")
    assert not out.exists()


def test_nothing_of_a_file_that_is_no_queue_log_is_shown(tmp_path: Path) -> None:
    for content in (b"root:x:0:0:secret\n", b"\x7fELF\xff secret", b"secret,rating\n1,2\n"):
        path = tmp_path / "file"
        path.write_bytes(content)
        (line,) = lines_of(valmatch("simulate", "valorant", "--set", f"arrivals={path}"))
        assert line.startswith(f"{path}:")
        assert "secret" not in line


SCRIPT = """\
import valmatch
valmatch.replicate({"model": "valorant", "factors": {"horizon": 2}}, 100, workers=2,
                   executor="processes")
"""


@pytest.mark.slow
@pytest.mark.usefixtures("compiled")
def test_a_script_that_workers_must_not_import_is_told_what_to_write(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = python(script)
    assert done.returncode == 1
    assert done.stderr.count("Traceback") <= 2  # of one process: the error, and what it came from
    assert done.stderr.splitlines()[-1] == (
        "valmatch.errors.InputError: workers: worker processes import the script that starts them:"
        ' put what it does below `if __name__ == "__main__":`, so that only the script itself does'
        " it"
    )
    guarded = SCRIPT.replace("valmatch.replicate", 'if __name__ == "__main__": valmatch.replicate')
    script.write_text(guarded)
    done = python(script)
    assert (done.returncode, done.stderr) == (0, "")


def test_what_holds_for_all_parts_is_said_once() -> None:
    same, torn = Note("all alike"), Notice("torn", "torn_line", 3)
    said = warnings_of_parts({"a": [same, torn], "b": [same], "c": [same, torn]})
    assert said == ["all alike", "a, c: torn"]
    assert isinstance(said[0], Note)
    assert (said[1].kind, said[1].n) == ("torn_line", 3)


def test_the_largest_numbers_run() -> None:
    largest = [text for name in ("seed", "replication") for text in (name, RANGES[name].most)]
    words = [f"--{one}" if isinstance(one, str) else one for one in largest]
    assert valmatch("simulate", "valorant", "--set", "horizon=2", *words).code == 0
    for level in LEVEL:
        assert math.isfinite(t_quantile((1.0 + level) / 2.0, 1))
        assert math.isfinite(t_quantile(1.0 - level, 1))
        options = ["-n", 3, "--set", "horizon=2", "--confidence", repr(level)]
        assert valmatch("replicate", "valorant", *options).code == 0


def test_more_workers_than_cores_get_a_remark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0}, raising=False)
    done = valmatch("replicate", "valorant", "-n", 2, "--set", "horizon=2", "--workers", 2)
    assert (done.code, done.err) == (0, "note: 2 workers on 1 core: no faster than 1\n")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.2, "0 s"), (59.6, "1 min"), (95.0, "1 min 35 s"), (7260.0, "2 h 1 min"), (9e4, "1 d 1 h")],
)
def test_durations_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_names_in_a_line_are_a_list() -> None:
    listed = load_config("valorant", ["measure=[bands, hours]"])
    assert load_config("valorant", ["measure=bands,hours"]).factors == listed.factors
    one = load_config("kg-fig1-top", ["policies=oracle"])
    assert one.factors == load_config("kg-fig1-top", ["policies=[oracle]"]).factors
    for wrong in ("bnds", "bands,", "bands;hours"):
        line = refusal("simulate", "valorant", "--set", f"measure={wrong}")
        assert f"factors.measure: should be a list (got {wrong!r})" in line


@pytest.mark.slow
def test_help_and_version() -> None:
    assert valmatch("help", "plot").out == valmatch("plot", "--help").out
    assert valmatch("help").out == valmatch("--help").out
    assert valmatch("help", "help").code == 0
    assert valmatch("-V").out == valmatch("--version").out
    line = refusal("help", "replicat")
    assert line == "valmatch replicat: no such command (did you mean replicate?)"


def test_shipped_configs_are_listed() -> None:
    done = valmatch("configs", "--json")
    found = {row["config"]: row for row in json.loads(done.out)["configs"]}
    assert list(found) == list(shipped_configs())
    assert found["ladder-elo"]["about"] == "One against one, rated by Elo."
    assert all(row["about"].endswith(".") and row["model"] for row in found.values())
    some, all_ = valmatch("configs").out, valmatch("configs", "--all").out
    assert max(map(len, all_.splitlines())) <= 80
    assert all(f"\n  {name} " in all_ for name in found)
    assert some.startswith("How long do players wait, and how even are matches?\n  valorant ")
    assert ("smoke" in some, "kg-fig4" in some, "ladder-elo" in some) == (False, False, True)
    assert some.endswith("24 more: For tests, figures of papers, and studies (--all)\n")


def test_players_of_few_games_are_left_out(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("winner,loser\nann,bob\nann,cy\nbob,cy\nbob,ann\ndan,cy\n")
    done = success("rate", log, "--system", "elo", "--min-games", "3")
    heading, _, *players = done.out[done.out.index("best of") :].split("\n\n")[0].splitlines()
    assert heading == "best of 3 players with 3 games"
    assert {row.split()[1] for row in players} == {"ann", "bob", "cy"}
    none = success("rate", log, "--system", "elo", "--min-games", "9")
    assert "no player has 9 games" in none.out.splitlines()
