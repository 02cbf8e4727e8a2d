"""The case study: diagnosis codes, every part of every transaction protected, 20 disorders kept.

The paper's hospital data are private. Stand-ins: the diagnoses of 71,517 diabetes patients, with 20
common or 20 rare disorders of the CCS classification, and generated patients in the shape of the
paper's data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import overcoat as oc
from experiments.findings import (
    Claim,
    Findings,
    error_panels,
    names_of,
    only,
    table,
    violated_when_merged_whole,
)
from experiments.materials import Materials
from overcoat.comparison.settings import vary
from overcoat.comparison.text import show_value
from overcoat.data import samples
from overcoat.measures.counts import count_any, named_counts
from overcoat.measures.frequent import mine_frequent
from overcoat.measures.queries import Workload

__all__ = ["case_study"]

K = (2, 5, 10, 25, 50)
N_DISORDERS = 20
EMR_SIZE = 1336
APRIORI_M = 2
COLUMNS = {
    "data": "data",
    "k": "k",
    "algorithm": "method",
    "status": "status",
    "exact": "disorders exact",
    "n_groups": "groups",
    "largest_group": "largest",
    "suppressed_items_percent": "suppressed %",
    "log2_ul": "log2 UL",
    "avg_re_W1": "AvgRE W1",
    "avg_re_q2": "AvgRE W2",
    "avg_re_W2o": "W2, as they occur",
    "stuck": "stuck",
    "seconds": "seconds",
}


@dataclass(frozen=True)
class Hospital:
    """Patients, the disorders that studies count, and the hierarchy of the codes."""

    data: oc.Transactions
    disorders: Mapping[str, tuple[str, ...]]
    hierarchy: oc.Hierarchy


def case_study(materials: Materials) -> Findings:
    """Pgen, 20 disorders as utility constraints, s = 0.5, over k; W1 and W2."""
    rows: list[dict[str, Any]] = []
    sizes = []
    for name, hospital in _hospitals(materials).items():
        data = hospital.data
        utility = oc.Utility(hospital.disorders)
        base = oc.Policy(2, (oc.Pgen(),), utility, hierarchy=hospital.hierarchy)
        settings = vary(base, algorithm=("coat", "pcta"), k=K)
        # Apriori can protect neither all parts nor the disorders: pairs, for comparison.
        pairs = oc.Policy(2, (oc.AllItemsets(APRIORI_M),), hierarchy=hospital.hierarchy)
        settings += vary(pairs, algorithm=["apriori"], k=K)
        first = _frequent(hospital)
        longest = max(map(len, first))
        sizes.append(f"{name}: {len(first)}, of at most {longest} code{'s' * (longest > 1)}")
        field = materials.compare(
            data, settings, q=(2,), by="items", among="generalized", workloads={"W1": first}
        )
        common = materials.compare(data, settings, q=(2,), among="generalized")
        bound = base.bind(data)
        for run, row, other in zip(field.runs, field.rows, common.rows, strict=True):
            exact = None
            if run.mapping is not None:
                counts = named_counts(data, run.mapping.apply(data), run.mapping, bound)
                exact = sum(count.exact for count in counts)
            stuck = None
            if row["algorithm"] == "coat":
                stuck = violated_when_merged_whole(data, run.setting.policy)
            more = {"exact": exact, "avg_re_W2o": other["avg_re_q2"], "stuck": stuck}
            rows.append({"data": name, **row, **more})
    return Findings(
        title="Case study: diagnosis codes",
        setup="Every part of every transaction is protected (Pgen); 20 disorders are utility sets, "
        "the other codes one more; weights from the ICD-9 hierarchy; s = 0.5 %. W1: combinations "
        "of codes outside the disorders that at least 10 % of the patients have "
        f"({'; '.join(sizes)}). W2: {materials.n_queries:,} pairs of generalized codes, drawn "
        "uniformly over codes, and once more as they occur. Apriori is "
        f"run with m = {APRIORI_M}: it protects pairs only, much less than the others. *Disorders "
        "exact* counts the disorders whose patients can be counted from the release exactly. "
        "*stuck*: itemsets that fewer than k people match even when every disorder, and the rest, "
        "is merged whole.",
        rows=table(rows, COLUMNS),
        panels=error_panels(rows, "k", {"W1": "W1", "q2": "W2"}),
        claims=tuple(_claims(rows)),
        columns=2,
        remarks="Where itemsets are *stuck*, patients with a rare combination of disorders stand "
        "out even if nothing but the disorders is published: no method that keeps 20 disorders "
        "apart can meet the policy without suppression. There are fewer such combinations when "
        "the disorders are rare, but there are some. The paper's "
        "data, and its choice of disorders, are private. The other codes form one utility set, and "
        "protecting every part of every transaction merges most of it, which is what W1 and W2 "
        "measure. Pairs that few patients have are then overestimated by thousands.",
    )


def _hospitals(materials: Materials) -> dict[str, Hospital]:
    sample = samples.hospital(EMR_SIZE)
    generated = Hospital(sample.transactions(), sample.utility, oc.Hierarchy.of(sample.hierarchy))
    found = {"EMR shape": generated}
    if materials.data is not None:
        data = oc.read(materials.data / "diabetes130-patients.dat")
        hierarchy = oc.Hierarchy.read(materials.data / "diabetes130.hierarchy.csv")
        common, rare = disorders_of(materials.data / "diabetes130.ccs.tsv", data)
        found["diabetes130, common disorders"] = Hospital(data, common, hierarchy)
        found["diabetes130, rare disorders"] = Hospital(data, rare, hierarchy)
    return found


def disorders_of(path: Path, data: oc.Transactions) -> list[dict[str, tuple[str, ...]]]:
    """Return the 20 most and the 20 least common disorders.

    Of those with several codes, and with as many patients as the largest k: fewer could not be
    published as a disorder at all.
    """
    found = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            _, name, codes = line.split("\t")
            inside = tuple(code for code in codes.split() if code in data.vocabulary)
            if len(inside) > 1:
                found[name] = inside
    patients = {name: count_any(data, found[name]) for name in found}
    by_support = sorted(
        (name for name in found if patients[name] >= max(K)), key=lambda name: -patients[name]
    )
    chosen = by_support[:N_DISORDERS], by_support[-N_DISORDERS:]
    return [{name: found[name] for name in sorted(names)} for names in chosen]


def _frequent(hospital: Hospital) -> Workload:
    """W1: what at least a tenth of the patients have, without codes of the studied disorders."""
    data = hospital.data
    studied = {code for codes in hospital.disorders.values() for code in codes}
    least = -(-data.n_transactions // 10)
    itemsets = [
        [data.vocabulary[code] for code in codes]
        for codes in mine_frequent(data, least)
        if not studied & {data.vocabulary[code] for code in codes}
    ]
    return Workload.of(data, itemsets)


def _claims(rows: list[dict[str, Any]]) -> list[Claim]:
    claims = []
    for name in names_of(rows):
        coat = only(rows, data=name, algorithm="coat")
        rival = only(rows, data=name, algorithm="apriori")
        claims += [
            Claim(
                f"COAT satisfies all 20 utility constraints for every k ({name})",
                ", ".join(f"k = {row['k']}: {row['status']}, {row['exact']} exact" for row in coat),
                all(row["status"] == "met" and row["exact"] == N_DISORDERS for row in coat),
            ),
            Claim(
                f"Apriori satisfies them for no k ({name})",
                ", ".join(f"k = {row['k']}: {row['exact']} exact" for row in rival),
                all(row["exact"] < N_DISORDERS for row in rival),
            ),
            Claim(
                f"Queries of W1 are answered fairly accurately for every k (AvgRE below 1; {name})",
                ", ".join(f"k = {row['k']}: {row['avg_re_W1']:.2g}" for row in coat),
                all(row["avg_re_W1"] < 1 for row in coat),
            ),
            Claim(
                f"So are those of W2, particularly for k of 5 or lower (AvgRE below 1; {name})",
                ", ".join(
                    f"k = {row['k']}: {show_value(row['avg_re_q2'])} "
                    f"(as they occur: {show_value(row['avg_re_W2o'])})"
                    for row in coat
                ),
                all(row["avg_re_q2"] < 1 for row in coat if row["k"] <= 5),
            ),
        ]
    return claims
