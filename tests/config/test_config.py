"""The configs: what is read, what is refused and where, what identifies a run and a folder."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

import valmatch.models.registry as registry
from tests.support.case_tables import cases
from tests.support.command import refusal, success, valmatch
from tests.support.sectioned_model import ShotFactors
from valmatch.config.config import (
    Config,
    Constraint,
    DesignOptions,
    Expectation,
    OptimizeOptions,
    RangeOptions,
    ReplicateOptions,
    TermOptions,
    VariableOptions,
)
from valmatch.config.factor_paths import flat
from valmatch.config.identity import changes, config_id, identity, resolved
from valmatch.config.loading import load_config, shipped_configs
from valmatch.config.writing import template
from valmatch.errors import InputError
from valmatch.inputs.fields import Factors, Section
from valmatch.models.valorant.factors import ValorantFactors

pytestmark = pytest.mark.usefixtures("command_line_words")

NO_OPTIONS = ReplicateOptions.model_validate({})
MINIMAL = "model: valorant\n"
NAMES = ", ".join(registry.MODELS)


@pytest.fixture(autouse=True)
def _in_scratch_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def loaded(text: str | bytes, *overrides: str) -> Config:
    Path("c.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_config("c.yaml", overrides)


def refused(text: str | bytes, *overrides: str) -> list[str]:
    with pytest.raises(InputError) as info:
        loaded(text, *overrides)
    return str(info.value).splitlines()


def factors(text: str) -> str:
    return f"model: valorant\nfactors: {{{text}}}\n"


# Reading YAML


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# nothing\n", "1:1: the config is empty (it needs at least 'model: ...')"),
        (f"{MINIMAL}---\n", "2:1: a second document starts here (a config is one document)"),
        (f"{MINIMAL}a:\n\tb: 3\n", "3:1: a tab cannot stand here (YAML is indented with spaces)"),
        ("model: a: b\n", "1:9: not valid YAML: mapping values are not allowed here"),
        ("factors: &f {a: *f}\n", "1:10: an alias stands inside what it refers to"),
        (
            "model: valorant\nmodel: x\nfactors: {team_num: 1, team_num: 2}\n",
            "2:1: model: given twice (first in line 1)\n"
            "c.yaml:3:24: team_num: given twice (first in line 3)",
        ),
        (factors("<<: 3"), "2:15: <<: 3 cannot be merged (allowed: a mapping)"),
        ("5: 3\n", "1:1: 5 cannot be a key (allowed: a string)"),
        ("a:\n" + "- " * 3000, "2:65: nested too deeply (allowed: 32 levels)"),
        ("# \u00e9\nmodel: \u00e9".encode("latin-1"), "1:3: not a text file in UTF-8"),
        ("model:\n  \x07", "2:3: the character U+0007 is not allowed"),
    ],
)
def test_unreadable_yaml_is_located(text: str | bytes, line: str) -> None:
    assert "\n".join(refused(text)) == f"c.yaml:{line}"


@pytest.mark.parametrize(
    ("written", "value"),
    [
        *(("1.5E+2", 150.0), (".5e1", 5.0), ("5.", 5.0), ("0x10", 16.0), ("0o17", 15.0)),
        *(("012", 12.0), ("-0.0", 0.0), ("!!float 5", 5.0)),
    ],
)
def test_numbers_of_the_core_schema(written: str, value: float) -> None:
    read = loaded(factors(f"team_diff: {written}")).factors.model_dump()["team_diff"]
    assert (type(read), repr(read)) == (float, repr(value))


@pytest.mark.parametrize("word", ["off", "yes", "1_000", "12:30", "2024-01-01", "1e"])
def test_words_of_yaml_1_1_are_strings(word: str) -> None:
    assert refused(factors(f"team_diff: {word}")) == [
        f"c.yaml:2:22: factors.team_diff: should be a valid number, in Elo points (got {word!r})"
    ]


def test_marks_of_byte_order_anchors_and_merge_keys() -> None:
    assert loaded(b"\xef\xbb\xbf" + MINIMAL.encode()).factors == ValorantFactors()
    config = loaded(factors("<<: [{team_diff: 7, team_num: &n 3}, {team_diff: 9}], team_num: 4"))
    assert config.factors.model_dump(include={"team_diff", "team_num"}) == {
        "team_diff": 7.0,
        "team_num": 4,
    }
    config = loaded(factors("team_diff: &d 7, player_diff: *d"), "team_diff=8")
    assert config.factors.model_dump()["player_diff"] == 7.0


def test_an_override_changes_no_other_use_of_an_anchor() -> None:
    text = factors("mean_matrix: &m [1200, 1, 50], multiplier_matrix: *m")
    text += "replicate: {expect: {a: &e {mean: 1}, b: *e}}\n"
    config = loaded(text, "mean_matrix.0=1000", "replicate.expect.a.mean=2")
    values = config.factors.model_dump()
    assert values["mean_matrix"] == (1000.0, 1.0, 50.0)
    assert values["multiplier_matrix"] == (1200.0, 1.0, 50.0)
    assert {name: e.mean for name, e in config.replicate.expect.items()} == {"a": 2, "b": 1}


# Files


def test_files_that_cannot_be_read() -> None:
    Path("folder").mkdir()
    Path("c.yaml").write_text(MINIMAL)
    missing = "no such file or shipped config"
    check = "valmatch check FILE says what a file is"
    for source, line in [
        ("x/y.yaml", f"{missing} (valmatch configs lists the shipped ones, {check})"),
        ("valornt", f"{missing} (did you mean valorant?)"),
        ("x/valorant-strt.yml", f"{missing} (did you mean valorant-start?)"),
        ("kg-fig1", f"{missing} (did you mean kg-fig1-bottom or kg-fig1-top?)"),
        ("d.yaml", f"{missing} (did you mean c.yaml?)"),
        ("folder", "cannot be read: is a directory"),
        ("c.yaml/x", "cannot be read: not a directory"),
    ]:
        with pytest.raises(InputError) as info:
            load_config(source)
        assert str(info.value) == f"{source}: {line}"


def test_a_file_wins_over_a_shipped_name() -> None:
    assert load_config("valorant-start").factors.model_dump()["team_diff"] == 200.0
    Path("valorant-start").mkdir()
    assert load_config("valorant-start").factors.model_dump()["team_diff"] == 200.0
    Path("valorant-start").rmdir()
    Path("valorant-start").write_text(factors("team_diff: 5"))
    assert load_config("valorant-start").factors.model_dump()["team_diff"] == 5.0


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    def stdin(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    stdin(MINIMAL)
    assert load_config("-").source == "<stdin>"
    stdin("model: x")
    with pytest.raises(InputError, match=r"^<stdin>:1:8: model: 'x' is not a model"):
        load_config("-")


def test_shipped_configs() -> None:
    assert list(shipped_configs()) == sorted(shipped_configs())
    for name, path in shipped_configs().items():
        config = load_config(name)
        assert (config.source, config.warnings) == (str(path), ()), name
    changed = {"player_diff": 150.0, "team_diff": 200.0, "wait_thresh": 0.15}
    changed |= {"player_slack": 100.0, "team_slack": 100.0}
    start = load_config("valorant-start").factors
    assert start == ValorantFactors().model_copy(update=changed)
    assert start.model_fields_set == set(ValorantFactors.model_fields)


def test_every_command_on_the_page_of_readings_has_its_config() -> None:
    page = Path(__file__).parents[2] / "results" / "readings" / "README.md"
    commands = re.findall("`valmatch (?:compare|optimize) (.*?)`", page.read_text())
    assert len(commands) > 20
    for command in commands:
        config, *words = command.split()
        assert load_config(config, [word for word in words if "=" in word]).factors


# Checking


BAD = """\
model: valorant
factors:
  team_dif: 300
  player_diff: "200"
  poisson_rate: [20, -1, 1e400, true]
  team_num: 5.5
  matching: jont
  review: 3
  cov_matrix: [[1, 2], 3, [4, 5, 6]]
  mean_matrix: [1200, x]
