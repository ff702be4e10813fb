"""Read and alter sealed files of an index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tamis.segment.sealed import read_file, unseal


def read_sealed(path: Path) -> dict[str, Any]:
    """Return the content of a sealed file."""
    return unseal(read_file(path), path)
