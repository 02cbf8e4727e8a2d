"""Comparisons: every number is the one the measures give, and nothing is run twice."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import overcoat as oc
from overcoat.comparison import runs as runs_module
from overcoat.comparison.text import comparison_lines
from overcoat.context import Context
from overcoat.data import samples
from overcoat.measures.queries import Workload
from overcoat.release.walk import find_release

DATA = samples.baskets(300, 25, mean=4)
BASE = oc.Policy(3, (oc.AllItemsets(2),), hierarchy=oc.Hierarchy.balanced(DATA.vocabulary, 3))


LABELS = DATA.vocabulary.labels
PLAIN: dict[str, Any] = {
    "k": 3,
    "privacy": (oc.AllItemsets(2),),
    "hierarchy": oc.Hierarchy.balanced(DATA.vocabulary, 3),
}
NEAR = oc.Distances({(LABELS[0], LABELS[1]): 0.1})
HIDDEN = {"method": "greedy", "max_suppressed": 100}
# What a run is known by: a policy, and another one that must not get its answer.
FIRST: dict[str, dict[str, Any]] = {
    "k": PLAIN,
    "itemsets": {**PLAIN, "privacy": (oc.Itemsets([LABELS[:2]]),)},
    "distances": {**PLAIN, "weights": NEAR},
    "hierarchy beside distances": {**PLAIN, "weights": NEAR},
    "private": {**PLAIN, **HIDDEN, "privacy": (oc.Coherence(2, LABELS[:3], 50),)},
    "h": {**PLAIN, **HIDDEN, "privacy": (oc.Coherence(2, LABELS[:3], 50),)},
}
OTHERS: dict[str, dict[str, Any]] = {
    "data": {"data": samples.baskets(300, 25, mean=4, seed=2)},
    "k": {"k": 4},
    "s": {"max_suppressed": 50},
    "utility": {"utility": oc.Utility([LABELS[:5]])},
    "linkable": {"privacy": (oc.AllItemsets(2, LABELS[:9]),)},
    "itemsets": {"privacy": (oc.Itemsets([LABELS[1:3]]),)},
    "hierarchy": {"hierarchy": oc.Hierarchy.balanced(DATA.vocabulary, 2)},
    "distances": {"weights": oc.Distances({(LABELS[0], LABELS[1]): 0.2})},
    "hierarchy beside distances": {"hierarchy": oc.Hierarchy.balanced(DATA.vocabulary, 2)},
    "private": {"privacy": (oc.Coherence(2, LABELS[:4], 50),)},
    "h": {"privacy": (oc.Coherence(2, LABELS[:3], 60),)},
}


def count_runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    seen: list[str] = []
    real = find_release

    def counted(data: Any, policy: Any, method: oc.Method, **options: Any) -> Any:
        seen.append(method.name)
        return real(data, policy, method, **options)

    monkeypatch.setattr(runs_module, "find_release", counted)
    return seen


def test_rows_are_what_the_measures_say() -> None:
    field = oc.compare(DATA, oc.vary(BASE, algorithm=["coat", "pcta"], k=[2, 6]), q=[1, 2])
    assert field.axes == ("algorithm", "k")
    assert [(row["algorithm"], row["k"]) for row in field.rows] == [
        ("coat", 2),
        ("coat", 6),
        ("pcta", 2),
        ("pcta", 6),
    ]
    for row, run in zip(field.rows, field.runs, strict=True):
        result = oc.anonymize(DATA, policy=run.setting.policy, method=run.setting.method)
        assert result.mapping == run.mapping
        found = oc.evaluate(
            DATA,
            result.released,
            result.mapping,
            policy=run.setting.policy,
            workloads=field.workloads.values(),
        )
        items, occurrences = found.changes.items, found.changes.occurrences
        expected = {
            **run.setting.values,
            "s": 0.5,
            "protected": "all 2-itemsets",
            "status": "met",
            "n_groups": len(result.mapping.merged),
            "largest_group": found.changes.largest_group,
            "generalized_items_percent": items.percent(items.generalized),
            "generalized_occurrences_percent": occurrences.percent(occurrences.generalized),
            "suppressed_items_percent": items.percent(items.suppressed),
            "suppressed_occurrences_percent": occurrences.percent(occurrences.suppressed),
            "n_exact_counts": None,
            "log2_ul": found.loss.log2_ul,
            "ncp": found.ncp,
            "flat_ncp": found.flat_ncp,
            "note": "",
        }
        for name, answers in zip(field.workloads, found.answers, strict=True):
            expected |= {f"avg_re_{name}": answers.avg_re, f"median_re_{name}": answers.median_re}
        assert {name: value for name, value in row.items() if name != "seconds"} == expected


def test_what_is_done_is_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = count_runs(monkeypatch)
    settings = oc.vary(BASE, algorithm=["coat", "pcta"], k=[2, 4, 6])
    started: list[str] = []

    def stop_at_the_fourth(stage: str, done: int, of: int) -> None:
        if stage not in started and stage not in ("policy", "queries"):
            started.append(stage)
        if len(started) == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        oc.compare(DATA, settings, folder=tmp_path, context=Context(progress=stop_at_the_fourth))
    assert len(seen) == 3
    resumed = oc.compare(DATA, settings, folder=tmp_path)
    assert len(seen) == 6
    again = oc.compare(DATA, settings, folder=tmp_path)
    assert len(seen) == 6
    fresh = oc.compare(DATA, settings)
    assert len(seen) == 12
    for one in (resumed, again):
        assert without_seconds(one) == without_seconds(fresh)
    assert [row["seconds"] for row in again.rows] == [row["seconds"] for row in resumed.rows]


def without_seconds(field: oc.Comparison) -> list[dict[str, Any]]:
    return [{name: row[name] for name in row if name != "seconds"} for row in field.rows]


@pytest.mark.parametrize("change", OTHERS)
def test_a_folder_never_answers_for_something_else(
    change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def field(data: Any = DATA, **parts: Any) -> oc.Comparison:
        made = {**(FIRST.get(change) or FIRST["k"]), **parts}
        method = made.pop("method", "coat")
        settings = oc.vary(oc.Policy(**made), algorithm=method)
        return oc.compare(data, settings, q=[1], folder=tmp_path)

    field()
    seen = count_runs(monkeypatch)
    field()
    assert not seen
    field(**OTHERS[change])
    assert len(seen) == 1


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[:-9],
        lambda text: "[]",
        lambda text: text.replace('"met": true', '"met": false'),
        lambda text: text.replace("[0, ", "[1, "),
        lambda text: text.replace('"seconds": 0', '"seconds": 1'),
    ],
)
def test_damaged_runs_are_run_again(
    damage: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    oc.compare(DATA, oc.vary(BASE), q=[1], folder=tmp_path)
    (stored,) = tmp_path.iterdir()
    whole = stored.read_text()
    stored.write_text(damage(whole))
    assert stored.read_text() != whole
    seen = count_runs(monkeypatch)
    oc.compare(DATA, oc.vary(BASE), q=[1], folder=tmp_path)
    assert len(seen) == 1


def test_a_run_under_another_name_is_not_taken(tmp_path: Path) -> None:
    oc.compare(DATA, oc.vary(BASE, k=[2]), q=[1], folder=tmp_path)
    (two,) = tmp_path.iterdir()
    oc.compare(DATA, oc.vary(BASE, k=[9]), q=[1], folder=tmp_path)
    (nine,) = set(tmp_path.iterdir()) - {two}
    nine.write_bytes(two.read_bytes())
    stored, fresh = (
        oc.compare(DATA, oc.vary(BASE, k=[9]), q=[1], folder=folder) for folder in (tmp_path, None)
    )
    assert without_seconds(stored) == without_seconds(fresh)


def test_changed_code_is_another_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = count_runs(monkeypatch)
    oc.compare(DATA, oc.vary(BASE), q=[1], folder=tmp_path)
    monkeypatch.setattr(runs_module, "_code_digest", lambda: "another")
    oc.compare(DATA, oc.vary(BASE), q=[1], folder=tmp_path)
    assert len(seen) == 2


def test_everything_wrong_is_told_before_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = count_runs(monkeypatch)
    with pytest.raises(oc.PolicyError) as caught:
        oc.compare(DATA, oc.vary(BASE, k=[2, 0], s=[1, 200]))
    assert len(caught.value.problems) == 2
    with pytest.raises(oc.PolicyError):
        oc.compare(DATA, oc.vary(BASE), n_queries=0, among="generalized")
    own = Workload.of(oc.read([{"x"}]), [["x"]])
    with pytest.raises(oc.PolicyError, match="made for other data"):
        oc.compare(DATA, oc.vary(BASE), workloads={"own": own})
    assert not seen


def test_weight_functions_are_always_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = count_runs(monkeypatch)
    policy = oc.Policy(3, (oc.AllItemsets(2),), weights=lambda group: 1 / len(group))
    for _ in range(2):
        oc.compare(DATA, oc.vary(policy), q=[1], folder=tmp_path)
    assert len(seen) == 2
    assert not list(tmp_path.iterdir())


def test_policies_with_the_same_outcome_are_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Penalties decide no merge; the loss is measured with each policy's own."""
    rows = [{"a", "b"}, {"a"}, {"a"}, {"b"}, {"b"}, {"c"}]
    seen = count_runs(monkeypatch)
    policies = {
        name: oc.Policy(
            2,
            (oc.AllItemsets(1),),
            oc.Utility([["a"], ["b"], ["c"]]),
            max_suppressed=100,
            penalties={"c": penalty},
        )
        for name, penalty in (("one", 0.25), ("other", 0.5))
    }
    field = oc.compare(rows, oc.vary(policies), q=[1])
    assert len(seen) == 1
    assert [row["log2_ul"] for row in field.rows] == [-2, -1]


