"""Fixtures and Hypothesis profiles that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).resolve().parent.parent

# A loaded machine or a first JIT compilation is no defect, so there are no deadlines.
QUIET = (HealthCheck.too_slow, HealthCheck.data_too_large)
settings.register_profile(  # the same commit gives the same verdict
    "ci", deadline=None, max_examples=100, derandomize=True, print_blob=True, suppress_health_check=QUIET
)
settings.register_profile("dev", deadline=None, max_examples=30, suppress_health_check=QUIET)  # explores
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def repo_root() -> Path:
    """The root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets: TAMIS_SHARED_DATA, else ../shared/data beside the checkout."""
    from bench.workloads.real.data import shared_folder

    folder = shared_folder()
    if not folder.is_dir():
        pytest.skip(f"no real data at {folder}; set TAMIS_SHARED_DATA to the folder that holds it")
    return folder
