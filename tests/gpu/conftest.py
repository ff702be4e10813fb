"""Run all tests of this folder in the simulator."""

from __future__ import annotations

from tests.simulator import use_simulator

use_simulator()
