"""Measures of the product and of its evaluation, printed for whoever changes its shape."""

import ast
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture.sources import MODULES, SERVICE, nodes

# The synchronous client is generated, so nobody reads or edits it.
WRITTEN = [path for path in MODULES.values() if not path.name.startswith("sync_")]


def import_lines(path: Path) -> int:
    """Count the lines of imports and of `__all__`."""
    count = 0
    for node in nodes(path):
        names = [getattr(each, "id", "") for each in getattr(node, "targets", [])]
        if isinstance(node, ast.Import | ast.ImportFrom) or "__all__" in names:
            assert isinstance(node, ast.stmt)
            count += (node.end_lineno or node.lineno) - node.lineno + 1
    return count


def test_the_measures_of_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    lines: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    imports = 0
    for path in WRITTEN:
        package, part, *_ = path.relative_to(SERVICE).parts
        feature = part.removesuffix(".py") if package == "ecphoria" else package
        lines[feature] += len(path.read_text().splitlines())
        modules[feature] += 1
        imports += import_lines(path)
    share = imports / lines.total()
    table = [
        f"{'feature':<16}{'modules':>8}{'lines':>8}",
        *(f"{name:<16}{modules[name]:>8}{count:>8,}" for name, count in lines.most_common()),
        f"{'all':<16}{modules.total():>8}{lines.total():>8,}",
        f"{lines.total() / modules.total():.0f} lines a module, {share:.1%} imports",
    ]
    with capsys.disabled():
        print("", *table, sep="\n")  # noqa: T201 (the measures are for a reader)
    assert share < 0.1, "modules are too small, or import too much"
