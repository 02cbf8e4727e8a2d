"""Publishing: staged, read back, committed; everything at once or nothing at all."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from collections.abc import Mapping as Abstract
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overcoat.context import Stage
from overcoat.data.io import Staging, pack
from overcoat.data.layout import Layout
from overcoat.data.transactions import Transactions
from overcoat.errors import DataError, VerificationError
from overcoat.log import event
from overcoat.mapping import Mapping
from overcoat.release.codebook import (
    check_codebook,
    codebook_bytes,
    codebook_cells,
    codebook_rows,
    read_codebook,
)
from overcoat.release.sinks import sink_for

if TYPE_CHECKING:
    from overcoat.release.result import Result

__all__ = ["Beside", "publish", "stage_files"]

# Further files, each with what makes its content; called when the digests of the rest are known.
Beside = Abstract[str | Path, Callable[[], str | bytes]]


def publish(
    result: Result,
    target: Any,
    *,
    mapping: str | Path | None = None,
    codebook: str | Path | None = None,
    to: str | None = None,
    keep_order: bool = False,
    replace: bool = False,
    report: Callable[[], None] | None = None,
    beside: Beside | None = None,
    stage: Stage,
) -> None:
    """Write a release to a sink, with its mapping and its codebook if asked; see `Result.write`."""
    check_codebook(codebook)
    if result.partial or not result.verdict.ok:
        raise VerificationError(
            "a partial result is for study only: it does not satisfy its policy and cannot be "
            "published",
            result.verdict,
        )
    order = result.released.positions if keep_order else None
    if keep_order and order is None:
        raise DataError("the order of the input is not known; read it with keep_order=True")
    sink = sink_for(target, replace=replace)
    layout = sink.layout(result.data.layout, to)
    beside = beside or {}
    sink.check_beside(mapping, codebook, *beside)
    with Staging() as staging, sink:
        sink.stage(staging, result.released, layout, order, stage)
        copy = sink.read_back(layout, keep_order=keep_order, stage=stage)
        _check_copy(copy, result.released, keep_order)
        result.digests["released"] = copy.file_digest
        if sink.staged is not None:
            _check_target(result, sink.name, sink.staged)
        stage_files(
            *(result, staging, layout),
            mapping=mapping,
            codebook=codebook,
            beside=beside,
            keep_order=keep_order,
            stage=stage,
        )
        if report is not None:
            report()
        sink.send(alone=mapping is None and codebook is None and not beside)
        staging.commit(sink.commit if sink.commits else None)
    sums: dict[str, Any] = {f"{name}_sha256": digest for name, digest in result.digests.items()}
    event("published", f"published {sink.name}", released=sink.name, mapping=mapping, **sums)


def stage_files(
    result: Result,
    staging: Staging,
    layout: Layout,
    *,
    mapping: str | Path | None,
    codebook: str | Path | None,
    beside: Beside | None,
    keep_order: bool = False,
    stage: Stage,
) -> None:
    """Stage what goes with a release: the mapping, the codebook, further files."""
    result.laid_out(layout)
    if mapping is not None:
        staged = staging.stage(mapping)
        release = result.released.content_digest
        text = result.mapping.dumps(keep_order=keep_order, release=release)
        content = pack(mapping, text.encode())
        staged.write_bytes(content)
        result.digests["mapping"] = hashlib.sha256(content).hexdigest()
        _check_target(result, str(mapping), staged)
        if Mapping.read(staged) != result.mapping:
            raise VerificationError("the mapping does not read back as it was written")
    if codebook is not None:
        staged = staging.stage(codebook)
        rows = codebook_rows(result)
        marked = result.data.layout is not None and result.data.layout.bom
        staged.write_bytes(codebook_bytes(codebook, rows, bom=marked, like=layout.sep))
        _check_target(result, str(codebook), staged)
        if read_codebook(staged, str(codebook), like=layout.sep) != codebook_cells(rows):
            raise VerificationError("the codebook does not read back as it was written")
    for path, made in (beside or {}).items():
        stage()
        staged, paper = staging.stage(path), made()
        staged.write_bytes(pack(path, paper.encode() if isinstance(paper, str) else paper))
        _check_target(result, str(path), staged)


def _check_copy(copy: Transactions, released: Transactions, keep_order: bool) -> None:
    """Compare what was read back: it must be exactly what was verified."""
    same_order = not keep_order or (copy.positions == released.positions).all()  # type: ignore[union-attr]
    if copy != released or not same_order:
        raise VerificationError("the release does not read back as what was verified")


def _check_target(result: Result, path: str, staged: Path) -> None:
    """Refuse to write over what the release was made from, unless nothing would change."""
    target = Path(path).resolve()
    if not target.is_file():
        return
    over_policy = any(Path(x).exists() and target.samefile(x) for x in result.policy.files)
    digests = {result.data.file_digest, *result.data.origin.parts} - {None}
    over_data = digests and (was := _digest(target)) in digests and was != _digest(staged)
    if over_policy or over_data:
        raise DataError("is an input; name another file for the output", path)


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
