"""Books and events as Parquet files, drawn by Spark, and kept from run to run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.report import ROOT
from bench.workloads import named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FOLDER = ROOT / "build" / "spark"


@dataclass(frozen=True)
class Material:
    """Where a workload stands."""

    subscriptions: str
    events: str
    index: str


def material(
    spark: SparkSession, workload: str, subscriptions: int, events: int, seed: int = 1, as_text: bool = False
) -> Material:
    """Return the files of a workload; drawn now unless they are there."""
    from tamis.spark import generate

    name = f"{workload}-{subscriptions}-{events}-{seed}{'-text' if as_text else ''}"
    folder = FOLDER / name
    if not (folder / "done").exists():
        generate(
            spark,
            named(workload),  # type: ignore[arg-type]
            str(folder),
            subscriptions=subscriptions,
            events=events,
            seed=seed,
            as_text=as_text,
            overwrite=True,
        )
        (folder / "done").touch()
    return Material(str(folder / "subscriptions"), str(folder / "events"), str(folder / "index"))


def remove(path: str) -> None:
    """Forget a folder."""
    import shutil

    shutil.rmtree(Path(path), ignore_errors=True)
