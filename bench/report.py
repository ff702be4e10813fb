"""Write results for people and for programs: aligned tables, JSON files, machine and versions."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
LIBRARIES = ("tamis", "numpy", "numba", "pyarrow", "msgspec")


def machine() -> dict[str, Any]:
    """Return a description of the machine."""
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "memory_gb": _memory_gb(),
        "system": f"{platform.system()} {platform.release()}",
        "load": round(os.getloadavg()[0], 2),
    }


def versions() -> dict[str, str]:
    """Return the versions of Python and of the important libraries."""
    found = {"python": platform.python_version()}
    for name in LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = _own_version(name)
    return found


def _own_version(name: str) -> str:
    return str(getattr(sys.modules.get(name), "__version__", "not installed"))


def commit() -> str | None:
    """Return the commit of the checkout, with a mark when files differ from it."""
    try:
        asked = subprocess.run(
            ["git", "describe", "--always", "--dirty", "--abbrev=12"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return asked.stdout.strip()


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")


def _memory_gb() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (OSError, ValueError):
        return None


def table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return an aligned table: the first column to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (headings, *rows)]
    widths = [max(len(row[at]) for row in cells) for at in range(len(headings))]
    lines = []
    for row in cells:
        first, rest = row[0].ljust(widths[0]), (c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))
        lines.append("  ".join((first, *rest)).rstrip())
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)


def figure(number: float | None, digits: int = 3) -> str:
    """Return a number with about ``digits`` leading digits, thousands set apart; a dash for ``None``."""
    if number is None:
        return "–"
    if number == 0:
        return "0"
    whole = len(str(int(abs(number)))) if abs(number) >= 1 else 0
    return f"{number:,.{max(0, digits - whole) if whole else digits}f}"


def write_json(report: Any, file: Path) -> None:
    """Write ``report`` as readable JSON; create the folder if it is missing."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json(file: Path) -> Any:
    """Return the report that :func:`write_json` wrote; raise a ``ValueError`` that says what is wrong."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as wrong:
        raise ValueError(f"{file} is no report: {wrong}") from None


def under(label: str, say: Callable[[str], Any]) -> Callable[[str], None]:
    """Return ``say`` with ``label`` before every message."""

    def labelled(text: str) -> None:
        say(f"{label}: {text}")

    return labelled


def say(text: str) -> None:
    """Print a progress message to stderr; results go to stdout."""
    print(text, file=sys.stderr, flush=True)


def report_figures(outcome: dict[str, Any], file: Path | None) -> None:
    """Print the plain figures of a run; write all of them, with machine and versions, to ``file``."""
    for name, value in outcome.items():
        if not isinstance(value, list | dict):
            say(f"  {name:24} {value:,.3f}" if isinstance(value, float) else f"  {name:24} {value}")
    if file:
        write_json(outcome | {"machine": machine(), "versions": versions(), "commit": commit()}, file)
