"""A module of one idea has at most 600 lines, a function at most a screen. No exemptions."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.sources import MODULES, nodes
from tests.each import for_each


@for_each(MODULES)
def test_a_module_is_at_most_600_lines(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    assert lines <= 600, f"{lines} lines: split it by idea"


def functions(path: Path) -> Iterator[tuple[str, int]]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            told = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            start = (first.end_lineno if told else node.lineno) or node.lineno
            yield node.name, (node.end_lineno or start) - start


@for_each(MODULES)
def test_a_function_fits_a_screen(path: Path) -> None:
    long = [f"{one} ({size})" for one, size in functions(path) if size > 50]
    assert not long, f"{', '.join(long)} are over 50 lines below their docstring"


FORBIDDEN_NAMES = {"utils", "util", "helpers", "common", "misc", "manager"}


@for_each(MODULES)
def test_a_module_is_named_by_its_idea(path: Path) -> None:
    assert path.stem not in FORBIDDEN_NAMES
