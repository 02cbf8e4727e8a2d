"""The reference is complete: commands, options, keys, exit statuses, public names."""

from __future__ import annotations

import re
from pathlib import Path

import click
import pytest

import overcoat
from overcoat.cli import cli
from overcoat.errors import InfeasibleError, InputError, OvercoatError, VerificationError
from overcoat.evaluation import evaluate
from overcoat.policy.config import KEYS
from overcoat.policy.policy import Policy
from overcoat.policy.privacy import AllItemsets
from overcoat.release.public import anonymize
from overcoat.reports.json import error_to_json, evaluation_to_json, result_to_json, verdict_to_json

ROOT = Path(__file__).parents[2]
COMMANDS = (ROOT / "docs" / "commands.md").read_text(encoding="utf-8")
EVERYTHING = "".join(
    page.read_text(encoding="utf-8")
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
)


def is_mentioned(name: str, text: str) -> bool:
    """Whether `name` stands in the text as a word of its own, dashes being part of words."""
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


@pytest.mark.parametrize("name", sorted(cli.commands))
def test_command(name: str) -> None:
    assert f"### overcoat {name}\n" in COMMANDS
    for parameter in cli.commands[name].params:
        if isinstance(parameter, click.Option):
            for option in (*parameter.opts, *parameter.secondary_opts):
                assert is_mentioned(option, COMMANDS), f"overcoat {name} {option}"
            for choice in getattr(parameter.type, "choices", ()):
                assert is_mentioned(str(choice), COMMANDS), f"{parameter.name} {choice}"
            if parameter.metavar and " " not in parameter.metavar:
                assert parameter.metavar in COMMANDS


def test_no_option_is_invented() -> None:
    known = {"--help", "--version"}
    for command in cli.commands.values():
        known |= {option for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", COMMANDS)) <= known


def test_policy_keys() -> None:
    table = COMMANDS[COMMANDS.index("### policy.toml") :]
    for key in KEYS:
        assert f"`{key}`" in table


def test_json_keys() -> None:
    result = anonymize([{"a", "b"}, {"a"}, {"b"}], 2, AllItemsets(2), max_suppressed=100)
    objects = [
        result_to_json(result, released=None, mapping=None, keep_order=False),
        verdict_to_json(result.verdict, k=2),
        error_to_json(InputError("wrong")),
        error_to_json(InfeasibleError("no way")),
        error_to_json(VerificationError("broken", result.verdict)),
    ]
    evaluation = evaluate(result.data, result.released, result.mapping, min_support=10)
    measured = evaluation_to_json(evaluation, seed=0, output=None)
    patterns = measured["patterns"]
    objects += [measured, measured["items"], *measured["queries"], patterns, patterns["rules"]]
    for key in {key for one in objects for key in one} | set(result.seconds):
        assert f"`{key}`" in COMMANDS, key


def test_exit_statuses() -> None:
    table = COMMANDS[COMMANDS.index("## Exit status") :]
    kinds = (InputError, InfeasibleError, VerificationError, OvercoatError)
    for status in {0, 130, *(kind.exit_code for kind in kinds)}:
        assert f"| {status} |" in table


@pytest.mark.parametrize("name", sorted(set(overcoat.__all__) - {"__version__"}))
def test_public_name(name: str) -> None:
    assert is_mentioned(name, EVERYTHING)


def test_defaults() -> None:
    policy = Policy(2, (AllItemsets(1),))
    assert f"Default: {policy.max_suppressed}" in COMMANDS
    assert f"Default: `{policy.utility.rest}`" in COMMANDS
    assert f"Default: `{overcoat.Setting({}, policy).method.name}`" in COMMANDS


def test_make_targets() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert phony is not None
    for target in set(phony[1].split()) - {"help"}:
        assert f"| `make {target}` |" in contributing, target
