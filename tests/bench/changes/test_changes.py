"""Test ``python -m bench changes`` on small indexes."""

from __future__ import annotations

from click.testing import CliRunner

from bench.__main__ import main


def test_costs_of_changes_and_of_fresh_subscriptions_are_printed() -> None:
    options = ["w4-dense", "--sizes", "0,300", "--changes", "100", "--heads", "200", "--events", "32"]
    done = CliRunner().invoke(main, ["changes", *options], catch_exceptions=False)
    lines = [line.split() for line in done.output.splitlines()]
    assert [line[0] for line in lines if line and line[0] in ("0", "300", "200")] == ["0", "300", "200"]
    assert all(float(cell.replace(",", "")) >= 0 for cell in lines[2] + lines[-1])


def test_sizes_that_are_no_numbers_are_refused() -> None:
    done = CliRunner().invoke(main, ["changes", "--sizes", "many"])
    assert done.exit_code == 2
    assert "whole numbers" in done.output
