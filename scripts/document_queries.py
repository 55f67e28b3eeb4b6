"""Write docs/reference/queries.md from the headers of the Cypher files."""

from collections.abc import Mapping
from itertools import groupby
from pathlib import Path

from ecphoria.graph.queries import Query, cypher_root, load_queries

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "queries.md"
INTRODUCTION = """\
# Queries

Every query Ecphoria sends to Neo4j stands in a file of its own under `cypher/`. This page is
written from their headers by `scripts/document_queries.py`.
"""


def render(queries: Mapping[str, Query]) -> str:
    """Lay out all queries, one section an area."""
    parts = [INTRODUCTION]
    for area, members in groupby(queries.values(), key=lambda query: query.name.split(".")[0]):
        parts.append(f"## {area}\n")
        parts.extend(_section(query) for query in members)
    return "\n".join(parts)


def _section(query: Query) -> str:
    lines = [f"### `{query.name}`", "", query.doc, "", f"- mode: {query.mode.value}"]
    for title, declared in (
        ("takes", query.params),
        ("gives", {} if query.each else query.returns),
        ("gives rows of", query.each),
    ):
        if declared:
            fields = ", ".join(f"`{name}` {kind}" for name, kind in declared.items())
            lines.append(f"- {title}: {fields}")
    lines.extend(f"- plan: {operator}, {reason}" for operator, reason in query.plan.items())
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(render(load_queries(cypher_root())), "utf-8")
