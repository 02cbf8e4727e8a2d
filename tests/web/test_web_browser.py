"""The pages in a real browser: the whole way, hostile labels, cures, tabs, restarts."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from web.browsing import PATIENCE, STEPS, check, choose_file, entered, pressed, settled
from web.serving import Server, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

pytestmark = pytest.mark.xdist_group("browser")

ROOT = Path(__file__).parents[2]
HOSTILE = [
    "<script>document.title='pwned'</script>",
    "<img src=x onerror=document.title='pwned'>",
    "x" * 10_000,
    "\u202eesrever",
    "\u05d0\u05d1",
    '"quoted" & {{ 7 * 7 }}',
]


@pytest.fixture(scope="module")
def hospital(browser: Browser) -> Iterator[tuple[Server, BrowserContext, str]]:
    """A server with the sample, a browser that is in, and the address of the first step."""
    with serving() as server:
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE)
        page = entered(context, server)
        page.click("#sample")
        settled(page, "data")
        yield server, context, page.url
        context.close()


def told_clicks() -> list[str]:
    """Return the clicks that docs/serve.md lists."""
    text = (ROOT / "docs" / "serve.md").read_text("utf-8")
    return re.findall(r"^\d+\. \*\*(.*)\*\*$", text, re.MULTILINE)


def test_the_whole_way(hospital: tuple[Server, BrowserContext, str]) -> None:
    """From the start to the files: as docs/serve.md counts, and every step survives a reload."""
    server, context, _ = hospital
    page = context.new_page()
    asked: list[str] = []
    wrong: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda told: wrong.append(told.text) if "Content Security" in told.text else None,
    )
    page.goto(server.base)
    clicks = [pressed(page, "#sample")]
    settled(page, "data")
    for step in STEPS[1:]:
        clicks.append(pressed(page, "#next"))
        settled(page, step)
        page.reload()
        settled(page, step)
    clicks += [pressed(page, "label:has(#confirm)"), pressed(page, "#make")]
    page.wait_for_selector("#download")
    inside = page.locator(".inward .files > li > a:first-child").all_inner_texts()
    assert {"report.html", "certificate.json"} <= set(inside)
    assert not {"released.csv", "external.html", "public-certificate.json"} & set(inside)
    with page.expect_download() as download:
        clicks.append(pressed(page, "#download"))
    assert len(clicks) < 15
    assert clicks == told_clicks(), "docs/serve.md tells other clicks"
    assert download.value.suggested_filename == "patients-release.zip"
    for step in reversed(STEPS):
        page.go_back()
        settled(page, step)
    assert all(url.startswith((server.base, "data:")) for url in asked)
    assert wrong == []
    page.close()


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (1280, "dark"), (360, "light"), (640, "dark")]
)
def test_every_page_is_for_everyone(
    hospital: tuple[Server, BrowserContext, str], width: int, scheme: Any
) -> None:
    """Light, dark, a phone, and 200 percent: axe-core has nothing serious to say."""
    server, context, first = hospital
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": 740})
    page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
    page.goto(server.base)
    check(page)
    for step in STEPS:
        page.goto(first.replace("/data", f"/{step}"))
        settled(page, step)
        page.evaluate("document.querySelectorAll('main details').forEach(one => one.open = true)")
        check(page)
    for path in ("/rest", "/p/00000000"):
        page.goto(f"{server.base}{path}")
        check(page)
    page.close()


def test_by_keyboard_alone(hospital: tuple[Server, BrowserContext, str]) -> None:
    _, context, first = hospital
    page = context.new_page()
    page.goto(first.replace("/data", "/risk"))
    settled(page, "risk")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    page.keyboard.press("Enter")
    for _ in range(60):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "next":
            break
    page.keyboard.press("Enter")
    settled(page, "keep")
    page.close()


def test_live_change_and_two_tabs(hospital: tuple[Server, BrowserContext, str]) -> None:
    """A change is shown without being asked for; the other tab stays as it was."""
    _, context, first = hospital
    one, two = context.new_page(), context.new_page()
    for page in (one, two):
        page.goto(first.replace("/data", "/result"))
        settled(page, "result")
    before = one.url
    one.fill("#k", "10")
    one.press("#k", "Tab")
    one.wait_for_url(lambda address: address != before)
    settled(one, "result")
    assert "at least 10 people" in one.inner_text(".verdict")
    assert one.input_value("#k") == "10"
    two.reload()
    settled(two, "result")
    assert two.input_value("#k") == "5"
    assert "at least 5 people" in two.inner_text(".verdict")
    one.go_back()
    settled(one, "result")
    assert one.input_value("#k") == "5"
    one.close()
    two.close()


def test_a_link_followed_at_once_does_not_lose_the_change(
    hospital: tuple[Server, BrowserContext, str],
) -> None:
    """She types a number and presses Next without a pause: what she typed counts."""
    _, context, first = hospital
    page = context.new_page()
    page.goto(first.replace("/data", "/protect"))
    page.fill("#k", "7")
    page.click("#next")
    settled(page, "result")
    assert page.input_value("#k") == "7"
    page.fill("#k", "8")
    page.click("#next")
    settled(page, "publish")
    assert "at least 8 people" in page.inner_text("#part-gaps")
    page.go_back()
    settled(page, "result")
    page.fill("#s", "none")
    page.click("#next")  # which is not followed: what was wrong comes into sight
    page.wait_for_selector("#message:focus")
    assert page.url.endswith("/result")
    page.close()


def test_items_by_name(hospital: tuple[Server, BrowserContext, str]) -> None:
    """Which items could be known is typed; those that do not occur are told before the result."""
    _, context, first = hospital
    page = context.new_page()
    page.goto(first.replace("/data", "/protect"))
    page.check("input[name=linkable_kind][value=listed]")
    assert page.evaluate("document.activeElement.id") == "linkable"
    page.keyboard.type("250.00, 401.9, 25000")
    page.keyboard.press("Tab")
    page.wait_for_selector(".note.warn")
    assert page.inner_text(".note.warn").split("\n")[-1] == "25000"
    check(page)
    page.fill("#linkable", "250.00, 401.9")
    page.press("#linkable", "Tab")
    page.wait_for_selector(".note.warn", state="detached")
    assert "Only 2 items can be known from outside." in page.inner_text(".promise")
    page.click("#next")
    settled(page, "result")
    assert page.locator(".verdict.good").count() == 1
    page.close()


def test_wrong_numbers_are_told(hospital: tuple[Server, BrowserContext, str]) -> None:
    _, context, first = hospital
    page = context.new_page()
    page.goto(first.replace("/data", "/protect"))
    page.fill("#s", "many")
    page.press("#s", "Tab")
    page.wait_for_selector("[role=alert]")
    assert "a percentage from 0 to 100" in page.inner_text("[role=alert]")
    check(page)
    page.close()


def test_hostile_labels(browser: Browser) -> None:
    """Labels of the data are never HTML, and long ones break nothing."""
    lines = [",".join(f'"{label.replace(chr(34), chr(34) * 2)}"' for label in HOSTILE[:3])] * 6
    lines += [",".join(f'"{label.replace(chr(34), chr(34) * 2)}"' for label in HOSTILE[2:])] * 6
    with serving() as server:
        context = browser.new_context(viewport={"width": 360, "height": 740})
        context.set_default_timeout(PATIENCE)
        page = entered(context, server)
        choose_file(page, "hostile.csv", "\n".join(lines) + "\n")
        for step in STEPS[1:]:
            check(page)
            assert "pwned" not in page.title()
            assert page.locator("main img, main script").count() == 0
            page.click("#next")
            settled(page, step)
        page.check("#confirm")
        page.click("#make")
        page.wait_for_selector("#download")
        check(page)
        assert "pwned" not in page.title()
        context.close()


def test_what_cannot_be_met_is_cured(browser: Browser) -> None:
    rows = ["a c", "a d", *["a"] * 5, *["c"] * 5, *["d"] * 5]
    with serving() as server:
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        page = entered(context, server)
        choose_file(page, "data.txt", "\n".join(rows) + "\n")
        page.goto(page.url.replace("/data", "/keep"))
        settled(page, "keep")
        table: Any = {"name": "sets.txt", "mimeType": "text/plain", "buffer": b"x: a\ny: c\nz: d\n"}
        page.set_input_files("#pick-keep-table", table)
        page.wait_for_selector(".option.on >> text=sets.txt")
        settled(page, "keep")
        page.goto(page.url.replace("/keep", "/result"))
        page.wait_for_selector(".cure")
        settled(page, "result")
        assert "clash" in page.inner_text("#part-run")
        check(page)
        assert not page.locator("#next").is_visible()  # nothing to go on to: the cures lead
        page.click(".cure button >> nth=0")
        page.wait_for_selector(".verdict.good")
        assert page.locator("#next").is_visible()
        page.goto(f"{page.url}?compare=yes")
        settled(page, "result")
        rows = page.locator("#methods tbody tr").all_inner_texts()
        assert len(rows) == 4
        assert all("Take this one" in row or "in use" in row for row in rows[:3]), rows
        assert "hierarchy" in rows[3]  # what it lacks, in words
        context.close()


def test_by_hand(browser: Browser) -> None:
    """Sets are made by search, ticks and a name; by keyboard alone; by drag. Counts follow."""
    with serving() as server:
        context = browser.new_context(viewport={"width": 1280, "height": 1000})
        context.set_default_timeout(PATIENCE)
        page = entered(context, server)
        choose_file(page, "data.txt", "flu gout\nflu\ngout\nflu asthma\n")
        page.goto(page.url.replace("/data", "/keep"))
        page.click("text=Edit by hand")
        page.wait_for_selector("#moving")
        page.fill("#find-choose", "flu")
        page.wait_for_selector("#moving li:has-text('gout')", state="detached")
        page.check("#moving input[value=flu]")
        page.fill("#target", "colds")
        page.click("#moving >> text=Move")
        page.wait_for_selector(".sets >> text=colds")
        assert "1 item · 3 people" in page.inner_text(".sets")
        check(page)
        # By keyboard: from the search to the item, to the name of the set, and sent by Enter.
        page.focus("#find-choose")
        page.keyboard.type("asthma")
        page.wait_for_selector("#moving li:has-text('gout')", state="detached")
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.type("chronic")
        page.keyboard.press("Enter")
        page.wait_for_selector(".sets >> text=chronic")
        # By drag, of one item and of all that are ticked with it.
        before = page.url
        page.drag_and_drop("#moving li[data-item=gout]", ".sets li[data-drop=chronic]")
        page.wait_for_url(lambda address: address != before)
        settled(page, "keep")
        chronic = page.locator(".sets li[data-drop=chronic]")
        assert "2 items · 3 people" in chronic.inner_text()
        before = page.url
        page.check("#moving input[value=asthma]")
        page.drag_and_drop("#moving li[data-item=gout]", ".sets li[data-drop=colds]")
        page.wait_for_url(lambda address: address != before)
        settled(page, "keep")
        assert "3 items · 4 people" in page.inner_text(".sets")
        assert page.locator(".sets > li").count() == 1
        page.go_back()
        settled(page, "keep")
        assert page.locator(".sets > li").count() == 2
        context.close()


def test_cancel_a_kill_and_a_restart(browser: Browser, tmp_path: Path) -> None:
    """A job is stopped in the middle; another is killed; a new server has all that was found."""
    draw = random.Random(1)
    lines = [" ".join({f"i{int(300 * draw.random() ** 3)}" for _ in range(6)}) for _ in range(2000)]
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    with serving("--workspace", "kept", cwd=tmp_path) as server:
        page = entered(context, server)
        choose_file(page, "data.txt", "\n".join(lines) + "\n")
        first = page.url
        text = f'k = 5\nkm = 2\nmax_suppressed = 50\nalgorithm = "search"\nsteps = {10**8}\n'
        page.click("text=More: names of items")
        policy: Any = {"name": "policy.toml", "mimeType": "text/plain", "buffer": text.encode()}
        page.set_input_files("#pick-policy-policy", policy)
        page.wait_for_url(lambda address: address != first)
        settled(page, "data")
        page.goto(page.url.replace("/data", "/result"))
        page.click("#part-run >> text=Stop")
        page.wait_for_selector("text=You stopped this")
        check(page)
        if sys.platform == "linux":
            page.click("text=Try again")
            page.wait_for_selector("#part-run .working .stage:has-text('looking')")
            pid = server.process.pid
            for worker in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
                os.kill(int(worker), signal.SIGKILL)
            page.wait_for_selector("text=most likely memory ran out")
            check(page)
        old = page.url
    with serving("--workspace", "kept", cwd=tmp_path) as server:
        port = server.base.rpartition(":")[2]
        again = re.sub(r":\d+/", f":{port}/", first)
        page.goto(again)  # the cookie is that of the server before
        assert "A fresh address is needed" in page.inner_text("main")
        check(page)
        page.goto(server.address)
        page.wait_for_url(f"{server.base}/")
        page.click(".project >> text=data.txt")
        settled(page, "data")
        page.goto(re.sub(r":\d+/", f":{port}/", old).replace("/result", "/risk"))
        settled(page, "risk")
    context.close()


def test_the_end_and_after(browser: Browser) -> None:
    """The server is ended by a button; another tab is told when it asks for more."""
    with serving() as server:
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        page = entered(context, server)
        page.click("#sample")
        settled(page, "data")
        page.goto(page.url.replace("/data", "/result"))
        settled(page, "result")
        other = context.new_page()
        other.goto(server.base)
        other.on("dialog", lambda told: told.accept())
        other.click("text=End Overcoat")
        other.wait_for_selector("text=Overcoat has ended")
        assert "Everything was deleted" in other.inner_text("main")
        assert server.process.wait(60) == 0
        page.fill("#k", "6")
        page.press("#k", "Tab")
        page.wait_for_selector("#gone")
        assert "Overcoat does not answer." in page.inner_text("#gone")
        check(page)
        context.close()


def test_a_dropped_folder(browser: Browser, tmp_path: Path) -> None:
    """A folder is dropped onto the page as it is, with what is inside."""
    folder = tmp_path / "visits"
    folder.mkdir()
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text("patient,code\n1,flu\n1,gout\n2,flu\n", "utf-8")
    with serving() as server:
        context = browser.new_context()
        context.set_default_timeout(PATIENCE)
        page = entered(context, server)
        box = page.locator("#drop").bounding_box()
        assert box is not None
        wire = context.new_cdp_session(page)
        at = {"x": box["x"] + 20, "y": box["y"] + 20}
        data = {"items": [], "files": [str(folder)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            wire.send("Input.dispatchDragEvent", {"type": kind, **at, "data": data})
        settled(page, "data")
        assert "visits" in page.inner_text("#part-glimpse")
        assert "2 files" in page.inner_text("#part-glimpse")
        context.close()


def test_without_scripts(browser: Browser) -> None:
    """Every step works by plain links and forms."""
    with serving() as server:
        context = browser.new_context(java_script_enabled=False)
        context.set_default_timeout(PATIENCE)
        page = entered(context, server)
        page.click("#sample")
        page.wait_for_selector(".tile")
        for step in STEPS[1:]:
            page.click("#next")
            page.wait_for_url(f"**/{step}")
        page.wait_for_selector("#confirm")
        page.check("#confirm")
        page.click("#make")
        page.wait_for_selector("#download")
        context.close()
