"""A copy may hold each property that a query writes: `shapes.py` lists them all."""

import re
from collections.abc import Iterator

from ecphoria.neo4j_store.queries import Mode, Query, cypher_root, load_queries
from ecphoria.neo4j_store.shapes import EDGES, NODES, EdgeShape, NodeShape
from tests.each import for_each

QUERIES = {
    name: query
    for name, query in load_queries(cypher_root()).items()
    if query.mode is not Mode.SCHEMA and not name.startswith(("graphiti.", "server."))
}
NEVER_IN_A_COPY = {
    "import_of": "of nodes that an import has not finished",
    "import_number": "of nodes that an import has not finished",
    "erasing": "of a tenant that is being erased",
    "embedding_1": "a copy has the vectors of one model, as `embedding`",
    "generation": "of the store, not of a tenant",
}
NOT_OF_THE_KIND = {("portability.list_nodes", "tenant"): "nodes of every kind; tenants have none"}
_LABELLED = re.compile(r"[(\[](\w*):(\w+(?:[:&|]\w+)*)\s*({)?")
_SET = re.compile(r"(?:\bSET\b|,)\s*(\w+)\.(\w+)\s*=(?!=)")
_NAMED = re.compile(r"\b([a-z]\w*)\.([a-z]\w*)\b(?!\s*[(.])")
_STRINGS = re.compile(r"'(?:\\.|[^'\\])*'|//[^\n]*")


def _keys(text: str, start: int) -> Iterator[str]:
    """List the keys of the map whose brace opens at `start`, not those of maps inside of it."""
    depth, key = 0, ""
    for sign in text[start:]:
        if sign in "{[(":
            depth += 1
        elif sign in "}])":
            depth -= 1
            if not depth:
                return
        elif depth == 1 and sign == ",":
            key = ""
        elif depth == 1 and sign == ":" and key is not None:
            if key.strip().isidentifier():
                yield key.strip()
            key = "?"
        elif depth == 1:
            key += sign


def _written(query: Query) -> Iterator[tuple[frozenset[str], str]]:
    """List the properties that a query names in patterns and sets, with the labels they are of."""
    text = _STRINGS.sub("''", query.text)
    labels: dict[str, set[str]] = {}
    for found in _LABELLED.finditer(text):
        named = set(re.split("[:&|]", found[2]))
        labels.setdefault(found[1], set()).update(named)
        if found[3]:
            for key in _keys(text, found.end(3) - 1):
                yield frozenset(named), key
    for found in _SET.finditer(text):
        yield frozenset(labels.get(found[1], ())), found[2]
    for found in _NAMED.finditer(text):
        if found[1] in labels:
            yield frozenset(labels[found[1]]), found[2]


def _known(labels: frozenset[str]) -> set[str] | None:
    """List the properties of kinds; None for what no copy holds, those of all if none is told."""
    kinds: dict[str, NodeShape | EdgeShape] = {**NODES, **EDGES}
    of = [kind for name, kind in kinds.items() if name in labels or _marks(name) & labels]
    if labels and not of:
        return None
    return {name for kind in of or kinds.values() for name in kind.properties}


def _marks(name: str) -> set[str]:
    return {mark for marks in NODES[name].marks for mark in marks} if name in NODES else set()


@for_each(QUERIES)
def test_each_property_that_is_written_is_known(query: Query) -> None:
    for labels, name in _written(query):
        known = _known(labels)
        if known is None or name in NEVER_IN_A_COPY or (query.name, name) in NOT_OF_THE_KIND:
            continue
        assert name in known, (sorted(labels), name)


def test_the_properties_are_seen() -> None:
    seen = {name for query in QUERIES.values() for _, name in _written(query)}
    episode = NODES["Episode"].properties
    assert {"utc_offset", "metadata", "prior", "pinned", "spike_turns"} <= seen & episode.keys()
    assert len(seen) > 150