"""

BAD_LINES = """\
c.yaml:3:3: factors.team_dif: unknown key (did you mean team_diff?)
c.yaml:4:16: factors.player_diff: should be a valid number, in Elo points (got '200')
c.yaml:5:22: factors.poisson_rate.1: should be greater than or equal to 0 (got -1)
c.yaml:5:26: factors.poisson_rate.2: should be a finite number (got 1e400)
c.yaml:5:33: factors.poisson_rate.3: should be a valid number (got true)
c.yaml:6:13: factors.team_num: should be a valid integer, in players (got 5.5)
c.yaml:7:13: factors.matching: should be 'team_first', 'joint' or 'fifo' (got 'jont'; did you mean \
joint?)
c.yaml:8:11: factors.review: should be 'arrivals' or 'continuous' (got 3)
c.yaml:9:16: factors.cov_matrix.0: should have 3 items (got a list of 2)
c.yaml:9:24: factors.cov_matrix.1: should be a list (got 3)
and 2 more
"""


@pytest.mark.slow
def test_everything_wrong_is_reported_in_file_order() -> None:
    assert refused(BAD) == BAD_LINES.splitlines()


NAMES_WRONG = """\
model: valorant
factors: {team_dif: 3}
optimize:
  variables: {team_dif: {low: 0, high: 3}, player_diff: {low: 3, high: 0}}
  objective: {d: {response: avg_team_dif}}
  constraints: {w: {response: avg_wait, at_most: 9}, v: {response: wait_p95.top_1%, at_most: 9}}
