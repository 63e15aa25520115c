"""The folder that a command writes its results to."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from valmatch.config import Config, config_id, resolved
from valmatch.errors import InputError, RunError
from valmatch.output import environment, to_json, write_atomically

__all__ = ["RunFolder"]

MANIFEST = "manifest.json"


class RunFolder:
    """A folder claimed for the results of one run, with the manifest that says so.

    The same run may be made again in the same folder; results of any other are never touched.

    Parameters
    ----------
    path : Path
        Made if it does not exist.
    command : str
        The command that writes.
    config : Config
        What is simulated.
    identity : mapping
        What else distinguishes this run from others of the command, such as the seed.

    Raises
    ------
    InputError
        If the folder cannot be used, or holds the results of another run.
    """

    def __init__(
        self, path: Path, command: str, config: Config, identity: Mapping[str, object]
    ) -> None:
        self.path = path
        self._started = time.perf_counter()
        self._manifest: dict[str, Any] = {
            "command": command,
            "status": "running",
            "config_id": config_id(config),
            **identity,
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "wall_seconds": None,
            "source": config.source,
            "config": resolved(config),
            **environment(),
        }
        self._refuse_other_results(("command", "config_id", *identity))
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._write()
        except (OSError, RunError) as error:
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"--out {path}: cannot be used: {reason}") from None

    def _refuse_other_results(self, keys: tuple[str, ...]) -> None:
        path = self.path / MANIFEST
        try:
            if self.path.exists() and not self.path.is_dir():
                raise InputError(f"--out {self.path}: is a file (allowed: a folder)")
            earlier = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return
        except OSError as error:
            raise InputError(f"--out {self.path}: cannot be used: {error.strerror}") from None
        except ValueError as error:
            raise InputError(f"--out {self.path}: {MANIFEST} is damaged: {error}") from None
        for key in keys:
            mine, other = self._manifest[key], earlier.get(key)
            if mine != other:
                raise InputError(
                    f"--out {self.path}: holds the results of another run ({key} {other}, this"
                    f" run has {mine}); choose another folder"
                )

    def close(self, status: str, **facts: object) -> None:
        """Write down how the run ended, with further facts."""
        self._manifest["wall_seconds"] = round(time.perf_counter() - self._started, 3)
        self._manifest["status"] = status
        self._manifest.update(facts)
        self._write()

    def _write(self) -> None:
        with write_atomically(self.path / MANIFEST) as file:
            file.write(to_json(self._manifest))
