"""What nobody may do: each test says what it tries. The threat model is docs/serve.md."""

import http.client
import shutil
import ssl
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from overcoat.errors import DataError, PolicyError
from overcoat.web.guard import CSP
from overcoat.web.serve import Serving
from overcoat.web.workspace import Workspace, safe_path
from web.serving import Server, serving

pytestmark = pytest.mark.xdist_group("serve")


@pytest.fixture(scope="module")
def browser(server: Server, client: httpx.Client) -> Iterator[httpx.Client]:
    """A browser that is in: it has the cookie, and says where it comes from."""
    _, key = client.headers["authorization"].split()
    cookie = f"overcoat_{server.base.rpartition(':')[2]}"
    says = {"origin": server.base, "sec-fetch-site": "same-origin"}
    with httpx.Client(base_url=server.base, timeout=60, cookies={cookie: key}, headers=says) as one:
        yield one


def test_the_address_works_once() -> None:
    """Somebody finds the address in the history of the browser."""
    with serving() as server:
        answer = httpx.get(server.address)
        assert answer.status_code == 200
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert httpx.get(server.address).status_code == 401
        token = {"token": server.token}
        assert httpx.post(f"{server.base}/api/v1/session", json=token).status_code == 401


@pytest.mark.parametrize("path", ["/", "/rest", "/api/v1/projects", "/p/00000000", "/nowhere"])
def test_without_cookie(server: Server, path: str) -> None:
    """Another program on the machine asks without having come in."""
    answer = httpx.get(f"{server.base}{path}")
    assert answer.status_code == 401
    assert "project" not in answer.text.lower() or path.startswith("/api")


def test_a_guessed_key(server: Server) -> None:
    """It guesses the key."""
    headers = {"authorization": "Bearer guess"}
    assert httpx.get(f"{server.base}/api/v1/projects", headers=headers).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "", "127.0.0.2"])
def test_dns_rebinding(browser: httpx.Client, host: str) -> None:
    """A page elsewhere has its name point to this machine, and asks with that name."""
    answer = browser.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "Sample" not in answer.text


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_forms_and_scripts_of_other_pages(browser: httpx.Client, headers: dict[str, str]) -> None:
    """A page elsewhere, or of another server on this machine, sends a form, or reads."""
    assert browser.post("/projects", headers=headers, data={"sample": "yes"}).status_code == 403
    assert browser.get("/", headers=headers).status_code == 403


def test_a_form_without_origin(server: Server, browser: httpx.Client) -> None:
    """An old browser sends a form and does not say where it is from."""
    plain = httpx.Client(base_url=server.base, cookies=browser.cookies)
    with plain:
        assert plain.get("/").status_code == 200
        assert plain.post("/projects", data={"sample": "yes"}).status_code == 403


@pytest.mark.parametrize("path", ["/", "/rest", "/nowhere", "/static/app.js", "/api/v1/projects"])
def test_what_browsers_are_told(browser: httpx.Client, path: str) -> None:
    """Content slips in: no script of its own runs, no frame shows the page, nothing is kept."""
    headers = browser.get(path).headers
    assert headers["content-security-policy"] == CSP
    assert "unsafe" not in CSP
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert ("no-store" in headers["cache-control"]) != path.startswith("/static/")
    assert "server" not in headers


@pytest.mark.parametrize(
    "name",
    ["../up.csv", "a/../../up.csv", "/etc/up", ".hidden", "a//b", "nul", "a\x00b", "x" * 300],
)
def test_names_of_files(client: httpx.Client, server: Server, name: str, tmp_path: Path) -> None:
    """A file is sent under a name that leads elsewhere."""
    with pytest.raises(DataError):
        safe_path(name)
    project = client.post("/projects", json={"name": "names"}).json()["id"]
    # As bytes on the wire: a client would tidy the path up.
    wire = http.client.HTTPConnection(server.base.removeprefix("http://"))
    quoted = "".join(c if c.isalnum() else f"%{ord(c):02x}" for c in name)
    key = client.headers["authorization"]
    wire.request(
        "PUT",
        f"/api/v1/projects/{project}/files/{quoted}",
        b"a",
        {"authorization": key},
    )
    answer = wire.getresponse()
    answer.read()
    wire.close()
    assert answer.status in (400, 404, 422)
    assert client.get(f"/projects/{project}/files").json() == []


@pytest.mark.parametrize(
    "choices",
    [
        {"source": "/etc/passwd"},
        {"source": "../../secret.csv"},
        {"source": "sqlite:////etc/x.db#t"},
        {"source": "postgresql://evil.example/x"},
        {"source": "given:nothing"},
        {"source": "a.duckdb"},
        {"source": "a.db", "reading": {"query": "SELECT 1"}},
        {"settings": {"k": 2, "hierarchy": "/etc/passwd"}},
        {"settings": {"k": 2, "utility": "../x"}},
        {"settings": {"k": 2, "utility": "omop:../../etc"}},
        {"settings": {"k": 2, "queries": "/etc/passwd"}},
        {"names": "/etc/passwd"},
    ],
)
def test_paths_in_choices(client: httpx.Client, choices: dict[str, object]) -> None:
    """Choices name a file of the machine, or an address elsewhere."""
    project = client.post("/projects", json={"name": "paths"}).json()["id"]
    for name in ("a.duckdb", "a.db"):
        client.put(f"/projects/{project}/files/{name}", content=b"x")
    answer = client.post(f"/projects/{project}/choices", json=choices)
    assert answer.status_code == 400, answer.text
    assert "root:" not in answer.text


