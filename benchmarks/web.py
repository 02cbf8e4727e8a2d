"""What the page of `overcoat serve` costs: ``python -m benchmarks.web --help``.

From the command to the first page, what a page weighs, what the server holds, and how long a change
takes until the new result stands there; all of it in a real browser, the one that the tests take.
"""

from __future__ import annotations

import argparse
import http.client
import json
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement

from benchmarks.run import machine
from overcoat._version import __version__
from overcoat.data import samples

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

    from web.serving import Server

__all__ = ["main"]

STEPS = ("data", "risk", "keep", "protect", "result", "publish")
LARGE = "bms-webview-2.dat"
_PATIENCE = 120_000  # milliseconds
# Tasks of the browser that kept it from answering, as it says itself, of all pages of a tab.
_WATCH = """
new PerformanceObserver((list) => {
  const before = JSON.parse(sessionStorage.getItem("long") || "[]");
  const more = list.getEntries().map((one) => one.duration);
  sessionStorage.setItem("long", JSON.stringify([...before, ...more]));
}).observe({ type: "longtask", buffered: true });
"""
# Changes k, and tells after how many milliseconds the result for it stands there: the verdict, and
# all that belongs to it (risk, how far counts are off).
_CHANGE = """
(k) => new Promise((resolve, reject) => {
  const began = performance.now(), before = location.pathname;
  let first = 0;
  const look = () => {
    const there = location.pathname !== before && document.querySelector(".verdict.good");
    if (document.querySelector("#part-run[data-state=failed]")) { reject("it cannot be met"); }
    if (there && !first) { first = performance.now() - began; }
    if (there && !document.querySelector("[aria-busy=true]")) {
      resolve([first, performance.now() - began]);
    } else { setTimeout(look, 4); }
  };
  const field = document.getElementById("k");
  field.value = k;
  field.dispatchEvent(new Event("change", { bubbles: true }));
  look();
})
"""
_WEIGHT = """
performance.getEntries().filter((one) => "transferSize" in one)
  .reduce((sum, one) => sum + one.transferSize, 0)
"""
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"


@dataclass(frozen=True)
class Line:
    """One thing that was measured, and what it has to stay below."""

    what: str
    value: float
    unit: str
    goal: float | None = None

    def __str__(self) -> str:
        goal = "" if self.goal is None else f"{self.goal:g} {self.unit}"
        return f"| {self.what} | {self.value:.3g} {self.unit} | {goal} |"


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=5, help="how often each is measured")
    parser.add_argument("--data", type=Path, help=f"folder with {LARGE}; else it is generated")
    parser.add_argument("--n-rows", type=int, default=77_512, help="rows of what is generated")
    options = parser.parse_args(arguments)
    with _tests(), tempfile.TemporaryDirectory() as name:
        lines = []
        for line in _measured(options, Path(name)):
            lines.append(line)
            sys.stderr.write(f"{line}\n")
    head = f"Overcoat {__version__}, {machine()}; the median of {options.times}."
    table = "\n".join(map(str, lines))
    sys.stdout.write(f"{head}\n\n| what | measured | below |\n|---|---|---|\n{table}\n")


@contextmanager
def _tests() -> Iterator[None]:
    """Let the helpers of the tests be imported: the server as a process, the browser."""
    folder = str(Path(__file__).resolve().parents[1] / "tests")
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _measured(options: argparse.Namespace, folder: Path) -> Iterator[Line]:
    from browser import launch  # noqa: PLC0415  which is of the tests
    from web.serving import serving  # noqa: PLC0415

    large = folder / "large.dat"
    if options.data is None:
        samples.write_baskets(large, options.n_rows, 3_340, mean=4.6, skew=1.0)
    else:
        large = options.data / LARGE
    yield Line("the extra `web`, installed", extra_size("overcoat", "web") / 1e6, "MB", 30)
    yield Line("from the command to the first page", median(_starts(options.times)), "s", 1)
    with launch() as browser, serving() as server:
        yield Line("the server, before anybody asks", resident(server.process.pid), "MB", 80)
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(_PATIENCE)
        context.add_init_script(_WATCH)
        page = context.new_page()
        page.goto(server.address)
        page.wait_for_url(f"{server.base}/")
        yield from _pages(browser, context, page, server, options.times)
        of_pages = _longest(page)
        yield from _changes(page, "the sample hospital", options.times, 1)
        while_changing = _longest(page)
        page.goto(server.base)
        page.set_input_files("#file", large)
        _settle(page, "data")
        page.goto(page.url.replace("/data", "/result"))
        _settle(page, "result")
        of_pages = max(of_pages, _longest(page))
        yield from _changes(page, large.name, options.times, 2)
        yield Line(
            "the browser's longest task while results come in",
            max(while_changing, _longest(page)),
            "ms",
            50,
        )
        yield Line("the browser's longest task while pages load", of_pages, "ms")
        yield Line("the server, after all this", resident(server.process.pid), "MB", 80)


