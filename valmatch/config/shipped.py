"""Meanings of the shipped configs, from the comments that they begin with."""

from __future__ import annotations

import re
from itertools import takewhile

from valmatch.config.loading import shipped_configs

_MODEL = re.compile(r"^model: *([a-z]+)", re.MULTILINE)

_SENTENCE = re.compile(r"(.+?\.)(?: |$)")


def listed() -> list[dict[str, str]]:
    """Return name, model and the first sentence about each shipped config."""
    found = []
    for name, path in shipped_configs().items():
        text = path.read_text(encoding="utf-8")
        comment = takewhile(lambda line: line.startswith("# "), text.splitlines())
        about = " ".join(line.removeprefix("# ") for line in comment)
        (model,) = _MODEL.findall(text)
        sentence = _SENTENCE.match(about)
        found.append({"config": name, "model": model, "about": sentence[1] if sentence else about})
    return found
