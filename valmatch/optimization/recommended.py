"""The config of the point that an optimisation recommends."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path

from valmatch.config.config import Config
from valmatch.config.factor_paths import parts, replaced
from valmatch.config.identity import config_id, identity
from valmatch.config.writing import document
from valmatch.storage.output import write_atomically

RECOMMENDED = "recommended.yaml"


def write_recommended(folder: Path, config: Config, point: Mapping[str, float], why: str) -> None:
    """Write the config with the variables of a point, ready to run.

    Parameters
    ----------
    folder : Path
        Where to; files that the config names are named relative to it.
    config : Config
        What was optimised.
    point : mapping of str to float
        Values by factor.
    why : str
        What is known of the point, for the comment at the top.

    Raises
    ------
    RunError
        If it cannot be written.
    """
    factors = identity(config)["factors"]
    whole = config.factors.model_dump(mode="json")
    for name, value in point.items():
        whole = replaced(whole, parts(name), value)
        *sections, last = takewhile(lambda part: isinstance(part, str), parts(name))
        inner, there = factors, whole
        for section in sections:
            inner, there = inner.setdefault(section, {}), there[section]
        inner[last] = there[last]  # a list as a whole, though one entry is a variable
    files = {key: os.path.relpath(file.path, folder) for key, file in config.files.items()}
    head = f"Recommended by valmatch optimize for config {config_id(config)}: {why}."
    with write_atomically(folder / RECOMMENDED) as file:
        file.write(document(head, config.model, factors, **files))
