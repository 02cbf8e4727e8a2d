"""The oracle against the paper's examples and against itself: who checks the checker."""

import random
from fractions import Fraction

import pytest

from strategies import Instance, random_instance

from .coat import Infeasible, Trace, coat
from .definitions import (
    Family,
    Group,
    Itemset,
    Paths,
    Weight,
    blocks_of,
    domain_of,
    expand,
    image,
    item_order,
    largest_k,
    loss,
    pgen,
    publish,
    satisfied,
    satisfied_cheap,
    support,
    suppressed_items,
    suppression_ok,
    total_loss,
    unit_weight,
    utility_ok,
    weight_from_hierarchy,
    well_formed,
)


def sets(text: str) -> list[frozenset[str]]:
    """Read "ab c" as [{a, b}, {c}]; "-" is the empty set."""
    return [frozenset(word.replace("-", "")) for word in text.split()]


def the_set(text: str) -> frozenset[str]:
    return frozenset(text)


def mapping_of(groups: str, suppressed: str = "") -> dict[str, Group | None]:
    mapping: dict[str, Group | None] = {item: group for group in sets(groups) for item in group}
    return mapping | dict.fromkeys(suppressed)


FIG_1 = sets("abcdefgh acefg cdefh acef efgh defg abde acf ac bh")
FIG_1_BLOCKS = sets("ab c d efgh")
FIG_1_PATHS: Paths = {item: ("*", "abc" if item in "abc" else "defgh", item) for item in "abcdefgh"}


def fig_1_weight(group: Group) -> Fraction:
    return weight_from_hierarchy(group, FIG_1_PATHS, domain_of(FIG_1))


# --- The paper's examples -------------------------------------------------------------------------


def test_figure_2c() -> None:
    mapping, trace = coat(FIG_1, sets("abc defgh"), FIG_1_BLOCKS, 5, 15, fig_1_weight)
    assert mapping == mapping_of("ab c e f gh", suppressed="d")
    figure = [
        sets("ab c e f gh"),
        sets("ab c e f gh"),
        sets("c e f gh"),
        sets("ab c e f"),
        sets("e f gh"),
        sets("e f gh"),
        sets("ab e"),
        sets("ab c f"),
        sets("ab c"),
        sets("ab gh"),
    ]
    assert publish(FIG_1, mapping) == [frozenset(row) for row in figure]
    p1, p2 = sets("abc defgh")
    assert trace == [
        ("merge", the_set("b"), the_set("a"), p1),
        ("suppress", the_set("d"), p2),
        ("merge", the_set("g"), the_set("h"), p2),
    ]


def test_figure_2c_needs_its_one_suppression() -> None:
    with pytest.raises(Infeasible) as error:
        coat(FIG_1, sets("abc defgh"), FIG_1_BLOCKS, 5, 12, fig_1_weight)  # d is 12.5 percent
    assert error.value.suppressed == {"d"}
    coat(FIG_1, sets("abc defgh"), FIG_1_BLOCKS, 5, 12.5, fig_1_weight)


def test_loss_of_the_example() -> None:
    assert fig_1_weight(the_set("ab")) == Fraction(3, 8)
    exact = loss(the_set("ab"), FIG_1, fig_1_weight)
    assert exact == Fraction(3, 255) * Fraction(3, 8) * Fraction(7, 10) == Fraction(21, 6800)
    assert round(float(exact), 7) == 0.0030882


def test_total_loss_of_figure_2c() -> None:
    mapping = mapping_of("ab c e f gh", suppressed="d")
    groups = Fraction(21, 6800) + Fraction(3, 255) * Fraction(5, 8) * Fraction(6, 10)
    assert total_loss(mapping, FIG_1, fig_1_weight) == groups + Fraction(4, 10)
    assert total_loss(mapping, FIG_1, fig_1_weight, lambda item: Fraction(7)) == groups + 7
    assert total_loss(mapping_of("a b c d e f g h"), FIG_1) == 0


def test_pgen_of_the_example() -> None:
    assert pgen(sets("acf ac bh"), 2) == sets("acf bh")
    assert pgen(sets("acf ac bh bh"), 2) == sets("acf")
    assert pgen(sets("- -"), 5) == []


# --- Definitions ----------------------------------------------------------------------------------


