"""Before a policy is chosen: what is in the data, and which policy can be met."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from overcoat.advice.draft import draft
from overcoat.advice.profile import Profile, look_at
from overcoat.application.command import command_for
from overcoat.application.said import Input, Outputs, Statement
from overcoat.context import Context
from overcoat.data.io import Staging, check_outputs, send
from overcoat.data.io.databases.address import shown
from overcoat.data.transactions import Transactions
from overcoat.errors import OvercoatError, PolicyError
from overcoat.policy.config import state_policy

__all__ = ["Ask", "check_draft", "init", "profile"]

Ask = Callable[[Profile, Callable[[Mapping[str, Any]], None]], Mapping[str, Any]]


def profile(data: Input, *, k: int = 5, context: Context) -> Profile:
    """Say what is in some data."""
    with context.stage("read") as stage:
        transactions = data.read(stage)
    with context.stage("profile") as stage:
        return look_at(transactions, k=k, stage=stage)


def check_draft(output: str, *, named: bool) -> None:
    """Refuse to replace a policy that nobody named, before anybody is asked anything."""
    if not named and Path(output).exists():
        raise PolicyError(f"{output} exists: say with -o where to write, -o {output} to replace it")


def _try_out(transactions: Transactions, data: Input, said: Mapping[str, Any]) -> None:
    """Read the files that are named, and look whether they are about these data."""
    stated = {name: said[name] for name in ("hierarchy", "utility") if said[name] is not None}
    if "hierarchy" in stated and said["utility_level"] is not None:
        stated["utility_level"] = said["utility_level"]
    state_policy({"k": 5, "km": 2, **stated}, sep=data.set_sep).bind(transactions)


def init(
    data: Input,
    said: Mapping[str, Any],
    output: str,
    *,
    ask: Ask | None = None,
    context: Context,
) -> tuple[dict[str, Any], str]:
    """Write a policy for some data that is met; return its figures, and its text.

    Parameters
    ----------
    said : the parameters of `advice.draft.draft`; None, or left out, takes the default
    ask : who is asked for what was not said, once the data were looked at. It is given what is in
        the data, and a function that raises an error where what is said so far cannot be
    """
    check_outputs([data.source], [output])
    with context.stage("read") as stage:
        transactions = data.read(stage)
    if ask is not None:
        with context.stage("profile") as stage:
            seen = look_at(transactions, k=said["k"] or 5, stage=stage)
        context.start("done")()
        said = ask(seen, lambda so_far: _try_out(transactions, data, so_far))
    given = {name: value for name, value in said.items() if value is not None}
    files = [str(given[name]) for name in ("hierarchy", "utility") if name in given]
    check_outputs([data.source, *files], [output])
    found = draft(transactions, sep=data.set_sep, context=context, **given)
    folder = Path(".") if output == "-" else Path(output).parent
    source = Path(shown(data.source)).name if "://" not in data.source else shown(data.source)
    policy = "policy.toml" if output == "-" else output
    command = command_for(data, policy, Outputs("RELEASED", "map.json"))
    text = found.toml(source, folder, command)
    if output == "-":
        send(text.encode())
    else:
        with Staging() as staging:
            staged = staging.stage(output)
            staged.write_text(text, encoding="utf-8", newline="\n")
            stated = Statement.of({}, str(staged), sep=data.set_sep).policy
            if stated.bind(transactions).settled != found.result.policy.settled:
                raise OvercoatError("the policy that was written is not the one that was run")
            staging.commit()
    return {
        "policy": {key: value for key, value in found.settings.items() if value is not None},
        "verified": found.result.verdict.ok,
        "changed": found.change or None,
        "risk": found.risk.to_json(),
        "cost": found.cost.to_json(),
        "suspicious": list(found.suspicious),
    }, text
