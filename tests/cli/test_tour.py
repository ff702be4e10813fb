"""Test the tour: it runs to its end, and what it shows is computed."""

from __future__ import annotations

import subprocess
import sys


def test_tour_shows_matches_reasons_a_mistake_and_a_comparison() -> None:
    shown = subprocess.run([sys.executable, "-m", "tamis"], capture_output=True, text=True, check=True).stdout
    for line in ("  ann   ← {'model'", "  –     ← {'model'", "✗ color IN", "Write AND instead of &&"):
        assert line in shown
    assert "22,000 matches" in shown
    assert "with the same answers" in shown
    assert max(map(len, shown.splitlines())) <= 100
    assert len(shown.splitlines()) <= 60


def test_arguments_are_those_of_the_command() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "tamis", "--version"], capture_output=True, text=True, check=True
    )
    assert ", version " in shown.stdout
