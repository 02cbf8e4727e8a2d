"""Running settings, each once: what is done is kept in a folder and found there the next time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from overcoat._version import __version__
from overcoat.algorithms import Method, methods
from overcoat.comparison.settings import Setting
from overcoat.context import Context, Stage
from overcoat.data.io import Staging, make_folder
from overcoat.data.transactions import Transactions
from overcoat.errors import PolicyError, Problem
from overcoat.mapping import Mapping
from overcoat.partition import Partition
from overcoat.policy.policy import BoundPolicy
from overcoat.policy.weights import CallableWeights, DistanceWeights
from overcoat.release.walk import find_release

__all__ = ["Run", "run_all"]


@dataclass(frozen=True, eq=False)
class Run:
    """What came of one setting.

    Attributes
    ----------
    setting : what was run
    policy : its policy, bound to the data
    mapping : the mapping found; None when the method refused the policy
    met : whether the policy was met within s; if not, the mapping shows what it would have taken
    seconds : time of finding the mapping, without reading, verifying and writing
    refused : why the method cannot honour the policy
    """

    setting: Setting
    policy: BoundPolicy
    mapping: Mapping | None = None
    met: bool = False
    seconds: float = 0.0
    refused: str = ""


def run_all(
    data: Transactions,
    settings: Iterable[Setting],
    *,
    folder: Path | None = None,
    context: Context | None = None,
) -> list[Run]:
    """Run every setting that is not in the folder yet.

    A run is known by its data, its policy and the code that finds mappings, so that a folder can
    never answer for something else. What code of the user's takes part in is always run.
    """
    settings, context = list(settings), context or Context()
    bound = _bind_all(data, settings, context.start("policy"))
    common = _digest(
        [_code_digest(), data.vocabulary.labels, data.offsets, data.codes, data.counts]
    )
    done: dict[str, Run] = {}
    runs = []
    for number, (setting, policy) in enumerate(zip(settings, bound, strict=True), start=1):
        title = f"{setting.title} ({number} of {len(settings)})"
        context.start(title)
        key = _fingerprint(common, setting.method, policy)
        if problems := list(setting.method.problems(policy)):
            run = Run(setting, policy, refused="; ".join(problems))
        elif key is not None and (same := done.get(key)) is not None:
            run = replace(same, setting=setting, policy=policy)
        else:
            file = None if folder is None or key is None else folder / f"{key}.json"
            run = _run(data, setting, policy, file, context.titled(title))
            if key is not None:
                done[key] = run
        runs.append(run)
    return runs


def _bind_all(data: Transactions, settings: list[Setting], stage: Stage) -> list[BoundPolicy]:
    """Bind every policy before the first run: what is wrong is told at once, not after hours."""
    bound: list[BoundPolicy] = []
    problems: list[Problem] = []
    for setting in settings:
        try:
            bound.append(setting.policy.bind(data, stage=stage))
        except PolicyError as error:
            problems += error.problems
    if problems:
        raise PolicyError(dict.fromkeys(problems))
    return bound


def _run(
    data: Transactions,
    setting: Setting,
    bound: BoundPolicy,
    file: Path | None,
    context: Context,
) -> Run:
    if file is not None and (stored := _load(file)) is not None:
        mapping = Mapping.over(data.vocabulary, Partition(stored["group_of"]))
        return Run(setting, bound, mapping, stored["met"], stored["seconds"])
    result = find_release(data, bound, setting.method, partial=True, context=context, seconds={})
    mapping, met = result.mapping, not result.partial
    seconds = result.seconds["anonymize"]
    if file is not None:
        content = {
            "overcoat": __version__,
            "key": file.stem,
            "setting": {name: str(value) for name, value in setting.values.items()},
            "met": met,
            "seconds": seconds,
            "group_of": mapping.partition.group_of.tolist(),
        }
        make_folder(file.parent)
        with Staging() as staging:
            text = json.dumps({**content, "check": _check(content)})
            staging.stage(file).write_text(text, encoding="utf-8")
            staging.commit()
    return Run(setting, bound, mapping, met, seconds)


def _load(file: Path) -> dict[str, Any] | None:
    """Read a run that was done before; None if there is none, or it is not as it was written."""
    try:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        sound = content.pop("check") == _check(content) and content["key"] == file.stem
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return content if sound else None


def _check(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@cache
def _code_digest() -> str:
    """Return a digest of the code that finds mappings: a changed method is another one."""
    digest = hashlib.sha256()
    package = resources.files("overcoat")
    for room in ("", "data", "policy", "loss", "kernels", "algorithms"):
        for file in sorted(package.joinpath(room).iterdir(), key=lambda file: file.name):
            if file.name.endswith((".py", ".pyx", ".pxd")):
                digest.update(file.read_bytes())
    return digest.hexdigest()


def _fingerprint(common: str, method: Method, policy: BoundPolicy) -> str | None:
    """Return a digest of everything that decides the outcome; None if code of the user's does.

    `common` is that of the data and the code, which all settings share.
    """
    if isinstance(policy.weights, CallableWeights) or type(method) not in methods().values():
        return None
    start = None if method.start is None else method.start.dumps()  # its repr does not say it all
    return _digest([common, method, start, *_parts(policy)])[:32]


def _digest(parts: Iterable[Any]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode()
        digest.update(len(encoded).to_bytes(8))
        digest.update(encoded)
    return digest.hexdigest()


def _parts(policy: BoundPolicy) -> Iterator[Any]:
    yield from (policy.k, policy.budget)
    for family in policy.families:
        yield type(family).__name__
        for field in fields(family):
            yield getattr(family, field.name)
    yield policy.utility.block_of
    for tree in (policy.weights.tree, policy.hierarchy):
        yield from (None, None) if tree is None else (tree.parent, tree.weight)
    if isinstance(policy.weights, DistanceWeights):
        yield policy.weights.matrix
