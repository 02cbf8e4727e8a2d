"""Parts of pages that come in later, once their job is done: each can be had on its own."""

from __future__ import annotations

import html
import re

import httpx
import pytest

from overcoat.web.parts import STEP_OF
from web.serving import Server, ended, followed

pytestmark = pytest.mark.xdist_group("serve")


@pytest.fixture(scope="module")
def hospital(client: httpx.Client) -> tuple[str, str]:
    """A project with the sample hospital, and what is chosen in it."""
    project = client.post("/projects", json={"sample": True}).json()
    return project["id"], project["latest"]


def part(client: httpx.Client, server: Server, project: str, choices: str, name: str) -> str:
    """Return a part of a page as the page asks for it."""
    answer = client.get(f"{server.base}/p/{project}/{choices}/part/{name}")
    assert answer.status_code == 200, (name, answer.text)
    assert "<html" not in answer.text
    return answer.text


def test_every_part_comes_in_on_its_own(
    client: httpx.Client, server: Server, hospital: tuple[str, str]
) -> None:
    project, choices = hospital
    for name in sorted(set(STEP_OF) - {"method", "cures"}):
        ended(client, project, choices, name)
        text = part(client, server, project, choices, name)
        assert f'id="part-{name}"' in text
        assert 'aria-busy="false"' in text.partition(">")[0]
    assert 'id="part-method-coat"' in part(client, server, project, choices, "method-coat")


def test_the_cures_come_in_with_the_clash(client: httpx.Client, server: Server) -> None:
    project = client.post("/projects", json={}).json()["id"]
    rows = "\n".join(["a c", "a d", *["a"] * 5, *["c"] * 5, *["d"] * 5])
    client.put(f"/projects/{project}/files/data.txt", content=rows)
    chosen = {"source": "data.txt", "settings": {"k": 5, "km": 2, "max_suppressed": 0}}
    client.put(f"/projects/{project}/files/sets.txt", content="x: a\ny: c\nz: d\n")
    chosen["settings"] |= {"utility": "sets.txt"}  # type: ignore[operator]
    choices = client.post(f"/projects/{project}/choices", json=chosen).json()["id"]
    assert followed(client, project, choices, "run")["state"] == "failed"
    ended(client, project, choices, "cures")
    text = part(client, server, project, choices, "run")
    assert "All of it together cannot be met" in text
    assert text.count('class="cure"') >= 2  # beside what clashes, all that would help
    assert 'id="part-cures"' in part(client, server, project, choices, "cures")


def test_what_cannot_be_read_is_told_in_plain_words(client: httpx.Client, server: Server) -> None:
    project = client.post("/projects", json={}).json()["id"]
    client.put(f"/projects/{project}/files/junk.csv", content=b"\x00\x01\x02" * 500)
    client.put(f"/projects/{project}/files/data.csv", content="p,code\n1,a\n2,a\n3,b\n")
    for source, reading, task, words in (
        ("junk.csv", {}, "glimpse", "is not a text"),
        ("data.csv", {"id": "p", "item": "none"}, "profile", "no column 'none'"),
    ):
        chosen = {"source": source, "reading": reading}
        choices = client.post(f"/projects/{project}/choices", json=chosen).json()["id"]
        assert followed(client, project, choices, task)["state"] == "failed"
        text = part(client, server, project, choices, task)
        assert words in html.unescape(re.sub("</?bdi>", "", text))
        assert "--" not in text


def test_what_a_method_cannot_is_told_in_the_words_of_the_page(
    client: httpx.Client, server: Server
) -> None:
    project = client.post("/projects", json={}).json()["id"]
    client.put(f"/projects/{project}/files/data.txt", content="\n".join(["a b", "a", "b"] * 5))
    client.put(f"/projects/{project}/files/sets.txt", content="x: a\n")
    settings = {"k": 2, "pgen": True, "utility": "sets.txt", "algorithm": "apriori"}
    chosen = {"source": "data.txt", "settings": settings}
    choices = client.post(f"/projects/{project}/choices", json=chosen).json()["id"]
    assert followed(client, project, choices, "run")["state"] == "failed"
    text = part(client, server, project, choices, "run")
    assert "--" not in re.sub("<!--.*?-->", "", text)
    for words in ("Apriori needs a hierarchy", "Apriori cannot keep sets", "Apriori takes a num"):
        assert words in text


def test_one_of_anything_is_told_in_the_singular(client: httpx.Client, server: Server) -> None:
    project = client.post("/projects", json={}).json()["id"]
    rows = "".join(f"p{number},Name {number}\np{number},flu\n" for number in range(60))
    client.put(f"/projects/{project}/files/data.csv", content=f"nr,who\n{rows}")
    client.put(f"/projects/{project}/files/sets.txt", content="x: flu\n")
    chosen = {
        "source": "data.csv",
        "reading": {"id": "nr", "item": "who"},
        "settings": {"k": 2, "utility": "sets.txt"},
    }
    choices = client.post(f"/projects/{project}/choices", json=chosen).json()["id"]
    for name, words in (("profile", "<li>Nearly every person has"), ("sets", "<span>set</span>")):
        ended(client, project, choices, name)
        text = part(client, server, project, choices, name)
        assert words in re.sub("</?bdi>", "", text)
        assert "1 sets" not in text


def test_a_cure_that_keeps_no_count_comes_last(client: httpx.Client, server: Server) -> None:
    project = client.post("/projects", json={}).json()["id"]
    rows = "\n".join(["a"] * 3 + ["b"] * 20 + ["c"] * 20)
    client.put(f"/projects/{project}/files/data.txt", content=rows)
    client.put(f"/projects/{project}/files/sets.txt", content="x: a\n")
    settings = {"k": 10, "km": 1, "max_suppressed": 0, "utility": "sets.txt"}
    chosen = {"source": "data.txt", "settings": settings}
    choices = client.post(f"/projects/{project}/choices", json=chosen).json()["id"]
    found = ended(client, project, choices, "cures")["proposals"]
    exact = [one["cost"]["n_exact"] for one in found]
    assert exact == sorted(exact, reverse=True)
    assert (exact[0], exact[-1]) == (1, 0)
    changes = {one["name"]: one["change"] for one in found}
    assert changes["sets"].startswith("keeps 0 of 1 utility set;")


def test_the_items_of_a_large_group_are_looked_at_page_by_page(
    client: httpx.Client, server: Server
) -> None:
    """However many items a group has, what is shown of it at once is little."""
    project = client.post("/projects", json={}).json()["id"]
    items = [f"i{number:04d}" for number in range(1000)]
    client.put(f"/projects/{project}/files/data.txt", content="\n".join(items * 2))
    chosen = {"source": "data.txt", "settings": {"k": 2000, "km": 1, "max_suppressed": 0}}
    choices = client.post(f"/projects/{project}/choices", json=chosen).json()["id"]
    ended(client, project, choices, "run")
    here = f"{server.base}/p/{project}/{choices}"
    groups = client.get(f"{here}/list/groups").text
    assert groups.count("<bdi>i0") < 100
    (address,) = set(re.findall(r'href="([^"]*/list/of-group\?of=\d+)"', groups))
    inside = client.get(f"{server.base}{address}&page=2").text
    assert "Page 2 of 20" in inside
    found = client.get(f"{server.base}{address}&search=i0123").text
    assert found.count("<bdi>i0") == 1
    assert client.get(f"{here}/list/of-group?of=77").text.count("<bdi>i0") == 0
