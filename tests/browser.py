"""A real browser for the tests: which one, how to get one, and what pages have to pass in it.

``python tests/browser.py`` gets one where there is none, from the registries that a machine has:
Debian's chromium (as root), Playwright's own, or the npm package @sparticuz/chromium.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

__all__ = ["axe", "find_browser", "findings", "launch"]

VARIABLE = "OVERCOAT_BROWSER"
_NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge", "microsoft-edge")
_NPM = Path(__file__).parents[1] / ".venv" / "npm"
_PACKAGE = "@sparticuz/chromium"
# It unpacks itself into the temporary folder, and says where; its libraries lie beside it.
_UNPACK = f"import('{_PACKAGE}').then(m => m.default.executablePath()).then(p => console.log(p))"


def find_browser() -> str | None:
    """Return the path of a browser: what the variable names, on the PATH, Playwright's, npm's."""
    if named := os.environ.get(VARIABLE):
        return named
    for name in _NAMES:
        if path := shutil.which(name):
            return path
    return _playwright() or _npm()


def _playwright() -> str | None:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _npm() -> str | None:
    node = shutil.which("node")
    if node is None or not (_NPM / "node_modules" / _PACKAGE).is_dir():
        return None
    done = _run(node, "-e", _UNPACK, cwd=_NPM)
    return done.stdout.strip() or None


def _run(*command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def get_browser() -> str | None:
    """Find a browser or install one; the first way that works."""
    ways: list[Callable[[], object]] = [_get_debian, _get_playwright, _get_npm]
    found = find_browser()
    while found is None and ways:
        ways.pop(0)()
        found = find_browser()
    return found


def _get_debian() -> None:
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        _run("apt-get", "update", "-qq")
        _run("apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium")


def _get_playwright() -> None:
    _run(sys.executable, "-m", "playwright", "install", "chromium")


def _get_npm() -> None:
    if npm := shutil.which("npm"):
        _NPM.mkdir(parents=True, exist_ok=True)
        _run(npm, "install", "--silent", "--no-save", "--prefix", str(_NPM), _PACKAGE)


@contextmanager
def launch() -> Iterator[Browser]:
    """Start a browser; skip if there is none, or fail where there must be one."""
    path = find_browser()
    if path is None:
        reason = f"there is no browser: python tests/browser.py gets one, {VARIABLE} names one"
        if os.environ.get("CI") or os.environ.get("OVERCOAT_CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # As root there is no sandbox; what is opened here was made here.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        try:
            yield browser
        finally:
            browser.close()


def axe(page: Page) -> dict[str, Any]:
    """Return all that axe-core says of a page."""
    script = resources.files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
    page.evaluate(script)
    found: dict[str, Any] = page.evaluate("axe.run()")
    assert found["passes"], "axe-core has looked at nothing"
    return found


def findings(page: Page) -> list[str]:
    """Return what axe-core finds serious or critical in a page, a line each."""
    found = axe(page)
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: {node['html'][:120]}"
        for one in found["violations"]
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"][:3]
    ]


if __name__ == "__main__":
    sys.exit(0 if get_browser() else "no browser could be found or installed")
