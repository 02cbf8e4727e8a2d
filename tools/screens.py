"""Walks through the pages of `overcoat serve` and takes them (``make screens``).

Every step in light, in dark and on a phone, 360 pixels wide: to be looked at. What axe-core says of
each goes into a table of docs/serve-pages.md, with the clicks of the way; the pictures of
docs/serve.md are two of them. It takes the browser that the tests take.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

__all__ = ["LOOKS", "SCREENS", "main", "walk"]

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "serve-pages.md"
LOOKS = {"light": (1280, "light"), "dark": (1280, "dark"), "360": (360, "light")}
# What is taken for docs/serve.md: which screen, how high.
_PICTURES = {"serve-risk.png": ("risk", 760), "serve-result.png": ("result", 1150)}
_PATIENCE = 120_000  # milliseconds
_CLASH = "\n".join(["a c", "a d", *["a"] * 5, *["c"] * 5, *["d"] * 5])


@dataclass(frozen=True)
class Found:
    """What axe-core says of a screen in one look: how many rules it met, and which it did not."""

    screen: str
    look: str
    passes: int
    violations: tuple[str, ...]
    sideways: bool


class Walk:
    """One way through the pages in one look."""

    def __init__(self, context: BrowserContext, address: str) -> None:
        self.page: Page = context.new_page()
        self.page.goto(address)
        self.page.wait_for_selector("#drop")
        self.home = self.page.url

    def step(self, name: str, query: str = "") -> None:
        """Go to a step of what is chosen, and wait for all it shows."""
        self.page.goto(re.sub(r"/[a-z]+(\?.*)?(#.*)?$", f"/{name}{query}", self.page.url))
        self.settle()

    def settle(self) -> None:
        """Wait until nothing is being worked out."""
        self.page.wait_for_selector("[aria-busy=true], td progress", state="detached")
        self.page.wait_for_load_state("networkidle")

    def give(self, selector: str, name: str, content: str) -> None:
        """Choose a file in a field."""
        file: Any = {"name": name, "mimeType": "text/plain", "buffer": content.encode()}
        before = self.page.url
        self.page.set_input_files(selector, file)
        self.page.wait_for_url(lambda url: url != before)
        self.settle()

    def unfold(self) -> None:
        """Open all that can be opened."""
        self.page.evaluate("document.querySelectorAll('main details').forEach(d => d.open = true)")
        self.page.wait_for_load_state("networkidle")


def _sample(walk: Walk) -> None:
    walk.page.goto(walk.home)
    walk.page.click("#sample")
    walk.page.wait_for_url("**/data")
    walk.settle()


def _start(walk: Walk) -> None:
    walk.page.goto(walk.home)


def _for_programs(walk: Walk) -> None:
    walk.page.goto(f"{walk.home}rest")


def _all_of_result(walk: Walk) -> None:
    walk.step("result", "?compare=yes&price=yes")
    walk.unfold()


def _by_hand(walk: Walk) -> None:
    walk.step("keep")
    walk.page.click("text=Edit by hand")
    walk.page.wait_for_selector("#moving")
    walk.settle()


def _wrong(walk: Walk) -> None:
    walk.step("protect")
    walk.page.fill("#s", "many")
    walk.page.press("#s", "Tab")
    walk.page.wait_for_selector("[role=alert]")


def _clash(walk: Walk) -> None:
    walk.page.goto(walk.home)
    walk.give("#file", "visits.txt", _CLASH + "\n")
    walk.step("keep")
    walk.give("#pick-keep-table", "sets.txt", "x: a\ny: c\nz: d\n")
    walk.step("result")
    walk.page.wait_for_selector(".cure")


def _unreadable(walk: Walk) -> None:
    walk.page.goto(walk.home)
    walk.give("#file", "empty.csv", "patient,code\n")


def _identifiers(walk: Walk) -> None:
    rows = [f"{n},{'AB'[n % 2]}{10_000_000 + 137 * n}@mail.example" for n in range(60)]
    walk.page.goto(walk.home)
    walk.give("#file", "mails.csv", "\n".join(["patient,code", *rows]) + "\n")
    walk.step("result")


def _working(walk: Walk) -> None:
    _sample(walk)
    text = f'k = 5\nkm = 2\nmax_suppressed = 5\nalgorithm = "search"\nsteps = {10**9}\n'
    walk.unfold()
    walk.give("#pick-policy-policy", "policy.toml", text)
    walk.page.goto(walk.page.url.replace("/data", "/result"))
    walk.page.wait_for_selector("#part-run .working .stage:has-text('looking')")


def _stopped(walk: Walk) -> None:
    walk.page.click("#part-run >> text=Stop")
    walk.page.wait_for_selector("text=You stopped this")


def _publish(walk: Walk) -> None:
    walk.page.check("#confirm")
    walk.page.click("#make")
    walk.page.wait_for_selector("#download")


def _missing(walk: Walk) -> None:
    walk.page.goto(f"{walk.home}p/00000000")


# In an order in which each is a few moves away from the one before.
SCREENS: dict[str, Callable[[Walk], None]] = {
    "start": _start,
    "data": _sample,
    "data, all open": Walk.unfold,
    "risk": lambda walk: walk.step("risk"),
    "keep": lambda walk: walk.step("keep"),
    "protect": lambda walk: walk.step("protect"),
    "result": lambda walk: walk.step("result"),
    "result, all open": _all_of_result,
    "publish, to confirm": lambda walk: walk.step("publish"),
    "publish, done": _publish,
    "keep, by hand": _by_hand,
    "a wrong number": _wrong,
    "cannot be met": _clash,
    "cannot be published": lambda walk: walk.step("publish"),
    "an empty file": _unreadable,
    "identifiers": _identifiers,
    "working": _working,
    "stopped": _stopped,
    "start, with projects": _start,
    "for programs": _for_programs,
    "nothing there": _missing,
}


def walk(browser: Browser, address: str, look: str, folder: Path) -> Iterator[Found]:
    """Take all screens in one look."""
    width, scheme = LOOKS[look]
    size: Any = {"width": width, "height": 800}
    schemed: Any = scheme
    context = browser.new_context(
        viewport=size, color_scheme=schemed, reduced_motion="reduce", device_scale_factor=1
    )
    context.set_default_timeout(_PATIENCE)
    one = Walk(context, address)
    for number, (name, go) in enumerate(SCREENS.items(), 1):
        go(one)
        file = f"{number:02}-{re.sub(r'[^a-z]+', '-', name)}-{look}.png"
        one.page.screenshot(path=folder / file, full_page=True)
        yield _checked(one.page, name, look)
        if look == "light":
            _picture(one.page, name)
    context.close()


def _checked(page: Page, name: str, look: str) -> Found:
    from browser import axe  # noqa: PLC0415  which is of the tests

    told = axe(page)
    room = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    return Found(
        name,
        look,
        len(told["passes"]),
        tuple(f"{one['id']} ({one['impact']})" for one in told["violations"]),
        room[0] > room[1],
    )


def _picture(page: Page, screen: str) -> None:
    for file, (name, height) in _PICTURES.items():
        if name == screen:
            clip: Any = {"x": 0, "y": 0, "width": LOOKS["light"][0], "height": height}
            page.screenshot(path=ROOT / "docs" / file, full_page=True, clip=clip)


def table(found: Sequence[Found]) -> str:
    """Return what was found as a table: a line for each screen, a column for each look."""
    lines = [
        f"| screen | {' | '.join(LOOKS)} |",
        f"|---|{'---|' * len(LOOKS)}",
    ]
    for name in dict.fromkeys(one.screen for one in found):
        cells = [_cell(one) for one in found if one.screen == name]  # in the order of the looks
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(found: Found) -> str:
    told = [*found.violations, *(["wider than the window"] if found.sideways else [])]
    return f"{', '.join(told) or 'none'} ({found.passes} rules met)"


@contextmanager
def _tests() -> Iterator[None]:
    """Let the helpers of the tests be imported: the server as a process, the browser."""
    sys.path.insert(0, str(ROOT / "tests"))
    try:
        yield
    finally:
        sys.path.remove(str(ROOT / "tests"))


def main(arguments: Sequence[str] | None = None) -> None:
    """Take the screens, and write the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--out", default="screens", help="where the pictures go")
    folder = Path(parser.parse_args(arguments).out)
    folder.mkdir(parents=True, exist_ok=True)
    found: list[Found] = []
    with _tests():
        from browser import launch  # noqa: PLC0415  which is of the tests
        from web.serving import serving  # noqa: PLC0415

        with launch() as browser:
            for look in LOOKS:
                with serving() as server:
                    found += walk(browser, server.address, look, folder)
    text = PAGE.read_text("utf-8")
    start, end = "<!-- screens -->\n", "<!-- end of screens -->"
    before, _, rest = text.partition(start)
    _, _, after = rest.partition(end)
    PAGE.write_text(f"{before}{start}\n{table(found)}\n\n{end}{after}", "utf-8", newline="\n")


if __name__ == "__main__":
    main()
