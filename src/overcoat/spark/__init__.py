"""Overcoat on Apache Spark, for tables that live on a cluster: the same release as on one machine.

::

    public     what users call                   result    what comes back
    tables     data frames, as distinct rows     driver    from there to `Transactions`
    plan       does that fit?                    images    rows under a mapping
    places     in which order, in which file     target    staged, then named
    checks     does it hold? the cluster counts  families  those of the privacy constraints
    exposure   risk with one or two items known  session   a session, and the Java for it
    jobs       how work runs there, and fails

The cluster reduces the table to distinct rows with counts, the driver finds the mapping from these
by the same walk as everywhere, the cluster writes the release and verifies what it has written.
Only the DataFrame API is used, so that Spark Connect works. PySpark is imported when it is needed.
"""

from __future__ import annotations

from overcoat.spark.exposure import risk
from overcoat.spark.public import anonymize, apply, verify
from overcoat.spark.result import SparkResult
from overcoat.spark.session import start_session

__all__ = ["SparkResult", "anonymize", "apply", "risk", "start_session", "verify"]
