"""A process that does the work of `overcoat serve`: tasks come in as lines, results go out as such.

What it may use is limited; it ends when the server does, however that ends.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

__all__ = ["main"]


def main() -> None:
    """Do one task after another until there are no more."""
    said = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever prints something does not disturb what we say
    tasks: queue.Queue[dict[str, Any]] = queue.Queue()
    threading.Thread(target=_listen, args=(tasks,), daemon=True).start()
    _be_first_to_go()
    from overcoat.web import tasks as known  # all that is heavy is imported before the first task

    def say(content: dict[str, Any]) -> None:
        said.write(json.dumps(content).encode() + b"\n")

    while True:
        task = tasks.get()
        try:
            os.chdir(task["files"])
            _limit(task["memory"])
            result = known.do(task, lambda stage, done, of: say(_progress(stage, done, of)))
            say({"result": result})
        except MemoryError:
            say({"error": {"kind": "memory", "message": "not enough memory"}})
        except BrokenPipeError:
            os._exit(1)
        except Exception as error:
            say({"error": _told(error, task)})


def _listen(tasks: queue.Queue[dict[str, Any]]) -> None:
    for line in sys.stdin.buffer:
        tasks.put(json.loads(line))
    os._exit(0)  # the server is gone


def _progress(stage: str, done: int, of: int) -> dict[str, Any]:
    return {"stage": stage, "done": done, "of": of}


def _told(error: Exception, task: dict[str, Any]) -> dict[str, Any]:
    """Return what a page may say of an error: of a bug no more than that it is one."""
    from overcoat.errors import OvercoatError
    from overcoat.reports.json import error_to_json
    from overcoat.web.tasks import explain_error
    from overcoat.words import without_passwords

    if not isinstance(error, OvercoatError):
        traceback.print_exc()
        return {"kind": "bug", "message": type(error).__name__}
    content = error_to_json(error)
    told = content.pop("error") | content | explain_error(error)
    text = json.dumps(told, ensure_ascii=False).replace(json.dumps(task["folder"])[1:-1], "")
    text = without_passwords(text.replace(json.dumps(task["files"] + os.sep)[1:-1], ""))
    return dict(json.loads(text.encode("utf-8", "replace")))


def _limit(memory: int | None) -> None:
    """Let the system refuse more memory than a job may have, where it can."""
    if memory is None:
        return
    with suppress(ImportError, ValueError, OSError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))


def _be_first_to_go() -> None:
    """Where memory runs out, it is the job that ends, not the server and what else is at work."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("900", encoding="ascii")


if __name__ == "__main__":
    main()
