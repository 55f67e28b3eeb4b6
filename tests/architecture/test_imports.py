"""Modules do not import each other in a circle, and no test imports a test module."""

import ast
import re
from collections.abc import Callable, Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from ecphoria.cli.main import ADDED, COMMANDS
from tests.architecture.sources import MODULES, TESTS, tree
from tests.each import for_each


def dotted(name: str) -> str:
    parts = name.removesuffix(".py").split("/")
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def at_import(statements: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """List the imports that run when the module is imported."""
    for node in statements:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from at_import(node.orelse)
        elif not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for name in ("body", "orelse", "handlers", "finalbody"):
                yield from at_import(getattr(node, name, []))


def anywhere(statements: list[ast.stmt]) -> Iterator[ast.Import | ast.ImportFrom]:
    """List all imports, also those that a function runs, but none for type checkers only."""
    yield from at_import(statements)
    for statement in statements:
        for inner in ast.walk(statement):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from at_import(inner.body)


Find = Callable[[list[ast.stmt]], Iterator[ast.Import | ast.ImportFrom]]


def imported(module: ast.Module, known: set[str], find: Find = at_import) -> set[str]:
    """Name the known modules that a module imports."""
    found: set[str] = set()
    for node in find(module.body):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif node.module:
            # `from package import name` imports a module where the name is one.
            names = {f"{node.module}.{each.name}" for each in node.names}
            found |= names & known if names <= known else {node.module, *names & known}
    return found & known


def circle(modules: dict[str, ast.Module], find: Find = at_import) -> list[str]:
    """Name the modules of a circle of imports, or none."""
    graph = {name: imported(module, {*modules}, find) for name, module in modules.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_imports_in_a_circle() -> None:
    """Without a circle, every module can be imported first."""
    found = circle({dotted(name): tree(path) for name, path in MODULES.items()})
    assert not found, " is imported by ".join(found)


COMMAND_LINE = {
    name: module
    for name, module in ((dotted(name), tree(path)) for name, path in MODULES.items())
    if name.startswith("ecphoria.cli.")
}


def test_no_imports_in_a_circle_of_the_command_line() -> None:
    """Its imports inside functions save time; they hide no circle."""
    found = circle(COMMAND_LINE, anywhere)
    assert not found, " is imported by ".join(found)


def test_no_command_imports_the_commands_of_another_module() -> None:
    modules = {listed.module for listed in COMMANDS.values()} - {ADDED}
    commands = {f"ecphoria.cli.{module}" for module in modules}
    # `serve`, `demo` and copies of the store draw the start of the engine as `up` does.
    shared = {"ecphoria.cli.engine"}
    for name in commands:
        assert imported(COMMAND_LINE[name], {*COMMAND_LINE}) & commands <= shared - {name}, name


@pytest.mark.parametrize(
    ("first", "second", "is_circle"),
    [
        ("import ecphoria.b", "from ecphoria.a import x", True),
        ("from ecphoria import b", "import ecphoria.a", True),
        ("try:\n    import ecphoria.b\nexcept ImportError:\n    pass", "import ecphoria.a", True),
        ("import ecphoria.b", "if TYPE_CHECKING:\n    import ecphoria.a", False),
        ("import ecphoria.b", "def later():\n    import ecphoria.a", False),
    ],
)
def test_the_rule_sees_a_circle(first: str, second: str, is_circle: bool) -> None:
    found = circle({"ecphoria.a": ast.parse(first), "ecphoria.b": ast.parse(second)})
    assert bool(found) is is_circle


FROM_A_TEST_MODULE = re.compile(
    r"^[ \t]*(?:from|import) +(?:tests[\w.]*\.test_\w+|tests[\w.]* +import[ (\n]+test_\w+|\.).*",
    re.MULTILINE,
)


@for_each({path.relative_to(TESTS).as_posix(): path for path in sorted(TESTS.rglob("*.py"))})
def test_helpers_do_not_live_in_test_modules(path: Path) -> None:
    """Two modules that need a helper import it from a third, named by its content."""
    found = FROM_A_TEST_MODULE.findall(path.read_text(encoding="utf-8"))
    assert not found, "; ".join(found)


@pytest.mark.parametrize(
    ("line", "is_refused"),
    [
        ("from tests.contract.test_jobs import a_job", True),
        ("    from tests.contract import test_jobs", True),
        ("from tests.contract import (\n    test_jobs,\n)", True),
        ("import tests.contract.test_jobs", True),
        ("from .test_jobs import a_job", True),
        ("from tests.contract.jobs import jobs_of", False),
    ],
)
def test_the_rule_sees_a_test_module(line: str, is_refused: bool) -> None:
    assert bool(FROM_A_TEST_MODULE.search(line)) is is_refused


def test_an_import_in_a_function_closes_a_circle_too() -> None:
    first, later = ast.parse("import ecphoria.b"), ast.parse("def f():\n    import ecphoria.a")
    assert circle({"ecphoria.a": first, "ecphoria.b": later}, anywhere)
    assert not circle({"ecphoria.a": first, "ecphoria.b": later})
