"""The demo: generated hospital data, published, before and after."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from overcoat.context import Context
from overcoat.data import samples
from overcoat.data.diagnoses import diagnoses
from overcoat.data.io import read
from overcoat.data.transactions import Transactions
from overcoat.evidence import External, Internal, Published
from overcoat.mapping import Mapping
from overcoat.policy.config import read_policy
from overcoat.release.public import anonymize
from overcoat.release.result import Result
from overcoat.reports.editions import external_page, internal_page
from overcoat.reports.json import result_to_json
from overcoat.reports.text import summarize
from overcoat.verification import verify

__all__ = ["run_demo"]

_PEOPLE = 3


def run_demo(folder: str | Path, context: Context | None = None) -> tuple[str, dict[str, Any]]:
    """Write the sample files, anonymize them, and tell the story as text and as JSON."""
    sample = samples.hospital()
    files = sample.write(folder)
    released, mapping = Path(folder, "released.csv"), Path(folder, "mapping.json")
    report, external = Path(folder, "report.html"), Path(folder, "external.html")
    data = read(files["data"], id="patient", item="code")
    policy = read_policy(files["policy"])
    result = anonymize(data, policy=policy, context=context)
    names = {one.code: one.description for one in diagnoses()}
    codes = Path(folder, "codes.csv")
    rows = ["code,description", *(f"{code},{_quoted(name)}" for code, name in names.items())]
    result.write(
        released,
        mapping=mapping,
        context=context,
        beside={
            codes: lambda: "\n".join(rows) + "\n",
            report: lambda: internal_page(Internal.of(result, names)),
            external: lambda: external_page(External(Published.of(result, names))),
        },
    )

    written = {
        "released": released,
        "mapping": mapping,
        "report": report,
        "external_report": external,
    }
    files_told: dict[str, Any] = {name: str(path) for name, path in written.items()}
    untouched = Mapping.of(data.vocabulary, [[item] for item in data.vocabulary])
    before = verify(data, data, untouched, result.policy)
    risky = before.n_violations.get("privacy", 0)
    k = result.policy.k
    parts = [
        f"""\
A hospital wants to share the diagnoses of {data.n_transactions:,} patients. Without names, is that
safe? An attacker who knows two diagnoses of a patient may look for the row that has both.

BEFORE  {risky:,} diagnoses and pairs of diagnoses match fewer than {k} patients.
AFTER   none does: each matches at least {result.verdict.largest_k} patients, or nobody.

Some patients, before and after (a group such as (401.9|401.1) means: one or more of these):
{_people(result)}

Counting patients with a disorder gives the same answer before and after, because codes were only
merged within a disorder:
{_disorders(result)}

{summarize(result, **files_told)}

{report} is the report for the house: open it in a browser. {external}
may be passed on, to a board, too: it was made of the released file, the mapping and the policy.

The same by hand:
  overcoat anonymize {files["data"]} --id patient --item code \\
      --policy {files["policy"]} -o {released} --mapping {mapping} \\
      --report {report} --external-report {external} --describe {codes}
  overcoat verify {files["data"]} {released} --mapping {mapping} \\
      --id patient --item code --policy {files["policy"]}"""
    ]
    content = result_to_json(
        result,
        risky_before=risky,
        data=str(files["data"]),
        policy=str(files["policy"]),
        **files_told,
    )
    return "\n".join(parts), content


def _quoted(text: str) -> str:
    return f'"{text}"' if "," in text else text


def _people(result: Result) -> str:
    """Show rows that hold a rare code beside common ones: these are the easiest to find."""
    data = result.data
    shown = []
    for row in _interesting(data)[:_PEOPLE]:
        items = [data.vocabulary[code] for code in data.row(row).tolist()]
        labels = dict.fromkeys(label for item in items if (label := result.mapping[item]))
        shown.append(f"  {' '.join(items)}\n    → {' '.join(labels)}")
    return "\n".join(shown)


def _interesting(data: Transactions) -> list[int]:
    """Return rows of 3 to 5 codes, the rarest code first among those with the most common ones."""
    rows = np.flatnonzero((data.lengths >= 3) & (data.lengths <= 5)).tolist()
    supports = [np.sort(data.supports[data.row(row)]) for row in rows]
    order = sorted(range(len(rows)), key=lambda i: (supports[i][0] / supports[i][1], rows[i]))
    return [rows[i] for i in order]


def _disorders(result: Result) -> str:
    width = max((len(count.name) for count in result.counts), default=0)
    return "\n".join(
        f"  {count.name:<{width}}  {count.before:>5,} → {count.after:>5,}"
        for count in result.counts
    )
