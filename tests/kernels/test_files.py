"""Test the files of compiled kernels: many processes may compile the same kernel at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tamis.kernel import KernelFiles

TYPES = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8")
# Each process compiles all signatures of one kernel, in an order of its own, and prints what it compiled.
JOB = """
import sys
import numpy as np
from tests.kernels._kernels import doubled
for name in sys.argv[1:]:
    values = np.arange(5, dtype=name)
    assert doubled(values) == 2 * values.sum(), name
print(sum(doubled.stats.cache_misses.values()))
"""


def start(types: tuple[str, ...], cache: Path) -> subprocess.Popen[str]:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": "0"}
    return subprocess.Popen(
        [sys.executable, "-c", JOB, *types], env=environment, stdout=subprocess.PIPE, text=True
    )


@pytest.mark.slow
def test_processes_that_compile_at_once_find_their_own_code(tmp_path: Path) -> None:
    orders = [TYPES[at:] + TYPES[:at] for at in range(0, len(TYPES), 3)]
    jobs = [start(order, tmp_path) for order in orders]
    for job in jobs:
        job.communicate()
    assert [job.returncode for job in jobs] == [0] * len(jobs)
    files = list(tmp_path.rglob("_kernels.doubled-*.nbc"))
    assert len(files) == len(TYPES), "one file for each signature"
    again = start(TYPES, tmp_path)
    assert (again.communicate()[0].strip(), again.returncode) == ("0", 0), "nothing is compiled again"


def test_file_of_another_key_or_source_is_not_read(tmp_path: Path) -> None:
    files = KernelFiles(str(tmp_path), "f-1.py311", (1.0, 10))
    files.save(("int64",), "code")
    assert files.load(("int64",)) == "code"
    assert files.load(("uint8",)) is None
    assert KernelFiles(str(tmp_path), "f-1.py311", (2.0, 10)).load(("int64",)) is None
