"""What of the machine is used: `--threads`, `--memory`, `--temporary`."""

from __future__ import annotations

import pytest

import overcoat as oc
from cli.command import Desk, words
from overcoat.cli import cli

COMMANDS = {name: one for name, one in cli.commands.items() if name != "serve"}  # its jobs are runs


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_every_command_says_what_it_may_use(name: str) -> None:
    told = {option for one in COMMANDS[name].params for option in one.opts}
    assert {"--threads", "--memory", "--temporary"} <= told


@pytest.mark.parametrize("name", ["o.dat", "o.csv", "o.csv.gz", "o.parquet"])
@pytest.mark.parametrize("given", ["d.dat", "d.csv", "d.parquet"])
def test_the_same_bytes_on_any_number_of_threads(desk: Desk, given: str, name: str) -> None:
    data = oc.datasets.baskets(3000, 50, mean=4)
    frame = data.to_polars("long")
    if given == "d.dat":
        desk.write({given: "".join(f"{' '.join(row)}\n" for row in data.to_lists()).encode()})
    else:
        shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
        getattr(shuffled, "write_csv" if given == "d.csv" else "write_parquet")(desk.folder / given)
    columns = "" if given == "d.dat" else "--id id --item item"
    to = "--to long" if name.startswith("o.csv") and given == "d.dat" else ""
    found = set()
    for threads in (1, 2, 5):
        done = desk.run(
            *words(f"anonymize {given} {columns} -k 3 --km 2 {to} --threads {threads}"),
            *words(f"-o {name} --mapping map.json"),
        )
        assert done.status == 0, done.err
        found.add((desk.read(name), desk.read("map.json")))
    assert len(found) == 1


@pytest.mark.parametrize(
    "wrong", ["--threads 0", "--threads many", "--memory plenty", "--memory -1", "--memory 5Q"]
)
def test_what_is_no_limit(desk: Desk, wrong: str) -> None:
    done = desk.run(*words(f"anonymize d.dat -k 2 --km 2 -o o.dat {wrong}"))
    assert done.status == 2
    assert wrong.split(maxsplit=1)[0] in done.err
    assert "o.dat" not in desk.files()


def test_too_little_memory_is_told_before_the_work(desk: Desk) -> None:
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -o o.dat --memory 0.1K"))
    assert done.status == 2
    assert "of memory, and 0 MiB can be had" in done.err
    assert "o.dat" not in desk.files()


@pytest.mark.parametrize("size", ["2G", "2GB", "2GiB", "1.5g", "2000M", "2147483648"])
def test_sizes_of_memory(desk: Desk, size: str) -> None:
    done = desk.run(*words(f"anonymize d.dat -k 2 --km 2 -s 50 -o o.dat --memory {size}"))
    assert done.status == 0, done.err


def test_the_peak_of_memory_by_stage(desk: Desk) -> None:
    done = desk.run(*words("anonymize d.dat -k 2 --km 2 -s 50 -o o.dat --json"))
    stages = done.json["peak_memory_by_stage_mb"]
    assert set(stages) == set(done.json["seconds"]) - {"total"}
    assert 0 < max(stages.values()) <= done.json["peak_memory_mb"]