replicate: {expect: {unmatchd: {mean: 1}}, target: [avg_wait_tim=1%]}
"""


def test_wrong_names_are_reported_with_all_else() -> None:
    """And by the command that needs them, if nothing else is wrong."""
    names = [
        "c.yaml:4:15: optimize.variables.team_dif: is no factor (did you mean team_diff?)",
        "c.yaml:5:29: optimize.objective.d.response: valorant has no response 'avg_team_dif' (did"
        " you mean avg_team_diff?)",
        "c.yaml:6:31: optimize.constraints.w.response: valorant has no response 'avg_wait' (did you"
        " mean avg_wait_time or avg_wait_time_all?)",
    ]
    expected = (
        "c.yaml:7:22: replicate.expect.unmatchd: valorant has no response 'unmatchd' (did you mean"
        " unmatched?)"
    )
    key = "c.yaml:2:11: factors.team_dif: unknown key (did you mean team_diff?)"
    assert refused(NAMES_WRONG) == [key, *names, expected]
    Path("c.yaml").write_text(NAMES_WRONG.replace("{team_dif: 3}", "{}"))
    lines = valmatch("optimize", "c.yaml").err.splitlines()
    assert [line.split(": ", 2)[1] for line in lines] == [
        "optimize.variables.team_dif",
        "optimize.variables.player_diff.low",
        "optimize.objective.d.response",
        "optimize.constraints.w.response",
        "optimize.constraints.v.response",
    ]
    first, second = valmatch("replicate", "c.yaml").err.splitlines()
    assert first == expected
    assert second.startswith("c.yaml:7:44: replicate.target avg_wait_tim=1%: no response")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        *cases("""
factors: {} | 1:1: model: is required (allowed: NAMES)
model: Valorent | 1:8: model: 'Valorent' is not a model (allowed: NAMES; did you mean valorant?)
model: valorant; zzz: 3 | 2:1: zzz: unknown key (allowed: model, factors, arrivals, replicate,
  optimize, design)
model: valorant; arrivals: 3 | 2:11: arrivals: should be the path of a file (got 3)
model: valorant; replicate: {expect: {unmatched: {mean: 1, men: 2}}} | 2:43:
  replicate.expect.unmatched.men: unknown key (did you mean mean?)
model: valorant; optimize: {variables: {'poisson_rate[3]': {low: 0, high: a}}} | 2:58:
  optimize.variables.poisson_rate.3.high: should be a valid number, in players per hour (got 'a')
