"""Takes the pictures of the guide out of the report it makes (``make docs``); a test holds both."""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import overcoat as oc
from overcoat.data import samples

__all__ = ["FOLDER", "pictures"]

FOLDER = Path(__file__).parents[1] / "docs"

# Of the report, by caption; and the name of the picture.
_TAKEN = {"People in a crowd": "guide-risk.svg", "How exactly": "guide-told.svg"}
_GIVEN_UP = ("Prostate cancer", "Colorectal cancer", "Osteoporosis")

# A code host shows pictures on a ground of its own, light or dark: so they bring theirs.
_STYLE = """
.ground { fill: #fff }
text { font: 12px system-ui, sans-serif; fill: #1b1b1b }
.title { font-weight: 600; font-size: 13px }
.value { font-size: 11px }
.one { fill: #b5541c }
.two { fill: #0b5c8a }
.axis { stroke: #555; stroke-width: 1 }
"""


def pictures() -> dict[str, str]:
    """Return the content of each picture, by name: figures of the release that the guide makes."""
    with TemporaryDirectory() as folder:
        files = samples.load("hospital").write(Path(folder))
        data = oc.read(files["data"], id="patient", item="code")
        kept = [
            line
            for line in files["utility"].read_text(encoding="utf-8").splitlines()
            if not line.startswith(_GIVEN_UP)
        ]
        files["utility"].write_text("\n".join(kept) + "\n", encoding="utf-8")
        page = oc.report(
            oc.anonymize(
                data,
                k=25,
                privacy=oc.AllItemsets(2),
                utility=files["utility"],
                hierarchy=files["hierarchy"],
            )
        )
    found = re.findall(r"<figcaption>(.*?)</figcaption>(<svg.*?</svg>)", page, flags=re.S)
    return {
        name: _alone(caption, svg)
        for caption, svg in found
        for start, name in _TAKEN.items()
        if caption.startswith(start)
    }


def _alone(caption: str, svg: str) -> str:
    """Return a figure of a page as a file that stands alone."""
    head, inside = re.fullmatch(r"<svg (.*?)>(.*)</svg>", svg, flags=re.S).groups()  # type: ignore[union-attr]
    words = re.search(r'aria-label="(.*?)"', head)[1]  # type: ignore[index]
    width, height = map(float, re.search(r'viewBox="0 0 (\S+) (\S+)"', head).groups())  # type: ignore[union-attr]
    wide, high = width + 24, height + 56
    title, _, more = caption.partition(": ")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{1.4 * wide:g}" height="{1.4 * high:g}" '
        f'viewBox="0 0 {wide:g} {high:g}" role="img" aria-label="{words}">'
        f'<style>{_STYLE}</style><rect class="ground" width="{wide:g}" height="{high:g}"/>'
        f'<text class="title" x="12" y="22">{title}</text>'
        f'<text class="value" x="12" y="38">{more}</text>'
        f'<g transform="translate(12 44)">{inside}</g></svg>\n'
    )


def main() -> None:
    """Write the pictures."""
    for name, content in pictures().items():
        (FOLDER / name).write_text(content, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
