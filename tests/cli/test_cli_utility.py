"""Utility sets from tables and levels, on the command line."""

from __future__ import annotations

from cli.command import Desk, words

TREE = "".join(f"{leaf};{node};*\n" for leaf, node in zip("abcdef", "xxxyyy", strict=True))
RUN = "anonymize d.dat -k 2 --km 1 -s 100 -o o.dat"


def sets(desk: Desk, more: str) -> dict[str, int]:
    done = desk.run(*words(f"{RUN} {more} --json"))
    assert done.status == 0, done.err
    return {one["name"]: one["before"] for one in done.json["named_sets"]}


def test_a_level_and_a_table_say_the_same(desk: Desk) -> None:
    table = "".join(f"{leaf};{node}\n" for leaf, node in zip("abcdef", "xxxyyy", strict=True))
    desk.write(
        {"h.csv": TREE, "u.csv": table, "p.toml": 'hierarchy = "h.csv"\nutility_level = 1\n'}
    )
    expected = {"x": 6, "y": 3}
    assert sets(desk, "--hierarchy h.csv --utility-level 1") == expected
    assert sets(desk, "--utility u.csv") == expected
    assert sets(desk, "--policy p.toml") == expected


def test_the_command_line_wins(desk: Desk) -> None:
    desk.write(
        {"h.csv": TREE, "u.txt": "ab: a b\n", "p.toml": 'hierarchy="h.csv"\nutility="u.txt"\n'}
    )
    assert sets(desk, "--policy p.toml") == {"ab": 6}
    assert sets(desk, "--policy p.toml --utility-level 1") == {"x": 6, "y": 3}
    desk.write({"p.toml": 'hierarchy = "h.csv"\nutility_level = 1\n'})
    assert sets(desk, "--policy p.toml --utility u.txt") == {"ab": 6}


def test_what_is_wrong_is_told(desk: Desk) -> None:
    desk.write({"h.csv": TREE, "u.txt": "ab: a b\n"})
    for more, says in [
        ("--utility-level 1", "a level of utility sets needs a hierarchy"),
        ("--utility-level 1 --hierarchy h.csv --utility u.txt", "not both"),
        ("--utility-level 3 --hierarchy h.csv", "h.csv: the hierarchy has no level 3"),
        ("--utility-level 0 --hierarchy h.csv", "the hierarchy has no level 0"),
        ("--utility-level nodes --hierarchy h.csv", "has no level 'nodes'; levels are numbers"),
    ]:
        done = desk.run(*words(f"{RUN} {more}"))
        assert done.status == 2
        assert says in done.err
    assert "o.dat" not in desk.files()


def test_evaluate_takes_a_level(desk: Desk) -> None:
    desk.write({"h.csv": TREE})
    assert desk.run(*words(f"{RUN} --mapping m.json")).status == 0
    command = "evaluate d.dat o.dat --mapping m.json --hierarchy h.csv --utility-level x --json"
    assert [one["name"] for one in desk.run(*words(command)).json["named_sets"]] == ["x", "y"]
