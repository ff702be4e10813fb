"""Keep every measured job in its own JSON file, so that an interrupted run can continue."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench import report
from bench.figures.spec import Job

FOLDER = report.RESULTS / "figures"


class Store:
    """The results in a folder, by key of the job."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.folder = folder

    def get(self, job: Job) -> dict[str, Any] | None:
        """Return the result of a job, or ``None``; a truncated file counts as missing."""
        try:
            found: dict[str, Any] = json.loads(self._file(job).read_text(encoding="utf-8"))
        except (FileNotFoundError, json.JSONDecodeError):
            return None
        return found

    def put(self, job: Job, result: dict[str, Any]) -> None:
        """Keep ``result``."""
        report.write_json({"job": asdict(job), **result}, self._file(job))

    def all(self, jobs: Iterable[Job]) -> dict[str, Any]:
        """Return the known results of ``jobs``, by key."""
        found = {job.key(): self.get(job) for job in jobs}
        return {key: result for key, result in found.items() if result is not None}

    def _file(self, job: Job) -> Path:
        return self.folder / f"{job.key()}.json"