def test_item_order() -> None:
    assert item_order(["10", "9", "-3", "-20", "0"]) == ["-20", "-3", "0", "9", "10"]
    for odd in ("038", "-0", "+1", "1.0", "\uff11", "a"):
        assert item_order(["10", "9", odd]) == sorted(["10", "9", odd])
    assert item_order(["\U0001f9a0", "\uffff"]) == ["\uffff", "\U0001f9a0"]  # not UTF-16 order


def test_clause_two_looks_at_every_part() -> None:
    rows = sets("a a b b c")
    plain = mapping_of("a b c")
    assert satisfied(the_set("ab"), rows, plain, 2)
    assert not satisfied(the_set("abc"), rows, plain, 2)
    assert satisfied(the_set("abc"), rows, mapping_of("a b", suppressed="c"), 2)
    assert satisfied(the_set("abc"), rows, mapping_of("", suppressed="abc"), 99)
    assert largest_k(the_set("ab"), rows, plain) == 2
    assert largest_k(the_set("abc"), rows, plain) == 1
    assert largest_k(the_set("c"), rows, mapping_of("a b", suppressed="c")) is None


def test_families() -> None:
    rows = sets("ab bc -")
    assert expand(("itemsets", sets("c ab c")), rows, 2) == sets("c ab c")
    assert expand(("all", 2, None), rows, 2) == sets("ab ac bc")
    assert expand(("all", 2, the_set("az")), rows, 2) == sets("a")
    assert expand(("all", 9, None), rows, 2) == sets("abc")
    assert expand(("all", 9, None), sets("- -"), 2) == []
    assert expand(("pgen",), rows, 2) == sets("ab bc")


def test_blocks() -> None:
    named = {"one": the_set("ab"), "absent": the_set("z")}
    assert blocks_of(named, "together", the_set("abcd")) == sets("ab cd")
    assert blocks_of(named, "intact", the_set("abcd")) == sets("ab c d")
    assert blocks_of(named, "together", the_set("ab")) == sets("ab")
    with pytest.raises(ValueError, match="overlap"):
        blocks_of({"one": the_set("ab"), "two": the_set("bc")}, "together", the_set("abc"))


def test_utility_and_suppression() -> None:
    mapping = mapping_of("ab", suppressed="c")
    assert utility_ok(mapping, sets("abc"))
    assert not utility_ok(mapping, sets("ac b"))
    assert not suppression_ok(mapping, 33.3)  # a third is more than 33.3 percent
    assert suppression_ok(mapping, 33.4)
    assert well_formed(mapping, the_set("abc"))
    assert not well_formed(mapping, the_set("abcd"))
    assert not well_formed({"a": the_set("ab"), "b": the_set("b")}, the_set("ab"))


def test_weights_count_only_what_occurs() -> None:
    paths = {"a": "*xa", "b": "*xb", "z": "*xz", "c": "*c"}
    assert weight_from_hierarchy(the_set("ab"), paths, the_set("abc")) == Fraction(2, 3)
    assert weight_from_hierarchy(the_set("ac"), paths, the_set("abc")) == 1
    assert weight_from_hierarchy(the_set("a"), paths, the_set("abc")) == Fraction(1, 3)
    with pytest.raises(ValueError, match="lacks"):
        weight_from_hierarchy(the_set("a"), paths, the_set("abq"))


# --- COAT, the cases settled in the spec ----------------------------------------------------------


def steps(rows: str, constraints: str, blocks: str, k: int) -> tuple[str, Trace]:
    """Run without limit on suppression; the groups in writing, and the trace."""
    mapping, trace = coat(sets(rows), sets(constraints), sets(blocks), k, 100)
    groups = {"".join(sorted(group)) for group in mapping.values() if group is not None}
    return " ".join(sorted(groups)), trace


def test_the_hanging_case_takes_the_next_group() -> None:
    # a is least supported, alone in its block and frequent: the paper's line 9 hangs
    groups, trace = steps("ab a b bc ac", "ab", "a bc", 2)
    assert groups == "a bc"
    assert trace == [("merge", the_set("b"), the_set("c"), the_set("ab"))]


def test_the_next_group_is_the_next_least_supported() -> None:
    # a (2) is alone; b (3) and c (4) both have partners
    trace = steps("abc a b b c c c d e", "abc", "a bd ce", 2)[1]
    assert trace[0] == ("merge", the_set("b"), the_set("d"), the_set("abc"))


def test_the_hanging_case_without_any_partner() -> None:
    groups, trace = steps("ab a b", "ab", "a b", 2)
    assert groups == "b"
    assert trace == [("suppress", the_set("a"), the_set("ab"))]


