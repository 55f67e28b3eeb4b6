import importlib
import pkgutil
import re
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from itertools import chain

import ecphoria
import ecphoria_eval
from ecphoria.neo4j_store.decoding import hints_of
from ecphoria.neo4j_store.queries import Mode, Query, cypher_root, load_fragments, load_queries
from ecphoria.neo4j_store.session import Done, Statement
from tests.each import for_each

QUERIES = load_queries(cypher_root())
# fmt: off
VERBS = frozenset((
    "acquire", "add", "await", "bind", "cancel", "claim", "count", "create", "delete", "drop",
    "erase", "expand", "find", "finish", "gds", "hold", "list", "load", "lock", "make", "mark",
    "move", "project", "record", "release", "remove", "renew", "restore", "retry", "revoke",
    "save", "seeds", "show", "start", "unmake", "update", "wake",
))
# fmt: on


def in_package() -> Iterator[Statement[object]]:
    found = chain(
        pkgutil.walk_packages(ecphoria.__path__, "ecphoria."),
        pkgutil.walk_packages(ecphoria_eval.__path__, "ecphoria_eval."),
    )
    for module in found:
        if module.name.startswith(("ecphoria.models.", "ecphoria.integrations.")):
            continue  # Some adapters need packages that only their users install.
        if module.name.endswith(".__main__"):
            continue
        loaded = importlib.import_module(module.name)
        for value in vars(loaded).values():
            members = value.values() if isinstance(value, dict) else [value]
            yield from (member for member in members if isinstance(member, Statement))


STATEMENTS = {statement.name: statement for statement in in_package()}


@for_each(QUERIES)
def test_the_sentence_is_one(query: Query) -> None:
    assert query.doc.endswith(".")
    assert query.doc[0].isupper()
    assert ". " not in query.doc


@for_each(QUERIES)
def test_the_file_is_named_by_a_verb(query: Query) -> None:
    if query.mode is Mode.SCHEMA:
        number, *what = query.source.stem.split("_")
        assert len(number) == 4
        assert number.isdigit()
        assert what
    else:
        assert query.source.stem.split("_")[0] in VERBS


@for_each(QUERIES)
def test_the_language_version_is_pinned(query: Query) -> None:
    asks_any_server = {
        "graphiti.list_keys", "graphiti.load_episodes", "server.show_components",
        "server.find_procedures", "server.gds_version",
    }  # fmt: skip
    assert query.text.startswith("CYPHER 25\n") is (query.name not in asks_any_server)


def _is_needed(known: Field[object]) -> bool:
    return known.default is MISSING and known.default_factory is MISSING


@for_each(QUERIES)
def test_the_columns_are_the_fields_of_the_rows(query: Query) -> None:
    if query.mode is Mode.SCHEMA:
        return
    statement = STATEMENTS[query.name]
    columns = query.each or query.returns
    if statement.row is Done:
        assert not columns
    elif len(columns) > 1 and is_dataclass(statement.row):
        known = fields(statement.row)
        needed = {one.name for one in known if _is_needed(one)}
        assert needed <= set(columns) <= {one.name for one in known}
    else:
        assert len(columns) == len(hints_of(statement.row, columns))
        assert len(columns) <= 2, "let the row have names"


def test_every_fragment_is_shared_and_documented() -> None:
    texts = [query.source.read_text("utf-8") for query in QUERIES.values()]
    for name, fragment in load_fragments(cypher_root()).items():
        assert sum(text.count(f"// use: {name}(") for text in texts) >= 2, name
        assert re.match(r"// doc: [A-Z].*\.\n", fragment.source.read_text("utf-8")), name


def test_every_statement_has_its_file() -> None:
    files = {name for name, query in QUERIES.items() if query.mode is not Mode.SCHEMA}
    assert set(STATEMENTS) == files


@for_each(QUERIES)
def test_a_tenant_is_asked_for_wherever_memories_are(query: Query) -> None:
    if query.source.parent.name in {"ingest", "recall", "archive", "traces"}:
        assert query.params["tenant"] == "STRING"


@for_each(QUERIES)
def test_reads_break_their_ties(query: Query) -> None:
    one_row = {"find", "count", "load", "gds", "show", "await", "project"}
    if query.mode is Mode.READ and query.source.stem.split("_")[0] not in one_row:
        assert "ORDER BY" in query.text


@for_each(QUERIES)
def test_no_path_pattern_is_unbounded(query: Query) -> None:
    assert not re.search(r"-\[[^\]]*\*(?!\d+\.\.\d+)", query.text)
