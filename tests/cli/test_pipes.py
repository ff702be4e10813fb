"""Test the command as a real process between real pipes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]
TAMIS = [sys.executable, "-c", "from tamis.cli import main; main(prog_name='tamis')"]
ENVIRONMENT = os.environ | {
    "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
}


def start(*arguments: str | Path) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    command = [*TAMIS, *map(str, arguments)]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=ENVIRONMENT)


def test_slow_pipe_is_answered_at_once(index: Path) -> None:
    with start("match", index) as process:
        assert process.stdin
        assert process.stdout
        for number in range(2):
            process.stdin.write(b'{"price": 50}\n')
            process.stdin.flush()
            assert json.loads(process.stdout.readline()) == {"event": number, "subscriptions": ["cheap"]}
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_closed_output_pipe_is_no_error(index: Path) -> None:
    with start("match", index, "--format", "tsv") as process:
        assert process.stdin
        assert process.stdout
        assert process.stderr
        process.stdin.write(b'{"price": 50}\n')
        process.stdin.flush()
        assert process.stdout.readline() == b"0\tcheap\n"
        process.stdout.close()
        try:
            process.stdin.write(b'{"price": 50}\n' * 200_000)
            process.stdin.close()
        except BrokenPipeError:
            pass
        assert process.wait(PATIENCE) == 141
        assert process.stderr.read() == b""


def test_build_and_match_run_in_a_pipeline(index: Path, tmp_path: Path) -> None:
    with start("build", "-", "-o", tmp_path / "index") as build:
        _, said = build.communicate(b'{"id": "a", "expression": "x >= 1"}\n', timeout=PATIENCE)
        assert build.returncode == 0, said
    with start("match", tmp_path / "index") as match:
        out, said = match.communicate(b'{"x": 1}\n{"x": 0}\n', timeout=PATIENCE)
    assert json.loads(out) == {"event": 0, "subscriptions": ["a"]}
    assert said == b""


def test_errors_are_one_message_without_a_traceback() -> None:
    with start("check", "a = ") as process:
        out, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert out == b""
    assert said.startswith(b"tamis: expression-syntax: ")
    assert b"Traceback" not in said


def test_help_does_not_load_the_engines() -> None:
    code = (
        "import sys\nfrom tamis.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numba', 'pyarrow', 'numpy', 'shapely'} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    subprocess.run(
        [sys.executable, "-c", code], env=ENVIRONMENT, check=True, capture_output=True, timeout=PATIENCE
    )
