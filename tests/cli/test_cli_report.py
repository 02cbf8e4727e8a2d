"""Reports and certificates on the command line: written with the release, or later from files."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

import overcoat as oc
from cli.command import Desk, words
from overcoat.reports.certificate import schema

jsonschema = pytest.importorskip("jsonschema")

ROWS = [["a", "b"], ["a", "b", "c"], ["a", "c", "x"], ["b", "c", "x"], ["x", "y"], ["y"]] * 3 + [
    ["z", "a"],
    ["w"],
    ["w", "a"],
    ["w", "b"],
]
SETS = "letters: a b c\nends: x y\nlast: z w\n"
POLICY = 'k = 3\nkm = 2\nutility = "sets.txt"\nmax_suppressed = 20\n'
PAPERS = (
    "--report in.html --external-report ex.html --certificate c.json --public-certificate p.json"
)
PUBLIC = ("o.csv", "map.json", "policy.toml", "sets.txt", "p.json", "ex.html")
READ = ("--id", "person", "--item", "code")
VERIFY = ("verify", "d.csv", "o.csv", *READ, "--mapping", "map.json")


def table() -> str:
    lines = [f"{n},{code}" for n, row in enumerate(ROWS) for code in row]
    return "\n".join(["person,code", *lines]) + "\n"


@pytest.fixture
def made(desk: Desk) -> Desk:
    desk.write({"d.csv": table(), "sets.txt": SETS, "policy.toml": POLICY, "salt": "s" * 32 + "\n"})
    done = desk.run(*words("anonymize d.csv --policy policy.toml -o o.csv --mapping map.json"),
                    *READ, *words(PAPERS), "--salt", "salt")  # fmt: skip
    assert done.status == 0, done.err
    assert "in.html, c.json (for the house only)" in done.err
    assert "ex.html, p.json (may be passed on)" in done.err
    return desk


def test_the_external_edition_is_made_again_from_the_public_files_alone(made: Desk) -> None:
    """In another process, in a folder that has nothing else."""
    away = Desk(made.folder / "away", made._monkeypatch, made._capture)
    away.write({name: made.read(name) for name in PUBLIC if name != "ex.html"})
    for policy in ("policy.toml", "p.json"):
        done = away.run_process(
            *("report", "o.csv", *READ, "--mapping", "map.json", "--policy", policy),
            *("-o", "again.html"),
        )
        assert done.status == 0, done.err
        assert away.read("again.html") == made.read("ex.html")
    done = away.run(*("verify", "o.csv", *READ, "--mapping", "map.json", "--certificate", "p.json"))
    assert done.status == 0, done.err
    assert "the salted digest of the input was not checked" in done.err


def test_the_internal_edition_is_made_again(made: Desk) -> None:
    done = made.run(
        *("report", "o.csv", *READ, "--mapping", "map.json", "--policy", "policy.toml"),
        *("--data", "d.csv", "-o", "again.html", "--json"),
    )
    assert done.status == 0, done.err
    assert done.json["edition"] == "internal"
    page = made.read("again.html").decode()
    assert "Internal edition" in page
    assert "Risk before and after" in page
    # The method was run again, so that nothing is missing.
    assert made.read("again.html") == made.read("in.html")
    assert "people have" in page


def test_a_method_that_finds_other_groups_is_told(made: Desk) -> None:
    done = made.run(
        *("report", "o.csv", *READ, "--mapping", "map.json", "--policy", "policy.toml"),
        *("--data", "d.csv", "-o", "again.html", "--algorithm", "exact", "--minimise", "ncp"),
    )
    assert done.status == 0, done.err
    assert "finds other groups for these data and this policy" in done.err
    assert "Why merged" not in made.read("again.html").decode()


@pytest.mark.parametrize("method", ["search", "exact"])
def test_the_report_says_how_far_the_loss_is_from_the_least(made: Desk, method: str) -> None:
    done = made.run(
        *words("anonymize d.csv --policy policy.toml -o o.csv --mapping map.json -q"),
        *(*READ, "--report", "in.html", "--external-report", "ex.html", "--algorithm", method),
    )
    assert done.status == 0, done.err
    page, outside = made.read("in.html").decode(), made.read("ex.html").decode()
    assert "How far from the least loss?" in page
    assert "without suppression" in page.lower()
    told = "The search: the best loss so far" if method == "search" else "Proven: no mapping that"
    assert told in page
    # None of it can be told from what is published.
    assert "How far from the least loss?" not in outside
    assert told not in outside


def test_all_is_the_same_when_repeated(made: Desk) -> None:
    names = ["in.html", "ex.html", "c.json", "p.json"]
    before = [made.read(name) for name in names]
    made.write({"elsewhere/d.csv": table()})
    done = made.run(*words("anonymize elsewhere/d.csv --policy policy.toml -o o.csv"), *READ,
                    *words("--mapping map.json"), *words(PAPERS), "--salt", "salt")  # fmt: skip
    assert done.status == 0, done.err
    assert [made.read(name) for name in names] == before


def test_certificates_are_canonical_and_keep_their_schema(made: Desk) -> None:
    validator = jsonschema.Draft202012Validator(schema())
    jsonschema.Draft202012Validator.check_schema(schema())
    for name in ("c.json", "p.json"):
        text = made.read(name).decode()
        content = json.loads(text)
        assert (
            text
            == json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False) + "\n"
        )
        validator.validate(content)
        # Each edition is the other one's failure.
        other = {"owner": "public", "public": "owner"}[content["edition"]]
        assert not validator.is_valid({**content, "edition": other})
        for key in content:
            assert not validator.is_valid({k: v for k, v in content.items() if k != key})
    owner, public = json.loads(made.read("c.json")), json.loads(made.read("p.json"))
    assert owner["digests"]["input"] not in made.read("p.json").decode()
    assert owner["method"] == public["method"] == "coat"
    assert oc.Policy.from_json(owner["policy"]).digest == owner["digests"]["policy"]
    assert str(made.folder) not in made.read("c.json").decode()


def test_verify_says_yes(made: Desk) -> None:
    for certificate in ("c.json", "p.json"):
        for policy in ((), ("--policy", "policy.toml")):
            done = made.run(*VERIFY, *policy, "--certificate", certificate, "--json")
            assert done.status == 0, done.err
            assert done.json["differences"] == []
    done = made.run(*VERIFY, "--certificate", "p.json", "--salt", "salt")
    assert done.status == 0, done.err
    assert "salted" not in done.err
    made.write({"salt": "t" * 32})
    done = made.run(*VERIFY, "--certificate", "p.json", "--salt", "salt")
    assert done.status == 4
    assert "digests.input_hmac: certified" in done.err
    # The owner's certificate can be checked without the original, as far as that goes.
    done = made.run(*("verify", "o.csv", *READ, "--mapping", "map.json", "--certificate", "c.json"))
    assert done.status == 0, done.err
    assert "what the certificate says of it was not checked" in done.err


def flipped(text: bytes, at: int) -> bytes:
    return text[:at] + bytes([text[at] ^ 1]) + text[at + 1 :]


def change(name: str, how: Callable[[Any], Any]) -> Callable[[Desk], None]:
    def spoil(desk: Desk) -> None:
        content = how(json.loads(desk.read(name)))
        desk.write({name: json.dumps(content)})

    return spoil


def put(content: dict[str, Any], *path: Any, value: Any) -> dict[str, Any]:
    inside: Any = content
    for key in path[:-1]:
        inside = inside[key]
    assert inside[path[-1]] != value
    inside[path[-1]] = value
    return content


def relabel(content: dict[str, Any]) -> dict[str, Any]:
    """Another name for a group, in the mapping only."""
    old = next(label for label, items in content["groups"].items() if len(items) > 1)
    content["groups"]["other"] = content["groups"].pop(old)
    content["items"] = {i: "other" if x == old else x for i, x in content["items"].items()}
    return content


def lines(name: str, how: Callable[[list[str]], list[str]]) -> Callable[[Desk], None]:
    return lambda desk: desk.write({name: "".join(f"{x}\n" for x in how(desk.lines(name)))})


SPOILED: dict[str, tuple[Callable[[Desk], None], str]] = {
    "release: white space": (
        lambda desk: desk.write({"o.csv": desk.read("o.csv").replace(b"\n", b"\r\n")}),
        "digests.released: certified",
    ),
    "release: a row less": (lines("o.csv", lambda x: x[:-1]), "digests.released: certified"),
    "release: a byte": (
        lambda desk: desk.write({"o.csv": flipped(desk.read("o.csv"), 14)}),
        "digests.released: certified",
    ),
    "mapping: white space": (
        lambda desk: desk.write({"map.json": desk.read("map.json") + b"\n"}),
        "digests.mapping: certified",
    ),
    "mapping: a label": (change("map.json", relabel), "digests.mapping: certified"),
    "mapping: broken": (lambda d: d.write({"map.json": "{"}), "digests.mapping: certified"),
    "policy: k": (
        lambda desk: desk.write({"policy.toml": POLICY.replace("k = 3", "k = 2", 1)}),
        "policy.k: certified 3, found 2",
    ),
    "policy: a set": (
        lambda desk: desk.write({"sets.txt": SETS.replace("last: z w", "last: w")}),
        "digests.policy: certified",
    ),
    "certificate: n": (
        change("c.json", lambda c: put(c, "n_people", value=21)),
        "n_people: certified 21, found 22",
    ),
    "certificate: a count": (
        change("c.json", lambda c: put(c, "named_sets", 0, "before", value=1)),
        "named_sets[letters].before: certified 1",
    ),
    "certificate: risk": (
        change("c.json", lambda c: put(c, "risk", "after", 2, "unique", value=99)),
        "risk.after[3].unique: certified 99",
    ),
    "certificate: verdict": (
        change("c.json", lambda c: put(c, "verdict", "ok", value=False)),
        "verdict.ok: certified false, found true",
    ),
    "certificate: a measure": (
        change("c.json", lambda c: put(c, "measures", "ncp", value=0.25)),
        "measures.ncp: certified 0.25",
    ),
    "certificate: more": (
        change("c.json", lambda c: {**c, "approved": True}),
        "approved: certified true, found nothing",
    ),
    "data: white space": (
        lambda desk: desk.write({"d.csv": desk.read("d.csv") + b"\n"}),
        "digests.input: certified",
    ),
    "data: a row": (lines("d.csv", lambda x: [*x, x[-1]]), "digests.input: certified"),
}  # fmt: skip


@pytest.mark.parametrize("case", SPOILED)
def test_verify_objects(made: Desk, case: str) -> None:
    spoil, message = SPOILED[case]
    spoil(made)
    arguments = (*VERIFY, "--policy", "policy.toml", "--certificate", "c.json")
    done = made.run(*arguments)
    assert done.status == 4, done.err
    assert message in done.err
    done = made.run(*arguments, "--json")
    assert done.json["exit_code"] == 4
    assert any(message in one["message"] for one in done.json["error"]["problems"])


def test_any_byte_of_a_certificate_counts(made: Desk) -> None:
    """One bit in each part of it: none goes unnoticed, but in versions and the method's name."""
    text = made.read("p.json")
    unseen = []
    for at in range(0, len(text) - 1, 23):
        made.write({"p.json": flipped(text, at)})
        done = made.run(
            "verify", "o.csv", *READ, "--mapping", "map.json", "--certificate", "p.json"
        )
        assert done.status in {0, 2, 4}, done.err
        if done.status == 0:
            unseen.append(at)
    quiet = [text.index(b'"method"'), text.index(b'"versions"'), text.index(b'"input_hmac"')]
    assert all(any(0 <= at - start < 100 for start in quiet) for at in unseen)
    assert len(unseen) < 9


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--external-report e.html", "--external-report is about the mapping, too"),
        ("--certificate c.json", "--certificate is about the mapping, too"),
        ("--public-certificate - --mapping m.json", "--public-certificate needs a file"),
        ("--report r.html --mapping r.html", "two outputs would go to this one file"),
        ("--report d.dat", "is an input"),
        ("--report r.html --describe none.csv", "none.csv"),
        ("--report nowhere/r.html", "cannot be written"),
        ("--salt short --public-certificate p.json --mapping m.json", "at least 16 bytes"),
        ("--salt short --mapping m.json", "--salt is for the digest"),
        ("--report r.html --describe bad.csv", "bad.csv:1: expected an item"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(
    desk: Desk, arguments: str, message: str
) -> None:
    desk.write({"short": "x", "bad.csv": "just\n"})
    before = desk.files()
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -s 50 -o o.dat"), *words(arguments))
    assert done.status == 2
    assert message in done.err
    assert desk.files() == before


def test_a_report_that_fails_publishes_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    before = desk.files()

    def fail(*_: Any) -> str:
        raise oc.DataError("no")

    monkeypatch.setattr("overcoat.application.reporting.external_page", fail)
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -s 50 -o o.dat --mapping m.json "
                           "--external-report e.html --report r.html"))  # fmt: skip
    assert done.status == 2
    assert desk.files() == before


