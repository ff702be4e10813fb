"""Build the peers that are not written in Python, and return the commands that run them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

from bench.report import ROOT

HERE = Path(__file__).resolve().parent
BUILT = ROOT / "build" / "peers"
BUILD_TIMEOUT_S = 900
_MEMORY = "-Xmx6g"


class Unavailable(Exception):
    """A peer that cannot be run here, and the reason."""


def python(name: str, module: str = "", tool: str = "") -> list[str]:
    """Return the command of a peer that is driven from Python, and may need a package or a program."""
    if module and find_spec(module) is None:
        raise Unavailable(f"{module} is not installed: pip install -e '.[peers]' -c constraints.txt")
    if tool:
        _needs(tool, tool)
    return [sys.executable, "-m", "bench.peers.worker", name]


@cache
def java(profile: str) -> list[str]:
    """Return the command of a peer written in Java; Maven builds it with the libraries it needs."""
    _needs("mvn", "Maven and Java 17 or newer")
    _needs("java", "Java 17 or newer")
    folder = BUILT / profile
    command = ["mvn", "-q", "-B", "-f", str(HERE / "java"), "-P", profile, f"-Dwhere={folder}"]
    goals = ["compile", "dependency:copy-dependencies", f"-DoutputDirectory={folder / 'libraries'}"]
    _build([*command, *goals, "-DincludeScope=runtime"])
    path = f"{folder / 'classes'}{os.pathsep}{folder / 'libraries' / '*'}"
    return ["java", _MEMORY, "-XX:+UseSerialGC", "-cp", path, "tamis.peers.Main", profile]


@cache
def rust() -> list[str]:
    """Return the command of the peer written in Rust; Cargo builds it."""
    _needs("cargo", "Rust's cargo")
    folder = BUILT / "rust"
    manifest = HERE / "rust" / "Cargo.toml"
    _build(
        ["cargo", "build", "--release", "--quiet", "--manifest-path", str(manifest)],
        CARGO_TARGET_DIR=str(folder),
    )
    return [str(folder / "release" / "tamis-peers")]


def java_version(profile: str) -> str:
    """Return the version that the project declares."""
    space = {"m": "http://maven.apache.org/POM/4.0.0"}
    tree = ElementTree.parse(HERE / "java" / "pom.xml")
    for one in tree.iterfind("m:profiles/m:profile", space):
        if one.findtext("m:id", namespaces=space) == profile:
            return one.findtext("m:dependencies/m:dependency/m:version", "", space)
    raise KeyError(profile)


def rust_version() -> str:
    """Return the version that the project declares."""
    manifest = tomllib.loads((HERE / "rust" / "Cargo.toml").read_text(encoding="utf-8"))
    return str(manifest["dependencies"]["a-tree"]).lstrip("=")


def _needs(program: str, what: str) -> None:
    if shutil.which(program) is None:
        raise Unavailable(f"there is no {program} here; install {what}")


def _build(command: list[str], **settings: str) -> None:
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=BUILD_TIMEOUT_S, env=os.environ | settings
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{command[0]} did not build it in {BUILD_TIMEOUT_S} s") from None
    if done.returncode:
        raise Unavailable(f"{command[0]} cannot build it: {first_error(done.stdout + done.stderr)}")


def first_error(text: str) -> str:
    """Return the line of a build's output with the error, without colours and addresses."""
    plain = re.sub(r"\x1b\[[0-9;]*m|https?://\S+", "", text)
    lines = [line.strip() for line in plain.splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"\[ERROR\]|error", line)]
    said = (errors or lines or ["it says nothing"])[0].removeprefix("[ERROR]").strip()
    missing = re.search(r"Could not find artifact (\S+)|(\S+) was not found in", said)
    return f"the repository has no {missing[1] or missing[2]}" if missing else said[:200]
