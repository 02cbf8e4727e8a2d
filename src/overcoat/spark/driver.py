"""From distinct rows on the cluster to transactions on the driver, chunk by chunk.

A chunk is some tens of megabytes, so that neither Arrow, whose lists end at 2^31 places, nor Spark,
which limits what a driver may be sent, is ever asked for too much.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from overcoat.context import Stage
from overcoat.data.origin import Origin
from overcoat.data.transactions import Transactions, TransactionsBuilder
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import VerificationError
from overcoat.spark.jobs import Jobs
from overcoat.spark.plan import Plan

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["fetch"]


def fetch(
    rows: DataFrame, vocabulary: Vocabulary, plan: Plan, origin: Origin, jobs: Jobs, stage: Stage
) -> Transactions:
    """Build the transactions that some distinct rows on the cluster are."""
    from pyspark.sql import functions as F  # noqa: N812

    builder = TransactionsBuilder()
    for label in vocabulary:
        builder.code(label)  # so that these are the codes of the rows
    part = F.pmod(F.xxhash64("row"), F.lit(plan.chunks))
    for chunk in range(plan.chunks):
        some = rows if plan.chunks == 1 else rows.where(part == chunk)
        table = jobs.table("send the distinct rows", some.select("row", "n"), stage)
        for batch in table.to_batches():
            lists = batch.column("row")
            lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
            offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
            codes = lists.flatten().to_numpy(zero_copy_only=False)
            counts = batch.column("n").to_numpy(zero_copy_only=False)
            builder.add_rows(offsets, codes, counts, stage=stage)
        stage(chunk + 1, plan.chunks)
    data = builder.build(origin=origin, stage=stage)
    # What a cluster sends twice, or not at all, would be published as if it were true.
    if (data.n_distinct, data.n_transactions) != (plan.n_rows, plan.n_people):
        raise VerificationError(
            f"the cluster counted {plan.n_rows:,} distinct rows of {plan.n_people:,} people and "
            f"sent {data.n_distinct:,} of {data.n_transactions:,}: has the table changed meanwhile?"
        )
    return data
