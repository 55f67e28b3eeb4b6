"""The schema creates every name that a query knows.

Neo4j plans a query anew while a label, a type or a property of it does not exist: a new store
would plan most queries of an append and a recall twice.
"""

import re

from ecphoria.neo4j_store.queries import Mode, cypher_root, load_queries

QUERIES = load_queries(cypher_root()).values()
TEXTS = [
    re.sub(r"'[^']*'|`[^`]*`|//[^\n]*", " ", query.text)
    for query in QUERIES
    if query.mode is not Mode.SCHEMA and not query.name.startswith("graphiti.")
]
SCHEMA = "\n".join(query.text for query in QUERIES if query.mode is Mode.SCHEMA)
OF_NO_NODE = frozenset({
    "classes", "concept", "e", "energy", "epochMillis", "epochSeconds", "formula", "g",
    "gap_days", "load", "loaded", "minutes", "nanosecond", "s", "score", "seconds", "stream",
    "ttl_s",
})  # fmt: skip
"""Parts of moments and of maps, which look like properties here."""
_LABELS = re.compile(r"(?<=[\w(]):\s*([A-Z][a-z]\w*(?:[&|:]!?[A-Z][a-z]\w*)*)")
_TYPES = re.compile(r"\[\w*:([A-Z_|]+)")
_PLACE = re.compile(
    r"(MATCH |MERGE |CREATE |-)?[(\[](\w*)\s*(:[\w|&! ]+)?\s*(\{[^{}]*\})?[)\]](?=([-<])?)"
)
"""A node or an edge of a pattern: variable, label or type, properties, and what is around it."""


def created(procedure: str) -> set[str]:
    """List the names that the schema creates by a procedure."""
    found = re.findall(rf"UNWIND \[([^\]]*)\] AS name\nCALL db\.{procedure}\(name\)", SCHEMA)
    return {name for names in found for name in re.findall(r"'(\w+)'", names)}


def indexed() -> tuple[set[str], set[str]]:
    """List the labels and the properties of indexes, which their creation creates."""
    labels = set(re.findall(r"FOR \(\w:(\w+)\)", SCHEMA))
    return labels, set(re.findall(r"\bn\.(\w+)", SCHEMA))


def properties(text: str) -> set[str]:
    """List what a query reads and writes of variables that are in its patterns."""
    found: set[str] = set()
    variables: set[str] = set()
    for before, variable, kind, entries, after in _PLACE.findall(text):
        if before or kind or entries or after:  # no brackets of an expression
            variables.add(variable)
            found.update(re.findall(r"(\w+)\s*:", entries))
    read = re.findall(r"\b([A-Za-z_]\w*)\.([A-Za-z_]\w*)\b(?!\s*[.(])", text)
    return found | {name for variable, name in read if variable in variables}


def test_every_label_and_every_type_is_created() -> None:
    labels = {name for text in TEXTS for names in _LABELS.findall(text)
              for name in re.findall(r"\w+", names)}  # fmt: skip
    types = {name for text in TEXTS for names in _TYPES.findall(text) for name in names.split("|")}
    assert labels == created("createLabel") | indexed()[0]
    assert types == created("createRelationshipType")


def test_every_property_is_created() -> None:
    used = set().union(*map(properties, TEXTS))
    assert used - OF_NO_NODE - indexed()[1] == created("createProperty")