def test_beyond_s_is_told(tmp_path: Path) -> None:
    rows = [{"a", "b"}, {"a"}, {"a"}, {"b"}, {"b"}, {"c"}]
    policy = oc.Policy(2, (oc.AllItemsets(1),), oc.Utility([["a"], ["b"], ["c"]]))
    for _ in range(2):  # found, then read from the folder
        field = oc.compare(rows, oc.vary(policy, s=[0.5, 50]), q=[1], folder=tmp_path)
        assert [row["status"] for row in field.rows] == ["beyond s", "met"]
        assert [row["suppressed_items_percent"] for row in field.rows] == [100 / 3] * 2
        assert field.rows[0]["note"] == "33.3 % of the items would have to go, s allows 0.5 %"


def test_bad_settings() -> None:
    with pytest.raises(oc.PolicyError, match="cannot sweep over q; there is algorithm, k, m, h, s"):
        oc.vary(BASE, q=[1])
    with pytest.raises(oc.PolicyError, match="no value of k to try"):
        oc.vary(BASE, k=[])
    with pytest.raises(oc.PolicyError, match="m can only be varied"):
        oc.vary(oc.Policy(2, (oc.Pgen(),)), m=[1])
    with pytest.raises(oc.PolicyError, match="no algorithm 'caot'"):
        oc.compare(DATA, oc.vary(BASE, algorithm=["coat", "caot"]))
    with pytest.raises(oc.PolicyError, match="k must be a whole number"):
        oc.compare(DATA, oc.vary(BASE, k=[0]))
    with pytest.raises(oc.DataError, match="there is none"):
        oc.compare(DATA, [])
    with pytest.raises(oc.PolicyError, match="among must be all or generalized, not 'some'"):
        oc.compare(DATA, oc.vary(BASE), among="some")  # type: ignore[arg-type]
    with pytest.raises(oc.PolicyError, match="values of the same names"):
        oc.compare(DATA, [*oc.vary(BASE), *oc.vary(BASE, k=[2])])
    own = oc.draw_workload(DATA, 1, 5)
    with pytest.raises(oc.PolicyError, match="drawn under the name q1"):
        oc.compare(DATA, oc.vary(BASE), q=[1], workloads={"q1": own})


