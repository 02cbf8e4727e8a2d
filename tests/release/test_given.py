"""Every function takes data, policies and mappings in the same ways, and says what is wrong."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import overcoat as oc

ROWS = [{"a", "b"}, {"a", "c"}, {"a"}, {"a"}, {"b"}]
POLICY = oc.Policy(2, oc.AllItemsets(2))
RESULT = oc.anonymize(ROWS, policy=POLICY)
FRAME = pl.DataFrame({"items": [sorted(row) for row in ROWS]})


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    paths = {name: str(tmp_path / name) for name in ("d.dat", "o.dat", "m.json", "p.toml")}
    Path(paths["d.dat"]).write_text("".join(" ".join(sorted(row)) + "\n" for row in ROWS))
    Path(paths["p.toml"]).write_text('k = 2\nkm = 2\nalgorithm = "pcta"\n')
    oc.anonymize(paths["d.dat"], policy=POLICY).write(paths["o.dat"], mapping=paths["m.json"])
    return paths


ANY: Any = oc  # what no type checker would let pass
KINDS = [ROWS, FRAME, RESULT.data, RESULT, "d.dat", Path("d.dat")]


@pytest.mark.parametrize("data", KINDS, ids=lambda data: type(data).__name__)
def test_data_are_taken_the_same_way_everywhere(
    data: Any, files: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(files["d.dat"]).parent)
    assert oc.anonymize(data, policy=POLICY).mapping == RESULT.mapping
    assert oc.apply_mapping(data, RESULT.mapping, POLICY).released == RESULT.released
    assert oc.verify(data, RESULT.released, RESULT.mapping, POLICY).ok
    assert oc.evaluate(data, RESULT.released, RESULT.mapping).ncp == oc.evaluate(RESULT).ncp
    field = oc.compare(data, oc.vary(POLICY), q=[1])
    assert field.runs[0].mapping == RESULT.mapping
    if not isinstance(data, oc.Result):
        assert list(oc.draw_workload(data, 1, 5)) == list(oc.draw_workload(ROWS, 1, 5))
        assert list(oc.Workload.of(data, [["a"]])) == [("a",)]


def test_a_result_is_taken_for_its_parts() -> None:
    assert oc.verify(RESULT) == RESULT.verdict
    assert oc.evaluate(RESULT).loss == RESULT.loss
    again = oc.apply_mapping(ROWS[:2] * 2, RESULT)
    assert again.verdict.ok
    assert again.policy.stated == POLICY
    assert not oc.verify(RESULT, policy=oc.Policy(3, oc.AllItemsets(2))).ok


def test_paths_are_taken_for_everything(files: dict[str, str]) -> None:
    d, o, m, p = files.values()
    assert oc.verify(d, o, m, p).ok
    assert oc.verify(d, Path(o), Path(m), Path(p)).ok
    assert oc.evaluate(d, o, m, policy=p).ncp == pytest.approx(oc.evaluate(RESULT).ncp)
    assert oc.apply_mapping(d, m, p).released == RESULT.released
    found = oc.anonymize(d, policy=p)
    assert found.method == oc.Pcta()  # as the file says
    assert oc.anonymize(d, policy=p, method="coat").method == oc.Coat()
    assert [setting.method for setting in oc.vary(p)] == [oc.Pcta()]


def test_paths_in_a_policy(tmp_path: Path) -> None:
    (tmp_path / "u.txt").write_text("u: a b c\n")
    (tmp_path / "h.csv").write_text("a;x;*\nb;x;*\nc;*\n")
    utility, hierarchy = tmp_path / "u.txt", tmp_path / "h.csv"
    read = oc.Policy(
        2, oc.AllItemsets(2), oc.Utility.read(utility), hierarchy=oc.Hierarchy.read(hierarchy)
    )
    named = oc.Policy(2, oc.AllItemsets(2), utility, hierarchy=str(hierarchy))
    assert named == read
    assert named.files == (str(utility), str(hierarchy))
    result = oc.anonymize(ROWS, 2, oc.AllItemsets(2), utility=utility, hierarchy=hierarchy)
    assert result.policy.stated == read
    assert oc.Policy(2, oc.Pgen(), hierarchy="balanced:3").hierarchy == oc.Balanced(3)


def test_verify_knows_the_items_of_the_mapping() -> None:
    """Next month somebody's diagnosis does not occur; the policy still names it."""
    policy = oc.Policy(2, oc.Itemsets([["a", "b"], ["c"]]))
    month = oc.anonymize([{"a", "b"}, {"a", "b"}, {"c"}, {"c"}], policy=policy)
    later = [{"a", "b"}, {"a", "b"}]
    result = oc.apply_mapping(later, month.mapping, policy)
    assert oc.verify(later, result.released, month.mapping, policy).ok


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ANY.verify(ROWS, ROWS, 3, POLICY), "a mapping is a Mapping, a file"),
        (lambda: ANY.verify(ROWS, ROWS, {"a": "a"}, 3), "a policy is a Policy, a file or a Result"),
        (lambda: ANY.verify(ROWS, None, {"a": "a"}, POLICY), "the release is missing"),
        (lambda: ANY.anonymize(3, policy=POLICY), "cannot read transactions from int"),
        (lambda: ANY.anonymize(None, policy=POLICY), "cannot read transactions from NoneType"),
        (lambda: ANY.anonymize(ROWS, policy=POLICY, method=3), "3 is not a method"),
        (lambda: ANY.anonymize(ROWS, policy=POLICY, method=oc.Coat), r"write Coat\(\)"),
        (lambda: ANY.anonymize(ROWS, policy=POLICY, method="caot"), "no algorithm 'caot'"),
        (lambda: ANY.anonymize(ROWS, policy=POLICY, context=3), "a context is a Context, not 3"),
        (lambda: ANY.anonymize(ROWS, 2, oc.AllItemsets(2), weights=3), "weights are a Distances"),
        (lambda: ANY.anonymize(ROWS, 2, oc.AllItemsets(2), utility=3), "3 is not a list of sets"),
        (lambda: ANY.anonymize(ROWS, 2, oc.AllItemsets(2), hierarchy=3), "a hierarchy is a"),
        (lambda: ANY.anonymize(ROWS, 2, 3), "3 is not a family"),
        (lambda: ANY.anonymize(ROWS, 2.5, oc.AllItemsets(2)), "k must be a whole number"),
        (lambda: ANY.anonymize(ROWS, 2, oc.AllItemsets(2), max_suppressed="x"), "percentage"),
        (lambda: ANY.evaluate(ROWS, ROWS, {"a": "a"}, measures=[3]), "3 is not a Measure"),
        (lambda: ANY.compare(ROWS, [3]), "3 is not a Setting"),
        (lambda: ANY.apply_mapping(ROWS, {"a": 3}, POLICY), "must be a string or null, not 3"),
        (lambda: ANY.Result.write(RESULT, 3), "a release is written to a path"),
    ],
)
def test_wrong_types_get_a_sentence(call: Any, words: str) -> None:
    with pytest.raises(oc.InputError, match=words):
        call()


