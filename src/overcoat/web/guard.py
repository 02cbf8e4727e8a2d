"""What every request has to pass, and what every answer tells the browser.

The order matters: first whether the request was meant for this server at all (the name in `Host`,
against DNS rebinding), then where it comes from (against forms and scripts of other pages), then
who asks (cookie or key).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from overcoat.web.session import Session

__all__ = ["CSP", "Guard", "allowed_hosts"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), clipboard-read=()",
    "cache-control": "no-store",
}
_SAFE = {"GET", "HEAD", "OPTIONS"}
# What anybody on this machine may have: how the page looks, and the way in.
_OPEN = ("/static/", "/enter", "/api/v1/session")


def allowed_hosts(host: str, port: int) -> frozenset[str]:
    """Return the values of `Host` that mean this server.

    >>> sorted(allowed_hosts("127.0.0.1", 8000))
    ['127.0.0.1:8000', '[::1]:8000', 'localhost:8000']
    """
    names = {"127.0.0.1", "localhost", "[::1]"} if is_loopback(host) else {_bracketed(host)}
    return frozenset(f"{name}:{port}" for name in names)


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server there."""
    return host in ("localhost", "::1") or host.startswith("127.")


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class Guard:
    """A layer around an application, through which all requests go.

    Parameters
    ----------
    app : the application
    session : who may ask
    hosts : the values of `Host` that mean this server
    scheme : http or https
    cookie : the name of the cookie
    """

    def __init__(
        self, app: Any, session: Session, hosts: Iterable[str], scheme: str, cookie: str
    ) -> None:
        self.application, self._session, self._cookie = app, session, cookie
        self._hosts = frozenset(hosts)
        self._origins = frozenset(f"{scheme}://{host}" for host in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self.application(scope, receive, send)
            return
        if scope["type"] != "http":
            return
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}

        async def answer(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                own = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in _HEADERS.items()
                        if name.encode() not in own
                    ),
                ]
            await send(message)

        scope.setdefault("state", {})["key"] = key = self._key(headers)
        refusal = self._refusal(scope, headers, key)
        if refusal is not None:
            scope["state"]["asked"] = scope["path"]
            scope = {**scope, "path": f"/refused/{refusal}", "raw_path": b"", "method": "GET"}
        await self.application(scope, receive, answer)

    def _refusal(self, scope: Scope, headers: dict[bytes, str], key: str | None) -> str | None:
        """Return why a request is refused; None if it is not."""
        path, method = scope["path"], scope["method"]
        if headers.get(b"host", "").lower() not in self._hosts:
            return "host"
        origin = headers.get(b"origin")
        if origin is not None and origin not in self._origins:
            return "origin"
        # To follow a link from elsewhere is what the way in is for; nothing else may be asked so.
        if path != "/enter" and headers.get(b"sec-fetch-site", "none") not in (
            *("same-origin", "none"),
        ):
            return "origin"
        # A browser says where a form comes from; a program has no cookie.
        if method not in _SAFE and origin is None and b"cookie" in headers:
            return "origin"
        if path.startswith(_OPEN):
            return None
        return None if key is not None else "key"

    def _key(self, headers: dict[bytes, str]) -> str | None:
        kind, _, given = headers.get(b"authorization", "").partition(" ")
        if kind.lower() != "bearer":
            cookies: SimpleCookie = SimpleCookie()
            try:
                cookies.load(headers.get(b"cookie", ""))
            except CookieError:
                return None
            given = cookies[self._cookie].value if self._cookie in cookies else ""
        return given if given and self._session.knows(given) else None