def test_no_report_on_a_release_that_does_not_hold(made: Desk) -> None:
    made.write({"policy.toml": POLICY.replace("k = 3", "k = 9", 1)})
    for more in ((), ("--data", "d.csv")):
        done = made.run(
            *("report", "o.csv", *READ, "--mapping", "map.json", "--policy", "policy.toml"),
            *("-o", "again.html", *more),
        )
        assert done.status == 4, done.err
        assert not (made.folder / "again.html").exists()
    other = table().replace("w", "a")
    made.write({"policy.toml": POLICY, "d.csv": other + "99,z\n"})
    done = made.run(
        *("report", "o.csv", *READ, "--mapping", "map.json", "--policy", "policy.toml"),
        *("-o", "again.html", "--data", "d.csv"),
    )
    assert done.status == 4, done.err


def test_what_is_no_certificate(made: Desk) -> None:
    for text, message in [
        ("{}", "is not a certificate"),
        ("[", "not the JSON of a certificate"),
        ('{"certificate":1,"certificate":1}', "stands twice"),
        ('{"certificate":9}', "has format 9"),
        ('{"certificate":1}', "is missing"),
    ]:
        made.write({"x.json": text})
        done = made.run(*VERIFY, "--certificate", "x.json")
        assert done.status == 2
        assert message in done.err
    done = made.run(*VERIFY)
    assert done.status == 2
    done = made.run(*VERIFY, "-k", "3", "--km", "2", "--salt", "salt")
    assert done.status == 2


