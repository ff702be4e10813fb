"""Run the kernels for a card in Numba's simulator, unless ``NUMBA_ENABLE_CUDASIM=0`` asks for a real card."""

from __future__ import annotations

import numba

numba.config.reload_config()  # the variable is set in tests/conftest.py, after Numba may have been imported