"""),
        (
            factors("team_diff: " + "1" * 500),
            "2:22: factors.team_diff: should be a valid number, in Elo points"
            f" (got {'1' * 19}...{'1' * 18})",
        ),
    ],
)
def test_refused_config_is_located(text: str, line: str) -> None:
    assert refused(text.replace("; ", "\n") + "\n") == [f"c.yaml:{line.replace('NAMES', NAMES)}"]


def test_warning_is_located() -> None:
    assert loaded(MINIMAL + "factors:\n  wait_thresh: 24\n").warnings == (
        "c.yaml:3:16: factors.wait_thresh: 24 hours are not below the horizon of 24 hours, so"
        " nobody is ever prioritized (wait_thresh is in hours; is this in minutes?)",
    )
    (line,) = loaded(MINIMAL, "wait_thresh=30").warnings
    assert line.startswith("--set wait_thresh=30: factors.wait_thresh: 30 hours are not below")
    # A factor that is not written is shown at its section.
    (line,) = loaded(MINIMAL + "factors:\n  horizon: 0.1\n").warnings
    assert line.startswith("c.yaml:2:1: factors.wait_thresh: 0.2 hours are not below")


# Overrides


@pytest.mark.parametrize("key", ["rule_set", "factors.rule_set"])
def test_an_override_reaches_a_factor_under_the_key_of_a_file(key: str) -> None:
    team = "{name: red, minPlayers: 1, maxPlayers: 1}"
    rules = f"{{name: a, ruleLanguageVersion: '1.0', teams: [{team}]}}"
    others = rules.replace("name: a", "name: b")
    for override in (f"{key}.name=b", f"{key}={others}", f"factors={{rule_set: {others}}}"):
        config = loaded(f"model: tickets\nrules: {rules}\n", override)
        assert config.factors.model_dump()["rule_set"]["name"] == "b"


@pytest.mark.parametrize(
    ("overrides", "changed"),
    [
        (["team_diff=300"], {"team_diff": 300.0}),
        (["factors.team_diff=3e2"], {"team_diff": 300.0}),
        (["team_diff=1", "factors.team_diff=2"], {"team_diff": 2.0}),
        (["team_diff= 5 "], {"team_diff": 5.0}),
        (["factors={team_num: 2}", "team_diff=5"], {"team_num": 2, "team_diff": 5.0}),
        (["mean_matrix.0=1000", "factors.mean_matrix.2=40"], {"mean_matrix": (1e3, 1.0, 40.0)}),
        (
            ["cov_matrix.0.0=50000"],
            {"cov_matrix": ((50000.0, 28.0, 950.0), (28.0, 0.04, 0.8), (950.0, 0.8, 100.0))},
        ),
    ],
)
@pytest.mark.parametrize("text", [MINIMAL + "factors:\n", template("valorant")])
def test_overrides(text: str, overrides: list[str], changed: dict[str, object]) -> None:
    assert loaded(text, *overrides).factors == ValorantFactors().model_copy(update=changed)


def test_overrides_outside_the_factors() -> None:
    config = loaded(MINIMAL, "replicate.n=7", "replicate.expect.a.mean=2", "replicate.n=8")
    overrides = {"n": 8, "expect": {"a": {"mean": 2.0, "tolerance": 0.0}}}
    assert config.replicate == ReplicateOptions.model_validate(overrides)
    assert loaded(MINIMAL + "replicate: {n: 3}", "replicate=null").replicate == NO_OPTIONS
    assert loaded("model: x\n", "model=valorant").model == "valorant"


@pytest.mark.parametrize(
    ("override", "message"),
    [
        *cases("""
team_diff | not of the form KEY=VALUE (for instance team_diff=300)
team_dif=300 | factors.team_dif: unknown key (did you mean team_diff?)
replicate.m=1 | replicate.m: unknown key (allowed: seed, workers, executor, scheduler, confidence,
  n, target, max_reps, control_variates, expect)
