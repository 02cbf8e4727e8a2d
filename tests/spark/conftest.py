"""A session of Spark on this machine, for tests that are in the group "spark"."""

from __future__ import annotations

import subprocess
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spark_cluster import BRIEF, need_spark


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session with two cores, as small as it gets."""
    need_spark()
    from overcoat.spark import start_session

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        session = start_session(
            "local[2]",
            spark_ui_enabled="false",
            spark_driver_bindAddress="127.0.0.1",
            spark_driver_host="127.0.0.1",
            spark_sql_shuffle_partitions="2",
            spark_sql_adaptive_enabled="false",
            # To compile a query takes longer than to run it on so few rows.
            spark_sql_codegen_wholeStage="false",
            spark_driver_memory="1g",
            spark_driver_extraJavaOptions=BRIEF,
            spark_sql_warehouse_dir=str(tmp_path_factory.mktemp("warehouse")),
        )
        yield session
        session.stop()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system with room for some kilobytes."""
    place = tmp_path / "small"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(place)]
    try:
        done = subprocess.run(mount, capture_output=True, text=True, check=False)
    except OSError as error:
        pytest.skip(f"no file system can be mounted here: {error}")
    if done.returncode:
        pytest.skip(f"no file system can be mounted here: {done.stderr.strip()}")
    yield place
    subprocess.run(["umount", str(place)], check=True)