def test_a_policy_file_names_other_files(client: httpx.Client) -> None:
    """A saved policy that is opened names a file of the machine."""
    project = client.post("/projects", json={"name": "policy"}).json()["id"]
    client.put(f"/projects/{project}/files/data.txt", content=b"a b\nb\n")
    text = b'k = 2\nkm = 1\nhierarchy = "/etc/passwd"\n'
    client.put(f"/projects/{project}/files/policy.toml", content=text)
    kept = client.post(f"/projects/{project}/choices", json={"source": "data.txt"}).json()
    answer = client.post(
        f"/projects/{project}/choices/{kept['id']}/policy", json={"file": "policy.toml"}
    )
    assert answer.status_code == 400
    assert "root:" not in answer.text


def test_other_projects(client: httpx.Client) -> None:
    """An address names a project by a path, or a digest that is none."""
    for name in ("%2e%2e", "a/b", "*", "0" * 33):
        assert client.get(f"/projects/{name}").status_code == 404
    project = client.post("/projects", json={"name": "one"}).json()["id"]
    for name in ("project", "%2e%2e%2fproject"):
        assert client.get(f"/projects/{project}/choices/{name}").status_code == 404
        assert client.get(f"/projects/{project}/jobs/{name}").status_code == 404


def test_limits_of_files() -> None:
    """A file is larger than what is taken, and says so, or does not say so."""
    with serving("--max-upload", "0.001") as small, small.client() as client:
        project = client.post("/projects", json={}).json()["id"]
        address = f"/projects/{project}/files/a.txt"
        assert client.put(address, content=b"x" * 1_000_001).status_code == 413
        pieces = (b"x" * 100_000 for _ in range(11))
        assert client.put(address, content=pieces).status_code == 413
        assert client.put(address, content=b"x" * 1_000_000).status_code == 201
        assert client.get(f"/projects/{project}/files").json() == [
            {"name": "a.txt", "size": 1_000_000}
        ]


def test_limits_of_forms(browser: httpx.Client) -> None:
    """A form is endless."""
    assert browser.post("/projects", content=b"a=" + b"x" * (9 << 20)).status_code == 413


def test_errors_tell_nothing_of_the_inside(browser: httpx.Client) -> None:
    """What goes wrong is told without paths, code or versions of libraries."""
    for answer in (
        browser.get("/p/00000000/1111111111111111/data"),
        browser.post("/projects", data={"given": "nothing"}),
        browser.get("/api/v1/projects/x/jobs/y"),
    ):
        assert answer.status_code >= 400
        assert not {"Traceback", "/work", "site-packages", ".py"} & set(answer.text.split())
        assert "starlette" not in answer.text.lower()


def test_other_machines_take_encryption(tmp_path: Path) -> None:
    """Somebody lets others reach the server, and would send everything in the clear."""
    with pytest.raises(PolicyError, match="could be reached from other machines"):
        Serving(host="0.0.0.0").check()
    with pytest.raises(PolicyError, match="go together"):
        Serving(certificate="a.pem").check()
    with pytest.raises(DataError, match="no such file"):
        Serving(host="0.0.0.0", certificate="a.pem", key="b.pem").check()
    Serving(host="127.0.0.1").check()


def test_only_the_owner_looks_in(tmp_path: Path) -> None:
    """Another user of the machine looks into the folder."""
    workspace = Workspace(tmp_path / "kept")
    if hasattr(stat, "S_IMODE") and workspace.folder.stat().st_mode & 0o111:
        assert stat.S_IMODE(workspace.folder.stat().st_mode) == 0o700
    temporary = Workspace()
    folder = temporary.folder
    temporary.create("x")
    temporary.end()
    assert not folder.exists()
    workspace.end()
    assert workspace.folder.exists()


def test_two_servers_on_one_workspace(tmp_path: Path) -> None:
    """A second server is started on the folder of a running one, and would delete its work."""
    command = [sys.executable, "-m", "overcoat", "serve", "--no-browser", "--port", "0"]
    command += ["--workspace", "kept"]
    with serving("--workspace", "kept", cwd=tmp_path):
        second = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert "kept: is in use by another overcoat serve" in second.stderr
        assert "token=" not in second.stderr
    # A server that is killed leaves no lock behind.
    with serving("--workspace", "kept", cwd=tmp_path) as killed:
        killed.process.kill()
    with serving("--workspace", "kept", cwd=tmp_path):
        pass


def test_encrypted(tmp_path: Path) -> None:
    """Somebody listens on the way: the address is https, and the cookie is for https alone."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("there is no openssl command to make a certificate with")
    made = [openssl, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]
    made += ["-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=127.0.0.1"]
    made += ["-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(made, cwd=tmp_path, capture_output=True, check=True)
    trusts = ssl.create_default_context(cafile=str(tmp_path / "cert.pem"))
    options = ("--tls-certificate", "cert.pem", "--tls-key", "key.pem")
    with serving(*options, cwd=tmp_path) as server:
        assert server.base.startswith("https://127.0.0.1:")
        entered = httpx.get(server.address, verify=trusts)
        assert entered.status_code == 200
        assert "; Secure" in entered.headers["set-cookie"]
        with pytest.raises(httpx.ConnectError, match="CERTIFICATE_VERIFY_FAILED"):
            httpx.get(server.address)
        with pytest.raises(httpx.HTTPError):
            httpx.get(server.address.replace("https:", "http:"))
