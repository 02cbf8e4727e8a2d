"""Verification on the cluster: from the written rows and the original, by counts of its own.

The definitions are those of `overcoat.verification`; what takes no counting is taken from there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from overcoat.context import Stage
from overcoat.data.vocabulary import Vocabulary
from overcoat.mapping import Mapping
from overcoat.policy.policy import Demands
from overcoat.policy.privacy import BoundCoherence, BoundFamily, BoundItemsets, BoundPgen
from overcoat.spark.families import Weakness, shared, weak_images, weak_rows, weak_sets
from overcoat.spark.images import image_of
from overcoat.spark.jobs import Jobs
from overcoat.spark.tables import STRANGE, Table, people_of, vocabulary_of
from overcoat.verification.verdict import LISTED, Findings, Verdict
from overcoat.verification.verify import check_mapping, conclude

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

__all__ = ["verify_on_cluster"]


def verify_on_cluster(
    original: Table | DataFrame,
    domain: Vocabulary,
    released: Table,
    mapping: Mapping,
    policy: Demands,
    jobs: Jobs,
    stage: Stage,
) -> Verdict:
    """Check a release against the original, its mapping and the policy.

    Parameters
    ----------
    original : the table it was made from, or its distinct rows of codes, where these are kept
    domain : the items of the original
    released : what was written, as it is there
    mapping : what the release claims to have applied
    policy : what must hold, over `domain`
    """
    findings = Findings()
    check_mapping(domain, mapping, findings)
    names = list(mapping.labels)
    label_of = {item: label for label, group in mapping.groups.items() for item in group}
    number_of = {label: number for number, label in enumerate(names)}
    expected = {item: number_of[label] for item, label in label_of.items()}
    numbers = [expected.get(item, -1) for item in domain]
    if isinstance(original, Table):
        wanted = people_of(original, expected, jobs)
    else:
        wanted = image_of(original, numbers)
    both = jobs.keep(_beside(wanted, people_of(released, number_of, jobs, marked=True)))
    n_wrong, n_strange = _how_many(both, jobs, stage)
    if n_strange:  # it is looked at once more, by name
        there = vocabulary_of(released, jobs, stage)
        strange = [label for label in there if label not in number_of]
        for label in strange:
            said = f"the release holds {label!r}, which is no label"
            findings.say("rows", said, itemset=(label,))
        names += strange
        number_of = {label: number for number, label in enumerate(names)}
        both = jobs.keep(_beside(wanted, people_of(released, number_of, jobs)))
        n_wrong, _ = _how_many(both, jobs, stage)
    if n_wrong:
        _tell_rows(both, n_wrong, names, findings, jobs, stage)
    rows = _released(both)
    for family in policy.families:
        _check_family(family, rows, numbers, names, policy.k, findings, jobs, stage)
    return conclude(domain, mapping, policy, findings)


def _beside(wanted: DataFrame, there: DataFrame) -> DataFrame:
    """Return each row with how often the data have it (``wanted``), and the release (``there``)."""
    from pyspark.sql import functions as F  # noqa: N812

    nobody = F.lit(0).cast("bigint")
    both = wanted.select("row", F.col("n").alias("wanted"), nobody.alias("there")).unionAll(
        there.select("row", nobody.alias("wanted"), F.col("n").alias("there"))
    )
    return both.groupBy("row").agg(F.sum("wanted").alias("wanted"), F.sum("there").alias("there"))


def _released(both: DataFrame) -> DataFrame:
    """Return the rows of the release alone, with their counts (``n``)."""
    from pyspark.sql import functions as F  # noqa: N812

    return both.where(F.col("there") > 0).select("row", F.col("there").alias("n"))


def _is_wrong() -> Column:
    """Return whether a row is released more or less often than the data have it."""
    from pyspark.sql import functions as F  # noqa: N812

    return F.col("wanted") != F.col("there")


def _how_many(both: DataFrame, jobs: Jobs, stage: Stage) -> tuple[int, int]:
    """Return how many rows are wrong, and how many of these hold what is no label."""
    from pyspark.sql import functions as F  # noqa: N812

    strange = F.get("row", F.lit(0)) == F.lit(STRANGE)
    counted = both.agg(
        F.count_if(_is_wrong()).alias("wrong"), F.count_if(_is_wrong() & strange).alias("strange")
    )
    found = jobs.row("compare the rows", counted, stage)
    return found["wrong"], found["strange"]


def _tell_rows(
    both: DataFrame,
    total: int,
    names: list[str],
    findings: Findings,
    jobs: Jobs,
    stage: Stage,
) -> None:
    """List the first of the rows that are not those of the original, each item its label."""
    wrong = both.where(_is_wrong())
    found = jobs.table("compare the rows", wrong.orderBy("row").limit(LISTED), stage).to_pylist()
    for one in found:
        labels = tuple(names[number] for number in one["row"])
        findings.say(
            "rows",
            f"the row {{{', '.join(labels)}}} is released {_times(one['there'])}, the data give it "
            f"{_times(one['wanted'])}",
            itemset=labels,
            support=one["there"],
        )
    findings.more("rows", total - len(found))


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def _check_family(
    family: BoundFamily,
    rows: DataFrame,
    numbers: list[int],
    names: list[str],
    k: int,
    findings: Findings,
    jobs: Jobs,
    stage: Stage,
) -> None:
    """Check one family; `numbers` are those of the labels of the items of the domain, or -1."""
    if isinstance(family, BoundPgen):
        found = weak_rows(rows, k, jobs, stage)
    elif isinstance(family, BoundItemsets):
        images = [
            tuple(sorted({numbers[code] for code in family.itemset(index).tolist()} - {-1}))
            for index in range(family.n_constraints)
        ]
        found = weak_images(rows, filter(None, images), k, jobs, stage)
    else:
        allowed = _labels(family.linkable.tolist(), numbers, names)
        found = weak_sets(rows, allowed, family.largest, k, jobs, stage)
    _tell(found, family, names, k, findings)
    if isinstance(family, BoundCoherence) and family.limits_private:
        public = _labels(family.linkable.tolist(), numbers, names)
        private = _labels(family.private.tolist(), numbers, names)
        large, total = shared(rows, public, private, family.h, family.largest, jobs, stage)
        for image, support, secret, having in large:
            labels = tuple(names[number] for number in image)
            findings.say(
                "privacy",
                f"of the {support} with {{{', '.join(labels)}}}, {having} "
                f"({100 * having / support:.4g} %) have the private {names[secret]}, more than "
                f"h = {float(family.h):g} %",
                itemset=labels,
                support=support,
                constraint=family.title,
            )
        findings.more("privacy", total - len(large))
        findings.limits += [0] * (total > 0)


def _labels(items: list[bool], numbers: list[int], names: list[str]) -> list[bool]:
    """Return which labels stand for any of these items of the domain."""
    held = {number for number, is_one in zip(numbers, items, strict=True) if is_one}
    return [number in held for number in range(len(names))]


def _tell(
    found: Weakness, family: BoundFamily, names: list[str], k: int, findings: Findings
) -> None:
    if found.least:
        findings.limits.append(found.least)
    for image, support in found.sets:
        labels = tuple(names[number] for number in image)
        findings.say(
            "privacy",
            f"{{{', '.join(labels)}}} is supported by {support}, fewer than k = {k}",
            itemset=labels,
            support=support,
            constraint=family.title,
        )
    findings.more("privacy", found.number - len(found.sets))
