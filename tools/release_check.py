"""Check a release: build sdist and wheel, install the wheel alone, run the README, look at licences.

``make release-check`` runs it. Everything is written below ``build``; the SBOM stands beside the packages in
``build/dist``.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DIST, WORK = ROOT / "build" / "dist", ROOT / "build" / "release"
BUILDER = ("build", "hatchling")
FENCE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Licences under which a dependency of the core may stand; each allows use and distribution beside Apache-2.0.
ALLOWED = re.compile(
    r"apache|bsd|mit\b|isc|psf|python software foundation|mpl|mozilla|unlicense|0bsd", re.IGNORECASE
)
# Asks the new environment about its packages; it runs there, so it may import nothing of ours.
PACKAGES = """
import importlib.metadata as metadata, json
found = []
for one in metadata.distributions():
    meta = one.metadata
    named = [c.rpartition(" :: ")[2] for c in meta.get_all("Classifier") or () if c.startswith("License")]
    written = (meta.get("License") or "").split("\\n")[0]
    licence = meta.get("License-Expression") or " / ".join(named) or written
    found.append({"name": meta["Name"], "version": one.version, "licence": licence})
print(json.dumps(sorted(found, key=lambda one: one["name"].lower())))
"""


def main() -> int:
    """Run all steps; stop at the first that fails."""
    for folder in (DIST, WORK):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    try:
        wheel = build()
        python = install(wheel)
        run_readme(python)
        write_sbom(check_licences(python))
    except (subprocess.CalledProcessError, AssertionError) as bad:
        print(f"release check failed: {bad}")
        return 1
    print(f"ready: {', '.join(sorted(path.name for path in DIST.iterdir()))} in {DIST.relative_to(ROOT)}")
    return 0


def environment(name: str, *packages: str) -> Path:
    """Return the Python of a new environment with these packages, at the pinned versions."""
    subprocess.run([sys.executable, "-m", "venv", str(WORK / name)], check=True)
    python = WORK / name / "bin" / "python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-c", str(ROOT / "constraints.txt"), *packages], check=True)
    return python


def build() -> Path:
    """Build both packages and look into them; return the wheel."""
    python = environment("builder", *BUILDER)
    subprocess.run([python, "-m", "build", "--outdir", DIST, ROOT], check=True, stdout=subprocess.DEVNULL)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    assert "tamis/py.typed" in names, "the wheel has no py.typed"
    assert any(name.endswith("licenses/LICENSE") for name in names), "the wheel has no licence"
    assert not any(name.startswith(("tests/", "bench/")) for name in names), (
        "the wheel has tests or the bench"
    )
    with tarfile.open(sdist) as archive:
        assert any(name.endswith("/constraints.txt") for name in archive.getnames()), (
            "the sdist is incomplete"
        )
    print(f"built {wheel.name} ({wheel.stat().st_size / 2**20:.1f} MiB) and {sdist.name}")
    return wheel


def install(wheel: Path) -> Path:
    """Install the wheel alone into a new environment, outside of the checkout."""
    python = environment("user", str(wheel))
    said = subprocess.run(
        [python.parent / "tamis", "--version"], check=True, capture_output=True, text=True, cwd=WORK
    ).stdout
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert version in said, f"tamis --version says {said.strip()}, pyproject.toml {version}"
    print(f"installed: {said.strip()}")
    return python


def run_readme(python: Path) -> None:
    """Run the Python blocks of the README where only the wheel is installed."""
    blocks = FENCE.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert blocks, "the README has no Python block"
    (WORK / "readme.py").write_text("\n".join(blocks), encoding="utf-8")
    subprocess.run([python, "readme.py"], check=True, cwd=WORK, stdout=subprocess.DEVNULL)
    print(f"the README runs ({len(blocks)} block)")


def check_licences(python: Path) -> list[dict[str, Any]]:
    """Return the packages that the wheel brings; refuse one whose licence is not known to be compatible."""
    listed = subprocess.run([python, "-c", PACKAGES], check=True, capture_output=True, text=True).stdout
    packages = [one for one in json.loads(listed) if one["name"].lower() not in ("pip", "setuptools")]
    wrong = [
        f"{one['name']}: {one['licence'] or 'none'}" for one in packages if not ALLOWED.search(one["licence"])
    ]
    assert not wrong, f"licences to look at: {'; '.join(wrong)}"
    print(f"licences of {len(packages)} packages are compatible")
    return packages


def write_sbom(packages: list[dict[str, Any]]) -> None:
    """Write the software bill of materials in the format of CycloneDX."""
    components = [
        {
            "type": "library",
            "name": one["name"],
            "version": one["version"],
            "purl": f"pkg:pypi/{one['name'].lower().replace('_', '-')}@{one['version']}",
            "licenses": [{"license": {"name": one["licence"]}}],
        }
        for one in packages
        if one["name"] != "tamis"
    ]
    (ours,) = (one for one in packages if one["name"] == "tamis")
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "library", "name": "tamis", "version": ours["version"]}},
        "components": components,
    }
    (DIST / f"tamis-{ours['version']}.cdx.json").write_text(
        json.dumps(bill, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    sys.exit(main())
