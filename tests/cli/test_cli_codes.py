"""Codes that lost something, on the command line."""

from __future__ import annotations

from cli.command import Desk, words

LONG = "patient,code\n" + "".join(
    f"{n},{code}\n" for n in range(4) for code in ("38", "401", "v45")
)
TREE = "038;x;*\n401;x;*\nV45;y;*\n"
RUN = "anonymize d.csv --id patient --item code -k 2 --km 2 -o o.csv"


def test_it_is_told_and_mended_when_asked(desk: Desk) -> None:
    desk.write({"d.csv": LONG, "h.csv": TREE})
    done = desk.run(*words(f"{RUN} --hierarchy h.csv --json"))
    assert done.status == 2
    assert (
        "2 items differ from codes of the hierarchy only in upper and lower case: 'v45' there is "
        "'V45'; zeros in front: '38' there is '038'. If the data lost something, read the data "
        "with --upper --pad 3"
    ) in done.err

    done = desk.run(*words(f"{RUN} --hierarchy h.csv --pad 3 --upper --trim"))
    assert done.status == 0, done.err
    assert "; codes with zeros in front up to 3 digits, no blanks around" in done.err
    assert "(2 changed)" in done.err
    assert desk.lines("o.csv")[1:4] == ["1,038", "1,401", "1,V45"]
    told = desk.run(*words(f"{RUN} --hierarchy h.csv --pad 3 --upper --json")).json
    words_of_it = "; codes with zeros in front up to 3 digits, capital letters (2 changed)"
    assert told["read_as"].endswith(words_of_it)


def test_verify_takes_the_same_options(desk: Desk) -> None:
    desk.write({"d.csv": LONG})
    shape = "--id patient --item code --pad 3 --upper -k 2 --km 2"
    assert desk.run(*words(f"anonymize d.csv {shape} -o o.csv --mapping m.json")).status == 0
    assert desk.run(*words(f"verify d.csv o.csv --mapping m.json {shape}")).status == 0


def test_a_note_where_nothing_fails(desk: Desk) -> None:
    desk.write({"d.csv": LONG, "known.txt": TREE})
    done = desk.run(*words(f"{RUN} --known known.txt"))
    assert done.status == 0
    assert "note: 2 items differ from codes of the known codes only in upper" in done.err
    assert b",38\n" in desk.read("o.csv"), "nothing is mended silently"


def test_pad_must_be_a_number_of_digits(desk: Desk) -> None:
    desk.write({"d.csv": LONG})
    done = desk.run(*words(f"{RUN} --pad 0"))
    assert done.status == 2
    assert "pad must be a whole number of at least 1, not 0" in done.err
