"""Test that no file makes a kernel leave its arrays, hang, or raise an untyped error.

An index whose checksums were computed again after a change is refused, or used without a crash; its answers
then do not matter. Each engine gets 60 files; ``TAMIS_FORGED=20000`` tries more, ``TAMIS_FORGED_SEED``
others.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from tamis.engines.engines import NAMES as ENGINES
from tests.forged.mutator import LAYOUTS_TO_READ, saved

COUNT = int(os.environ.get("TAMIS_FORGED", "60"))
WORTH_COMPILING = 200  # files of each engine
SEED = os.environ.get("TAMIS_FORGED_SEED", "1")


def checked_kernels(root: Path) -> Path:
    """Where these kernels, compiled with bounds checks, are kept from run to run."""
    sources = sorted((root / "src").rglob("_kernels.py"))
    content = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    return root / "build" / "checked-kernels" / content[:16]


def test_forged_files_are_refused_or_harmless(tmp_path: Path, repo_root: Path) -> None:
    # Bounds are checked. For a few files interpreting costs less than compiling, and NumPy checks them, too.
    checked = {
        "NUMBA_BOUNDSCHECK": "1",
        "NUMBA_OPT": "0",
        "NUMBA_CACHE_DIR": str(checked_kernels(repo_root)),
        "NUMBA_DISABLE_JIT": "1" if COUNT < WORTH_COMPILING else "0",
        "TAMIS_CACHE": str(tmp_path / "cache"),
    }
    for engine in ENGINES:
        for number, parameters in enumerate(LAYOUTS_TO_READ[engine]):
            saved(tmp_path / engine / str(number), engine, parameters)
    command = [sys.executable, "-m", "tests.forged.run", str(tmp_path), str(COUNT), SEED, *ENGINES]
    done = subprocess.run(command, env=os.environ | checked, capture_output=True, text=True, check=False)
    case = (tmp_path / "case").read_text() if (tmp_path / "case").exists() else ""
    assert done.returncode == 0, f"ended by {done.returncode} while trying {case}\n{done.stderr[-4000:]}"
    found = [json.loads(line) for line in done.stdout.splitlines()]
    failures = [failure for engine in found for failure in engine["failures"]]
    assert not failures, f"{len(failures)} failures, the first: {failures[0]}"
    assert [engine["engine"] for engine in found] == list(ENGINES)
    for engine in found:
        assert COUNT // 4 < engine["refused"] < COUNT, engine["engine"]  # some are refused, some are used
