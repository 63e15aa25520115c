"""Cases of living matchmakers replayed: by their rule, ticket by ticket."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from valmatch.errors import InputError, in_lines
from valmatch.inputs import arguments
from valmatch.inputs.arguments import PathLike
from valmatch.inputs.files import read_text, sha256
from valmatch.rule_sets.files import as_remarks, in_line
from valmatch.rule_sets.presets.case_reading import is_case, read_case
from valmatch.rule_sets.presets.cases import Case
from valmatch.rule_sets.presets.meanings import filled, team_sizes
from valmatch.rule_sets.presets.tickets import Played
from valmatch.rule_sets.problems import Problem
from valmatch.storage.output import to_json, write_atomically


class ReplayedCase(NamedTuple):
    """What came of the tickets of a case."""

    source: Path
    case: Case
    played: Played

    def answers(self) -> dict[str, Any]:
        """Return what ``result.json`` holds: matches, who waits, and what else there is to say."""
        names = self.case.names
        matches = [
            {
                "time": match.time,
                "teams": [[names[k] for k in team] for team in match.teams],
                **match.values,
            }
            for match in self.played.matches
        ]
        trace = dict(self.played.trace)
        if "log" in trace:
            trace["log"] = [[what, time, self._named(who)] for what, time, who in trace["log"]]
        return {
            "matches": matches,
            "waiting": [names[k] for k in self.played.waiting],
            **trace,
        }

    def _named(self, who: int | list[int]) -> object:
        names = self.case.names
        return [names[k] for k in who] if isinstance(who, list) else names[who]

    def summary(self) -> dict[str, Any]:
        """Return what is printed."""
        matched = sum(len(team) for match in self.played.matches for team in match.teams)
        numbers: dict[str, Any] = {
            "rule": self.case.rule.preset,
            "tickets": len(self.case.names),
            "matches": len(self.played.matches),
            "matched": matched,
            "waiting": len(self.played.waiting),
        }
        for name, listed in self.played.trace.items():
            numbers["events" if name == "log" else name] = len(listed)
        return numbers


def holds_case(path: Path) -> bool:
    """Return whether a file holds a case, and not a rule set or a world."""
    return path.suffix.lower() not in (".yaml", ".yml") and is_case(read_text(path))


def replay_case(
    source: PathLike,
    *,
    out: PathLike | None = None,
    warn: Callable[[str], None] = lambda text: None,
) -> ReplayedCase:
    """Play the tickets of a case by the rule of its preset."""
    path = arguments.path("rules", source)
    folder = None if out is None else arguments.path("out", out)
    case, problems = read_case(read_text(path))
    errors = [in_line(path, one) for one in problems if one.severity == "error"]
    if errors:
        raise InputError(*in_lines(errors))
    if case is None:
        raise InputError(f"{path}: is no case")
    for remark in as_remarks(path, problems):
        warn(remark)
    if folder is None:
        return ReplayedCase(path, case, _played(path, case))
    from valmatch.storage.run_folder import RunFolder

    identity = {"rules_sha256": sha256(path), "preset": case.rule.preset}
    facts = {"source": str(path)}
    with RunFolder(folder, "rules replay", None, identity, facts=facts, read=[path]) as run:
        result = ReplayedCase(path, case, _played(path, case))
        with write_atomically(folder / "result.json") as file:
            file.write(to_json(result.answers()))
        run.close("complete")
    return result


BRIEF = 100  # tickets up to which plain Python is done before numba would be imported

FEW = {"bar": 3, "shieldbattery": 2}
"""Players of a team up to which there are few line-ups or rosters of so many tickets."""


def _played(path: Path, case: Case) -> Played:
    """Play the case of a file; in plain Python where that is quick enough."""
    teams = filled(case.rule)["teams"]
    few = FEW.get(case.rule.preset, math.inf)
    large = isinstance(teams, str) and team_sizes(teams)[1] > few
    if len(case.names) <= BRIEF and not large:
        from valmatch.kernels.plain_python import interpret

        interpret()
    from valmatch.matching.plain_presets.playing import Searches, play
    from valmatch.matching.presets.line_ups import search_line_ups
    from valmatch.matching.presets.rosters import search_rosters
    from valmatch.matching.presets.scores import choose_pairs

    try:
        return play(case, Searches(search_line_ups, search_rosters, choose_pairs))
    except InputError as error:
        raise InputError(in_line(path, Problem(1, 1, "error", "case", str(error)))) from None
