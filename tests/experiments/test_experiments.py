"""The experiments run from beginning to end on stand-ins, so that they never rot."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import overcoat as oc
from experiments import casestudy, km
from experiments.efficiency import REPEATS, efficiency
from experiments.findings import (
    Claim,
    Findings,
    markdown,
    times_better,
    violated_when_merged_whole,
)
from experiments.materials import Materials, sample_rows
from experiments.policies import random_itemsets
from experiments.run import EXPERIMENTS, main, page, section
from overcoat.data import samples

NAMES = [experiment.name for experiment in EXPERIMENTS]


@pytest.mark.compiled(reason="an experiment takes minutes on twins")
@pytest.mark.parametrize("name", NAMES)
def test_experiment(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([name, "--out", str(tmp_path / "out"), "--page", str(tmp_path / "page.md")])
    printed = capsys.readouterr().out
    assert "| the paper | measured |" in printed
    assert "**holds**" in printed or "**does not hold**" in printed
    assert "nan" not in printed
    text = (tmp_path / "page.md").read_text()
    assert text.startswith("# The paper's experiments")
    assert f"](page/{name}.svg)" in text
    assert (tmp_path / "page" / f"{name}.svg").stat().st_size
    assert (tmp_path / "out" / f"{name}.svg").stat().st_size
    assert (tmp_path / "out" / f"{name}.png").stat().st_size


def test_time_is_measured_warm_and_called_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[float] = []
    real = oc.anonymize

    def timed(*arguments: Any, **options: Any) -> Any:
        result = real(*arguments, **options)
        runs.append(result.seconds["anonymize"])
        return result

    monkeypatch.setattr("experiments.efficiency.oc.anonymize", timed)
    found = efficiency(Materials(None, tmp_path))
    each = 1 + REPEATS
    assert len(runs) == each * len(found.rows)
    assert [row["seconds"] for row in found.rows] == [
        min(runs[start + 1 : start + each]) for start in range(0, len(runs), each)
    ]
    assert {panel.y for panel in found.panels} == {"time, seconds"}
    assert all(f"best of {REPEATS}" in panel.title for panel in found.panels)


def test_s_means_suppression_only() -> None:
    for columns in (km.COLUMNS, casestudy.COLUMNS):
        assert "s" not in columns.values()


def test_ul_is_drawn_in_bits_above_the_least(tmp_path: Path) -> None:
    found = km.over_m(Materials(None, tmp_path))
    panels = [panel for panel in found.panels if panel.y.startswith("UL")]
    assert [panel.title.split(";")[0] for panel in panels] == ["BMS1", "BMS2"]
    for panel in panels:
        assert "least log2 UL, " in panel.title
        assert min(point.y for point in panel.points) == 0
        assert "greedy" not in panel.series


def test_an_unknown_name_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["km-over-q"])
    assert "no experiment km-over-q; there is km-over-k" in capsys.readouterr().err


def test_a_claim_that_fails_is_shown_as_such() -> None:
    claims = (Claim("up to 9 times", "2 times", holds=False), Claim("none", "none", holds=True))
    found = Findings("title", "setup", ({"k": 2, "AvgRE": 0.5},), (), claims)
    text = section("name", found, "name.svg")
    assert "| up to 9 times | 2 times | **does not hold** |" in text
    assert "| none | none | **holds** |" in text
    assert "| 2 | 0.5 |" in text
    assert "](figures/name.svg)" in page([{"claim": "x"}], [text], "figures")


def test_a_claim_can_hold_in_part() -> None:
    assert Claim("more", "sometimes", holds=None).verdict == "holds in part"


def test_itemsets_of_a_policy_are_different_and_in_the_shares_asked_for() -> None:
    data = samples.baskets(2000, 150, mean=5)
    itemsets = random_itemsets(data, (33, 33, 33, 1), 300)
    assert len(set(itemsets)) == len(itemsets)
    sizes = [len(itemset) for itemset in itemsets]
    assert [sizes.count(size) for size in (1, 2, 3, 4)] == [99, 99, 99, 3]


def test_stuck_sets_are_those_of_whole_blocks() -> None:
    rows = [{"a", "c"}, {"b"}, {"b"}, {"c"}]
    policy = oc.Policy(2, (oc.AllItemsets(2),), oc.Utility([["a", "b"], ["c"]]))
    assert violated_when_merged_whole(oc.read(rows), policy) == 1  # (a|b) with c: one person


def test_a_folder_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--data", "nowhere"])
    assert "nowhere is not a folder" in capsys.readouterr().err


def test_times_better_leaves_out_what_has_no_answer() -> None:
    rows = [
        {"algorithm": "coat", "k": 2, "re": 0.0},
        {"algorithm": "apriori", "k": 2, "re": 2.0},
        {"algorithm": "coat", "k": 5, "re": 0.5},
        {"algorithm": "apriori", "k": 5, "re": 1.5},
        {"algorithm": "coat", "k": 10, "re": 0.5},
        {"algorithm": "apriori", "k": 10, "re": None},
    ]
    assert times_better(rows, "re", "k", "coat", "apriori") == {5: 3.0}
    assert markdown(rows[:1]) == "| algorithm | k | re |\n| --- | --- | --- |\n| coat | 2 | 0 |"


def test_samples_are_parts_of_the_data() -> None:
    data = samples.baskets(200, 20, mean=3)
    part = sample_rows(data, 50, seed=1)
    assert part.n_transactions == 50
    known = dict(data)
    assert all(row in known and count <= known[row] for row, count in part)
    assert sample_rows(data, 200, seed=1) == data


def test_stand_ins_are_used_without_data(tmp_path: Path) -> None:
    assert set(Materials(None, tmp_path).bms) == {"BMS1", "BMS2"}
