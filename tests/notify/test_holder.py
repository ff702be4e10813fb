"""Neighbours see that a notifier died, and never believe it of one that lives."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tamis.notify.holder import is_dead, own_name

SOURCE = Path(__file__).resolve().parents[2] / "src"
CODE = "from tamis.notify.holder import own_name; print(own_name(), flush=True); input()"


def test_a_process_lives_until_it_is_killed() -> None:
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with subprocess.Popen(
        [sys.executable, "-c", CODE],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert not is_dead(name)
        process.kill()
        process.wait()
        assert is_dead(name)


def test_who_lives_or_may_live_elsewhere_is_not_dead() -> None:
    mine = own_name()
    host, place, pid, since, noise = mine.rsplit("/", 4)
    assert mine != own_name()
    assert not is_dead(mine)
    assert is_dead(f"{host}/{place}/{pid}/{int(since) - 1}/{noise}")  # its number was given to another
    for odd in (
        "",
        "dead",
        "a/b/c",
        f"{host}/elsewhere/{pid}/1/{noise}",
        f"{host}//{pid}/1/{noise}",
        "a/b/-1/d/e",
    ):
        assert not is_dead(odd)
