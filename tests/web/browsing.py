"""What tests in a real browser do again and again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from browser import findings
from web.serving import Server

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

__all__ = ["PATIENCE", "STEPS", "check", "choose_file", "entered", "pressed", "settled"]

STEPS = ("data", "risk", "keep", "protect", "result", "publish")
PATIENCE = 60_000  # milliseconds, on a machine that does much else


def entered(context: BrowserContext, server: Server) -> Page:
    page = context.new_page()
    page.goto(server.address)
    page.wait_for_url(f"{server.base}/")
    return page


def settled(page: Page, step: str) -> None:
    """Wait until a step shows all that its jobs find."""
    page.wait_for_url(re.compile(rf"/{step}(\?.*)?(#.*)?$"))
    page.wait_for_selector("[aria-busy=true], [data-job] progress", state="detached")


def choose_file(page: Page, name: str, content: str) -> None:
    file: Any = {"name": name, "mimeType": "text/plain", "buffer": content.encode()}
    page.set_input_files("#file", file)
    settled(page, "data")


def check(page: Page) -> None:
    """Nothing serious by axe-core, and nothing that has to be scrolled sideways."""
    assert findings(page) == [], page.url
    room = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert room[0] <= room[1], f"{page.url} has to be scrolled sideways"


def pressed(page: Page, selector: str) -> str:
    """Press a button, a link or a label; return what it says."""
    text = page.inner_text(selector).strip()
    page.click(selector)
    return text