def test_input_errors_are_value_errors() -> None:
    with pytest.raises(ValueError, match="k must be"):
        oc.anonymize(ROWS, 0, oc.AllItemsets(2))


def test_a_policy_may_come_second() -> None:
    assert oc.anonymize(ROWS, POLICY, method=oc.Coat()).mapping == RESULT.mapping
    assert oc.anonymize(ROWS, RESULT).mapping == RESULT.mapping
    assert oc.verify(ROWS, RESULT, RESULT).ok
    with pytest.raises(oc.PolicyError, match="not both"):
        oc.anonymize(ROWS, POLICY, policy=POLICY)


def test_what_was_not_met_cannot_be_written_even_if_it_verifies(tmp_path: Path) -> None:
    class Doubtful(oc.Method):
        name = "doubtful"

        def find(self, data: oc.Transactions, policy: Any, stage: Any) -> oc.Outcome:
            return oc.Outcome(oc.Partition(data.n_items * [0]), unmet=((0,),))

    with pytest.raises(oc.InfeasibleError) as caught:
        oc.anonymize(ROWS, POLICY, method=Doubtful())
    with pytest.raises(oc.VerificationError):
        caught.value.result.write(tmp_path / "released.dat")


def test_a_partition_of_another_size_is_refused_in_words() -> None:
    with pytest.raises(oc.MappingError, match="the partition has 7 items, the vocabulary 3"):
        oc.Mapping.over(RESULT.data.vocabulary, oc.Partition(range(7)))


