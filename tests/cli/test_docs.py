"""Run the sessions of ``docs/cli.md`` in order, and compare their output with the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SECONDS = re.compile(r"in [\d.]+ s\b")


def steps() -> list[tuple[str, str]]:
    """Return (command, expected output) for the whole page."""
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    found = []
    for session in SESSION.findall(page):
        for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, _, printed = step.partition("\n")
            found.append((command, printed.rstrip("\n")))
    return found


@pytest.fixture
def shell(index: Path, tmp_path: Path) -> dict[str, str]:
    """Return an environment with a ``tamis`` command whose kernels are compiled."""
    tamis = tmp_path / "bin" / "tamis"
    tamis.parent.mkdir()
    code = "from tamis.cli import main; main(prog_name='tamis')"
    tamis.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "{code}" "$@"\n', encoding="utf-8")
    tamis.chmod(0o755)
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return os.environ | {"PATH": f"{tamis.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": source}


def test_page_has_sessions() -> None:
    assert len(steps()) > 10


def test_sessions_print_what_the_page_says(shell: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    for command, printed in steps():
        words = command.split()
        if words[0] == "cat" and not (folder / words[1]).exists():  # the page shows the file it begins with
            (folder / words[1]).write_text(printed + "\n", encoding="utf-8")
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=shell,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        assert SECONDS.sub("in N s", done.stdout.rstrip("\n")) == SECONDS.sub("in N s", printed), command
