"""The modules of both packages and of the tests, each parsed once."""

import ast
from functools import cache
from pathlib import Path

TESTS = Path(__file__).parents[1]
SERVICE = TESTS.parent / "service"
MODULES = {
    path.relative_to(SERVICE).as_posix(): path
    for package in ("ecphoria", "ecphoria_eval")
    for path in sorted((SERVICE / package).rglob("*.py"))
}
"""By the path below `service`."""


@cache
def tree(path: Path) -> ast.Module:
    """Parse a module; callers only read what they get."""
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """List the nodes of a module."""
    return tuple(ast.walk(tree(path)))
