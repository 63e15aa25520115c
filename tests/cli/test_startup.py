"""What commands import before they begin, and kernels: not compiled, or beforehand."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import valmatch as library
from tests.support.command import python, success, valmatch
from valmatch.cli import lists
from valmatch.cli.app import MODULES
from valmatch.models.valorant.arrivals import arrival_times
from valmatch.ratings.registry import BATCH_NAMES

HEAVY = {
    *("filelock", "numba", "numpy", "pydantic", "rich.progress", "rich.table"),
    *("scipy.linalg", "scipy.special"),
}
"""What takes long to import."""

DAYS: tuple[tuple[str, ...], ...] = (
    (),
    ("review=continuous", "slack_scope=pool"),
    ("player_diff=5", "player_slack=0", "team_num=2"),
    ("horizon=null", "num_players=90", "gaps=poisson", "elo_max=1300"),
    ("team_rule=newcomer", "wait_thresh=0"),
)
"""Changes of `valorant`, of which `simulate` plays a day in plain Python."""


def process(code: str, *arguments: object) -> Any:  # noqa: ANN401 - whatever JSON holds
    """Return what code that prints JSON last has printed; nothing may be warned of."""
    done = python("-c", code, *arguments)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout.splitlines()[-1])


def modules_of(*arguments: object) -> set[str]:
    """Return the names of the modules that are there when a command has ended."""
    code = (
        "import json, sys; from valmatch.cli import main\n"
        "try: main()\n"
        "except SystemExit as exit_: assert not exit_.code\n"
        "print(json.dumps(list(sys.modules)))"
    )
    return set(process(code, *arguments))


def imported(*arguments: object) -> set[str]:
    """Return what a command imports of what takes long to import."""
    return HEAVY & modules_of(*arguments)


def test_a_command_imports_no_other_one() -> None:
    """Typer reads the options of all that it knows, which takes as long as importing numpy."""
    commands = {f"valmatch.cli.{module}" for module in {*MODULES.values(), "rules"}}
    assert modules_of("configs") & commands == {"valmatch.cli.lists"}
    helped = modules_of("--help")
    assert helped & (commands | HEAVY) == set()


def test_a_check_reads_its_arguments_without_pydantic() -> None:
    example = Path(__file__).parents[1] / "fixtures" / "rule_sets" / "example-01.json"
    assert imported("rules", "check", example, "--timeout", "1m") == set()


@pytest.mark.slow
def test_commands_import_what_they_need() -> None:
    assert imported("simulate", "valorant") == {"numpy", "pydantic"}
    joint = ("simulate", "valorant", "--set", "matching=joint")
    valmatch(*joint)  # compiles what no other test needs
    assert imported(*joint) == {"numba", "numpy", "pydantic"}


@pytest.mark.slow
def test_plain_python_gives_the_files_of_compiled_kernels(tmp_path: Path) -> None:
    runs = [
        ["simulate", "valorant", "--quiet", *(f"--set={change}" for change in day)] for day in DAYS
    ]
    code = (
        "import json, sys; from valmatch.cli import main\n"
        "for sys.argv[1:] in json.loads(sys.argv[1]):\n"
        "    try: main()\n"
        "    except SystemExit as exit_: assert not exit_.code\n"
        "print(json.dumps('numba' in sys.modules))"
    )
    plain = [[*run, f"--out={tmp_path}/plain-{number}"] for number, run in enumerate(runs)]
    assert process(code, json.dumps(plain)) is False
    assert hasattr(arrival_times, "py_func")  # it is compiled here
    for number, run in enumerate(runs):
        assert valmatch(*run, f"--out={tmp_path}/compiled-{number}").code == 0
        for name in ("players.csv", "matches.csv", "responses.json"):
            found = (tmp_path / f"plain-{number}" / name).read_bytes()
            assert found == (tmp_path / f"compiled-{number}" / name).read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("system", ["bradley_terry", "whole_history"])
def test_small_whole_logs_are_rated_without_compiled_kernels(system: str, tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    games = [
        f'{k % 3 + 1},"p{k % 5}","p{(k * k + 1) % 7 + 5}",{k % 3},{1 + k % 2}' for k in range(200)
    ]
    log.write_text("\n".join(["time,home,away,home_score,away_score", *games]), encoding="utf-8")
    given = ["rank", str(log), "--system", system, "--quiet", "--bootstrap", "3"]
    given += ["--prior", "300"] if system == "bradley_terry" else []
    assert "numba" not in modules_of(*given, "--out", tmp_path / "plain")
    assert valmatch(*given, "--out", tmp_path / "compiled").code == 0
    names = {path.name for path in (tmp_path / "plain").iterdir()} - {"manifest.json"}
    assert names >= {"ratings.csv", "differences.csv", "summary.json"}
    for name in names:
        found = (tmp_path / "plain" / name).read_bytes()
        assert found == (tmp_path / "compiled" / name).read_bytes()


@pytest.mark.slow
def test_a_second_environment_compiles_nothing(tmp_path: Path) -> None:
    """A copy of the package, elsewhere and younger, finds what the first has compiled."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    environment.pop("NUMBA_CACHE_DIR", None)

    def said(*words: str, at: Path) -> list[str]:
        done = python("-m", "valmatch", *words, env={**environment, "PYTHONPATH": str(at)}, cwd=at)
        assert done.returncode == 0, done.stderr
        return done.stderr.splitlines()

    package = Path(library.__file__).parent
    homes = [tmp_path / "one", tmp_path / "two"]
    for home in homes:
        shutil.copytree(package, home / "valmatch")
        if not (package / "configs").is_dir():
            shutil.copytree(package.parent / "configs", home / "configs")
    (line,) = said("warm", "elo", at=homes[0])
    compiled = re.fullmatch(r"compiled (\d+) kernels in [\d.]+ s; (\d\.\d) MB in (.*)", line)
    assert compiled
    assert int(compiled[1]) > 0
    assert compiled[3] == f"{tmp_path}/cache/valmatch"
    (line,) = said("warm", "elo", at=homes[1])
    assert line.startswith("compiled 0 kernels in 0.0 s; ")
    (homes[1] / "log.csv").write_text(lists.LOG)
    assert said("rate", "log.csv", "--system", "elo", "-q", at=homes[1]) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", [*BATCH_NAMES, *lists.COMMANDS])
def test_what_rates_whole_logs_is_compiled_too(name: str) -> None:
    (line,) = success("warm", name).err.splitlines()
    assert re.fullmatch(r"compiled \d+ kernels in [\d.]+ s; [\d.]+ MB in .*", line)
