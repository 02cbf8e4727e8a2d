"""Kill a process at every step of its work with files; a program, since forking wants one thread.

Prints a line for each case: how many files, how many of them there were before, whether these are
kept as links or as copies, at how many steps it was killed, and how that ended.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import count, product
from pathlib import Path
from typing import Any

from overcoat.data.io import Staging, unfinished

STEPS = ["open", "close", "write", "fsync", "ftruncate", "link", "replace", "unlink", "chmod"]
KILLED = 9

Content = dict[str, str]


def kill_at(step: int) -> None:
    """Have this process end before the `step`-th thing that it does, or in the middle of it."""
    left = step

    def counted(name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                if name == "write":
                    act(arguments[0], arguments[1][: len(arguments[1]) // 2])
                os._exit(KILLED)
            return act(*arguments, **options)

        return call

    os.fsync = lambda fd: None  # which is for the disk alone, and takes its time
    for name in STEPS:
        setattr(os, name, counted(name, getattr(os, name)))


def run(work: Callable[[], None], step: int = 0) -> bool:
    """Do some work in a process of its own, to be killed at a step; say whether it was."""
    process = os.fork()
    if not process:
        try:
            if step:
                kill_at(step)
            work()
            os._exit(0)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    assert status in (0, KILLED)
    return status == KILLED


def look(folder: Path) -> Content:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


def hidden(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob(".*"))


def no_links(*arguments: Any) -> None:
    raise PermissionError("no links here")


def publish(folder: Path, new: Content, links: bool) -> None:
    if not links:
        os.link = no_links  # type: ignore[assignment]
    with Staging() as staging:
        for name, text in new.items():
            staging.stage(folder / name).write_text(text)
        staging.commit()


def touch(folder: Path, names: Content) -> None:
    """Stage something else beside each of these files, and leave it."""
    with Staging() as staging:
        for name in names:
            staging.stage((folder / name).with_suffix(".other"))


def check(folder: Path, old: Content, new: Content) -> str:
    """Look at what a killed process left, clean up, and look again; return how it ended."""
    left = look(folder)
    words = {unfinished(folder / name) for name in new}
    if left not in (old, new):
        assert all(words), (left, words)
    touch(folder, new)
    assert look(folder) in ((old,) if all(words) else (old, new))
    assert hidden(folder) == []
    assert not any(unfinished(folder / name) for name in new)
    mixed = "" if left in (old, new) else " after a mixture"
    return ("new" if look(folder) == new else "old") + mixed


def main() -> None:
    names = [("released.csv", "mapping.json"), ("a/released.csv", "b/mapping.json"), ("r.csv",)]
    for together, n_old, links in product(names, range(3), (True, False)):
        if n_old > len(together) or (n_old != 1 and not links):
            continue  # would show nothing new
        new = {name: f"new {name}" for name in together}
        old = {name: f"old {name}" for name in together[:n_old]}
        ends = []
        for step in count(1):
            folder = Path(tempfile.mkdtemp()).resolve()
            for name in new:
                (folder / name).parent.mkdir(exist_ok=True)
            for name, text in old.items():
                (folder / name).write_text(text)
            killed = run(partial(publish, folder, new, links), step)
            if not killed:
                assert look(folder) == new
                assert hidden(folder) == []
                break
            if n_old == 1 and look(folder) not in (old, new):  # kill the one that cleans up, too
                for later in range(1, 1000):
                    copy = Path(tempfile.mkdtemp()).resolve() / "copy"
                    shutil.copytree(folder, copy)
                    again = run(partial(touch, copy, new), later)
                    check(copy, old, new)
                    shutil.rmtree(copy.parent)
                    if not again:
                        break
            ends.append(check(folder, old, new))
            shutil.rmtree(folder)
        kept = "links" if links else "copies"
        told = [len(together), len(old), kept, len(ends), *dict.fromkeys(ends)]
        sys.stdout.write(", ".join(map(str, told)) + "\n")


if __name__ == "__main__":
    main()
