"""The report: what it says is true, nothing of the original leaves the house, nothing breaks it."""

import random
import re
from fractions import Fraction
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

import overcoat as oc
from bridge import phi_of, policy_of
from oracle import definitions, risk
from overcoat.data import samples
from overcoat.evidence import External, Internal, Published
from overcoat.reports.certificate import certificate_of, dumps, public_certificate_of
from overcoat.reports.editions import external_page, internal_page
from overcoat.reports.names import read_names
from strategies import random_instance

DATA = Path(__file__).parents[3] / "shared" / "data"
# Elements without an end.
VOID = {"meta", "wbr", "br"}


class Reader(HTMLParser):
    """Reads a page as a strict reader would: what is opened is closed, in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.seen: dict[str, int] = {}
        self.tables: dict[str, list[list[str]]] = {}
        self.attributes: list[tuple[str, str | None]] = []
        self._cell: list[str] | None = None
        self._rows: list[list[str]] = []
        self._caption: list[str] | None = None
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen[tag] = self.seen.get(tag, 0) + 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)
        if tag == "table":
            self._rows = []
        elif tag == "tr":
            self._rows.append([])
        elif tag in {"th", "td"}:
            self._cell = []
        elif tag == "caption":
            self._caption = []

    def handle_endtag(self, tag: str) -> None:
        assert tag not in VOID
        assert self.open.pop() == tag
        if tag in {"th", "td"} and self._cell is not None:
            self._rows[-1].append("".join(self._cell))
            self._cell = None
        elif tag == "table":
            self.tables["".join(self._caption or [])] = self._rows
        elif tag == "caption":
            pass

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._cell.append(data)
        elif self.open and self.open[-1] == "caption" and self._caption is not None:
            self._caption.append(data)


def hospital(n: int = 800) -> oc.Result:
    sample = samples.hospital(n)
    policy = oc.Policy(5, oc.AllItemsets(2), sample.utility, max_suppressed=20)
    return oc.anonymize(sample.transactions(), policy=policy)


def outside(result: oc.Result) -> str:
    return external_page(External(Published.of(result)))


def inside(result: oc.Result) -> str:
    return internal_page(Internal.of(result))


def words_of(page: str) -> str:
    return unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", page, flags=re.S)))


def test_pages_are_whole_and_need_nothing_else() -> None:
    result = hospital()
    for page in (outside(result), inside(result)):
        found = Reader(page)
        assert found.seen["h1"] == 1
        assert found.seen["svg"] == found.seen["figure"] == 3
        assert "script" not in found.seen
        assert not re.search(r"https?:|url\(|@import|src=", page)
        captions = found.seen["caption"]
        assert captions == found.seen["table"]
        labels = [value for name, value in found.attributes if name == "aria-label"]
        assert all(labels)
        ids = [value for name, value in found.attributes if name == "id"]
        assert len(ids) == len({*ids})
        targets = [value[1:] for name, value in found.attributes if name == "href" and value]
        assert {*targets} <= {*ids}


def number(text: str) -> int:
    return int(text.replace(",", ""))


def test_every_figure_is_true() -> None:
    """Tables of both editions against brute force from the definitions."""
    rng = random.Random("figures")
    seen = 0
    for _ in range(120):
        instance = random_instance(rng)
        data, policy = oc.read(instance.rows), policy_of(instance)
        if not instance.domain or data.n_transactions < 2:
            continue
        try:
            result = oc.anonymize(data, policy=policy)
        except oc.InfeasibleError:
            continue
        seen += 1
        rows, phi = [frozenset(row) for row in instance.rows], phi_of(result.mapping)
        same = {item: frozenset([item]) for item in instance.domain}
        published = definitions.publish(rows, phi)
        page = Reader(inside(result))
        n = len(rows)
        for cells in page.tables[f"Of {n:,} people"][1:]:
            m = None if cells[0].startswith("the whole") else int(cells[0].split()[0])
            before = risk.crowd(rows, same, m, instance.k)
            after = risk.crowd(rows, phi, m, instance.k)
            if n < instance.k:
                continue  # see tests/exposure/test_reach.py
            told = [number(cell) for cell in cells[1:]]
            assert told == [before[0], after[0], before[1], after[1]]
        blocks = {name: items & instance.domain for name, items in instance.named.items()}
        for caption, table in page.tables.items():
            if not caption.endswith("named sets"):
                continue
            for name, was, now, exact, n_items, n_gone in table[1:]:
                items = blocks.get(name)
                if items is None:
                    continue
                assert number(was) == sum(bool(row & items) for row in rows)
                labels = {phi[item] for item in items if phi[item] is not None}
                assert number(now) == sum(bool({*row} & labels) for row in published)
                gone = sum(phi[item] is None for item in items)
                assert (number(n_items), number(n_gone)) == (len(items), gone)
                assert exact == "no" or was == now
        sizes = page.tables["Sizes of groups; 1: told as it is"][1:]
        kept = {label for label in phi.values() if label is not None}
        assert sum(number(row[1]) for row in sizes) == len(kept)
        assert sum(number(row[3]) for row in sizes) == sum(len(row) for row in published)
        parameters = dict(row for row in page.tables["Parameters"] if len(row) == 2)
        assert number(parameters["people (N)"]) == n
        assert number(parameters["items (M)"]) == len(instance.domain)
        assert Fraction(parameters["may be left out (s), % of the items"]) == Fraction(
            f"{float(instance.s):g}"
        )
    assert seen > 40


def test_the_board_is_told_the_numbers() -> None:
    result = hospital(3000)
    told = Internal.of(result)
    text = re.sub(r"\s+", " ", words_of(internal_page(told)))
    n = result.data.n_transactions
    before = oc.risk(result, known=3).before
    after = oc.risk(result, known=3).after
    assert after is not None
    unique = 100 * after[2].unique / n
    assert f"With 3 items known, {unique:.1f} % of the people are still unique" in text
    assert f"with 2 items known, {before[1].unique:,} people" in text
    assert "in the release nobody is." in text


def same_release(rng: random.Random) -> tuple[oc.Result, oc.Result] | None:
    """Two originals that have the same release, or None if none were found."""
    instance = random_instance(rng)
    if not instance.domain:
        return None
    data, policy = oc.read(instance.rows), policy_of(instance)
    try:
        result = oc.anonymize(data, policy=policy)
    except oc.InfeasibleError:
        return None
    groups = result.mapping.groups
    rows: list[set[str]] = []
    for row, count in result.released:
        for _ in range(count):
            # Whatever of each group, at least one item; suppressed ones as one likes.
            items: set[str] = set()
            for label in row:
                some = [item for item in groups[label] if rng.random() < 0.5]
                items.update(some or [groups[label][0]])
            items.update(item for item in result.mapping.suppressed if rng.random() < 0.5)
            rows.append(items)
    missing = instance.domain.difference(*rows)
    for item in missing:
        home = result.mapping[item]
        for holder in rows:
            if home is None or holder & {*groups[home]}:
                holder.add(item)
                break
    other = oc.read(rows)
    if {*other.vocabulary} != {*data.vocabulary}:
        return None
    try:
        return result, oc.apply_mapping(other, result.mapping, policy)
    except oc.OvercoatError:
        return None


def test_two_originals_with_one_release_have_one_report() -> None:
    """The external edition and the public certificate are functions of what was published."""
    rng = random.Random("one report")
    pairs = 0
    for _ in range(400):
        both = same_release(rng)
        if both is None or both[0].data == both[1].data:
            continue
        pairs += 1
        one, other = both
        assert one.released == other.released
        assert outside(one) == outside(other)
        public = [dumps(public_certificate_of(External(Published.of(r)))) for r in both]
        assert public[0] == public[1]
    assert pairs > 60


def test_nothing_on_the_deny_list_leaves_the_house() -> None:
    sample = samples.hospital(1500)
    policy = oc.Policy(5, oc.AllItemsets(2), sample.utility, max_suppressed=20)
    result = oc.anonymize(sample.transactions(), policy=policy)
    result.digests["input"] = digest = "0123456789abcdef" * 4
    told = Internal.of(result)
    private = [internal_page(told), dumps(certificate_of(told))]
    public = [
        external_page(told.external),
        dumps(public_certificate_of(told.external, method="coat")),
    ]
    data = result.data
    # Figures that cannot be told from the release, written as reports would write them, and only
    # those that do not happen to be a figure of the release, too.
    allowed = {str(n) for n in result.released.supports.tolist()}
    allowed |= {str(one.number) for one in told.external.counts}
    text = " ".join(map(words_of, public))
    numbers = {*re.findall(r"\d+(?:\.\d+)?", text.replace(",", ""))}
    denied = {
        "digest of the input": digest,
        "loss": f"{result.loss.log2_ul:.3f}",
        "certainty penalty": f"{told.ncp:.4g}",
    }
    for page in public:
        assert digest not in page
    assert all(digest in page for page in private)
    assert told.expected is not None
    for figure in (told.expected.items, told.expected.pairs, result.loss.log2_ul, told.ncp):
        for page in public:
            assert repr(figure) not in page
            assert f"{figure:.3g}" not in numbers
    for what, written in denied.items():
        for page in public:
            assert written not in page, what
    unique_before = [one.unique for one in told.risk]
    below_before = [one.below_k for one in told.risk]
    released = {n for one in told.external.risk for n in (one.unique, one.below_k)}
    for n in {*unique_before, *below_before} - released:
        if n > 40 and str(n) not in allowed:  # smaller numbers are everywhere
            assert str(n) not in numbers
    for one in told.counts:
        if not one.exact and one.before != one.after and str(one.before) not in allowed:
            assert str(one.before) not in numbers
    # Violated sets: pairs that fewer than k people have, as the internal edition names them.
    assert "only" in private[0]
    for page in public:
        assert "only" not in words_of(page).split("Groups")[-1]
    reasons = [step.constraint for step in result.trace]
    assert reasons
    for constraint in reasons:
        if len(constraint) > 1:
            assert all(", ".join(constraint) not in page for page in public[:1])
    assert data.n_transactions == told.external.n_transactions


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</style></table></section>",
    "\u202eesrever",
    "\u05d0\u05d1\u05d2",
    "nul\x01\x1b[31m",
    "x" * 10_000,
    "&lt;b&gt; &amp;",
    "{{7*7}} ${7*7}",
    "| || <wbr>",
]


def test_hostile_labels_disturb_nothing() -> None:
    rows = [{label, other} for label in HOSTILE for other in HOSTILE for _ in range(2)]
    rows += [{"plain"}]
    named = {HOSTILE[0]: HOSTILE[:3], HOSTILE[4]: HOSTILE[3:6], HOSTILE[7]: HOSTILE[6:]}
    hierarchy = oc.Hierarchy.of([(item, HOSTILE[1], "<root>") for item in [*HOSTILE, "plain"]])
    names = dict.fromkeys(HOSTILE, '<i>what & it\'s "called"</i>')
    for method in ("coat", "pcta"):
        result = oc.anonymize(
            rows,
            k=4,
            privacy=[oc.AllItemsets(2), oc.Itemsets([HOSTILE[:2]])],
            utility=named,
            hierarchy=hierarchy,
            max_suppressed=50,
            method=method,
            allow_identifiers=True,
        )
        told = Internal.of(result, names)
        for page in (
            internal_page(told, oc.price(result)),
            external_page(told.external),
        ):
            found = Reader(page)
            assert not {"script", "img", "i", "b"} & {*found.seen}
            assert not any(name.startswith("on") for name, _ in found.attributes)
            assert "<style>" in page
            assert page.count("</style>") == 1
            assert len(page) < 100_000
            assert "\x01" not in page
            assert "\x1b" not in page
            for bare in re.findall("[^>]\u202e", page):  # only right after <bdi>, which ends it
                raise AssertionError(bare)


@pytest.mark.compiled(reason="large data take minutes on twins")
def test_a_report_stays_small_whatever_the_items() -> None:
    rng = random.Random("large")
    items = [f"{n} " + "long name " * 20 for n in range(6000)]
    rows = [{*rng.sample(items, 4)} for _ in range(12_000)]
    result = oc.anonymize(
        rows, k=2, privacy=oc.AllItemsets(1), max_suppressed=5, allow_identifiers=True
    )
    names = dict.fromkeys(items, "and what it is called " * 10)
    told = Internal.of(result, names)
    for page in (internal_page(told), external_page(told.external)):
        assert len(page.encode()) < 1_000_000
        assert "more: the mapping has them all" in page


@pytest.mark.compiled(reason="large data take minutes on twins")
@pytest.mark.parametrize("name", ["bms-webview-2.dat", "diabetes130-patients.dat"])
def test_real_data_fit(name: str) -> None:
    if not (DATA / name).exists():
        pytest.skip(f"{name} is not there")
    result = oc.anonymize(DATA / name, k=5, privacy=oc.AllItemsets(2))
    for page in (outside(result), inside(result)):
        Reader(page)
        assert len(page.encode()) < 1_000_000
        if name.startswith("bms"):
            assert all(item in page for item in result.mapping)  # none was left out


@pytest.mark.parametrize(
    "family",
    [
        oc.AllItemsets(1),
        oc.AllItemsets(2, ["a", "b", "c"]),
        oc.AllItemsets(6),
        oc.Itemsets({"p": ["a", "b"]}),
        oc.Pgen(),
        oc.Coherence(2, private=["d"], h=100),
    ],
    ids=repr,
)
def test_every_family_has_words(family: oc.AllItemsets) -> None:
    rows = [{"a", "b"}, {"a", "b", "c"}, {"a", "c", "d"}, {"b", "d"}, {"a", "b", "d"}] * 3
    result = oc.anonymize(rows, k=3, privacy=family, max_suppressed=100)
    for page in (outside(result), inside(result)):
        text = re.sub(r"\s+", " ", words_of(page))
        assert "finds at least 3 people (k = 3) with them, or nobody." in text
        assert text.count("(k = 3)") == 1  # the paper's letter once
        assert repr(family) not in text
        pgen = isinstance(family, oc.Pgen)
        assert ("Attackers who know more." in text) != pgen


def test_the_order_of_rows_is_told() -> None:
    result = hospital(200)
    page = external_page(External(Published.of(result, keep_order=True)))
    assert "They are in the order of the input" in page
    assert "They are in the order of the input" not in outside(result)


def test_a_broken_release_is_told(tmp_path: Path) -> None:
    result = hospital(300)
    published = Published.of(result)
    rows = [list(row) for row, count in published.released for _ in range(count)]
    broken = Published(oc.read([*rows, ["<nobody>"]]), published.mapping, published.policy)
    page = external_page(External(broken))
    Reader(page)
    assert "They must not be used." in page
    assert "&lt;nobody&gt;" in page


def test_nothing_to_tell() -> None:
    """A release without groups, sets or items."""
    for rows in ([{"a"}] * 5, [{"a"}] * 5 + [set()], [{"a", "b"}] * 9):
        result = oc.anonymize(rows, k=3, privacy=oc.AllItemsets(2))
        for page in (outside(result), inside(result)):
            Reader(page)
            assert "No items were merged." in page


def test_names(tmp_path: Path) -> None:
    path = tmp_path / "codes.csv"
    path.write_text('code,chapter,description\na,1,"First, of all"\nb,2,\na,1,again\n', "utf-8")
    assert read_names(path) == {"a": "First, of all"}
    path.write_text("# a list\na;First\nb;Second\n", "utf-8")
    assert read_names(path) == {"a": "First", "b": "Second"}
    path.write_text("a;First\nb\nc\n", "utf-8")
    with pytest.raises(oc.DataError, match=r"codes.csv:2: .*\n.*codes.csv:3: "):
        read_names(path)
    result = oc.anonymize([{"a", "b"}] * 3 + [{"a"}], k=2, privacy=oc.AllItemsets(2))
    told = External(Published.of(result, {"a": "First, of all"}))
    assert "First, of all" in external_page(told)
