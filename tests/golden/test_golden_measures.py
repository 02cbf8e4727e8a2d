"""What the paper's release costs, worked out by hand, and figures that other tools find."""

from fractions import Fraction

import pytest

from bridge import real_data
from overcoat.data import samples
from overcoat.data.io import read
from overcoat.evaluation import Evaluation, evaluate
from overcoat.mapping import Mapping
from overcoat.measures.frequent import mine_frequent
from overcoat.measures.queries import Workload
from overcoat.policy.hierarchy import Hierarchy
from overcoat.policy.utility import Utility

# Supports in Fig. 1: a 6, b 3, c 6, d 4, e 7, f 7, g 4, h 4; together 41 occurrences.
# Fig. 2(c): (a,b) in 7 rows, (g,h) in 6, d suppressed.


@pytest.fixture
def evaluation() -> Evaluation:
    sample = samples.paper()
    data = sample.transactions()
    mapping = Mapping.of(data.vocabulary, ["ab", "c", "e", "f", "gh"])
    return evaluate(
        data,
        mapping.apply(data),
        mapping,
        utility=Utility({"ab": list("ab"), "defgh": list("defgh")}),
        hierarchy=Hierarchy.of(sample.hierarchy),
        workloads=[
            Workload.of(data, [[item] for item in "abcdefgh"]),
            Workload.of(data, [list(pair) for pair in ("ac", "ab", "gh", "ag", "de")]),
        ],
        min_support=50,
        min_confidence=80,
        top=3,
    )


def test_single_items(evaluation: Evaluation) -> None:
    answers = evaluation.answers[0]
    assert answers.actual.tolist() == [6, 3, 6, 4, 7, 7, 4, 4]
    # (a,b): 7 * 2/3; (g,h): 6 * 2/3; d: nothing is left of it
    assert answers.estimate.tolist() == pytest.approx([14 / 3, 14 / 3, 6, 0, 7, 7, 4, 4])
    assert answers.relative_errors.tolist() == pytest.approx([2 / 9, 5 / 9, 0, 1, 0, 0, 0, 0])
    assert answers.avg_re == pytest.approx(2 / 9)
    assert answers.median_re == 0


def test_pairs(evaluation: Evaluation) -> None:
    answers = evaluation.answers[1]
    assert answers.actual.tolist() == [5, 2, 2, 2, 4]
    # (a,b)c in 5 rows; ab and gh lie inside one group each; (a,b)(g,h) in 3 rows; d is gone
    by_hand = [Fraction(10, 3), Fraction(28, 9), Fraction(8, 3), Fraction(4, 3), 0]
    assert answers.estimate.tolist() == pytest.approx([float(e) for e in by_hand])
    assert answers.relative_errors.tolist() == pytest.approx([1 / 3, 5 / 9, 1 / 3, 1 / 3, 1])


def test_loss_and_ncp(evaluation: Evaluation) -> None:
    ul = Fraction(3, 255) * (Fraction(3, 8) * Fraction(7, 10) + Fraction(5, 8) * Fraction(6, 10))
    assert 2**evaluation.loss.log2_ul == pytest.approx(float(ul + Fraction(4, 10)))
    # a and b: 9 occurrences under 3 of 8 leaves; g and h: 8 under 5 of 8; d: 4 lost
    assert evaluation.ncp == (9 * 3 + 8 * 5 + 4 * 8) / 8 / 41


def test_changes(evaluation: Evaluation) -> None:
    items, occurrences = evaluation.changes.items, evaluation.changes.occurrences
    assert (items.untouched, items.generalized, items.suppressed) == (3, 4, 1)
    assert (occurrences.untouched, occurrences.generalized, occurrences.suppressed) == (20, 17, 4)
    assert evaluation.changes.group_sizes == {1: 3, 2: 2}
    assert evaluation.changes.mean_group == 2


def test_named_sets(evaluation: Evaluation) -> None:
    found = [(c.name, c.before, c.after, c.exact) for c in evaluation.counts]
    assert found == [("ab", 7, 7, True), ("defgh", 9, 9, False)]


def test_patterns(evaluation: Evaluation) -> None:
    found = evaluation.patterns
    assert found is not None
    assert found.min_count == 5
    # original: a c e f ac cf ef; in the release (a,b) stands for a with 14/3 only
    assert (found.itemsets.n_original, found.itemsets.n_estimated) == (7, 5)
    assert (found.itemsets.recall, found.itemsets.precision) == (5 / 7, 1)
    # original: a -> c, c -> a, c -> f, e -> f, f -> e
    assert (found.rules.n_original, found.rules.n_estimated, found.rules.n_both) == (5, 3, 3)
    # original: e, f, a (before c and ef, as many have); estimate: e, f, c
    assert (found.top, found.n_top_kept) == (3, 2)


def test_frequent_itemsets_of_the_groceries() -> None:
    """The R package arules finds as many in these data at 1 percent: 88, 213 and 32."""
    data = read(real_data("groceries.csv"))
    found = mine_frequent(data, 99, 4)
    assert [sum(len(x) == size for x in found) for size in (1, 2, 3, 4)] == [88, 213, 32, 0]
