"""Run the examples in the documentation: every ``python`` block, in order, in its file's namespace.

A block with ``>>>`` goes through doctest, any other is executed; ``python no-run`` blocks are left alone.
"""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.service.service import file_url, running

ROOT = Path(__file__).resolve().parents[2]
FILES = [ROOT / "README.md", *ROOT.glob("ARCHITECTURE.md"), *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^(?P<indent> *)```python[ \t]*\n(?P<code>.*?)^(?P=indent)```[ \t]*$", re.MULTILINE | re.DOTALL
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL


class Block(NamedTuple):
    """One fenced example and the preceding lines of the page."""

    code: str
    lines_before: int


def blocks(page: str) -> Iterator[Block]:
    for fence in FENCE.finditer(page):
        indent = len(fence["indent"])
        code = "".join(line[indent:] or "\n" for line in fence["code"].splitlines(keepends=True))
        yield Block(code, page.count("\n", 0, fence.start("code")))


def run(block: Block, file: Path, namespace: dict[str, Any]) -> None:
    if ">>>" in block.code:
        run_doctest(block, file, namespace)
    else:
        exec(compile("\n" * block.lines_before + block.code, str(file), "exec"), namespace)


def run_doctest(block: Block, file: Path, namespace: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(
        block.code, namespace, file.name, str(file), block.lines_before
    )
    report: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    assert not report, "".join(report)


def needs_spark(file: Path) -> bool:
    return any("tamis.spark" in block.code for block in blocks(file.read_text(encoding="utf-8")))


def needs_service(file: Path) -> bool:
    clients = ("tamis.Client", "tamis.AsyncClient")
    return any(
        client in block.code for block in blocks(file.read_text(encoding="utf-8")) for client in clients
    )


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Start a service that clients find by the environment, with the key of an administrator."""
    with running(file_url(tmp_path)) as run:
        monkeypatch.setenv("TAMIS_URL", str(run.http.base_url))
        monkeypatch.setenv("TAMIS_KEY", run.admin.key)
        yield


PAGES = [
    pytest.param(file, id=str(file.relative_to(ROOT)), marks=[pytest.mark.spark] if needs_spark(file) else [])
    for file in FILES
]


@pytest.mark.parametrize("file", PAGES)
def test_documented_examples_run(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    if needs_spark(file):
        request.getfixturevalue("spark")  # the examples find it active, and start no other
    if needs_service(file):
        request.getfixturevalue("service")
    monkeypatch.chdir(tmp_path)  # examples may write files
    namespace: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(file.read_text(encoding="utf-8")):
        run(block, file, namespace)


PAGE = """\
```python
x = 20
```
```python no-run
raise SystemExit
```
  ```python
  >>> x + 1
  21
  ```
```text
>>> nonsense
```
"""


def test_only_plain_python_blocks_run_and_they_share_a_namespace() -> None:
    found = list(blocks(PAGE))
    assert found == [Block("x = 20\n", 1), Block(">>> x + 1\n21\n", 7)]
    namespace: dict[str, Any] = {}
    for block in found:
        run(block, Path("page.md"), namespace)
    assert namespace["x"] == 20


def test_wrong_answer_is_reported() -> None:
    with pytest.raises(AssertionError, match="Expected"):
        run(Block(">>> 1 + 1\n3\n", 0), Path("page.md"), {})
