"""Cypher lives in files, where its header is checked and the server explains it."""

import ast
import re
from pathlib import Path

from tests.each import for_each

PACKAGE = Path(__file__).parents[2] / "service" / "ecphoria"
CYPHER = re.compile(
    r"\b(MATCH|MERGE|UNWIND|OPTIONAL MATCH|DETACH DELETE)\b\s*[({$\w]"
    r"|\bCREATE\s+(\(|VECTOR|FULLTEXT|CONSTRAINT|INDEX)|\bCALL\s+(db|gds|dbms)\."
)


def strings(tree: ast.AST) -> list[tuple[int, str]]:
    told = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        (node.lineno, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told
    ]


@for_each({path.relative_to(PACKAGE).as_posix(): path for path in sorted(PACKAGE.rglob("*.py"))})
def test_no_cypher_in_python(path: Path) -> None:
    found = [
        f"line {line}: {text[:60]!r}"
        for line, text in strings(ast.parse(path.read_text()))
        if CYPHER.search(text)
    ]
    assert not found, f"move to cypher/: {'; '.join(found)}"


def test_the_rule_sees_a_query() -> None:
    assert CYPHER.search("MATCH (n) RETURN n")
    assert CYPHER.search("UNWIND $rows AS row")
    assert not CYPHER.search("a match of two names")