def test_m_keeps_the_linkable_items() -> None:
    some = DATA.vocabulary.labels[:4]
    (setting,) = oc.vary(oc.Policy(2, (oc.AllItemsets(2, some),)), m=[3])
    (family,) = setting.policy.bind(DATA).families
    assert (family.m, int(family.linkable.sum())) == (3, 4)  # type: ignore[union-attr]


def test_queries_among_generalized_items() -> None:
    field = oc.compare(DATA, oc.vary(BASE, k=[2, 6]), q=[1, 2], among="generalized")
    generalized = {
        item
        for run in field.runs
        if run.mapping is not None
        for group in run.mapping.merged
        for item in group
    }
    assert 0 < len(generalized) < DATA.n_items
    for workload in field.workloads.values():
        assert {item for query in workload for item in query} <= generalized


def test_exact_counts_of_named_sets() -> None:
    labels = DATA.vocabulary.labels
    utility = oc.Utility({"one": labels[:10], "other": labels[10:]})
    field = oc.compare(DATA, oc.vary(oc.Policy(3, (oc.AllItemsets(2),), utility)), q=[1])
    (run,) = field.runs
    assert run.mapping is not None
    result = oc.anonymize(DATA, policy=run.setting.policy, partial=True)
    assert field.rows[0]["n_exact_counts"] == sum(count.exact for count in result.counts)
    assert field.rows[0]["median_re_q1"] <= field.rows[0]["avg_re_q1"] * 2


def test_text_lines_up() -> None:
    field = oc.compare(DATA, oc.vary(BASE, k=[2, 4]), q=[1])
    data, policy, queries, empty, head, first, second, *_ = comparison_lines(field).splitlines()
    assert data == "data      300 transactions, 25 items"
    assert policy == "policy    all 2-itemsets, s = 0.5 %, weights from a hierarchy"
    assert queries == "queries   q1: 1,000, 1 item, drawn by items"
    assert not empty
    assert head.split()[:2] == ["algorithm", "k"]
    assert len(head) == len(first) == len(second)
    assert first.split()[:3] == ["coat", "2", "met"]