poisson_rate.27=1 | factors.poisson_rate.27: '27' is no element of a list of 27 (0 to 26)
team_diff=[1 | not valid YAML: expected ',' or ']', but got '<stream end>'
factors=5 | factors: should be a mapping (got 5)
"""),
        (f"{'.'.join('a' * 40)}=1", "a key of 40 parts (allowed: 32)"),
    ],
)
def test_refused_override_is_shown(override: str, message: str) -> None:
    shown = override if len(override) < 80 else f"{override[:77]}..."
    assert refused(MINIMAL, override) == [f"--set {shown}: {message}"]


PROBLEM = """
optimize:
  objective: {w_team: {response: avg_team_diff}, both: {response: avg_player_diff}}
  constraints:
    upper_time: {response: avg_wait_time, at_most: 10}
    enough: {response: matched_fraction, at_least: 0.9, at_most: null}
    both: {response: wait_p90, at_most: 30}
    team_diff: {response: avg_team_diff, at_most: 99}
"""


def test_names_of_the_problem_stand_for_its_bounds_and_weights() -> None:
    overrides = ["upper_time=15", "enough=0.8", "w_team=2", "both=40", "team_diff=7"]
    config = loaded(MINIMAL + PROBLEM, *overrides)
    bounds, terms = config.optimize.constraints, config.optimize.objective
    assert (bounds["upper_time"].at_most, bounds["upper_time"].at_least) == (15.0, None)
    assert (bounds["enough"].at_least, bounds["enough"].at_most) == (0.8, None)
    assert (terms["w_team"].weight, terms["both"].weight) == (2.0, 1.0)
    assert bounds["both"].at_most == 40.0  # a constraint comes before a term
    assert isinstance(config.factors, ValorantFactors)
    assert config.factors.team_diff == 7.0  # a factor before both
    assert bounds["team_diff"].at_most == 99.0
    assert loaded(MINIMAL, "optimize=" + json.dumps(config.optimize.model_dump()), "upper_time=3")
    source = load_config(
        "valorant-1", {"upper_time": 20, "upper_time.response": "wait_p90"}
    ).optimize
    wanted = Constraint.model_validate({"response": "wait_p90", "at_most": 20.0})
    assert source.constraints == {"upper_time": wanted}


# Sections of factors


SHOTS = "model: sectioned\n"


@pytest.mark.usefixtures("sectioned")
@pytest.mark.parametrize(
    "overrides",
    [
        ["rule.aim=7", "noise.bias.1=2"],
        ["rule={aim: 7}", "noise.bias=[0, 2]"],
        ["factors={rule: {aim: 7}, noise: {bias: [0, 2]}}"],
        ["rule=null", "rule.aim=7", "noise.bias.1=3", "noise.bias.1=2"],
    ],
)
@pytest.mark.parametrize("text", ["", "factors:\n  rule:\n", "factors: {rule: {shots: 10}}\n"])
def test_factors_in_sections_have_dotted_names(text: str, overrides: list[str]) -> None:
    config = loaded(SHOTS + text, *overrides)
    wanted = {"rule": {"aim": 7.0}, "noise": {"bias": [0.0, 2.0]}}
    assert identity(config)["factors"] == wanted
    assert config.factors == ShotFactors.model_validate(wanted)
    assert config_id(loaded(SHOTS + "factors: {rule: {aim: 7}, noise: {bias: [0, 2]}}")) == (
        config_id(config)
    )


@pytest.mark.usefixtures("sectioned")
@pytest.mark.parametrize(
    ("override", "message"),
    cases("""
rule.shot=3 | factors.rule.shot: unknown key (did you mean rule.shots?)
aim=3 | factors.aim: unknown key (did you mean rule.aim?)
std=3 | factors.std: unknown key (did you mean noise.std or score.std?)
rule=3 | factors.rule: should be a mapping (got 3)
rule.aim=4000 | factors.rule.aim: too far from the target
factors={rule.aim: 3} | factors.rule.aim: unknown key (write it as rule: {aim: ...})
"""),
)
def test_what_is_wrong_in_a_section_is_located(override: str, message: str) -> None:
    assert refused(SHOTS, override) == [f"--set {override}: {message}"]


# Arrivals


def test_arrivals_are_found_beside_the_config() -> None:
    Path("sub").mkdir()
    Path("sub/players.csv").write_bytes(b"arrival_hours,rating\n")
    Path("sub/c.yaml").write_text(MINIMAL + "arrivals: players.csv\n")
    config = load_config("sub/c.yaml")
    digest = hashlib.sha256(b"arrival_hours,rating\n").hexdigest()
    assert config.files["arrivals"].path == Path("sub/players.csv")
    assert resolved(config)["arrivals"] == {"path": "players.csv", "sha256": digest}
    # From the command line, the path starts in the working directory.
    with pytest.raises(InputError) as info:
        load_config("sub/c.yaml", ["arrivals=players.csv"])
    assert str(info.value) == (
        "--set arrivals=players.csv: arrivals: 'players.csv': no such file or directory"
    )
    files = load_config("sub/c.yaml", ["arrivals=sub/players.csv"]).files
    assert files["arrivals"].path == Path("sub/players.csv")
    assert load_config("sub/c.yaml", ["arrivals=null"]).files == {}


def test_horizon_of_arrivals() -> None:
    Path("p.csv").write_bytes(b"arrival_hours,rating\n")
    trace = MINIMAL + "arrivals: p.csv\n"
    assert loaded(trace).factors.model_dump()["horizon"] is None
    assert loaded(trace, "horizon=null").factors.model_dump()["horizon"] is None
    # Neither the hourly rates nor the skill distribution matter.
    config = loaded(trace, "horizon=100", "mean_matrix=[-9000, 1, 50]", "wait_thresh=30")
    assert config.factors.model_dump()["horizon"] == 100.0
    (line,) = loaded(trace, "wait_thresh=30").warnings
    assert "30 hours; 30 minutes is 0.5" in line
    assert refused(MINIMAL, "horizon=null") == [
        "--set horizon=null: factors.horizon: null needs an arrivals file or num_players (allowed:"
        " a number > 0)"
    ]


# Identity


def test_resolved_is_explicit_and_plain() -> None:
    Path("p.csv").write_text("a")
    plain = resolved(loaded(MINIMAL))
    assert json.loads(json.dumps(plain)) == plain
    assert plain == {"model": "valorant", "factors": ValorantFactors().model_dump(mode="json")}
    assert plain["factors"]["horizon"] == 24.0
    known = [name for name in ValorantFactors.model_fields if name not in ValorantFactors.unwritten]
    assert list(plain["factors"]) == known
    set_now = resolved(loaded(MINIMAL, "arrivals=p.csv", "log.sort=true"))
    assert list(set_now["factors"]) == [*known, "log"]
    assert set_now["factors"]["log"]["sort"] is True


def test_config_id_sees_every_factor_and_the_arrivals() -> None:
    Path("p.csv").write_text("a")
    Path("copy.csv").write_text("a")
    Path("q.csv").write_text("b")
    changes = [
        "poisson_rate.26=31", "player_diff=201", "team_diff=401", "team_num=4",
        "mean_matrix.0=1201", "cov_matrix.0.0=40001", "wait_thresh=0.21", "player_slack=201",
        "team_slack=201", "multiplier_matrix.1=2", "rate_multiplier=2", "horizon=23",
        "matching=joint", "team_rule=newcomer", "review=continuous", "slack_scope=pool",
        "tie_break=enumeration", "gaps=poisson", "elo_max=2400", "num_players=518",
        "rating_quantiles=[[0.1, 1], [0.9, 2]]", "patience_minutes=30",
        "warm_up=2",
        "measure=[bands]", "bands=[0, 1]", "spread=200", "arrivals=p.csv", "arrivals=q.csv",
    ]  # fmt: skip
    assert {"log", *(change.split("=")[0].split(".")[0] for change in changes[:-2])} == set(
        ValorantFactors.model_fields
    )
    ids = {config_id(loaded(MINIMAL, change)) for change in ["model=valorant", *changes]}
    assert len(ids) == 1 + len(changes)
    ids.add(config_id(loaded(MINIMAL, "arrivals=p.csv", "log.sort=true")))
    assert len(ids) == 2 + len(changes)
    # The bytes count, not their name.
    copy = config_id(loaded(MINIMAL, "arrivals=copy.csv"))
    assert copy == config_id(loaded(MINIMAL, "arrivals=p.csv"))


@given(
    values=st.dictionaries(
        st.sampled_from(["player_diff", "team_diff", "player_slack", "team_slack", "wait_thresh"]),
        st.integers(0, 10**6).map(lambda n: n / 8) | st.floats(0, 1e12),
    ),
    style=st.sampled_from([repr, "{:.17e}".format, "{:+.17E}".format]),
)
@settings(max_examples=30)
def test_a_config_id_sees_values_alone(
    values: dict[str, float], style: Callable[[float], str]
) -> None:
    expected = config_id(loaded(yaml.safe_dump({"model": "valorant", "factors": values})))
    lines = "".join(f"  {key}: {style(values[key] + 0.0)} # note\n" for key in reversed(values))
    other = f"# A comment\nreplicate: {{n: 3}}\nfactors:\n{lines}model: 'valorant'\n"
    assert config_id(loaded(other)) == expected
    overrides = [f"{key}={value!r}" for key, value in values.items()]
    assert config_id(loaded(MINIMAL, *overrides, "team_num=5", "review=arrivals")) == expected
    assert len(expected) == 12


def test_config_id_is_pinned() -> None:
    # Rows of finished runs carry it: it must not change by accident.
    canonical = '{"factors":{},"files":{},"model":"valorant","version":"1"}'
    expected = hashlib.sha256(canonical.encode()).hexdigest()[:12]
    assert config_id(load_config("valorant")) == config_id(loaded(MINIMAL)) == expected
    canonical = canonical.replace('"factors":{}', '"factors":{"team_diff":300.0}')
    expected = hashlib.sha256(canonical.encode()).hexdigest()[:12]
    config = loaded(MINIMAL, "team_diff=300")
    assert config_id(config) == expected
    assert config_id(pickle.loads(pickle.dumps(config))) == expected


def test_a_config_is_identified_by_what_differs_from_the_defaults() -> None:
    """A new factor whose default means "as before" must leave every id as it is."""

    class Inner(Section):
        a: int = 1
        b: int = 2

    class Before(Factors):
        inner: Inner = Field(default_factory=Inner)
        rule: str = "old"

    class After(Before):
        new: float = 0.0

    class AfterInside(Inner):
        c: int = 3

    class Nested(Factors):
        inner: AfterInside = Field(default_factory=AfterInside)
        rule: str = "old"

    for cls in (Before, After, Nested):
        content = identity(Config("valorant", cls.model_validate({"inner": {"b": 5}})))
        assert content["factors"] == {"inner": {"b": 5}}
    assert identity(Config("valorant", After(new=1.0)))["factors"] == {"new": 1.0}


# Template


@pytest.mark.slow
def test_template_is_a_config_of_the_defaults() -> None:
    text = template("valorant")
    config = loaded(text)
    assert config == Config("valorant", ValorantFactors(), source="c.yaml")
    assert config.factors.model_fields_set == set(ValorantFactors.model_fields)
    assert max(map(len, text.splitlines())) <= 80
    joined = " ".join(line.strip(" #") for line in text.splitlines())
    for field in ValorantFactors.model_fields.values():
        assert str(field.description) in joined
    for fact in (
        "Allowed: a number >= 0. Unit: hours. Default: 0.2.",
        "Allowed: an integer from 1 to 1000. Unit: players. Default: 5.",
        "Allowed: team_first or joint or fifo. Default: team_first.",
        "Allowed: a number from 1e-09 to 0.999999999 or null.",
    ):
        assert fact in joined
    assert "Lower bound. Allowed: a number from -1e+100 to 1e+100. Required. low:" in joined
    levels = (
        (VariableOptions, Constraint, TermOptions, RangeOptions, Expectation),
        (OptimizeOptions, DesignOptions, ReplicateOptions),
    )
    for prefix, sections in zip(("#     #   ", "#   "), levels, strict=True):
        for key in {key for entry in sections for key in entry.model_fields}:
            assert f"\n{prefix}{key}:\n" in text


def factor(model: str, name: str, text: str) -> object:
    return flat(load_config({"model": model}, [f"{name}={text}"]).factors.model_dump(mode="json"))[
        name
    ]


@pytest.mark.parametrize(
    ("model", "name", "text", "value"),
    [
        ("valorant", "wait_thresh", "12 min", 0.2),
        ("valorant", "wait_thresh", "0.2 h", 0.2),
        ("valorant", "horizon", "1 day", 24.0),
        ("ladder", "rule.wait_thresh", "6 minutes", 0.1),
        ("ladder", "sessions.patience_minutes", "0.5 h", 30.0),
        ("ladder", "days", "672 hours", 28.0),
    ],
)
def test_a_duration_is_read_in_the_unit_of_its_factor(
    model: str, name: str, text: str, value: float
) -> None:
    assert factor(model, name, text) == value


def test_minutes_in_place_of_hours_are_remarked_upon() -> None:
    (remark,) = load_config("valorant", ["wait_thresh=12"]).warnings
    assert "factors.wait_thresh: 12 hours; 12 minutes is 0.2 (a bare number is hours" in remark
    assert not load_config("valorant", ["wait_thresh=2"]).warnings
    (remark,) = load_config({"model": "ladder"}, ["rule.wait_thresh=12"]).warnings
    assert "12 minutes is 0.2" in remark


WITH_UNITS = """
model: valorant
factors: {measure: [bands]}
optimize:
  variables:
    wait_thresh: {low: 3 min, high: 1 h, start: 12 min, scale: 60 s}
    team_diff: {low: 5, high: 1000, start: 200}
  objective: {gap: {response: avg_team_diff}}
  constraints:
    top: {response: wait_p95.top_1%, at_most: 0.5 h}
    wait: {response: avg_wait_time, at_most: 25}
design: {ranges: {wait_thresh: {low: 3 min, high: 12 min}}, points: 3}
"""


@pytest.fixture
def problem(tmp_path: Path) -> Path:
    path = tmp_path / "mine.yaml"
    path.write_text(WITH_UNITS)
    return path


def test_a_problem_takes_units(problem: Path) -> None:
    config = load_config(problem)
    wait, ranges = config.optimize.variables["wait_thresh"], config.design.ranges
    assert (wait.low, wait.high, wait.start, wait.scale) == (0.05, 1.0, 0.2, 1.0 / 60.0)
    assert config.optimize.constraints["top"].at_most == 30.0
    assert (ranges["wait_thresh"].low, ranges["wait_thresh"].high) == (0.05, 0.2)
    assert load_config(problem, ["wait=0.3 h"]).optimize.constraints["wait"].at_most == 18.0
    inner = load_config(problem, ["optimize.variables.wait_thresh.high=30 min"])
    assert inner.optimize.variables["wait_thresh"].high == 0.5
    ladder = {"rule.wait_thresh": {"low": "1 min", "high": "0.5 h"}}
    sectioned = load_config({"model": "ladder", "optimize": {"variables": ladder}})
    assert sectioned.optimize.variables["rule.wait_thresh"].low == 1.0 / 60.0


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


def test_a_file_is_what_it_holds_whatever_path_leads_there(tmp_path: Path) -> None:
    held = {"model": "valorant", "factors": {}, "arrivals": {"path": "a.csv", "sha256": "1"}}
    elsewhere = held | {"arrivals": {"path": "../a.csv", "sha256": "1"}}
    assert changes(held, elsewhere) == []
    other = held | {"arrivals": {"path": "b.csv", "sha256": "2"}}
    assert [key for key, *_ in changes(held, other)] == ["arrivals.path", "arrivals.sha256"]
