"""Pages in a real browser: accessible, nothing cut off on a phone, nothing fetched, printable."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import overcoat as oc
from browser import findings, launch
from overcoat.data import samples
from overcoat.evidence import Internal
from overcoat.reports.editions import external_page, internal_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.xdist_group("browser")

SCREENS = {
    "desktop": (1200, 900, "light"),
    "dark": (1200, 900, "dark"),
    "phone": (360, 740, "light"),
}
HOSTILE = [
    "<script>document.title='pwned'</script>",
    "x" * 10_000,
    "\u202eesrever",
    "\u05d0\u05d1",
    "a|b",
]


@pytest.fixture(scope="module")
def browser() -> Iterator["Browser"]:
    with launch() as one:
        yield one


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    sample = samples.hospital(600)
    policy = oc.Policy(5, oc.AllItemsets(2), sample.utility, 20, oc.Hierarchy.of(sample.hierarchy))
    result = oc.anonymize(sample.transactions(), policy=policy)
    told = Internal.of(result)
    rows = [{one, other} for one in HOSTILE for other in HOSTILE for _ in range(2)]
    named = {HOSTILE[0]: HOSTILE[:2], HOSTILE[1]: HOSTILE[2:4]}
    odd = Internal.of(
        oc.anonymize(
            [*rows, {"rare"}],
            k=4,
            privacy=oc.AllItemsets(2),
            utility=named,
            max_suppressed=50,
            allow_identifiers=True,
        )
    )
    texts = {
        "external": external_page(told.external),
        "internal": internal_page(told, oc.price(result, most=5)),
        "hostile": internal_page(odd),
    }
    made = {}
    for name, text in texts.items():
        made[name] = folder / f"{name}.html"
        made[name].write_text(text, encoding="utf-8")
    return made


@pytest.mark.parametrize(
    ("name", "screen"),
    [
        ("external", "desktop"),
        ("external", "dark"),
        ("internal", "desktop"),
        ("internal", "phone"),
        ("hostile", "phone"),
    ],
)
def test_pages(browser: "Browser", pages: dict[str, Path], name: str, screen: str) -> None:
    width, height, scheme = SCREENS[screen]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages[name].as_uri())
    assert page.title() == "Report on a release"
    assert asked == [pages[name].as_uri()]
    room = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert room[0] <= room[1], "it has to be scrolled sideways"
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    room = page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert room[0] <= room[1], "it has to be scrolled sideways when all is unfolded"
    assert findings(page) == []
    page.close()


def test_axe_can_object(browser: "Browser") -> None:
    page = browser.new_page()
    page.set_content("<html><title>x</title><img src=''><p style='color:#ccc'>pale</p></html>")
    assert {line.split()[0] for line in findings(page)} >= {"image-alt", "html-has-lang"}
    page.close()


def test_print(browser: "Browser", pages: dict[str, Path]) -> None:
    page = browser.new_page()
    page.goto(pages["internal"].as_uri())
    page.emulate_media(media="print")
    assert not page.locator("nav").is_visible()
    pdf = page.pdf(prefer_css_page_size=True)
    assert pdf.startswith(b"%PDF")
    # A4, and what is folded on the screen is printed: several pages.
    assert b"/MediaBox [0 0 594.9" in pdf or b"/MediaBox [0 0 595" in pdf
    assert pdf.count(b"/Type /Page\n") >= 4
    page.close()
