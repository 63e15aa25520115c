"""Lists, explanations and tests on the terminal: what is no result of a run."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from valmatch.present.document import UNIT, TextTable, counted
from valmatch.present.terminal import print_table
from valmatch.statistics.rounding import rounded
from valmatch.text.terminal import (
    WIDTH,
    escaped,
    labelled,
    print_wrapped,
    shortened,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from valmatch.experiments.explain import Explanation
    from valmatch.experiments.response_list import Listed
    from valmatch.models.model import Response
    from valmatch.statistics.sequential_tests import SequentialTest


# Explanations of waits, as a terminal shows them.

Document = Mapping[str, Any]

INDENT = "  "

ENDS = {
    "COMPLETED": "was matched",
    "TIMED_OUT": "timed out",
    "CANCELLED": "was cancelled",
    "SEARCHING": "still waited",
}

NO_ROOM = "no team had room"


def show_explanations(found: Explanation) -> None:
    """Print why a ticket waited, by search."""
    for number, document in enumerate(found.documents.values()):
        if number:
            print()
        _show(document)


def _show(document: Document) -> None:
    """Print why a ticket waited."""
    print_wrapped(f"search {document['search']}: {_headline(document)}")
    for line in (_who(document), *_searched(document)):
        print_wrapped(line, INDENT)
    if _candidates(document):
        print_wrapped(_trials(document), INDENT)
        print_table("", _rules_table(document))
    for blocker in document["blocked_by"]:
        without = " and ".join(blocker["tickets"])
        at = counted(blocker["reviews"], "review")
        print_wrapped(f"blocked: without {without}, a match at {at}", INDENT)
    if document["nearest"]:
        print_wrapped(f"nearest: {_nearest(document['nearest'])}", INDENT)
    if document["fullest"]:
        print_wrapped(f"most complete: {_fullest(document['fullest'])}", INDENT)


def _candidates(document: Document) -> int:
    """Return how many candidates there were: those that the ticket tried, and that tried it."""
    return int(document["tried"]["tried"] + document["tried_by_others"]["tried"])


def _headline(document: Document) -> str:
    """Return in one sentence what became of a ticket, and why it waited."""
    players = document["players"]
    size = "1 player" if len(players) == 1 else f"party of {len(players)}"
    parts = [size, *([document["region"]] if document["region"] else []), *_means(players)]
    sentence = (
        f"{document['ticket']} ({', '.join(parts)}) {ENDS[document['status']]} after"
        f" {document['waited']:g} s"
    )
    most = max(document["rules"], key=lambda one: one["refused"], default=None)
    candidates = _candidates(document)
    if not most or not candidates:
        return sentence
    then = "; before, " if document["status"] == "COMPLETED" else ": "
    refused = f"{most['rule']} refused {_share(most['share'])} of {candidates:,} candidates"
    return f"{sentence}{then}{refused}"


def _means(players: Sequence[Document]) -> Iterator[str]:
    """Yield the numbers of players, of a party the means."""
    for name, value in players[0]["attributes"].items():
        if isinstance(value, float):
            values = [player["attributes"].get(name, value) for player in players]
            yield f"{name} {sum(values) / len(values):.6g}"


def _who(document: Document) -> str:
    """Return when a ticket came and went, and what its players are."""
    when = f"joined at {document['joined']:g} s, ended at {document['ended']:g} s"
    return "; ".join([when, *(_player(player) for player in document["players"])])


def _player(player: Document) -> str:
    """Return a player with its attributes and latencies."""
    parts = [f"{name} {_value(value)}" for name, value in player["attributes"].items()]
    parts += [f"{region} {ping:g} ms" for region, ping in player["latency"].items()]
    return f"{player['id']}: {', '.join(parts)}" if parts else str(player["id"])


def _value(value: Any) -> str:  # noqa: ANN401
    """Return the value of an attribute."""
    if isinstance(value, Mapping):
        return "/".join(f"{key} {number:g}" for key, number in value.items()) or "-"
    if isinstance(value, list | tuple):
        return "/".join(value) or "-"
    return value if isinstance(value, str) else f"{value:.12g}"


def _searched(document: Document) -> Iterator[str]:
    """Yield what is said of the reviews of a ticket."""
    if document["unmatchable"]:
        yield f"no match can take it: no value of {', '.join(document['unmatchable'])}"
    looked, reviews = document["looked_at"], document["reviews"]
    every = "all" if looked == reviews else f"{looked:,}"
    yield f"still waited after {counted(reviews, 'review')}, {every} of them looked at"
    for rule, count in document["refused_alone"].items():
        why = NO_ROOM if rule == "no room" else f"{rule} refused it"
        yield f"even alone, before others were tried: {why} {_times(count)}"


def _trials(document: Document) -> str:
    tried, others = document["tried"], document["tried_by_others"]
    return (
        f"anchor {_times(document['anchor'])}: it tried {tried['tried']:,} candidates,"
        f" {tried['taken']:,} could join; others tried it {_times(others['tried'])}, it could join"
        f" {_times(others['taken'])}"
    )


def _rules_table(document: Document) -> TextTable:
    """Return a table of which rule refused how many candidates."""
    heads = ("rule", "refused", "share", "alone", "needs", "in force", "from")
    table = TextTable.of(*heads, left=["rule"])
    for rule in document["rules"]:
        (found,) = rule["nearest"]["rules"]
        table.add(
            rule["rule"],
            f"{rule['refused']:,}",
            _share(rule["share"]),
            f"{rule['alone']:,}",
            ", ".join(f"{one['property']} {one['needed']:g}" for one in found["needs"]),
            ", ".join(f"{one['in_force']:g}" for one in found["needs"]),
            "never" if found["holds_from"] is None else f"{found['holds_from']:g} s",
        )
    no_room = document["tried"]["no_room"] + document["tried_by_others"]["no_room"]
    table.add(NO_ROOM, f"{no_room:,}", _share(no_room / _candidates(document)))
    return table


def _nearest(failed: Document) -> str:
    """Return what the nearest candidate failed by."""
    (rule,) = failed["rules"]
    text = f"{_where(failed)}: {rule['rule']}"
    for need in rule["needs"]:
        text += f" needs {need['property']} {need['needed']:g}, {need['in_force']:g} is in force;"
    since = rule["holds_from"]
    return f"{text} no step allows it" if since is None else f"{text} allowed from {since:g} s"


def _fullest(failed: Document) -> str:
    """Return what the unfinished match with most players lacked."""
    if failed["rules"]:
        refused = ", ".join(rule["rule"] for rule in failed["rules"])
        return f"{_where(failed)}: {failed['players']} players, refused by {refused}"
    lacking = [
        f"{name} {team['players']} of {team['least']}"
        for name, team in failed["teams"].items()
        if team["players"] < team["least"]
    ]
    players = f"{_where(failed)}: {counted(failed['players'], 'player')}"
    return "; ".join([players, *([", ".join(lacking)] if lacking else [])])


def _where(failed: Document) -> str:
    others = failed["with"]
    company = f"with {', '.join(others)}" if others else "alone"
    return f"{company} at {failed['time']:g} s, {failed['age']:g} s old"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


# Lists of `responses`, `solvers` and `problems`.

MEANING = 24  # characters of a line of what a response means, at least


def show_listed(listed: Sequence[Listed]) -> None:
    """Print what each response is, and what asks for it."""
    for group, rows in groupby(listed, key=lambda row: row.group):
        if group:
            print(f"\nmeasure: [{group}]")
        responses = [row.response for row in rows]
        names = max(map(len, ["response", *(r.name for r in responses)]))
        units = max(map(len, [UNIT, *(r.unit for r in responses)]))
        room = WIDTH - names - units - 4
        if room < MEANING:
            _show_meanings_below(responses)
            continue
        table = TextTable.of("response", UNIT, "meaning")
        for response in responses:
            for k, line in enumerate(textwrap.wrap(response.meaning, room) or [""]):
                table.add(*((response.name, response.unit) if k == 0 else ("", "")), line)
        print_table("", table)


def _show_meanings_below(responses: Sequence[Response]) -> None:
    """Print responses whose names leave no room beside them."""
    for response in responses:
        print(escaped(labelled(response.name, response.unit)))
        print_wrapped(response.meaning, INDENT)


def show_solver_list(rows: Sequence[Mapping[str, str]]) -> None:
    """Print what solvers there are."""
    names = {"solver": "solver", "summary": "what it does", "needs": "needs", "from": "from"}
    columns = [(head, [row[key] for row in rows]) for key, head in names.items()]
    print_table("", TextTable.of_columns(column for column in columns if any(column[1])))


def show_problem_list(rows: Sequence[Mapping[str, Any]]) -> None:
    """Print what problems are shipped and the best known of each."""
    known = [row["best_known"] or {} for row in rows]
    objectives = [
        rounded(best["objective"], best["ci_high"] - best["objective"])
        if "objective" in best
        else ("infeasible" if best else "", "")
        for best in known
    ]
    table = TextTable.of_columns(
        [
            ("problem", [row["problem"] for row in rows]),
            ("variables", [str(row["dimension"]) for row in rows]),
            ("constraints", [", ".join(row["constraints"]) or "none" for row in rows]),
            ("noise", [f"{best['noise']['objective']:.2g}" if best else "" for best in known]),
            ("best known", [mean for mean, _ in objectives]),
            ("± 95%", [half for _, half in objectives]),
            ("effort", [f"{best['replications']:,}" if best else "" for best in known]),
            ("date", [best.get("date", "") for best in known]),
        ]
    )
    print_table("", table)


# The table of a sequential test: counts, where the ratio stands, what is to be expected.

HEADS = {3: ("losses", "draws", "wins"), 5: ("0", "1/2", "1", "3/2", "2")}
"""What the counts are called, by how many there are."""


def show_test(found: SequentialTest, who: str) -> None:
    """Print what a test says."""
    counts = found.counts
    table = TextTable.of(*HEADS[len(counts)], "score", "Elo")
    table.add(*(f"{n}" for n in counts), f"{found.score:.4f}", f"{found.elo:+.1f}")
    of = f"sprt of {shortened(escaped(who))}" if who else "sprt"
    pairs = "" if len(counts) == 3 else f" in {found.games // 2:,} pairs, by their points"
    print_table(f"{of}, {counted(found.games, 'game')}{pairs}", table)
    print()
    for line in _sentences(found):
        print_wrapped(line)


def _sentences(found: SequentialTest) -> list[str]:
    """Return what is said below the table."""
    meanings = {
        "accept_h1": f"elo1 = {found.elo1:g} is accepted",
        "accept_h0": f"elo0 = {found.elo0:g} is accepted",
        "continue": "neither is shown yet, play on",
    }
    lines = [
        f"{found.decision}: {meanings[found.decision]}",
        f"log likelihood ratio {found.llr:.3f}, bounds {found.lower_bound:.3f} and"
        f" {found.upper_bound:.3f} (elo0 {found.elo0:g}, elo1 {found.elo1:g},"
        f" alpha {found.alpha:g}, beta {found.beta:g})",
    ]
    at0, at1, here = (found.expected_games[name] for name in ("elo0", "elo1", "estimate"))
    lines.append(
        f"a test takes on average {max(at0, 1.0):,.0f} games at elo0, {max(at1, 1.0):,.0f} at"
        f" elo1, {max(here, 1.0):,.0f} at the score found"
    )
    if found.alike:
        lines.append(
            "all results are the same: the Elo and the games to expect rest on the .001 that"
            " counts for each of the others"
        )
    if found.decision != "continue":
        lines.append(
            "the Elo of the score is biased after a stop: tests end where the score happens to be"
            " far out"
        )
    if found.left_out:
        lines.append(f"{counted(found.left_out, 'game')} left out: not in a pair of two")
    return lines