def _starts(times: int) -> Iterator[float]:
    """Yield the seconds from the start of the command until the first page has been sent."""
    from web.serving import serving  # noqa: PLC0415  which is of the tests

    for _ in range(times):
        began = time.perf_counter()
        with serving() as server:
            asks = http.client.HTTPConnection(server.base.removeprefix("http://"))
            asks.request("GET", server.address.removeprefix(server.base))
            entered = asks.getresponse()
            entered.read()
            cookie = str(entered.getheader("set-cookie")).partition(";")[0]
            asks.request("GET", "/", headers={"cookie": cookie})
            page = asks.getresponse().read()
            seconds = time.perf_counter() - began
            asks.close()
        assert b'id="drop"' in page
        yield seconds


def _pages(
    browser: Browser, context: BrowserContext, page: Page, server: Server, times: int
) -> Iterator[Line]:
    """Yield what the pages weigh, and after how long each has something to see."""
    cookies: Any = context.cookies()
    weights, paints = [], []
    for _ in range(times):
        fresh = browser.new_context(viewport={"width": 1280, "height": 900})  # nothing is cached
        fresh.add_cookies(cookies)
        one = fresh.new_page()
        one.goto("data:text/html,<p>a tab")  # that the browser has begun is not the page's work
        one.wait_for_timeout(500)
        one.goto(server.base)
        one.wait_for_load_state("networkidle")
        weights.append(one.evaluate(_WEIGHT) / 1e3)
        paints.append(one.evaluate(_PAINT))
        fresh.close()
    yield Line("the first page, nothing cached: first content", median(paints), "ms", 200)
    yield Line("the first page, with all it loads", max(weights), "kB", 300)
    page.click("#sample")
    _settle(page, "data")
    paints, weights = [], []
    for step in STEPS:
        page.goto(re.sub(r"/[a-z]+$", f"/{step}", page.url))
        _settle(page, step)
        of_step = []
        for _ in range(times):
            page.reload()
            _settle(page, step)
            of_step.append(page.evaluate(_PAINT))
        paints.append(median(of_step))
        weights.append(page.evaluate(_WEIGHT) / 1e3)
        if step == "result":
            result = page.url
    yield Line("the slowest step, seen again: first content", max(paints), "ms", 200)
    yield Line("the largest step, what is cached not counted", max(weights), "kB", 300)
    page.goto(result)
    _settle(page, "result")


def _changes(page: Page, what: str, times: int, goal: float) -> Iterator[Line]:
    """Yield how long a change of k takes until its result is seen."""
    found = []
    for n in range(times):
        found.append(page.evaluate(_CHANGE, 6 + n))
        page.wait_for_timeout(200)  # nobody is so quick: what came in is not yet listened to
    for place, name in enumerate(("verdict, counts, groups", "risk and error of counts too")):
        seconds = median(one[place] for one in found) / 1e3
        yield Line(f"{what}, a change: {name}", seconds, "s", goal)


def _longest(page: Page) -> float:
    """Return the longest task of the tab since this was asked last, in milliseconds; 0 below 50."""
    asked = "sessionStorage.getItem('long')"
    found = page.evaluate(
        f"(() => {{ const told = {asked}; sessionStorage.clear(); return told; }})()"
    )
    return max(json.loads(found or "[]"), default=0.0)


def _settle(page: Page, step: str) -> None:
    """Wait until a step shows all that its jobs find."""
    page.wait_for_url(re.compile(rf"/{step}(\?.*)?$"))
    page.wait_for_selector("[aria-busy=true]", state="detached")
    page.wait_for_load_state("networkidle")


def resident(pid: int) -> float:
    """Return the memory of a process in MB, as Linux tells it."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) * 1024 / 1e6


def extra_size(name: str, extra: str) -> int:
    """Return the bytes of what an extra installs beside what is needed anyway."""
    more = _needed(name, extra) - _needed(name, "")
    return sum(_size(one) for one in more)


def _needed(name: str, extra: str) -> set[str]:
    """Return the distributions that one needs, and that those need."""
    found: set[str] = set()
    open_ends = [(name, extra)]
    while open_ends:
        one, of = open_ends.pop()
        for text in metadata.requires(one) or ():
            required = Requirement(text)
            if required.marker and not required.marker.evaluate({"extra": of}):
                continue
            called = required.name.lower().replace("_", "-")
            if called not in found:
                found.add(called)
                open_ends += [(called, one_of) for one_of in ("", *required.extras)]
    return found


def _size(name: str) -> int:
    """Return the bytes of the files of a distribution, without what Python compiles of them."""
    files = [one for one in metadata.files(name) or () if one.suffix != ".pyc"]
    return sum(Path(str(one.locate())).stat().st_size for one in files)


if __name__ == "__main__":
    main()
