"""Test that a missing extra ends in one line that says what to install, in library and commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run(missing: str, code: str) -> subprocess.CompletedProcess[str]:
    """Run ``code`` in a Python that cannot import ``missing``."""
    blocked = f"import sys; sys.modules[{missing!r}] = None\n{code}"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    }
    return subprocess.run([sys.executable, "-c", blocked], env=environment, text=True, capture_output=True)


LIBRARY = [
    ("pyspark", "spark", "import tamis; tamis.spark"),
    ("pyspark", "spark", "import tamis.spark"),
    ("datasketches", "spark", "from tamis.spark import profile"),
    ("httpx", "client", "import tamis; tamis.Client"),
    ("httpx", "client", "from tamis import AsyncClient"),
    ("httpx", "client", "import tamis.client"),
    ("sqlalchemy", "store", "import tamis.store"),
    (
        "alembic",
        "store",
        "import tamis.store as s; import tempfile as t; s.Store.open(f'sqlite:///{t.mkdtemp()}/x')",
    ),
    ("starlette", "service", "import tamis.service"),
    ("sigma", "rules", "import tamis; tamis.rules.read('sigma', '')"),
    ("sqlglot", "rules", "from tamis import rules; rules.read('sql', 'a = 1')"),
    ("prometheus_client", "service", "import tamis.notify"),
]


@pytest.mark.parametrize(("missing", "extra", "code"), LIBRARY, ids=lambda part: str(part)[:40])
def test_library_names_the_extra_in_a_typed_error(missing: str, extra: str, code: str) -> None:
    lines = code.replace("; ", "\n    ")
    caught = (
        f"from tamis.errors import ExtraMissing\ntry:\n    {lines}\n"
        "except ExtraMissing as bad:\n    assert isinstance(bad, ImportError)\n"
        "    print(bad.code, bad.details['package'], bad.details['extra'], bad)\n"
    )
    done = run(missing, caught)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"extra-missing {missing} {extra} ")
    assert f"pip install 'tamis[{extra}]'" in done.stdout


COMMANDS = [
    ("pyspark", "spark", ["spark", "match", "index", "events", "-o", "out"]),
    ("pyspark", "spark", ["spark", "build", "book.jsonl", "-o", "index"]),
    ("pyspark", "spark", ["spark", "profile", "events.jsonl", "-o", "out"]),
    ("sigma", "rules", ["import", "sigma", "events.jsonl"]),
    ("starlette", "service", ["serve", "--data", "data"]),
    ("uvicorn", "service", ["serve", "--data", "data"]),
    ("sqlalchemy", "store", ["keys", "list", "--data", "data"]),
    ("prometheus_client", "service", ["notify", "--data", "data", "--once"]),
]


@pytest.mark.parametrize(("missing", "extra", "words"), COMMANDS, ids=lambda part: str(part)[:40])
def test_command_ends_with_one_line(missing: str, extra: str, words: list[str], tmp_path: Path) -> None:
    given = [str(tmp_path / word) if word in ("data", "out", "index") else word for word in words]
    (tmp_path / "events.jsonl").write_text("{}\n")
    code = f"from tamis.cli import main; main({given!r}, prog_name='tamis')"
    done = run(missing, f"import os; os.chdir({str(tmp_path)!r})\n{code}")
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith("tamis: extra-missing: ")
    assert f"pip install 'tamis[{extra}]'" in line


def test_help_needs_no_extra() -> None:
    code = "from tamis.cli import main; main(['spark', '--help'], prog_name='tamis')"
    for missing in ("pyspark", "sqlalchemy", "httpx", "starlette"):
        assert run(missing, code).returncode == 0
