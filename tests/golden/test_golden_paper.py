"""The paper's worked example, and figures known for the real data sets."""

import json
from collections import Counter
from pathlib import Path

import pytest

from bridge import real_data
from overcoat import AllItemsets, Hierarchy, Mapping, Policy, anonymize, read
from overcoat.cli import _run
from overcoat.context import Context
from overcoat.data import samples
from overcoat.data.transactions import Transactions
from overcoat.policy.pgen import maximal_infrequent

FIG_2C = """
ab c e f gh | ab c e f gh | c e f gh | ab c e f | e f gh | e f gh | ab e | ab c f | ab c | ab gh
"""


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str | Path) -> int:
    monkeypatch.setattr("sys.argv", ["overcoat", *map(str, arguments)])
    return _run()


def test_figure_2c_through_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = samples.paper().write(tmp_path)
    outputs = []
    for name in ("first", "second"):
        released, mapping = tmp_path / f"{name}.dat", tmp_path / f"{name}.json"
        status = run(
            monkeypatch,
            *("anonymize", files["data"], "-k", "5", "-s", "15"),
            *("--privacy", files["privacy"], "--utility", files["utility"]),
            *("--hierarchy", files["hierarchy"], "-o", released, "--mapping", mapping, "--json"),
        )
        assert status == 0
        outputs.append((released.read_bytes(), mapping.read_bytes()))
    assert outputs[0] == outputs[1]

    answer = json.loads(capsys.readouterr().out.splitlines()[0])
    assert answer["suppressed"] == ["d"]
    assert answer["n_groups"] == 2
    assert answer["n_generalized_items"] == 4
    assert answer["n_constraints"] == 2
    assert answer["verified"] is True

    groups = Mapping.read(tmp_path / "first.json").groups
    assert sorted(map("".join, groups.values())) == ["ab", "c", "e", "f", "gh"]
    published = Counter(
        frozenset("".join(groups[label]) for label in line.split())
        for line in (tmp_path / "first.dat").read_text().splitlines()
    )
    assert published == Counter(frozenset(row.split()) for row in FIG_2C.split("|"))


def test_figure_2a() -> None:
    """Apriori: k = 5, m = 5; every patient has what of the two subtrees they had before."""
    sample = samples.paper()
    result = anonymize(
        sample.transactions(),
        5,
        AllItemsets(5),
        hierarchy=Hierarchy.of(sample.hierarchy),
        method="apriori",
    )
    assert sorted(map("".join, result.mapping.groups.values())) == ["abc", "defgh"]
    assert result.mapping.suppressed == ()
    sizes = Counter({len(row): count for row, count in result.released})
    assert sizes[2] == 7  # all but Anne, Tom and David
    assert result.verdict.ok


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_figure_2b(engine: str) -> None:
    """Greedy, k = 5, p = 5, all items public: only e and f are left."""
    result = anonymize(
        samples.paper().transactions(),
        *(5, AllItemsets(5)),
        max_suppressed=100,
        method="greedy",
        context=Context(engine=engine),  # type: ignore[arg-type]
    )
    assert result.mapping.suppressed == tuple("abcdgh")
    released = Counter(frozenset(row) for row, count in result.released for _ in range(count))
    assert released == {frozenset("ef"): 6, frozenset("e"): 1, frozenset("f"): 1, frozenset(): 2}
    assert result.verdict.largest_k == 6


def test_loss_of_the_paper_s_group() -> None:
    """UL((a,b)) = 3/255 * 3/8 * 7/10; the paper divides by 8 people where there are 10."""
    sample = samples.paper()
    result = anonymize(
        sample.transactions(),
        policy=Policy(
            5,
            tuple(_itemsets(sample)),
            _utility(sample),
            15,
            Hierarchy.of(sample.hierarchy),
        ),
    )
    assert 2 ** result.loss.groups["(a|b)"] == pytest.approx(0.0030882, abs=5e-8)
    assert [(s.action, s.items, s.partner) for s in result.trace] == [
        ("merge", ("b",), ("a",)),
        ("suppress", ("d",), ()),
        ("merge", ("g",), ("h",)),
    ]


def _itemsets(sample: samples.Sample) -> list:  # type: ignore[type-arg]
    from overcoat import Itemsets

    return [Itemsets(sample.privacy)]


def _utility(sample: samples.Sample):  # type: ignore[no-untyped-def]
    from overcoat import Utility

    return Utility(sample.utility)


def test_pgen_example() -> None:
    data = Transactions.of([set("acf"), set("ac"), set("bh")])
    found = ["".join(data.vocabulary[c] for c in data.row(r)) for r in maximal_infrequent(data, 2)]
    assert found == ["acf", "bh"]


@pytest.mark.parametrize(
    ("name", "count"),
    [("bms-webview-1.dat", 2674), ("bms-webview-2.dat", 25583), ("groceries.csv", 4046)],
)
def test_pgen_counts(name: str, count: int) -> None:
    assert len(maximal_infrequent(read(real_data(name)), 5)) == count


@pytest.mark.compiled(reason="sixty thousand transactions take many minutes on twins")
@pytest.mark.parametrize(("k", "largest", "log2_ul"), [(2, 122, -381), (25, 125, -375)])
def test_bms1_apriori(k: int, largest: int, log2_ul: int) -> None:
    """The largest group is the one that another program finds; see docs/methods.md."""
    data = read(real_data("bms-webview-1.dat"))
    hierarchy = Hierarchy.balanced(data.vocabulary, 5)
    result = anonymize(data, k, AllItemsets(2), hierarchy=hierarchy, method="apriori")
    assert result.verdict.ok
    assert max(map(len, result.mapping.groups.values())) == largest
    assert int(result.loss.log2_ul) == log2_ul


@pytest.mark.compiled(reason="sixty thousand transactions take many minutes on twins")
@pytest.mark.parametrize("k", [2, 5, 10, 25, 50])
def test_bms1_all_pairs(k: int) -> None:
    data = read(real_data("bms-webview-1.dat"))
    hierarchy = Hierarchy.balanced(data.vocabulary, 5)
    result = anonymize(data, k, AllItemsets(2), hierarchy=hierarchy, max_suppressed=0.5)
    assert result.verdict.ok
    assert result.mapping.suppressed == ()


def test_facts_of_the_real_data() -> None:
    facts = {
        "bms-webview-1.dat": (59602, 497, 267, 18473),
        "bms-webview-2.dat": (77512, 3340, 161, 48684),
        "t10i4d100k.dat.gz": (100000, 870, 29, 89135),
        "groceries.csv": (9835, 169, 32, 7011),
        "diabetes130-patients.dat": (71517, 915, 35, 45523),
    }
    for name, expected in facts.items():
        data = read(real_data(name))
        found = (data.n_transactions, data.n_items, int(data.lengths.max()), data.n_distinct)
        assert found == expected, name
