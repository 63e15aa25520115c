"""Explanations of waits, as a terminal shows them."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from valmatch.cli.tables.layout import WIDTH, print_table
from valmatch.experiments.explain import Explanation
from valmatch.text.sheet import Sheet
from valmatch.text.terminal import escaped

Document = Mapping[str, Any]

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
    _paragraph(f"search {document['search']}: {_headline(document)}", "")
    _paragraph(_who(document))
    if document["unmatchable"]:
        _paragraph(f"no match can take it: no value of {', '.join(document['unmatchable'])}")
    _paragraph(_looked(document))
    for rule, count in document["refused_alone"].items():
        why = NO_ROOM if rule == "no room" else f"{rule} refused it"
        _paragraph(f"even alone, before others were tried: {why} {_times(count)}")
    if document["tried"]["tried"] or document["tried_by_others"]["tried"]:
        _paragraph(_trials(document))
        _show_rules(document)
    for blocker in document["blocked_by"]:
        _paragraph(
            f"blocked: without {' and '.join(blocker['tickets'])}, a match at"
            f" {_reviews(blocker['reviews'])}"
        )
    if document["nearest"]:
        _paragraph(f"nearest: {_nearest(document['nearest'])}")
    if document["fullest"]:
        _paragraph(f"most complete: {_fullest(document['fullest'])}")


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
    if most:
        candidates = document["tried"]["tried"] + document["tried_by_others"]["tried"]
        if candidates:
            share = 100 * most["share"]
            sentence += "; before, " if document["status"] == "COMPLETED" else ": "
            sentence += f"{most['rule']} refused {share:.0f} % of {candidates:,} candidates"
    return sentence


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


def _looked(document: Document) -> str:
    looked = document["looked_at"]
    every = "all" if looked == document["reviews"] else f"{looked:,}"
    return f"still waited after {_reviews(document['reviews'])}, {every} of them looked at"


def _trials(document: Document) -> str:
    own, others = document["tried"], document["tried_by_others"]
    return (
        f"anchor {_times(document['anchor'])}: it tried {own['tried']:,} candidates,"
        f" {own['taken']:,} could join; others tried it {_times(others['tried'])}, it could join"
        f" {_times(others['taken'])}"
    )


def _show_rules(document: Document) -> None:
    """Print which rule refused how many candidates."""
    candidates = document["tried"]["tried"] + document["tried_by_others"]["tried"]
    sheet = Sheet.of(
        "rule", "refused", "share", "alone", "needs", "in force", "from", left=["rule"]
    )
    for rule in document["rules"]:
        (found,) = rule["nearest"]["rules"]
        sheet.add(
            rule["rule"],
            f"{rule['refused']:,}",
            _share(rule["share"]),
            f"{rule['alone']:,}",
            ", ".join(f"{one['property']} {one['needed']:g}" for one in found["needs"]),
            ", ".join(f"{one['in_force']:g}" for one in found["needs"]),
            _since(found["holds_from"]),
        )
    no_room = document["tried"]["no_room"] + document["tried_by_others"]["no_room"]
    sheet.add(NO_ROOM, f"{no_room:,}", _share(no_room / candidates))
    print_table("", sheet)


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
    teams = [
        f"{name} {team['players']} of {team['least']}"
        for name, team in failed["teams"].items()
        if team["players"] < team["least"]
    ]
    lacking = f"; {', '.join(teams)}" if teams else ""
    return f"{_where(failed)}: {_players(failed['players'])}{lacking}"


def _where(failed: Document) -> str:
    others = failed["with"]
    company = f"with {', '.join(others)}" if others else "alone"
    return f"{company} at {failed['time']:g} s, {failed['age']:g} s old"


def _players(number: int) -> str:
    return "1 player" if number == 1 else f"{number} players"


def _reviews(number: int) -> str:
    return "1 review" if number == 1 else f"{number:,} reviews"


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number:,} times"


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


def _since(wait: float | None) -> str:
    return "never" if wait is None else f"{wait:g} s"


def _paragraph(text: str, indent: str = "  ") -> None:
    """Print a paragraph."""
    print(
        textwrap.fill(
            escaped(text),
            WIDTH,
            initial_indent=indent,
            subsequent_indent=f"{indent}  ",
            break_on_hyphens=False,
        )
    )
