"""One field, one workload: every method and policy measured by the same questions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from overcoat import html
from overcoat.advice.price import Prices
from overcoat.checks import check_choice
from overcoat.comparison.runs import Run, run_all
from overcoat.comparison.settings import Setting
from overcoat.context import Context, Stage
from overcoat.data.io import Staging, make_folder
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, PolicyError
from overcoat.evaluation import Measure, check_measures, list_of, measure_release
from overcoat.least.bounds import Bounds, find_bounds
from overcoat.measures.queries import Workload, draw_workloads
from overcoat.policy.policy import Policy
from overcoat.release.given import take_data
from overcoat.reports.price import price_tables
from overcoat.words import count_of

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

__all__ = ["Comparison", "compare"]

Among = Literal["all", "generalized"]

_MEASURES = (
    "n_groups",
    "largest_group",
    "generalized_items_percent",
    "generalized_occurrences_percent",
    "suppressed_items_percent",
    "suppressed_occurrences_percent",
    "n_exact_counts",
    "log2_ul",
    "ncp",
    "flat_ncp",
    "seconds",
)


@dataclass(frozen=True, eq=False)
class Comparison:
    """What each run of a field came to, all by the same workloads.

    Attributes
    ----------
    data : what all runs worked on
    axes : the names of what was varied
    runs : every run, with its mapping
    rows : one for each run: the values of its setting, its status, its measures
    workloads : the queries all of them answered, by name
    measures : measures of the user's own, which stand in the rows by their names
    bounds : whether the rows have what any mapping without suppression must lose
    """

    data: Transactions
    axes: tuple[str, ...]
    runs: tuple[Run, ...]
    rows: tuple[dict[str, Any], ...]
    workloads: Mapping[str, Workload]
    measures: tuple[Measure, ...] = ()
    bounds: bool = False

    @cached_property
    def frame(self) -> pl.DataFrame:
        """The rows as a polars frame."""
        import polars as pl

        return pl.DataFrame(list(self.rows), infer_schema_length=None)

    def plot(self, figure: Literal["error", "median", "loss"] = "error") -> Figure:
        """Draw one of the figures that `write` writes; needs matplotlib.

        Parameters
        ----------
        figure : ``error`` (AvgRE of the queries), ``median`` (the median of their errors) or
            ``loss`` (exact counts, suppression, NCP and UL)

        >>> from overcoat.comparison.settings import vary
        >>> from overcoat.policy.policy import Policy
        >>> from overcoat.policy.privacy import AllItemsets
        >>> rows = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}]
        >>> field = compare(rows, vary(Policy(2, (AllItemsets(2),)), k=[2, 3]), q=[1])
        >>> [axes.get_title(loc="left") for axes in field.plot("error").axes]
        ['AvgRE']
        """
        from overcoat.comparison.figures import sheet_of
        from overcoat.comparison.plots import draw

        sheet = sheet_of(self, figure)
        return draw(sheet.panels, columns=sheet.columns)

    def __repr__(self) -> str:
        axes = f" by {', '.join(self.axes)}" if self.axes else ""
        return f"Comparison({self._caption}{axes})"

    def _repr_html_(self) -> str:
        from overcoat.comparison.text import essentials

        header, *rows = essentials(self)
        return html.card("Comparison", html.table(rows, header, self._caption))

    @property
    def _caption(self) -> str:
        data = self.data
        rows = count_of(len(self.rows), "run")
        people = count_of(data.n_transactions, "transaction")
        return f"{rows} on {people}, {count_of(data.n_items, 'item')}"

    def write(
        self,
        folder: str | Path,
        *,
        title: str = "Comparison",
        prices: Mapping[str, Prices] | None = None,
        report: Callable[[list[Path]], None] | None = None,
    ) -> list[Path]:
        """Write all of it, or nothing; return the paths.

        ``results.csv`` and ``results.parquet``, the figures (if matplotlib is installed) and
        ``index.html`` with everything. `prices` are what `price` says of policies, by their names:
        they go to ``prices.csv`` and the page. Figures of an earlier comparison are removed.
        `report` is called with the paths when all is ready: should it fail, nothing is written.
        """
        from overcoat.comparison.figures import FILES
        from overcoat.comparison.page import stage_page

        folder = Path(folder)
        make_folder(folder)
        targets = [folder / f"results.{kind}" for kind in ("csv", "parquet")]
        with Staging() as staging:
            self.frame.write_csv(staging.stage(targets[0]))
            self.frame.write_parquet(staging.stage(targets[1]))
            if prices:
                targets.append(folder / "prices.csv")
                text = price_tables(prices)
                staging.stage(targets[-1]).write_text(text, encoding="utf-8", newline="\n")
            targets += stage_page(self, staging, folder, title, prices or {})
            if report is not None:
                report(targets)
            staging.commit()
        earlier = {
            *FILES,
            "prices.csv",
            "time.svg",
            "time.png",
        }  # the last two of versions before 0.3
        for stale in {folder / name for name in earlier}.difference(targets):
            stale.unlink(missing_ok=True)
        return targets


def compare(
    data: Any,
    settings: Iterable[Setting],
    *,
    q: Iterable[int] | int | None = None,
    n_queries: int = 1000,
    seed: int = 0,
    among: Among = "all",
    by: Literal["items", "occurrences"] = "items",
    workloads: Mapping[str, Workload] | None = None,
    measures: Iterable[Measure] = (),
    bounds: bool = False,
    folder: str | Path | None = None,
    context: Context | None = None,
    **options: Any,
) -> Comparison:
    """Run every setting and measure all of them by the same workloads.

    Parameters
    ----------
    data : `Transactions`, or anything `read` takes, with its options
    settings : what to run; see `vary`
    q : sizes of queries, a workload is drawn for each; by default 1 to 3, if somebody has so many
    n_queries, seed, by : which queries are drawn; see `draw_workload`
    among : draw the queries' items from all items, or from those that at least one of the runs
        generalizes
    workloads : further workloads, by name
    measures : measures of your own
    bounds : say how many times the least possible flat NCP each run has, at most; see
        `overcoat.bounds`
    folder : keep each run here as soon as it is done; what is there already is not run again
    context : how to run: progress, cancelling, threads, memory

    >>> from overcoat.comparison.settings import vary
    >>> from overcoat.policy.policy import Policy
    >>> from overcoat.policy.privacy import AllItemsets
    >>> rows = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}]
    >>> field = compare(rows, vary(Policy(2, AllItemsets(2)), algorithm=["coat", "pcta"]), q=[1])
    >>> [(row["algorithm"], row["status"], row["n_groups"]) for row in field.rows]
    [('coat', 'met', 1), ('pcta', 'met', 1)]
    """
    if isinstance(settings, Policy) or not isinstance(settings, Iterable):
        raise PolicyError("settings are a list of Setting; vary(policy) makes one")
    if not isinstance(workloads, Mapping | None):
        raise PolicyError(f"workloads are a mapping from names to Workloads, not {workloads!r}")
    settings, workloads, measures = list(settings), dict(workloads or {}), list_of(measures)
    context = Context.of(context)
    data = take_data(data, options, context)
    _check_questions(data, settings, among, workloads)
    sizes = None if q is None else [q] if isinstance(q, int) else list(q)

    def draw(items: Iterable[str] | None) -> dict[str, Workload]:
        stage = context.start("queries")
        found = draw_workloads(data, sizes, n_queries, seed, items, by, stage=stage)
        return {f"q{len(next(iter(workload)))}": workload for workload in found}

    drawn = draw(None)  # so that what cannot be asked is told before the work
    names = {*drawn, *workloads}
    errors = {f"{kind}_re_{name}" for name in names for kind in ("avg", "median")}
    of_settings = {name for setting in settings for name in setting.values}
    taken = {"status", "note", "k", "s", "protected", *_MEASURES, *errors, *of_settings}
    check_measures(measures, taken)
    if both := sorted(drawn.keys() & workloads.keys()):
        raise PolicyError(f"a workload is drawn under the name {', '.join(both)}; take another")
    folder = None if folder is None else Path(folder)
    runs = run_all(data, settings, folder=folder, context=context)
    if not any(run.mapping for run in runs):
        reasons = dict.fromkeys(run.refused for run in runs)
        raise DataError("no setting could be run: " + "; ".join(reasons or ["there is none"]))
    if among == "generalized":
        drawn = draw({x for run in runs if run.mapping for x in run.mapping.generalized})
    drawn |= workloads
    least = _least(data, runs, context) if bounds else None
    rows = []
    for number, run in enumerate(runs):
        stage = context.start(f"measuring {run.setting.title}")
        row = {**_setting_values(run), **_measure(data, run, drawn, measures, stage)}
        if least is not None:
            row |= _bound_values(row, least[number])
        rows.append(row)
    axes = tuple(runs[0].setting.values)
    return Comparison(data, axes, tuple(runs), tuple(rows), drawn, measures, bounds)


def _least(data: Transactions, runs: list[Run], context: Context) -> list[Bounds]:
    """Return the bounds of each run; those of equal policies are computed once."""
    known: dict[Any, Bounds] = {}
    found = []
    for run in runs:
        policy = run.policy
        key = id(policy) if policy.stated.problems else (policy.stated, policy.k)
        if key not in known:
            with context.stage(f"bounds of {run.setting.title}") as stage:
                known[key] = find_bounds(data, policy, stage=stage)
        found.append(known[key])
    return found


def _bound_values(row: dict[str, Any], least: Bounds) -> dict[str, Any]:
    flat = row["flat_ncp"]
    times = None if flat is None else least.times_flat_ncp(flat)
    return {
        "least_flat_ncp": None if least.flat_ncp is None else float(least.flat_ncp),
        "times_least_flat_ncp": times if times is not None and math.isfinite(times) else None,
        "most_untouched": least.most_untouched,
    }


def _setting_values(run: Run) -> dict[str, Any]:
    """Return the values of a setting, and k, s and what is protected even where not varied."""
    policy = run.policy
    more = {
        "k": policy.k,
        "s": policy.max_suppressed,
        "protected": " and ".join(family.title for family in policy.families),
    }
    return {
        **run.setting.values,
        **{name: more[name] for name in more if name not in run.setting.values},
    }


def _check_questions(
    data: Transactions,
    settings: list[Setting],
    among: str,
    workloads: dict[str, Workload],
) -> None:
    """Refuse what would fail only after the work."""
    check_choice("among", among, get_args(Among))
    for setting in settings:
        if not isinstance(setting, Setting):
            raise PolicyError(f"{setting!r} is not a Setting; vary(policy) makes settings")
    names = {tuple(setting.values) for setting in settings}
    if len(names) > 1:
        raise PolicyError("all settings of a comparison must have values of the same names")
    if taken := sorted({name for some in names for name in some} & {"status", "note", *_MEASURES}):
        raise PolicyError(f"a value cannot be called {', '.join(taken)}: a measure is")
    titles = [setting.title for setting in settings]
    if twice := sorted({title for title in titles if titles.count(title) > 1}):
        raise PolicyError(f"two settings could not be told apart: {twice[0]}")
    for name, workload in workloads.items():
        if not isinstance(workload, Workload):
            raise PolicyError(f"the workload {name} is not a Workload but {workload!r}")
        if workload.vocabulary != data.vocabulary:
            raise PolicyError(f"the workload {name} was made for other data")


def _measure(
    data: Transactions,
    run: Run,
    workloads: Mapping[str, Workload],
    own: tuple[Measure, ...],
    stage: Stage,
) -> dict[str, Any]:
    """Return the status and the measures of a run; the same names for every run."""
    errors = [f"{kind}_re_{name}" for name in workloads for kind in ("avg", "median")]
    names = [*_MEASURES[:-1], *errors, *(measure.name for measure in own), _MEASURES[-1]]
    measures: dict[str, Any] = dict.fromkeys(names)
    if run.mapping is None:
        return {"status": "refused", **measures, "note": run.refused}
    released = run.mapping.apply(data, stage=stage)
    asked = list(workloads.values())
    found = measure_release(
        *(data, released, run.mapping, run.policy, asked), measures=own, stage=stage
    )
    measures |= found.own
    items, occurrences = found.changes.items, found.changes.occurrences
    loss = found.loss.log2_ul
    measures |= {
        "n_groups": len(run.mapping.merged),
        "largest_group": found.changes.largest_group,
        "generalized_items_percent": items.percent(items.generalized),
        "generalized_occurrences_percent": occurrences.percent(occurrences.generalized),
        "suppressed_items_percent": items.percent(items.suppressed),
        "suppressed_occurrences_percent": occurrences.percent(occurrences.suppressed),
        "log2_ul": loss if math.isfinite(loss) else None,
        "ncp": found.ncp,
        "flat_ncp": found.flat_ncp,
        "seconds": run.seconds,
    }
    for name, answers in zip(workloads, found.answers, strict=True):
        measures[f"avg_re_{name}"] = answers.avg_re
        measures[f"median_re_{name}"] = answers.median_re
    if run.policy.utility.named:
        measures["n_exact_counts"] = sum(count.exact for count in found.counts)
    if run.met:
        return {"status": "met", **measures, "note": ""}
    gone, s = measures["suppressed_items_percent"], run.policy.max_suppressed
    note = f"{gone:.3g} % of the items would have to go, s allows {s:g} %"
    return {"status": "beyond s", **measures, "note": note}
