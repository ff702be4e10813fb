"""Add up pytest's JUnit reports and say how many tests ran.

The script fails when a test failed, when a report is missing, and when a pass ran no test.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree


class Count(NamedTuple):
    """The results of the tests of one or more passes."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def plus(self, other: Count) -> Count:
        """Return the sum of two counts."""
        return Count(*(a + b for a, b in zip(self, other, strict=True)))


def count(report: Path) -> Count:
    """Return the tests of one report; errors in set-up or tear-down are failures."""
    total = Count()
    for suite in ElementTree.parse(report).iter("testsuite"):
        tests, failures, errors, skipped = (
            int(suite.get(name, "0")) for name in ("tests", "failures", "errors", "skipped")
        )
        failed = failures + errors
        total = total.plus(Count(max(0, tests - failed - skipped), failed, skipped))
    return total


def main(reports: list[str]) -> int:
    """Print one problem a line, then the closing line; return the exit code."""
    total, sound = Count(), True
    for report in map(Path, reports):
        if not report.is_file():
            print(f"{report.name}: no report, so this pass did not finish")
            sound = False
            continue
        here = count(report)
        if here.passed + here.failed == 0:
            print(f"{report.name}: no test ran")
            sound = False
        total = total.plus(here)
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 0 if sound and total.failed == 0 and total.passed > 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
