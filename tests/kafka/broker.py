"""Run a real Kafka broker on loopback, and fetch it and Spark's connector with Maven."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.waiting import eventually

HERE = Path(__file__).resolve().parent
FETCHED = HERE.parents[1] / "build" / "kafka"
ATTEMPTS = 5  # a port that was free a moment ago may be in use now: Kafka cannot take a bound one
LOG = "broker.log"
CLUSTER = "MkU3OEVBNTcwNTJENDM2Qg"  # any 16 bytes in base64

PROPERTIES = """\
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:{control}
listeners=PLAINTEXT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{control}
advertised.listeners=PLAINTEXT://127.0.0.1:{port}
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
log.dirs={data}
num.partitions=2
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
"""


def fetched(profile: str) -> list[Path]:
    """Return the jars of ``broker`` or ``connector``."""
    if shutil.which("mvn") is None:
        raise RuntimeError("make test-kafka needs Maven and Java 17: mvn is not on the PATH")
    folder = FETCHED / profile
    command = ["mvn", "-q", "-B", "-f", str(HERE), "-P", profile, "dependency:copy-dependencies"]
    done = subprocess.run(
        [*command, f"-DoutputDirectory={folder}", "-DincludeScope=runtime"], capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"Maven could not fetch the {profile}:\n{done.stdout[-2000:]}")
    return sorted(folder.glob("*.jar"))


@contextmanager
def broker(folder: Path) -> Iterator[str]:
    """Run a broker in KRaft mode that keeps its data in ``folder``; yield its address."""
    java = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1"]
    java += ["-cp", os.pathsep.join(map(str, fetched("broker")))]
    for attempt in range(ATTEMPTS):
        place = folder / str(attempt)
        place.mkdir(parents=True)
        process, port = _start(java, place)
        try:
            if _is_started(place / LOG, process):
                yield f"127.0.0.1:{port}"
                return
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
    raise AssertionError(f"the broker found no free ports in {ATTEMPTS} attempts")


def _start(java: list[str], folder: Path) -> tuple[subprocess.Popen[bytes], int]:
    """Start a broker on ports that are free at this moment."""
    port, control = free_port(), free_port()
    settings = folder / "server.properties"
    settings.write_text(PROPERTIES.format(port=port, control=control, data=folder / "data"), encoding="utf-8")
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", settings],
        check=True,
        capture_output=True,
    )
    with (folder / LOG).open("wb") as file:
        return subprocess.Popen([*java, "kafka.Kafka", settings], stdout=file, stderr=file), port


def _is_started(log: Path, process: subprocess.Popen[bytes]) -> bool:
    """Return whether the broker starts; if not, another process took one of its ports."""

    def text() -> str:
        return log.read_text(encoding="utf-8", errors="replace")

    eventually(lambda: "Kafka Server started" in text() or process.poll() is not None, every=0.1)
    if process.poll() is None:
        return True
    assert "Address already in use" in text(), f"the broker did not start:\n{text()[-4000:]}"
    return False


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
