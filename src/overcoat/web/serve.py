"""Running the server: where it listens, how the browser gets in, how it ends."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import socket
import sys
import webbrowser
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from overcoat.errors import DataError, PolicyError
from overcoat.web.guard import is_loopback

__all__ = ["Serving", "serve"]

PORT = 8474  # tried first; any other that is free does as well


@dataclass(frozen=True)
class Serving:
    """How to serve.

    Attributes
    ----------
    host, port : where to listen; port None: the usual one if it is free, else any
    workspace : the folder to keep projects in; None: a temporary one, deleted at the end
    browser : whether to open one
    sample : whether to begin with the sample hospital
    certificate, key : files for TLS; needed to listen where others can reach it
    max_upload : bytes of a file, at most
    jobs : how many may run at a time
    memory : bytes for each job
    given : files, folders and databases that may be read where they are, by name
    """

    host: str = "127.0.0.1"
    port: int | None = None
    workspace: str | None = None
    browser: bool = True
    sample: bool = False
    certificate: str | None = None
    key: str | None = None
    max_upload: int = 16 << 30
    jobs: int | None = None
    memory: int | None = None
    given: Mapping[str, str] = field(default_factory=dict)

    def check(self) -> None:
        """Refuse what would be unsafe, or cannot be."""
        if (self.certificate is None) != (self.key is None):
            raise PolicyError("--tls-certificate and --tls-key go together")
        if not is_loopback(self.host) and self.certificate is None:
            raise PolicyError(
                f"--host {self.host} could be reached from other machines, and without encryption "
                "others could read along: give --tls-certificate and --tls-key, or leave --host out"
            )
        for file in (self.certificate, self.key):
            if file is not None and not Path(file).is_file():
                raise DataError("no such file", file)


def serve(serving: Serving, say: Callable[[str], None]) -> None:
    """Serve until it is told to end."""
    serving.check()
    try:
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import python_multipart  # noqa: F401
        import uvicorn
    except ImportError as error:
        raise PolicyError(
            f"the page needs {error.name}, which is not installed: pip install 'overcoat[web]'"
        ) from None
    from overcoat.web.app import make_app
    from overcoat.web.jobs import Limits
    from overcoat.web.studio import Studio
    from overcoat.web.workspace import Workspace

    limits = (
        Limits(memory=serving.memory)
        if serving.jobs is None
        else Limits(serving.jobs, serving.memory)
    )
    with contextlib.ExitStack() as open_until_the_end:
        listening = open_until_the_end.enter_context(_listen(serving))
        port = listening.getsockname()[1]
        workspace = Workspace(serving.workspace)
        open_until_the_end.callback(workspace.end)
        studio = Studio(
            workspace, limits=limits, max_upload=serving.max_upload, given=serving.given
        )
        scheme = "http" if serving.certificate is None else "https"
        host = f"[{serving.host}]" if ":" in serving.host else serving.host
        base = f"{scheme}://{host}:{port}"
        app = make_app(studio, serving.host, port, scheme, sample=serving.sample)

        def address() -> str:
            return f"{base}/enter?token={studio.session.new_token()}"

        config = uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            date_header=False,
            proxy_headers=False,
            ws="none",
            lifespan="on",
            timeout_graceful_shutdown=1,
            ssl_certfile=serving.certificate,
            ssl_keyfile=serving.key,
        )
        server = uvicorn.Server(config)
        studio.stop = lambda: setattr(server, "should_exit", True)
        asyncio.run(_run(server, listening, address, serving, workspace, say))


async def _run(server, listening, address, serving, workspace, say) -> None:  # type: ignore[no-untyped-def]
    # Of its own it would raise what ended it again, after everything is in order.
    server.capture_signals = contextlib.nullcontext
    loop = asyncio.get_running_loop()

    def stop(*_: object) -> None:
        server.should_exit = True

    for number in (signal.SIGINT, signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
        signal.signal(number, stop)
    first = address()
    kept = (
        f"Projects are kept in {workspace.folder}."
        if workspace.kept
        else "Everything is deleted when this ends; --workspace DIR keeps projects."
    )
    say(f"Overcoat is at {first}")
    say(f"The address works once. {kept}")
    on_terminal = sys.stdin is not None and sys.stdin.isatty()
    say("Enter gives a new address, Ctrl-C ends." if on_terminal else "Ctrl-C ends.")
    if serving.browser:
        loop.run_in_executor(None, webbrowser.open, first)
    if on_terminal:
        with contextlib.suppress(NotImplementedError):  # on Windows

            def again() -> None:
                if not sys.stdin.readline():
                    loop.remove_reader(sys.stdin)
                else:
                    say(address())

            loop.add_reader(sys.stdin, again)
    await server.serve(sockets=[listening])


def _listen(serving: Serving) -> socket.socket:
    """Take the port: the one that was named, else the usual one, else any."""
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    wanted = [PORT, 0] if serving.port is None else [serving.port]
    for port in wanted:
        # Said to be TCP, what is accepted here sends at once; else small answers wait for others.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        if sys.platform != "win32":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind((serving.host, port))
        except OSError as error:
            listening.close()
            if port != wanted[-1]:
                continue
            raise DataError(
                f"cannot listen at {serving.host}, port {port}: {error.strerror or error}"
            ) from None
        listening.listen(128)
        return listening
    raise DataError(f"there is no free port at {serving.host}")  # pragma: no cover