def test_one_group_is_generalized_before_it_is_suppressed() -> None:
    assert steps("a b", "a", "ab", 2)[0] == "ab"
    groups, trace = steps("a b", "a", "ab", 3)  # not enough even together
    assert groups == ""
    assert [step[0] for step in trace] == ["merge", "suppress"]


def test_clause_two_broken_by_a_later_merge_is_repaired() -> None:
    rows, ab, c = sets("a a b b ac d db"), the_set("ab"), the_set("c")
    assert satisfied(ab, rows, mapping_of("a b c d"), 2)
    assert not satisfied(ab, rows, mapping_of("a bc d"), 2)
    mapping, trace = coat(rows, [ab, c], sets("ad bc"), 2, 0)
    assert trace == [
        ("merge", the_set("c"), the_set("b"), c),
        ("merge", the_set("a"), the_set("d"), ab),
    ]
    assert satisfied(ab, rows, mapping, 2)


def test_an_unsupported_constraint_is_repaired_on_its_violated_part() -> None:
    # abc is unsupported; ab and ac have support 2 < 3: ab comes first, and a is its rarest group
    rows = "ab ab ac ac b b c c c d"
    groups, trace = steps(rows, "abc", "ad bc", 3)
    assert trace[0] == ("merge", the_set("a"), the_set("d"), the_set("abc"))
    assert groups == "ad bc"


def test_the_violated_part_of_largest_support_comes_first() -> None:
    trace = steps("a b b c c c", "abc", "a b c", 3)[1]
    assert trace == [("suppress", the_set(item), the_set("abc")) for item in "ba"]


def test_a_part_that_is_a_prefix_comes_first() -> None:
    # abcd is unsupported; ab, abc, ac, bc tie at 2. In ab the rarest is a, in the others it is c.
    rows = "abc abc a a a b b b c c d d d e f"
    trace = steps(rows, "abcd", "ae b cf d", 3)[1]
    assert trace[0] == ("merge", the_set("a"), the_set("e"), the_set("abcd"))


def test_parts_are_compared_by_first_item_not_by_size() -> None:
    # ac and b tie at 1: ac comes first, and its a, frequent but alone, has to go
    trace = steps("ac a a b c c", "abc", "a b c", 2)[1]
    assert trace[0] == ("suppress", the_set("a"), the_set("abc"))


def test_supported_constraints_come_before_unsupported_ones() -> None:
    # ab: unsupported, b violated. c: support 1. c goes first although it is last in the policy.
    trace = steps("a a b c", "ab c", "a b c", 2)[1]
    assert [step[-1] for step in trace] == sets("c ab")


def test_a_repair_goes_on_until_its_constraint_is_satisfied() -> None:
    # merging a and c for ax lifts cd to support 2, above ax; ax is finished first all the same
    trace = steps("ax ad cd x x x d d d", "ax cd", "ac x d", 3)[1]
    assert trace == [
        ("merge", the_set("a"), the_set("c"), the_set("ax")),
        ("suppress", the_set("ac"), the_set("ax")),
    ]


def test_ties_follow_the_policy_and_the_item_order() -> None:
    assert [step[-1] for step in steps("a b", "b a", "a b", 2)[1]] == sets("b a")
    # b and c are equally good partners for a
    assert steps("a b c", "a", "abc", 2)[1][0][:3] == ("merge", the_set("a"), the_set("b"))
    nine, ten, two = (frozenset([item]) for item in ("9", "10", "2"))
    rows = [nine, ten, two]
    assert coat(rows, [ten], [frozenset({"9", "10", "2"})], 2, 0)[1] == [("merge", ten, two, ten)]
    assert coat(rows[:2], [nine | ten], [nine, ten], 2, 100)[1][0] == ("suppress", nine, nine | ten)


def test_items_outside_every_constraint_are_partners() -> None:
    assert steps("a b b", "a", "ab", 2)[0] == "ab"


def test_weights_decide_between_partners() -> None:
    def far(group: Group) -> Fraction:
        return Fraction(1 if "b" in group else 0)

    assert coat(sets("a b c"), sets("a"), sets("abc"), 2, 0, far)[0] == mapping_of("ac b")


def test_infeasible() -> None:
    with pytest.raises(Infeasible) as error:
        coat(sets("a b"), sets("a b"), sets("a b"), 2, 0)
    assert error.value.suppressed == {"a"}
    assert error.value.trace == [("suppress", the_set("a"), the_set("a"))]


