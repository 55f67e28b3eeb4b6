"""Modules import each other in one direction only, so that each can be read and loaded alone."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

SERVICE = Path(__file__).parents[2] / "service"
MODULES = {
    ".".join(path.relative_to(SERVICE).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(SERVICE.rglob("*.py"))
}


def imported(path: Path) -> Iterator[str]:
    """List the modules that a module imports when it is loaded."""
    # What stands under `if TYPE_CHECKING` or in a function is not loaded with the module.
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in node.names:
                inner = f"{node.module}.{name.name}"
                yield inner if inner in MODULES else node.module


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Name the modules of a circle of imports; none if there is no circle."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle() -> None:
    graph = {name: set(imported(path)) & MODULES.keys() for name, path in MODULES.items()}
    assert cycle(graph) == []


def test_a_circle_is_found() -> None:
    assert set(cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}
