"""A driver of its own, for tests that start, lose or end one: anonymizes a folder of Parquet.

Arguments: the master (or ``sc://…``), the input, the output, the mapping. It says ``at STAGE`` when
a stage begins and then waits for a line where the test has asked for it (``--pause STAGE``).
"""

from __future__ import annotations

import argparse
import sys
from typing import Any

import overcoat as oc
from spark_cluster import settings


def main() -> None:
    parser = argparse.ArgumentParser()
    for name in ("master", "data", "released", "mapping"):
        parser.add_argument(name)
    parser.add_argument("--pause")
    given = parser.parse_args()
    seen: set[str] = set()

    def say(stage: str, done: int, of: int) -> None:
        if stage not in seen:
            seen.add(stage)
            sys.stdout.write(f"at {stage}\n")
            sys.stdout.flush()
            if stage == given.pause:
                sys.stdin.readline()

    more: dict[str, Any] = {} if given.master.startswith("sc://") else settings()
    session = oc.spark.start_session(given.master, **more)
    frame = session.read.parquet(given.data)
    result = oc.spark.anonymize(
        frame,
        *(3, oc.AllItemsets(2)),
        id="person",
        item="code",
        released=given.released,
        mapping=given.mapping,
        context=oc.Context(progress=say),
    )
    sys.stdout.write(f"done {result.verdict.ok} {result.released.count()}\n")
    session.stop()


if __name__ == "__main__":
    main()
