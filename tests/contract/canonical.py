"""A tenant's graph as text that two graphs share exactly if they are the same."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from tests.conftest import Cypher

# When a thing was written, and how often the tenant changed, is no part of it.
_INCIDENTAL = frozenset(
    {"recorded_at", "created_at", "locked_at", "dormant_at", "change", "names_kept"}
)
_NOT_MEMORY = ["Job", "Trace", "ApiKey"]


async def canonical(cypher: Cypher, tenant: str) -> list[str]:
    """Write every node and every edge of a tenant's memory, one a line, in order."""
    nodes = await cypher(
        "MATCH (n) WHERE (n.tenant = $tenant OR (n:Tenant AND n.id = $tenant))"
        " AND none(label IN labels(n) WHERE label IN $others)"
        " RETURN labels(n) AS labels, properties(n) AS properties",
        tenant=tenant, others=_NOT_MEMORY,
    )  # fmt: skip
    edges = await cypher(
        "MATCH (a)-[r]->(b) WHERE a.tenant = $tenant"
        " AND none(label IN labels(a) WHERE label IN $others)"
        " RETURN type(r) AS type, properties(r) AS properties,"
        " a {.id, .normalised, .name, .stem, .word} AS tail,"  # no vectors: an end is told often
        " b {.id, .normalised, .name, .stem, .word} AS head",
        tenant=tenant, others=_NOT_MEMORY,
    )  # fmt: skip
    lines = [_line(sorted(node["labels"]), node["properties"]) for node in nodes]
    for edge in edges:
        ends = [_key(edge["tail"]), edge["type"], _key(edge["head"])]
        lines.append(_line(ends, edge["properties"]))
    return sorted(lines)


def _key(node: Mapping[str, Any]) -> str:
    """Name a node: by its id, or what it is unique by."""
    names = (node.get(name) for name in ("id", "normalised", "name", "stem", "word"))
    return str(next(name for name in names if name is not None))


def _line(what: list[str], properties: Mapping[str, Any]) -> str:
    told = {name: _told(value) for name, value in properties.items() if name not in _INCIDENTAL}
    if "touched" in told:  # by which write does not matter
        told["touched"] = True
    return json.dumps([what, told], sort_keys=True, ensure_ascii=False)


def _told(value: object) -> object:
    if isinstance(value, list) and len(value) > 32:
        return hashlib.sha256(repr(value).encode()).hexdigest()
    if isinstance(value, list):
        return [_told(one) for one in value]
    return value if isinstance(value, bool | int | float | str) else repr(value)
