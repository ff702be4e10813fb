"""Test rules about the files themselves that no linter knows."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted(path for folder in ("src", "bench") for path in (ROOT / folder).rglob("*.py"))

MACHINE_PATHS = re.compile(r"(?<![\w.~-])/(?:home|mnt|opt|root|srv|tmp|Users|work)/\w[\w.-]*")
# In pieces, because this file is searched as well.
HOSTS = (
    "py pi org, python hosted org, ana conda org, npm js org, npm js com, ma ven org, dock er io, gh cr io, "
    "qu ay io, crat es io, ruby gems org"
)
REGISTRIES = re.compile(
    "|".join(rf"\b{one}{two}\.{end}\b" for one, two, end in (host.split() for host in HOSTS.split(", ")))
    + r"|--(?:(?:extra-)?index-url|find-links|trusted-host)\b"
)


def repository_files() -> list[Path]:
    """Return the files that are, or are about to be, tracked."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    if listed.returncode:
        pytest.skip(f"not a git checkout: {listed.stderr.strip()}")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def own_paths() -> list[str]:
    """Return paths of the machine that runs the test."""
    return [str(path) for path in {ROOT, Path.home(), Path(sys.prefix)} if len(path.parts) > 2]


def lines_that_match(pattern: re.Pattern[str], outside: tuple[str, ...] = ()) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()[:120]}"
        for path in repository_files()
        if not any(path.is_relative_to(ROOT / place) for place in outside)
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1)
        if pattern.search(line)
    ]


def test_no_machine_paths() -> None:
    meant = ("deploy", "docs/deploy.md")  # paths of images and units
    assert lines_that_match(MACHINE_PATHS, meant) == []
    if own := "|".join(map(re.escape, own_paths())):
        assert lines_that_match(re.compile(own)) == []


def test_no_registry_hosts() -> None:
    assert REGISTRIES.search("https://" + "py" + "pi.org/simple")
    assert lines_that_match(REGISTRIES) == []


def imports_numba(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module or ""]
        if any(name.split(".")[0] == "numba" for name in names):
            return True
    return False


def test_numba_is_imported_in_one_place_for_processors_and_one_for_cards() -> None:
    assert SOURCES
    strays = [str(path.relative_to(ROOT)) for path in SOURCES if imports_numba(path)]
    known = ["src/tamis/gpu/cuda.py", "src/tamis/kernel.py"]
    assert strays == known, "the decorator of kernels is tamis.kernel.kernel"


def test_kernels_stand_in_files_of_their_own() -> None:
    decorated = re.compile(r"^@kernel\b", re.MULTILINE)
    files = {path.name for path in SOURCES if decorated.search(path.read_text(encoding="utf-8"))}
    assert files == {"_kernels.py"}, "compiled code belongs in _kernels.py"


def test_deployment_names_metrics_and_runbooks_that_exist() -> None:
    folder = ROOT / "deploy"
    for path in folder.rglob("*.y*ml"):
        assert all(isinstance(one, dict) for one in yaml.safe_load_all(path.read_text(encoding="utf-8"))), (
            path
        )
    asked = (folder / "monitoring/alerts.yml").read_text(encoding="utf-8")
    page = (ROOT / "docs/deploy.md").read_text(encoding="utf-8").lower()
    for anchor in re.findall(r"docs/deploy\.md#(\w+)", asked):
        assert f"### {anchor}" in page
    asked += json.dumps(json.loads((folder / "monitoring/dashboard.json").read_text(encoding="utf-8")))
    source = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "src").rglob("metrics.py"))
    for name in set(re.findall(r"tamis_\w+", asked)):
        assert f'"{re.sub("_(total|bucket)$", "", name)}"' in source, name


def test_files_for_a_forge_are_valid() -> None:
    for path in [*(ROOT / ".github").rglob("*.yml"), ROOT / ".pre-commit-config.yaml", ROOT / "mkdocs.yml"]:
        assert isinstance(yaml.safe_load(path.read_text(encoding="utf-8")), dict), path
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert {"cff-version", "title", "message", "authors"} <= cited.keys()
    assert len(cited["references"]) == 5  # the papers