def test_values_cannot_be_changed() -> None:
    for array in (
        RESULT.data.supports,
        RESULT.data.lengths,
        RESULT.mapping.partition.size_of,
        RESULT.mapping.partition.group_of,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 9


LONG = pl.DataFrame(
    {
        "who": [n for n, row in enumerate(ROWS) for _ in row],
        "what": [x for r in ROWS for x in sorted(r)],
    }
)


def test_a_long_frame_is_taken_as_a_release() -> None:
    result = oc.anonymize(LONG, POLICY, id="who", item="what")
    released = result.released.to_polars()
    assert released.columns == ["who", "what"]
    assert oc.verify(LONG, released, result.mapping, POLICY, id="who", item="what").ok
    assert oc.evaluate(LONG, released, result.mapping, id="who", item="what").ncp == (
        oc.evaluate(result).ncp
    )


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ANY.summarize(None), "a summary is of a Result"),
        (lambda: ANY.Mapping.from_labels([3]), "labels are a mapping"),
        (lambda: ANY.Distances([3]), "distances are a mapping"),
        (lambda: ANY.compare(ROWS, POLICY), "vary"),
        (lambda: ANY.compare(ROWS, oc.vary(POLICY), workloads={"a": 1}), "is not a Workload"),
        (lambda: ANY.compare(ROWS, oc.vary(POLICY), workloads="zz"), "mapping from names"),
        (lambda: ANY.compare(ROWS, oc.vary(POLICY, k=[2, 2])), "could not be told apart: coat"),
        (lambda: ANY.anonymize(ROWS, 2, oc.AllItemsets(2), penalties=3), "penalties are a mapping"),
        (lambda: ANY.read([3]), "transaction 1 is 3; expected a set"),
        (lambda: ANY.apply_mapping(ROWS, {"a": "a"}), "the policy is missing"),
        (lambda: ANY.verify(ROWS, ROWS), "the mapping is missing"),
        (lambda: ANY.verify(ROWS, ROWS, {"a": "a"}), "the policy is missing"),
    ],
)
def test_likely_slips_get_a_sentence(call: Any, words: str) -> None:
    with pytest.raises(oc.InputError, match=words):
        call()


def test_what_takes_several_takes_one() -> None:
    assert len(oc.compare(ROWS, oc.vary(POLICY), q=1).workloads) == 1
    assert RESULT.mapping.apply(ROWS) == RESULT.released
    assert oc.verify(ROWS, RESULT).ok


def test_a_misspelt_option_gets_a_sentence() -> None:
    rows = [{"a"}, {"a"}]
    with pytest.raises(TypeError, match="no option 'allow_identifier'; did you mean 'allow_iden"):
        oc.anonymize(rows, 2, oc.AllItemsets(1), allow_identifier=True)
    with pytest.raises(TypeError, match="id: these data have been read already"):
        oc.anonymize(oc.read(rows), 2, oc.AllItemsets(1), id="x")


@pytest.mark.parametrize("said", [{"id": "p", "item": "c"}, {"query": "SELECT 1"}])
def test_what_cannot_be_said_of_lists_is_not_dropped(said: dict[str, str]) -> None:
    with pytest.raises(oc.DataError, match="cannot be said of a list"):
        oc.read([["1", "a"]], **said)  # type: ignore[arg-type]
    with pytest.raises(oc.DataError, match=r"transaction 1 is .*; expected a set of items"):
        oc.read([{"p": "1", "c": "a"}])


def test_k_as_a_string_is_told() -> None:
    with pytest.raises(oc.PolicyError, match="k must be a whole number, not a string: write k=5"):
        oc.anonymize([{"a"}], "5", oc.AllItemsets(1))
    with pytest.raises(oc.PolicyError, match="not 'five'; a policy file stands alone"):
        oc.anonymize([{"a"}], "five", oc.AllItemsets(1))


@pytest.mark.parametrize("k", ["x", True, 2.5, None])
def test_a_policy_with_a_k_that_is_no_number_does_not_exist(k: Any) -> None:
    with pytest.raises(oc.PolicyError, match="k must be a whole number of at least 1"):
        oc.Policy(k, oc.AllItemsets(2))


def test_words_of_the_command_lead_to_those_of_python() -> None:
    with pytest.raises(TypeError, match="no option 'algorithm'; did you mean 'method'"):
        oc.anonymize(ROWS, POLICY, algorithm="pcta")


def test_a_table_is_taken_as_a_release_of_baskets(tmp_path: Path) -> None:
    """Its columns are found, as nobody can name those of a release apart from the original's."""
    (tmp_path / "d.csv").write_text("".join(",".join(sorted(row)) + "\n" for row in ROWS * 9))
    result = oc.anonymize(tmp_path / "d.csv", POLICY)
    result.write(tmp_path / "o.csv", to="long")
    assert oc.verify(tmp_path / "d.csv", tmp_path / "o.csv", result, POLICY).ok
    text = (tmp_path / "o.csv").read_text()
    (tmp_path / "p.csv").write_text(text.replace("id,item", "who,what").replace(",", ";"))
    assert oc.verify(tmp_path / "d.csv", tmp_path / "p.csv", result, POLICY).ok
    (tmp_path / "q.csv").write_text(text.replace("\n1,a\n", "\n1,b\n"))
    assert not oc.verify(tmp_path / "d.csv", tmp_path / "q.csv", result, POLICY).ok
