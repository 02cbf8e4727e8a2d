"""Utility sets from what exists: tables of items and sets, CCS files, levels of a hierarchy."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

import overcoat as oc
from overcoat.data.vocabulary import Vocabulary
from overcoat.errors import PolicyError
from overcoat.policy.binding import Domain, Lint
from overcoat.policy.config import state_policy

ITEMS = ("038", "250.00", "250.02", "401", "V45", "whole milk", "a,b")
SETS = {"diabetes": ("250.00", "250.02"), "others": ("038", "401", "V45")}
REAL = Path(__file__).parents[2].parent / "shared" / "data"


def bound(
    utility: oc.Utility, items: tuple[str, ...] = ITEMS, sep: str | None = "", **options: object
) -> tuple[dict[str, tuple[str, ...]], Lint]:
    lint = Lint()
    domain = Domain(Vocabulary(items), 3, sep, **options)  # type: ignore[arg-type]
    found = utility.bind(domain, lint)
    return {
        block.name: tuple(domain.vocabulary[code] for code in block.codes) for block in found.named
    }, lint


def read(tmp_path: Path, text: str, name: str = "u.csv") -> oc.Utility:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return oc.Utility.read(path)


def table(sep: str, *, swapped: bool = False, header: str = "") -> str:
    rows = [(item, name) for name, items in SETS.items() for item in items]
    lines = [sep.join(reversed(row) if swapped else row) for row in rows]
    return "\n".join([*([header.replace(",", sep)] if header else []), *lines]) + "\n"


@pytest.mark.parametrize("sep", [",", ";", "\t"])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("header", ["", "item,set", "ICD_code,category name", "Code,Gruppe"])
@pytest.mark.parametrize("data_sep", ["", None, ","])
def test_a_table_in_any_form(
    tmp_path: Path, sep: str, swapped: bool, header: str, data_sep: str | None
) -> None:
    text = table(sep, swapped=swapped, header=header)
    found, lint = bound(read(tmp_path, text), sep=data_sep)
    assert found == SETS
    assert not lint.errors


def test_names_with_colons_quotes_and_commas(tmp_path: Path) -> None:
    odd = 'E codes: cut, "pierce" | (x) {y} = ü'
    quoted = '"' + odd.replace('"', '""') + '"'
    utility = read(tmp_path, f'250.00,{quoted}\n250.02,{quoted}\n"a,b",x: y\nwhole milk,x: y\n')
    found, lint = bound(utility)
    assert found == {odd: ("250.00", "250.02"), "x: y": ("a,b", "whole milk")}
    assert not lint.errors

    policy = oc.Policy(2, oc.AllItemsets(1), utility)
    assert oc.Policy.from_json(policy.to_json()) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy
    settled = policy.settled(Domain(Vocabulary(ITEMS), 3))
    assert settled == oc.Policy.from_json(settled.to_json())
    assert bound(settled.utility)[0] == found
    assert settled.digest == oc.Policy(2, oc.AllItemsets(1), found).digest

    rows = [set(ITEMS)] * 3
    result = oc.anonymize(rows, policy)
    assert [count.name for count in result.counts] == [odd, "x: y"]
    assert f"exact       2 counts kept: {odd} 3, x: y 3" in oc.summarize(result)


def test_a_category_may_be_called_like_an_item(tmp_path: Path) -> None:
    items = ("beef", "hamburger", "pork", "ham")
    text = "beef,beef\nhamburger,beef\npork,pigs\nham,pigs\n"
    assert bound(read(tmp_path, text), items)[0] == {
        "beef": ("beef", "hamburger"),
        "pigs": ("ham", "pork"),
    }


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("038,401\n250.00,250.02\n", {"{038, 401}": ("038", "401")}),
        ("x: 038, 401\ny: 250.00, 250.02\n", {"x": ("038", "401")}),
        ("038,401\n250.00,250.02\nV45,whole milk\n", {"{038, 401}": ("038", "401")}),
    ],
)
def test_sets_of_two_items_stay_sets(
    tmp_path: Path, text: str, expected: dict[str, tuple[str, ...]]
) -> None:
    found, lint = bound(read(tmp_path, text))
    assert found.items() >= expected.items()
    assert not lint.errors


def test_sets_that_overlap_stay_an_error(tmp_path: Path) -> None:
    _, lint = bound(read(tmp_path, "038,401\n038,V45\n"))
    assert "item '038' is in another set (line 1) already" in str(lint.errors[0])


def test_unknown_items_are_errors_with_their_lines(tmp_path: Path) -> None:
    _, lint = bound(read(tmp_path, table(",", header="code,set") + "250.03,diabetes\n"))
    assert [(p.line, p.message) for p in lint.errors] == [
        (7, "item '250.03' does not occur in the data; near: '250.02', '250.00'")
    ]
    found, lint = bound(read(tmp_path, table(",") + "zz,diabetes\n"), ignore_unknown=True)
    assert found == SETS
    assert [p.message for p in lint.notes] == [
        "1 item of 6, such as zz, not in the data and left out",
        "2 items of the data, such as a,b, whole milk, are in no set of this table",
    ]


def test_a_list_of_all_codes_is_one_note(tmp_path: Path) -> None:
    codes = "".join(f"{n},numbers\n" for n in range(1000, 3000))
    found, lint = bound(read(tmp_path, "code;set\n".replace(";", ",") + codes + table(",")))
    assert found == SETS
    assert not lint.errors
    assert len(lint.notes) == 2
    assert lint.notes[0].message.startswith(
        "2,000 items of 2,005, such as 1000, 1001, 1002, not in"
    )


def test_a_table_of_which_nothing_occurs_says_so(tmp_path: Path) -> None:
    codes = "".join(f"{n},s{n % 3}\n" for n in range(1000, 1010))
    _, lint = bound(read(tmp_path, codes))
    assert len(lint.errors) == 10
    rows = [{"38", "42"}, {"38"}, {"42"}]
    lost = oc.Policy(1, oc.AllItemsets(1), read(tmp_path, "038,x\n042,x\n043,y\n"))
    with pytest.raises(PolicyError, match="--pad 3"):
        lost.bind(oc.read(rows))


def test_an_item_in_two_sets(tmp_path: Path) -> None:
    _, lint = bound(read(tmp_path, table(",") + "401,diabetes\n"))
    assert any("item '401' is in set 'diabetes'" in str(problem) for problem in lint.errors)


def test_ccs(tmp_path: Path) -> None:
    text = "# a comment\n1\tDiabetes: all\t250.00 250.02 250.03\n2\tOther\t038 401\n3\tOther\tV45\n"
    found, lint = bound(read(tmp_path, text, "x.tsv"), known={"250.03"})
    assert found == {
        "Diabetes: all": ("250.00", "250.02"),
        "Other (2)": ("038", "401"),
        "Other (3)": ("V45",),
    }
    assert not lint.errors
    _, lint = bound(read(tmp_path, text, "x.tsv"))
    assert [problem.line for problem in lint.errors] == [2]


@pytest.mark.skipif(not REAL.is_dir(), reason="the real data sets are not here")
def test_ccs_as_it_is() -> None:
    data = oc.read(REAL / "diabetes130-patients.dat")
    for name in ("diabetes130.ccs.tsv", "icd9cm.ccs.tsv"):
        utility = oc.Utility.read(REAL / name)
        policy = oc.Policy(5, oc.AllItemsets(1), utility).bind(data)
        names = [block.name for block in policy.utility.named]
        assert len(names) > 50
        assert len(policy.notes) <= 2
    assert "E Codes: Fall" in names


def test_item_to_set_in_python_and_json(tmp_path: Path) -> None:
    plain = {item: name for name, items in SETS.items() for item in items}
    assert oc.Utility(plain) == oc.Utility(SETS)
    import json

    (tmp_path / "u.json").write_text(json.dumps(plain))
    assert oc.Utility.read(tmp_path / "u.json") == oc.Utility(SETS)
    with pytest.raises(PolicyError, match="item 7 is not a string"):
        oc.Utility({7: "x"})


# -- levels ---------------------------------------------------------------------------------------

TREE = oc.Hierarchy.of(
    [
        ("038", "S:sepsis", "C:infections", "*"),
        ("250.00", "S:sugar", "C:glands", "*"),
        ("250.02", "S:sugar", "C:glands", "*"),
        ("401", "C:heart", "*"),
        ("V45", "*"),
        ("absent", "S:absent", "C:glands", "*"),
    ]
)
LEAVES = ("038", "250.00", "250.02", "401", "V45")


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        (1, {"C:infections": 1, "C:glands": 2, "C:heart": 1, "V45": 1}),
        ("C", {"C:infections": 1, "C:glands": 2, "C:heart": 1, "V45": 1}),
        ("C:heart", {"C:infections": 1, "C:glands": 2, "C:heart": 1, "V45": 1}),
        ("2", {"S:sepsis": 1, "S:sugar": 2, "401": 1, "V45": 1}),
        ("S", {"S:sepsis": 1, "S:sugar": 2, "401": 1, "V45": 1}),
    ],
)
def test_levels(level: int | str, expected: dict[str, int]) -> None:
    utility = oc.Utility.level(TREE, level)
    found, lint = bound(utility, LEAVES)
    assert {name: len(items) for name, items in found.items()} == expected
    assert not lint.errors
    assert oc.Utility.from_json(utility.to_json()) == utility
    assert utility != oc.Utility.level(TREE, 1 if level == "2" else 2)
    assert pickle.loads(pickle.dumps(utility)) == utility


def test_a_leaf_below_a_node_of_its_name() -> None:
    tree = oc.Hierarchy.of([("042", "*"), ("042.1", "042", "*")])
    found, lint = bound(oc.Utility.level(tree, 1), ("042", "042.1"))
    assert found == {"{042}": ("042",), "042": ("042.1",)}
    assert not lint.errors


def test_levels_of_a_balanced_hierarchy() -> None:
    utility = oc.Utility.level("balanced:2", 1)
    found, _ = bound(utility, ("1", "2", "3", "4", "5"))
    assert sorted(map(len, found.values())) == [1, 4]
    assert oc.Utility.from_json(utility.to_json()) == utility
    assert repr(utility) == "Utility(0 sets, rest='together')"


@pytest.mark.parametrize(
    ("level", "words"),
    [
        (9, "no level 9: below its root, level 0, there are levels 1 to 2"),
        (
            "X",
            "no level 'X'; levels are numbers from 1, below the root, to 2; names there are C, S",
        ),
    ],
)
def test_levels_that_are_not_there(level: int | str, words: str) -> None:
    with pytest.raises(PolicyError, match="no level"):
        len(oc.Utility.level(TREE, level).sets)
    _, lint = bound(oc.Utility.level(TREE, level), LEAVES)
    assert words in lint.errors[0].message


def test_wrong_levels() -> None:
    with pytest.raises(PolicyError, match="at least 1, not 0"):
        oc.Utility.level(TREE, 0)
    with pytest.raises(PolicyError, match="a level needs a hierarchy"):
        oc.Utility.level(None, 1)  # type: ignore[arg-type]


def test_levels_in_a_policy(tmp_path: Path) -> None:
    tree = tmp_path / "h.csv"
    tree.write_text("a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\n")
    policy = state_policy({"k": 2, "km": 1, "hierarchy": str(tree), "utility_level": 1})
    result = oc.anonymize([{"a", "c"}, {"b", "d"}], policy)
    assert result.mapping.groups == {"(a|b)": ("a", "b"), "(c|d)": ("c", "d")}
    assert [count.name for count in result.counts] == ["ab", "cd"]
    assert oc.Policy.from_json(policy.to_json()) == policy
    assert policy.digest != state_policy({"k": 2, "km": 1, "hierarchy": str(tree)}).digest
    assert oc.verify(result).ok

    file = tmp_path / "policy.toml"
    file.write_text('k = 2\nkm = 1\nhierarchy = "h.csv"\nutility_level = 1\n')
    assert oc.Policy.read(file) == policy
    wrong: list[tuple[dict[str, object], str]] = [
        ({"utility": [["a"]]}, "either utility sets or a level"),
        ({"hierarchy": None}, "needs a hierarchy"),
        ({"hierarchy": "no.csv"}, "no.csv: no such file"),
    ]
    for more, words in wrong:
        settings = {"k": 2, "km": 1, "hierarchy": str(tree), "utility_level": 1, **more}
        with pytest.raises(PolicyError, match=words):
            state_policy(settings).bind(oc.read([{"a"}]))


def test_a_table_in_a_workbook(tmp_path: Path) -> None:
    from openpyxl import Workbook

    made = Workbook()
    sheet = made.active
    assert sheet is not None
    for row in (["code", "disorder"], [38, "blood: all"], ["250.00", "sugar, high"], [42, None]):
        sheet.append(row)
    sheet.append([])
    sheet.append(["250.01", "sugar, high"])
    sheet.delete_rows(4)
    sheet["A2"].number_format = "000"
    path = tmp_path / "sets.xlsx"
    made.save(path)
    data = oc.read([{"038", "250.00"}, {"250.01"}])
    bound = oc.Policy(1, oc.AllItemsets(1), utility=oc.Utility.read(path)).bind(data)
    items = data.vocabulary.labels
    assert {one.name: [items[code] for code in one.codes] for one in bound.utility.named} == {
        "blood: all": ["038"],
        "sugar, high": ["250.00", "250.01"],
    }


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "no such file"), (b"no workbook", "sets.xlsx"), (b"", "sets.xlsx")],
)
def test_no_workbook(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "sets.xlsx"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(oc.PolicyError, match=says):
        oc.Policy(1, oc.AllItemsets(1), utility=oc.Utility.read(path)).bind(oc.read([{"a"}]))