def test_stored_runs_name_their_setting(tmp_path: Path) -> None:
    oc.compare(DATA, oc.vary(BASE, k=[2]), q=[1], folder=tmp_path)
    (stored,) = tmp_path.iterdir()
    assert json.loads(stored.read_text())["setting"] == {"algorithm": "coat", "k": "2"}


# -- methods and measures from outside ----------------------------------------------------------


@dataclass(frozen=True)
class Whole(oc.Method):
    """Merges every block whole."""

    spare: int = 0
    name = "whole"

    def find(self, data: oc.Transactions, policy: Any, stage: Any = None) -> oc.Outcome:
        return oc.Outcome(oc.Partition(policy.utility.block_of))


class Labels(oc.Measure):
    name = "n_labels"
    title = "labels that occur"
    better = "highest"

    def of(
        self, data: oc.Transactions, released: oc.Transactions, mapping: oc.Mapping
    ) -> float | None:
        return released.n_items


def test_a_method_and_a_measure_from_outside_work_everywhere(tmp_path: Path) -> None:
    policy = oc.Policy(3, oc.AllItemsets(2))
    result = oc.anonymize(DATA, policy=policy, method=Whole())
    assert [len(group) for group in result.mapping.members] == [DATA.n_items]
    result.write(tmp_path / "released.dat", mapping=tmp_path / "map.json")
    settings = oc.vary(policy, algorithm=["coat", Whole(), Whole(spare=1)], k=[2, 4])
    field = oc.compare(DATA, settings, q=[1], measures=[Labels()], folder=tmp_path / "runs")
    assert [row["algorithm"] for row in field.rows[::2]] == ["coat", "whole", "whole(spare=1)"]
    assert [row["n_labels"] for row in field.rows[2:]] == [1, 1, 1, 1]
    assert len(list((tmp_path / "runs").iterdir())) == 2  # only what no code of the user's decides
    titles = [axes.get_title(loc="left") for axes in field.plot("loss").axes]
    assert "labels that occur" in " ".join(titles)
    page = field.write(tmp_path / "out")[-1].read_text(encoding="utf-8")
    assert "n_labels" in page
    assert "whole(spare=1)" in page
    assert oc.evaluate(result, measures=[Labels()]).own == {"n_labels": 1.0}


def test_a_method_that_does_not_meet_the_policy_publishes_nothing() -> None:
    @dataclass(frozen=True)
    class Nothing(oc.Method):
        name = "nothing"

        def find(self, data: oc.Transactions, policy: Any, stage: Any = None) -> oc.Outcome:
            return oc.Outcome(oc.Partition.untouched(data.n_items))

    with pytest.raises(oc.VerificationError):
        oc.anonymize(DATA, 3, oc.AllItemsets(2), method=Nothing())


@pytest.mark.parametrize(
    ("measures", "words"),
    [([Labels(), Labels()], "needs a name of its own"), ([type("M", (oc.Measure,), {})()], "name")],
)
def test_measures_need_names_of_their_own(measures: Any, words: str) -> None:
    with pytest.raises(oc.PolicyError, match=words):
        oc.compare(DATA, oc.vary(BASE), measures=measures)
    clash = type("Clash", (oc.Measure,), {"name": "ncp"})()
    with pytest.raises(oc.PolicyError, match="not 'ncp'"):
        oc.compare(DATA, oc.vary(BASE), measures=[clash])


def test_a_run_is_not_called_what_it_is_not() -> None:
    with pytest.raises(oc.PolicyError, match="called apriori has the method coat"):
        oc.Setting({"algorithm": "apriori"}, BASE)


def test_bounds_of_each_policy() -> None:
    field = oc.compare(
        DATA, oc.vary(BASE, algorithm=["coat", "pcta"], k=[2, 6]), q=[1], bounds=True
    )
    for row, run in zip(field.rows, field.runs, strict=True):
        least = oc.bounds(DATA, run.setting.policy)
        assert least.flat_ncp is not None
        assert row["least_flat_ncp"] == float(least.flat_ncp)
        assert row["times_least_flat_ncp"] == least.times_flat_ncp(row["flat_ncp"])
        assert row["times_least_flat_ncp"] is None or row["times_least_flat_ncp"] >= 1
    assert "× least" in comparison_lines(field)
    assert "least_flat_ncp" not in oc.compare(DATA, oc.vary(BASE), q=[1]).rows[0]
