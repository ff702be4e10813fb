"""A real Kafka broker on loopback, and Spark's connector to it, both fetched by Maven."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent
FETCHED = HERE.parents[1] / "build" / "kafka"
PATIENCE_S = 60
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
    """The jars of ``broker`` or ``connector``."""
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
    """The address of a broker in KRaft mode that keeps its data in ``folder``."""
    path = os.pathsep.join(map(str, fetched("broker")))
    port, control = free_port(), free_port()
    settings = folder / "server.properties"
    settings.write_text(PROPERTIES.format(port=port, control=control, data=folder / "data"), encoding="utf-8")
    java = ["java", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-cp", path]
    subprocess.run(
        [*java, "kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", settings],
        check=True,
        capture_output=True,
    )
    log = folder / "broker.log"
    with log.open("wb") as file:
        process = subprocess.Popen([*java, "kafka.Kafka", settings], stdout=file, stderr=file)
    try:
        wait_for(log, "Kafka Server started", process)
        yield f"127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()


def wait_for(log: Path, text: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        if text in log.read_text(encoding="utf-8", errors="replace"):
            return
        time.sleep(0.1)
    raise AssertionError(f"the broker did not start:\n{log.read_text(errors='replace')[-4000:]}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
