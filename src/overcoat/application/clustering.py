"""Making a release on a cluster, for every surface."""

from __future__ import annotations

import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from overcoat.application.reporting import publish_papers
from overcoat.application.said import Input, Outputs, Statement
from overcoat.context import Context
from overcoat.data.io import check_outputs
from overcoat.data.io.asked import Asked
from overcoat.errors import DataError, Problem
from overcoat.mapping import Mapping
from overcoat.release.codebook import check_codebook
from overcoat.spark.public import anonymize
from overcoat.spark.result import SparkResult
from overcoat.spark.session import start_session
from overcoat.spark.target import open_table

__all__ = ["anonymize_on_spark"]


def anonymize_on_spark(
    data: Input,
    statement: Statement,
    outputs: Outputs,
    master: str | None,
    *,
    start: str | None = None,
    context: Context,
    report: Callable[[SparkResult], None] = lambda result: None,
) -> SparkResult:
    """Find a mapping for a table that a cluster can read, and publish its release there.

    `master` is that of the cluster, None for what Spark is configured with. `report` is called when
    all is verified, before anything gets its name.
    """
    began = time.perf_counter()
    _check(data.asked, outputs)
    earlier = None if start is None else Mapping.read(start)
    policy, method = statement.bind_method(earlier)
    check_codebook(outputs.codebook)
    papers = outputs.papers
    papers.check(outputs.mapping)
    targets = [outputs.mapping, outputs.codebook, *papers.files.values()]
    check_outputs([start, *papers.inputs, *policy.files], targets)
    with context.stage("start"):
        with _apart():
            session = start_session(master)
        frame = open_table(session, data.source)

    def told(result: SparkResult) -> None:
        result.seconds["total"] = time.perf_counter() - began
        report(result)

    asked = data.asked
    return anonymize(
        frame,
        policy=policy,
        method=method,
        id=asked.id,
        item=None if asked.item is None else str(asked.item),
        items=None if asked.items is None else str(asked.items),
        allow_identifiers=outputs.allow_identifiers,
        label_from=outputs.label_from,  # type: ignore[arg-type]
        released=outputs.released,
        mapping=outputs.mapping,
        to=outputs.to,
        replace=outputs.replace,
        codebook=outputs.codebook,
        papers=lambda result: publish_papers(papers, result, keep_order=False, context=context),
        report=told,
        context=context,
    )


@contextmanager
def _apart() -> Iterator[None]:
    """Keep what is this command's from the Java that it starts.

    Java would hold standard output open while it ends, and who reads to the end would wait for
    that. Spark's own answer to Ctrl-C would ask Java in the middle of what Java is being asked; and
    Python's side of Spark tells in many lines that it was interrupted.
    """
    logging.getLogger().addFilter(lambda said: "while sending command" not in said.getMessage())
    interrupted = signal.getsignal(signal.SIGINT)
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupted)


def _check(asked: Asked, outputs: Outputs) -> None:
    """Raise if something is asked for that a cluster does not do."""
    plain = Asked(id=asked.id, item=asked.item, items=asked.items)
    wrong = []
    if asked != plain:
        wrong.append("a table on a cluster is read with --id and --item, or --items, only")
    if isinstance(asked.item, str) and "," in asked.item:
        wrong.append("a wide table is not read on a cluster: make it a long one first")
    refused = {
        "--keep-order": outputs.keep_order,
        "--dry-run": outputs.dry_run,
        "standard output": outputs.released == "-",
    }
    wrong += [f"{name} cannot be had with --spark" for name, given in refused.items() if given]
    if wrong:
        raise DataError(map(Problem, wrong))
