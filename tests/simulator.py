"""Let kernels for a card run in Numba's simulator; ``NUMBA_ENABLE_CUDASIM=0`` asks for a real card instead.

Numba reads the variable when it is imported, which may be before ``tests/conftest.py`` sets it.
"""

from __future__ import annotations

import numba


def use_simulator() -> None:
    """Let Numba read the variable again."""
    numba.config.reload_config()
