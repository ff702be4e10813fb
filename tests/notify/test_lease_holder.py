"""Other notifiers recognise a crashed lease holder and never a live one as crashed."""

from __future__ import annotations

import subprocess
import sys

from tamis.notify import lease_holder
from tamis.notify.lease_holder import holder_name, is_dead

CODE = "import runpy, sys; print(runpy.run_path(sys.argv[1])['holder_name'](), flush=True); input()"


def test_process_is_alive_until_it_is_killed() -> None:
    command = [sys.executable, "-c", CODE, str(lease_holder.__file__)]  # faster without the package
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        name = process.stdout.readline().strip()
        assert not is_dead(name)
        process.kill()
        process.wait()
        assert is_dead(name)


def test_live_or_remote_holder_is_not_dead() -> None:
    mine = holder_name()
    host, place, pid, since, noise = mine.rsplit("/", 4)
    assert mine != holder_name()
    assert not is_dead(mine)
    assert is_dead(f"{host}/{place}/{pid}/{int(since) - 1}/{noise}")  # another process has got its id
    for odd in (
        "",
        "dead",
        "a/b/c",
        f"{host}/elsewhere/{pid}/1/{noise}",
        f"{host}//{pid}/1/{noise}",
        "a/b/-1/d/e",
        f"{host}/{place}/\u00b2/1/{noise}",
    ):
        assert not is_dead(odd)
