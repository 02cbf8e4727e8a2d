"""The shape of the house: imports go one way, the front door is true, nothing heavy loads early."""

import ast
import dataclasses
import inspect
import subprocess
import sys
from importlib import import_module, resources
from pathlib import Path

import pytest

import overcoat

SOURCE = Path(str(resources.files("overcoat")))
# A room may import from itself and from rooms with a smaller number.
FLOORS = {
    "_version": 0,
    "errors": 1,
    "engines": 2,
    "checks": 2,
    "html": 2,
    "labels": 2,
    "words": 2,
    "log": 3,
    "context": 4,
    "data": 5,
    "partition": 6,
    "policy": 7,
    "mapping": 8,
    "loss": 9,
    "kernels": 10,
    "algorithms": 11,
    "verification": 12,
    "measures": 12,
    "exposure": 12,
    "least": 12,
    "feasibility": 12,
    "release": 13,
    "evidence": 14,
    "spark": 14,
    "evaluation": 15,
    "advice": 16,
    "reports": 17,
    "comparison": 18,
    "application": 19,
    "demo": 20,
    "web": 20,
    "cli": 21,
    "__main__": 22,
}


def modules() -> list[Path]:
    return sorted(SOURCE.rglob("*.py"))


def room_of(name: str) -> str:
    return name.split(".")[1] if "." in name else "overcoat"


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            if node.module == "overcoat":
                found |= {f"overcoat.{alias.name}" for alias in node.names}
            elif node.module:
                found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] == "overcoat"}


def test_imports_go_one_way() -> None:
    breaches = []
    for path in modules():
        relative = path.relative_to(SOURCE)
        if relative == Path("__init__.py"):
            continue
        room = relative.parts[0].removesuffix(".py")
        for name in imports_of(path):
            other = room_of(name)
            same_floor = FLOORS[other] == FLOORS[room] and other != room
            if FLOORS[other] > FLOORS[room] or same_floor:
                breaches.append(f"{relative} imports {name}")
    assert not breaches


def test_verification_shares_no_code_with_what_it_checks() -> None:
    for path in (SOURCE / "verification").glob("*.py"):
        for name in imports_of(path):
            assert room_of(name) not in {"algorithms", "kernels"}
            assert "native" not in name or "verification" in name, "no compiled code but its own"
            assert "pgen" not in name
    for path in (SOURCE / "verification").glob("*.pyx"):
        assert "overcoat" not in path.read_text(encoding="utf-8")


def test_the_front_door_is_true() -> None:
    assert overcoat.__all__ == sorted(overcoat.__all__)
    assert set(overcoat._HOME_OF) | {"__version__", *overcoat._MODULES} == set(overcoat.__all__)
    for name in overcoat.__all__:
        assert getattr(overcoat, name) is not None
    assert dir(overcoat) == overcoat.__all__
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = overcoat.nonsense  # type: ignore[attr-defined]


def test_every_module_has_a_true_all() -> None:
    for path in modules():
        if path.name == "__main__.py":
            continue
        parts = path.relative_to(SOURCE.parent).with_suffix("").parts
        module = import_module(".".join(parts).removesuffix(".__init__"))
        assert module.__doc__, f"{path}: no docstring"
        for name in getattr(module, "__all__", ()):
            assert hasattr(module, name), f"{path}: __all__ names {name}, which is not there"


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import overcoat", ("numpy", "polars", "pandas", "scipy", "rich", "click")),
        ("import overcoat.cli", ("numpy", "polars", "pandas", "scipy", "rich")),
        ("import overcoat; overcoat.anonymize", ("polars", "pandas", "rich", "scipy", "click")),
    ],
)
def test_nothing_heavy_is_imported(code: str, forbidden: tuple[str, ...]) -> None:
    script = f"{code}\nimport sys\nprint(*sorted(set(sys.modules) & set({forbidden!r})))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_files_fit_in_a_head() -> None:
    long = {
        str(path.relative_to(SOURCE)): lines
        for path in modules()
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 450
    }
    assert not long


def test_the_external_edition_cannot_reach_the_original() -> None:
    """What is told outside is made of what is published: no field of it holds the original."""
    from overcoat.evidence import External, Published

    assert [field.name for field in dataclasses.fields(External)] == [*("published", "stage")]
    assert [field.name for field in dataclasses.fields(Published)] == [
        *("released", "mapping", "policy", "names", "keep_order", "digests", "layout")
    ]
    source = inspect.getsource(External)
    assert "result" not in source
    assert "data" not in source.replace("dataclass", "")


def test_the_external_report_is_made_of_the_external_edition() -> None:
    from overcoat.evidence import External
    from overcoat.reports import certificate, editions, sections

    for make in (editions.external_page, certificate.public_certificate_of, certificate._common):
        kinds = inspect.get_annotations(make, eval_str=True)
        assert kinds["told"] is External
        assert not {kind for kind in kinds.values() if "Internal" in str(kind)}
        source = inspect.getsource(make)
        assert "result" not in source.lower()
        assert "inside" not in source.lower()
    # What both editions are made of cannot reach the original at all.
    assert "Internal" not in vars(sections)
    assert "Result" not in vars(sections)