def test_formats(desk: Desk) -> None:
    """Whatever the layout, the external edition is made again from files."""
    desk.write({"d.csv": table()})
    for name, layout, reading in [
        ("o.parquet", "list", ("--items", "items")),
        ("o.csv.gz", "long", READ),
        ("o.dat", "basket", ()),
    ]:
        files = ("-o", name, "--to", layout, "--mapping", "m.json", "--external-report", "e.html")
        done = desk.run("anonymize", "d.csv", *READ, *words("-k 3 --km 2 -s 20"), *files)
        assert done.status == 0, done.err
        again = ("report", name, *reading, *words("-k 3 --km 2 -s 20 --mapping m.json"))
        done = desk.run(*again, "-o", "again.html")
        assert done.status == 0, done.err
        assert desk.read("again.html") == desk.read("e.html")
        done = desk.run(*again, "-o", "-")
        assert done.out == desk.read("e.html")


def test_sets_are_split_as_those_of_the_original(desk: Desk) -> None:
    """The original has blanks between items, its release commas; next month it lacks items."""
    desk.write({"u.txt": "x: a b c d\ny: e f\n", "next.dat": "a b\na b\na\nc\nc\nb\n"})
    policy = ("-k", "2", "--km", "2", "--utility", "u.txt", "-s", "40")
    for command, mapping in [
        (("anonymize", "d.dat"), "m.json"),
        (("apply", "next.dat", "--use", "m.json"), "n.json"),
    ]:
        files = ("-o", "o.csv", "--mapping", mapping, "--external-report", "e.html")
        done = desk.run(*command, *policy, *files)
        assert done.status == 0, done.err
        done = desk.run("report", "o.csv", *policy, "--mapping", mapping, "-o", "a.html")
        assert done.status == 0, done.err
        assert desk.read("a.html") == desk.read("e.html")
    desk.write({"u.txt": "x: a b c d\ny: e nonsense\n"})
    done = desk.run("report", "o.csv", *policy, "--mapping", "m.json", "-o", "b.html")
    assert done.status == 2
    assert "does not occur" in done.err


