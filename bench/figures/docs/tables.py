"""Keep the points of figures as CSV files, and a record of the machine and time that measured them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from bench import report
from bench.figures.spec import Data, Figure, Panel, X
from bench.figures.words import MEASURES

COLUMNS = ("panel", "curve", "x", "value", "unit")
FOLDER, RECORDS = "data", "measured.json"

Record = dict[str, Any]


class Kept(NamedTuple):
    """A measured figure in the size of its measurement, its points, and their record."""

    figure: Figure
    data: Data
    record: Record


def write_points(file: Path, figure: Figure, data: Data) -> None:
    """Write a row for every point."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("w", encoding="utf-8", newline="") as lines:
        writer = csv.writer(lines, lineterminator="\n")
        writer.writerow(COLUMNS)
        for panel, curves in zip(figure.panels, data, strict=True):
            unit = MEASURES.get(panel.measure, panel.measure)
            for label, values in curves.items():
                rows = ((panel.title, label, x, f"{value:.6g}", unit) for x, value in values.items())
                writer.writerows(rows)


def read_points(file: Path, figure: Figure) -> Data:
    """Return the points of every panel; raise a ``ValueError`` if a row belongs to none."""
    data: Data = [{curve.label: {} for curve in panel.curves} for panel in figure.panels]
    places = {panel.title: at for at, panel in enumerate(figure.panels)}
    with file.open(encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            at = places.get(row["panel"])
            if at is None or row["curve"] not in data[at]:
                raise ValueError(f"{file}: {figure.name} has no curve {row['curve']!r} in {row['panel']!r}")
            data[at][row["curve"]][_place(row["x"], figure.panels[at])] = float(row["value"])
    return data


def _place(text: str, panel: Panel) -> X:
    """Return the place that ``text`` names: as the panel has it, or a number (of a smaller measurement)."""
    known = {str(x): x for x, _ in panel.points}
    if text in known:
        return known[text]
    return float(text) if "." in text or "e" in text else int(text)


def record_of(figure: Figure, results: Mapping[str, Any], scale: int) -> Record:
    """Return when and where the figure was measured; the date is that of its last point."""
    found = [results[job.key()] for job in dict.fromkeys(figure.jobs())]
    last = max(found, key=lambda result: result.get("date", ""))
    return {
        "date": last.get("date", ""),
        "scale": scale,
        "minutes": round(sum(result["seconds"] for result in found) / 60, 1),
        "machine": last["machine"],
        "versions": last["versions"],
        "commit": last["commit"],
    }


def read_records(folder: Path) -> dict[str, Record]:
    """Return the records of all figures, by name."""
    file = folder / RECORDS
    found: dict[str, Record] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    return found


def write_records(folder: Path, records: Mapping[str, Record], order: Iterable[str]) -> None:
    """Write the records in the order of the figures."""
    report.write_json({name: records[name] for name in order if name in records}, folder / RECORDS)
