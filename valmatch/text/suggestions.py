"""Suggestions for misspelt names."""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

ALIKE = 0.6  # ratio of difflib from which names are taken for each other
MUCH_ALIKE = 0.75  # and from which no other name is thought of

HINTED = 1_000  # players among whom a name like a misspelt one is looked for
PART = 3  # letters of a part by which a name is known
SHORT = 5  # letters of a name up to which others differ in one, too


def closest_name(name: str, names: Iterable[str], least: float = ALIKE) -> str | None:
    """Return the one of `names` that is most like `name` or abbreviated by it; or None."""
    from difflib import get_close_matches  # of use where something is wrong

    folded, initials = dict[str, str](), dict[str, str]()
    for known in names:
        folded.setdefault(_folded(known), known)
        if len(parts := _folded(known).split("_")) > 1:
            initials.setdefault("".join(part[:1] for part in parts), known)
    if meant := initials.get(_folded(name)):
        return meant
    near = get_close_matches(_folded(name), folded, n=1, cutoff=least)
    return folded[near[0]] if near else None


def hint(name: str, names: Iterable[str], called: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return ``did you mean ...?``, or without a name like that ``allowed: ...``."""
    # All names that it begins, else one that is much like it, else all that it is a part of.
    names, folded = list(names), _folded(name)
    if not names:
        return "there is none"
    meant = [known for known in names if _folded(known).startswith(f"{folded}_")]
    if not meant and (near := closest_name(name, names, MUCH_ALIKE)):
        meant = [near]
    if not meant and len(name) >= PART:
        meant = [known for known in names if folded in _folded(known)]
    if not meant and (near := closest_name(name, names)):
        meant = [near]
    *others, last = [called.get(known, known) for known in meant or names]
    if not meant:
        return f"allowed: {', '.join([*others, last])}"
    return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"


def correction(name: str, names: Iterable[str]) -> str:
    """Return ``; did you mean ...?`` to go on with after what is allowed, or nothing."""
    near = closest_name(name, names)
    return f"; did you mean {near}?" if near else ""


def one_letter_off(names: Iterable[str], known: Collection[str]) -> dict[str, str]:
    """Return the known name that each new one is one letter off, if it is."""
    names = list(names)
    new = {shape: name for name in names if name not in known for shape in _shapes(name)}
    likely: dict[str, str] = {}
    for name in sorted({*known} - {*names}) if new else ():
        for shape in _shapes(name) & new.keys():
            likely.setdefault(new[shape], name)
    return likely


def _shapes(name: str) -> set[str]:
    """Return a name of some length without case, and without each of its letters."""
    plain = name.casefold()
    if len(plain) < SHORT:
        return {plain}
    return {plain, *(plain[:k] + plain[k + 1 :] for k, at in enumerate(plain) if at.isalpha())}


def by_last_part(names: Iterable[str], section: str = "") -> dict[str, str]:
    """Return the dotted name, in `section` if there, or all names, that each last part is for."""
    anywhere, inside = dict[str, str](), dict[str, str]()
    for name in names:
        outer, _, last = name.rpartition(".")
        anywhere[last] = f"{anywhere[last]} or {name}" if last in anywhere else name
        if outer == section:
            inside[last] = name
    return anywhere | inside


def _folded(name: str) -> str:  # case, - and _ do not count
    return name.casefold().replace("-", "_")
