"""Import Numba's CUDA in one place, or say what to install.

A kernel file imports the name ``cuda`` from here. Without a card, ``NUMBA_ENABLE_CUDASIM=1`` runs the kernels
in Numba's simulator, which interprets every thread.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import numpy as np

from tamis.errors import DeviceUnsupported, ExtraMissing

if importlib.util.find_spec("numba_cuda") is None:
    raise ExtraMissing(
        "matching on a card needs the package 'numba-cuda', which is not installed;"
        " pip install 'tamis[cuda]'",
        package="numba-cuda",
        extra="cuda",
    )
try:
    from numba import cuda as _cuda
    from numba.cuda import types as _types
    from numba.cuda.core import config as _config

    if (
        not _config.ENABLE_CUDASIM
    ):  # numba-cuda 0.30 imports this at the first launch, and NumPy 2.5 lacks a name
        importlib.import_module("numba.cuda.np.arrayobj")
except (AttributeError, ImportError, RuntimeError) as bad:  # the last if libraries of CUDA are missing
    raise DeviceUnsupported(
        f"numba-cuda cannot be imported with NumPy {np.__version__}: {str(bad)[:200]}; install the versions"
        " and the toolkit that 'tamis[cuda]' asks for"
    ) from None

cuda: Any = _cuda
types: Any = _types
SIMULATED = bool(_config.ENABLE_CUDASIM)
_config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a small batch needs few blocks


def with_registers(most: int) -> Any:
    """Return the decorator of kernels whose threads use at most so many registers; the simulator has none."""
    return cuda.jit if SIMULATED else cuda.jit(max_registers=most)


def on_card(kernel: Any) -> Any:
    """Return a function of the processor's kernels as one that kernels of a card call."""
    return cuda.jit(device=True)(getattr(kernel, "py_func", kernel))