def test_descriptions(desk: Desk) -> None:
    desk.write({"codes.csv": "code,description\na,An <apple>\n"})
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -s 50 -o o.dat --mapping m.json "
                           "--external-report e.html --describe codes.csv"))  # fmt: skip
    assert done.status == 0, done.err
    assert b"An &lt;apple&gt;" in desk.read("e.html")
    again = words("report o.dat -k 2 --km 2 -s 50 --mapping m.json --describe codes.csv -o a.html")
    assert desk.run(*again).status == 0
    assert desk.read("a.html") == desk.read("e.html")


def test_the_order_is_told(desk: Desk) -> None:
    done = desk.run(
        *words(
            "anonymize d.dat -k 2 --km 2 -s 50 -o o.dat --mapping m.json "
            "--external-report e.html --certificate c.json --keep-order"
        )
    )
    assert done.status == 0, done.err
    assert b"They are in the order of the input" in desk.read("e.html")
    again = words("report o.dat -k 2 --km 2 -s 50 --mapping m.json -o a.html")
    assert desk.run(*again).status == 0
    assert desk.read("a.html") == desk.read("e.html")
    done = desk.run(*words("verify d.dat o.dat --mapping m.json --certificate c.json"))
    assert done.status == 0, done.err


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not there")
def test_a_signature_by_ssh_keygen(made: Desk) -> None:
    """The commands of docs/report.md."""

    def run(command: str, stdin: bytes = b"") -> int:
        done = subprocess.run(
            words(command), cwd=made.folder, input=stdin, capture_output=True, check=False
        )
        return done.returncode

    assert run("ssh-keygen -q -t ed25519 -N '' -C owner -f key") == 0
    assert run("ssh-keygen -Y sign -f key -n overcoat p.json") == 0
    made.write({"signers": b"owner@hospital.example " + made.read("key.pub")})
    check = "ssh-keygen -Y verify -f signers -I owner@hospital.example -n overcoat -s p.json.sig"
    assert run(check, made.read("p.json")) == 0
    assert run(check, flipped(made.read("p.json"), 50)) != 0


def test_the_price_of_each_set(made: Desk) -> None:
    done = made.run(*words("anonymize d.csv --policy policy.toml -o o.csv --report in.html"), *READ,
                    "--price")  # fmt: skip
    assert done.status == 0, done.err
    page = made.read("in.html").decode()
    prices = oc.price(made.folder / "d.csv", made.folder / "policy.toml", id="person", item="code")
    assert "What each wish costs" in page
    for words_of_it in prices.words().values():
        assert words_of_it in page
    assert "What each wish costs" not in made.read("ex.html").decode()
    done = made.run(*words("anonymize d.csv --policy policy.toml -o o.csv --price"), *READ)
    assert done.status == 2
    assert "--price is for the report" in done.err
    done = made.run(*words("apply d.csv --use map.json --policy policy.toml -o n.csv --price"),
                    *READ, "--report", "n.html")  # fmt: skip
    assert done.status == 2
    assert not (made.folder / "n.html").exists()
