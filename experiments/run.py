"""Run experiments, print their tables, draw their figures: ``python -m experiments.run --help``."""

from __future__ import annotations

import argparse
import platform
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.run import machine
from experiments.casestudy import case_study
from experiments.efficiency import efficiency
from experiments.findings import Claim, Experiment, Findings, markdown
from experiments.km import over_k, over_m
from experiments.materials import Materials
from experiments.policies import mixed_sizes, some_items
from experiments.utility import utility_policies
from overcoat._version import __version__
from overcoat.comparison.plots import draw, save

__all__ = ["EXPERIMENTS", "main"]

EXPERIMENTS = (
    Experiment("km-over-k", over_k),
    Experiment("km-over-m", over_m),
    Experiment("pp1-5", some_items),
    Experiment("pp6-9", mixed_sizes),
    Experiment("up1-4", utility_policies),
    Experiment("efficiency", efficiency),
    Experiment("case-study", case_study),
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the experiments that were named, or all."""
    names = [experiment.name for experiment in EXPERIMENTS]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(names)}")
    parser.add_argument(
        "--data", type=Path, help="folder with the real data; without it, small stand-ins"
    )
    parser.add_argument(
        "--policy-sizes",
        type=lambda text: tuple(map(int, text.split(","))),
        default=Materials.policy_sizes,
        metavar="N,N,…",
        help="how many itemsets the policies of pp6-9 have",
    )
    parser.add_argument("--out", type=Path, default=Path("experiments-out"))
    parser.add_argument("--page", type=Path, help="write a page with all of them here too")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(names))
    if unknown:
        parser.error(f"no experiment {', '.join(unknown)}; there is {', '.join(names)}")
    if options.data is not None and not options.data.is_dir():
        parser.error(f"{options.data} is not a folder")
    options.out.mkdir(parents=True, exist_ok=True)
    materials = Materials(options.data, options.out / "runs", options.policy_sizes, _tell)
    sections, claims = [], []
    for experiment in EXPERIMENTS:
        if options.names and experiment.name not in options.names:
            continue
        found = experiment.run(materials)
        svg, _ = save(draw(found.panels, columns=found.columns), options.out, experiment.name)
        if options.page is not None:
            figures = options.page.with_suffix("")
            figures.mkdir(parents=True, exist_ok=True)
            if figures.resolve() != svg.parent.resolve():
                shutil.copy(svg, figures)
        sections.append(section(experiment.name, found, svg.name))
        claims += [{"experiment": experiment.name, **_shown(claim)} for claim in found.claims]
        if options.data is None:
            sys.stdout.write(
                "On small generated stand-ins, which say nothing of the paper's data:\n"
            )
        sys.stdout.write(sections[-1] + "\n")
        sys.stdout.flush()
    if options.page is not None:
        options.page.write_text(page(claims, sections, options.page.stem), encoding="utf-8")


def section(name: str, found: Findings, figure: str) -> str:
    """Return an experiment as a section of the page."""
    parts = [
        f"## {found.title}",
        f"`python -m experiments.run {name}`. {found.setup}",
        markdown([_shown(claim) for claim in found.claims]),
        f"![{found.title}]({figure})",
        found.remarks,
        f"<details><summary>All numbers</summary>\n\n{markdown(found.rows)}\n\n</details>",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _shown(claim: Claim) -> dict[str, str]:
    return {"the paper": claim.paper, "measured": claim.measured, "": f"**{claim.verdict}**"}


def page(claims: Sequence[Mapping[str, str]], sections: Sequence[str], figures: str) -> str:
    """Return the page with all sections; `figures` is the folder of the figures beside it."""
    head = f"""\
# The paper's experiments

What the paper claims, what we measured, and whether it holds. Overcoat {__version__}, Python
{platform.python_version()}, {machine()}. `make experiments DATA=folder` runs them all and writes
this page; the folder holds the public data sets (BMS-WebView-1 and -2 of the KDD Cup 2000, and the
diagnoses of the UCI data set *Diabetes 130-US hospitals*). Hierarchies of BMS1 and BMS2 are
balanced with fan-out 5 over the items in numeric order: the paper's own are not public, and AvgRE
and UL depend on them. *suppressed %* is of the items, *seconds* those of finding the mapping, once.
Figures show UL in bits above the least of their runs: with one bit more, UL is twice as large.
`pcta` and `greedy` are our additions: the paper compares COAT with Apriori only. *beyond s*, hollow
in the figures, is what could not be published: it would take more suppression than s allows.
"""
    shown = [text.replace("](", f"]({figures}/") for text in sections]
    return "\n".join([head, f"## In short\n\n{markdown(claims)}\n", *shown])


def _tell(stage: str, steps: int) -> None:
    if not steps:
        sys.stderr.write(f"{stage}\n")


if __name__ == "__main__":
    main()