# --- Many seeded instances ------------------------------------------------------------------------


def random_mapping(rng: random.Random, domain: Itemset) -> dict[str, Group | None]:
    """Throw the items into bins; bin 0 is suppression."""
    n_bins = rng.randint(0, len(domain))
    home = {item: rng.randint(0, n_bins) for item in item_order(domain)}
    bins = [frozenset(i for i in home if home[i] == n) for n in range(1, n_bins + 1)]
    return {item: bins[n - 1] if n else None for item, n in home.items()}


def policy(instance: Instance) -> list[Itemset]:
    families: list[Family] = instance.families
    return [p for family in families for p in expand(family, instance.rows, instance.k)]


def weight_of(instance: Instance) -> Weight:
    paths = instance.paths
    if paths is None:
        return unit_weight
    return lambda group: weight_from_hierarchy(group, paths, instance.domain)


def replay(domain: Itemset, trace: Trace) -> dict[str, Group | None]:
    mapping: dict[str, Group | None] = {item: frozenset([item]) for item in domain}
    for step in trace:
        if step[0] == "merge":
            mapping.update(dict.fromkeys(step[1] | step[2], step[1] | step[2]))
        else:
            mapping.update(dict.fromkeys(step[1]))
    return mapping


def test_the_cheap_test_is_equivalent() -> None:
    rng = random.Random(2011)
    answers = []
    for _ in range(3000):
        instance = random_instance(rng)
        domain = item_order(instance.domain)
        p = frozenset(rng.sample(domain, rng.randint(0, len(domain))))
        mapping = random_mapping(rng, instance.domain)
        answer = satisfied(p, instance.rows, mapping, instance.k)
        assert satisfied_cheap(p, instance.rows, mapping, instance.k) == answer
        best = largest_k(p, instance.rows, mapping)
        assert answer == (best is None or instance.k <= best)
        answers.append(answer)
    assert 500 < sum(answers) < 2500  # both answers are common


def test_satisfaction_passes_to_every_part() -> None:
    rng = random.Random(2012)
    for _ in range(1000):
        instance = random_instance(rng)
        domain = item_order(instance.domain)
        p = rng.sample(domain, rng.randint(0, len(domain)))
        part = frozenset(rng.sample(p, rng.randint(0, len(p))))
        mapping = random_mapping(rng, instance.domain)
        if satisfied(frozenset(p), instance.rows, mapping, instance.k):
            assert satisfied(part, instance.rows, mapping, instance.k)


def check_infeasible(instance: Instance, error: Infeasible) -> None:
    domain, s = instance.domain, instance.s
    assert len(error.suppressed) * 100 > Fraction(str(s)) * len(domain)
    assert suppressed_items(replay(domain, error.trace)) == error.suppressed
    assert suppression_ok(replay(domain, error.trace[:-1]), s)  # as soon as, not later


@pytest.mark.parametrize("seed", range(5))
def test_coat_keeps_its_promises(seed: int) -> None:
    rng = random.Random(seed)
    outcomes = []
    for _ in range(100):
        instance = random_instance(rng)
        rows, domain, k, s = instance.rows, instance.domain, instance.k, instance.s
        blocks = blocks_of(instance.named, instance.rest, domain)
        constraints = policy(instance)
        try:
            mapping, trace = coat(rows, constraints, blocks, k, s, weight_of(instance))
        except Infeasible as error:
            outcomes.append("infeasible")
            check_infeasible(instance, error)
            continue
        outcomes.append("changed" if trace else "untouched")
        assert all(satisfied(p, rows, mapping, k) for p in constraints)
        assert well_formed(mapping, domain)
        assert utility_ok(mapping, blocks)
        assert suppression_ok(mapping, s)
        assert mapping == replay(domain, trace)
        published = publish(rows, mapping)
        for block in blocks:
            if not block & suppressed_items(mapping):  # its row count is kept exactly
                groups = image(block, mapping)
                before = sum(1 for row in rows if row & block)
                assert sum(1 for row in published if row & groups) == before
        for group in image(domain, mapping):
            assert support({group}, published) == sum(1 for row in rows if row & group)
        assert (total_loss(mapping, rows, weight_of(instance)) > 0) == bool(trace)
    assert min(outcomes.count(kind) for kind in ("infeasible", "changed", "untouched")) >= 5
