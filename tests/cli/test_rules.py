"""``valmatch rules``: what it prints, and how it ends."""

from __future__ import annotations

import json
import math
from pathlib import Path

import yaml

from tests.support.command import valmatch
from valmatch.matching.living.registry import PRESETS, numbers_of

EXAMPLES = Path(__file__).parents[1] / "fixtures" / "rule_sets"


def test_errors_end_with_2_and_stand_by_place() -> None:
    file = EXAMPLES / "example-07.json"
    done = valmatch("rules", "check", file)
    assert (done.code, done.err) == (2, "")
    assert [line for line in done.out.splitlines() if ": error: " in line] == [
        f'{file}:16:7: error: expansions[0]: key "target" twice in one object: the expansion of'
        " rules[low-latency].maxLatency is lost (first at 14:7)",
        f'{file}:17:7: error: expansions[0]: key "steps" twice in one object (first at 15:7)',
    ]
    assert valmatch("rules", "check", file, "--lenient").code == 0


def test_warnings_end_with_0() -> None:
    file = EXAMPLES / "example-02.json"
    done = valmatch("rules", "check", file, "--timeout", "1 min")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert first.startswith(f"{file}:39:17: warning: expansions[0].steps[0]: minPlayers falls with")
    assert second == (
        f"{file}:39:54: warning: expansions[0].steps[1]: no ticket lives for 60 s: the request"
        " timeout is 60 s"
    )
    assert valmatch("rules", "check", file).out.splitlines() == [first]


def test_a_world_is_no_rule_set_and_said_to_be_one(tmp_path: Path) -> None:
    world: dict[str, object] = {"ruleSet": {}, "config": {}, "tickets": []}
    path = tmp_path / "world.json"
    path.write_text(json.dumps(world))
    done = valmatch("rules", "check", path)
    assert (done.code, done.err) == (2, "")
    assert done.out == (
        f"{path}:1:1: error: rule set: this is a world of tickets with its rule set, which"
        " `valmatch rules replay` plays\n"
    )
    path.write_text(json.dumps({**world, "tickets": [{"time": math.nan}]}))
    done = valmatch("rules", "replay", path)
    assert done.code == 2
    assert "error: world: no JSON: 'NaN'" in done.err


def test_the_numbers_of_a_preset_are_printed_as_a_config_has_them() -> None:
    for preset in PRESETS:
        shown = valmatch("rules", "show", "--preset", preset)
        (rule,) = yaml.safe_load(shown.out).values()
        assert json.loads(valmatch("rules", "show", "--preset", preset, "--json").out) == rule
        assert numbers_of(preset).source in shown.out.splitlines()[0]
    assert (
        "# Wait in which the radius doubles.\n" in valmatch("rules", "show", "--preset", "osu").out
    )
