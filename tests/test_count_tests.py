"""Test that the closing line of ``make test`` is true, and that a pass without tests fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.count_tests import main


def report(folder: Path, name: str, tests: int, failures: int = 0, errors: int = 0, skipped: int = 0) -> str:
    path = folder / name
    suite = f'<testsuite tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}"/>'
    path.write_text(f"<testsuites>{suite}</testsuites>")
    return str(path)


@pytest.mark.parametrize(
    ("second", "closing", "code"),
    [
        ({"tests": 3}, "12 passed, 0 failed, 1 skipped", 0),
        ({"tests": 3, "failures": 1, "errors": 1}, "10 passed, 2 failed, 1 skipped", 1),
        ({"tests": 0}, "9 passed, 0 failed, 1 skipped", 1),
        ({"tests": 2, "skipped": 2}, "9 passed, 0 failed, 3 skipped", 1),
    ],
)
def test_counts_are_summed_with_the_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], second: dict[str, int], closing: str, code: int
) -> None:
    reports = [report(tmp_path, "a.xml", 10, skipped=1), report(tmp_path, "b.xml", **second)]
    assert main(reports) == code
    assert capsys.readouterr().out.splitlines()[-1] == closing


def test_missing_report_fails(tmp_path: Path) -> None:
    assert main([report(tmp_path, "a.xml", 10), str(tmp_path / "absent.xml")]) == 1
