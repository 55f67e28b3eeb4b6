"""Cypher lives in files, where its header is checked and the server explains it."""

import ast
import re
from collections.abc import Sequence
from pathlib import Path

from tests.architecture.sources import MODULES, nodes
from tests.each import for_each

CYPHER = re.compile(
    r"\b(MATCH|MERGE|UNWIND|OPTIONAL MATCH|DETACH DELETE)\b\s*[({$\w]"
    r"|\bCREATE\s+(\(|VECTOR|FULLTEXT|CONSTRAINT|INDEX)|\bCALL\s+(db|gds|dbms)\."
)


def strings(module: Sequence[ast.AST]) -> list[tuple[int, str]]:
    told = {
        id(node.body[0].value)
        for node in module
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        (node.lineno, node.value)
        for node in module
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
    ]


@for_each(MODULES)
def test_no_cypher_in_python(path: Path) -> None:
    found = [
        f"line {line}: {text[:60]!r}" for line, text in strings(nodes(path)) if CYPHER.search(text)
    ]
    assert not found, f"move to cypher/: {'; '.join(found)}"


def test_the_rule_sees_a_query() -> None:
    assert CYPHER.search("MATCH (n) RETURN n")
    assert CYPHER.search("UNWIND $rows AS row")
    assert not CYPHER.search("a match of two names")
