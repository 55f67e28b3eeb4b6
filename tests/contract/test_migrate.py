import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from ecphoria.errors import EcphoriaError, EmbedderMismatch, Misconfigured, StoreUnavailable
from ecphoria.neo4j_store.queries import Mode, Query, cypher_root, load_queries
from ecphoria.neo4j_store.schema import Migration, migrate
from ecphoria.neo4j_store.session import Graph, GraphOptions, open_driver
from ecphoria.ports import Embedder
from tests.conftest import Cypher

SCHEMA = load_queries(cypher_root())


def extra(number: int, text: str) -> Query:
    return Query(
        name=f"schema.{number}_test",
        doc="Test.",
        mode=Mode.SCHEMA,
        params={},
        returns={},
        each={},
        plan={},
        text=text,
        source=Path(__file__),
    )


FIRST = extra(9001, "CREATE INDEX migrate_test_a IF NOT EXISTS FOR (n:MigrateTest) ON (n.a);")
SECOND = extra(
    9002,
    "CREATE INDEX migrate_test_b IF NOT EXISTS FOR (n:MigrateTest) ON (n.b);\n\n"
    "CREATE INDEX migrate_test_c IF NOT EXISTS FOR (n:MigrateTest) ON (n.c);\n",
)


@pytest.fixture(autouse=True)
async def cleared(cypher: Cypher, graph: Graph) -> AsyncIterator[None]:
    yield
    for name in ("a", "b", "c"):
        await cypher(f"DROP INDEX migrate_test_{name} IF EXISTS")
    await cypher("MATCH (m:SchemaMigration) WHERE m.id STARTS WITH 'schema.9' DELETE m")
    await cypher("MATCH (m:SchemaMigration {id: 'lock'}) REMOVE m.holder, m.until")


def with_files(options: GraphOptions, *files: Query) -> Graph:
    queries = {**SCHEMA, **{file.name: file for file in files}}
    return Graph(open_driver(options), options, queries, None)


async def indexes(cypher: Cypher, prefix: str) -> list[str]:
    rows = await cypher(
        "SHOW INDEXES YIELD name, state WHERE name STARTS WITH $prefix "
        "RETURN name + ' ' + state AS told ORDER BY name",
        prefix=prefix,
    )
    return [row["told"] for row in rows]


async def test_a_migrated_store_has_every_constraint_and_index_online(
    graph: Graph, cypher: Cypher
) -> None:
    rows = await cypher(
        "SHOW INDEXES YIELD name, type, labelsOrTypes, properties, state "
        "WHERE type <> 'LOOKUP' AND NOT name STARTS WITH 'migrate_test' AND labelsOrTypes[0] IN "
        "['Episode', 'LiveEpisode', 'LiveConcept', 'Concept', 'Tenant', 'ApiKey', 'Session', "
        "'Speaker', 'Term', 'Word', 'Name', 'Fact', 'LiveFact', 'Decision', 'Trace', 'Engram', "
        "'SchemaMigration', 'DormantEpisode', 'ArchivedEpisode', 'Passage', 'LivePassage', "
        "'Tombstone', 'Item'] "
        "RETURN name, type, properties, state ORDER BY name"
    )
    assert {row["state"] for row in rows} == {"ONLINE"}
    assert {row["name"]: (row["type"], row["properties"]) for row in rows} == {
        "api_key_hash": ("RANGE", ["hash"]),
        "api_key_id": ("RANGE", ["id"]),
        "api_key_tenant": ("RANGE", ["tenant"]),
        "archived_turn": ("RANGE", ["tenant", "turn"]),
        "dormant_turn": ("RANGE", ["tenant", "turn"]),
        "concept_embedding": ("VECTOR", ["embedding", "tenant"]),
        "concept_id": ("RANGE", ["id"]),
        "concept_touched": ("RANGE", ["tenant", "touched"]),
        "engram_embedding": ("VECTOR", ["embedding", "tenant"]),
        "engram_id": ("RANGE", ["id"]),
        "engram_recorded_at": ("RANGE", ["tenant", "recorded_at"]),
        "engram_terms": ("FULLTEXT", ["tenant", "terms"]),
        "item_address": ("RANGE", ["tenant", "path", "key"]),
        "item_embedding": ("VECTOR", ["embedding", "tenant", "path"]),
        "item_expires_at": ("RANGE", ["tenant", "expires_at"]),
        "item_updated_at": ("RANGE", ["tenant", "updated_at", "key"]),
        "episode_embedding": (
            "VECTOR",
            ["embedding", "tenant", "session", "speaker", "occurred_at"],
        ),
        "fact_embedding": ("VECTOR", ["embedding", "tenant"]),
        "fact_id": ("RANGE", ["id"]),
        "fact_recorded_at": ("RANGE", ["tenant", "recorded_at"]),
        "episode_expires_at": ("RANGE", ["tenant", "expires_at"]),
        "episode_id": ("RANGE", ["id"]),
        "episode_occurred_at": ("RANGE", ["tenant", "session", "occurred_at"]),
        "episode_ordinal": ("RANGE", ["tenant", "session", "ordinal"]),
        "episode_terms": ("FULLTEXT", ["tenant", "terms", "words"]),
        "episode_touched": ("RANGE", ["tenant", "touched"]),
        "decision_id": ("RANGE", ["id"]),
        "decision_number": ("RANGE", ["tenant", "number"]),
        "episode_turn": ("RANGE", ["tenant", "turn"]),
        "fact_key": ("RANGE", ["tenant", "subject", "relation", "qualifier"]),
        "fact_object": ("RANGE", ["tenant", "object"]),
        "fact_relation": ("RANGE", ["tenant", "relation"]),
        "fact_touched": ("RANGE", ["tenant", "touched"]),
        "name_normalised": ("RANGE", ["tenant", "normalised"]),
        "passage_embedding": (
            "VECTOR",
            ["embedding", "tenant", "session", "speaker", "occurred_at"],
        ),
        "passage_id": ("RANGE", ["id"]),
        "passage_terms": ("FULLTEXT", ["tenant", "terms"]),
        "passage_turn": ("RANGE", ["tenant", "turn"]),
        "schema_migration_id": ("RANGE", ["id"]),
        "session_name": ("RANGE", ["tenant", "name"]),
        "session_touched": ("RANGE", ["tenant", "touched"]),
        "speaker_name": ("RANGE", ["tenant", "name"]),
        "tenant_id": ("RANGE", ["id"]),
        "tenant_name": ("RANGE", ["name"]),
        "term_stem": ("RANGE", ["tenant", "stem"]),
        "trace_created_at": ("RANGE", ["tenant", "created_at"]),
        "tombstone_erased_at": ("RANGE", ["tenant", "erased_at"]),
        "tombstone_id": ("RANGE", ["id"]),
        "trace_id": ("RANGE", ["id"]),
        "trace_pending_since": ("RANGE", ["tenant", "pending_since"]),
        "word_word": ("RANGE", ["tenant", "word"]),
    }


async def test_running_again_changes_nothing(graph: Graph, embedder: Embedder) -> None:
    assert (await migrate(graph, embedder.model, embedder.dimension)).applied == ()


async def test_one_query_decides_that_a_store_is_up_to_date(
    options: GraphOptions, embedder: Embedder, graph: Graph
) -> None:
    asked: list[str] = []
    async with Graph.connect(options, on_query=lambda name, _: asked.append(name)) as another:
        found = await migrate(another, embedder.model, embedder.dimension)
    assert found == Migration(applied=(), generation=0)
    assert asked == ["server.find_current", "server.check_schema"]


async def test_an_index_that_failed_is_told_although_every_file_was_applied(
    graph: Graph, embedder: Embedder, cypher: Cypher
) -> None:
    await cypher("CREATE (:MigrateTest {a: $long})", long="long" * 10_000)
    await cypher("CREATE INDEX migrate_test_a FOR (n:MigrateTest) ON (n.a)")
    try:
        with pytest.raises(EcphoriaError):
            await migrate(graph, embedder.model, embedder.dimension)
        assert await indexes(cypher, "migrate_test") == ["migrate_test_a FAILED"]
    finally:
        await cypher("MATCH (n:MigrateTest) DELETE n")


async def test_new_files_are_applied_once_and_in_order(
    options: GraphOptions, embedder: Embedder, cypher: Cypher
) -> None:
    async with with_files(options, SECOND, FIRST) as graph:
        applied = (await migrate(graph, embedder.model, embedder.dimension)).applied
        assert applied == (FIRST.name, SECOND.name)
        assert await indexes(cypher, "migrate_test") == [
            "migrate_test_a ONLINE",
            "migrate_test_b ONLINE",
            "migrate_test_c ONLINE",
        ]
        assert (await migrate(graph, embedder.model, embedder.dimension)).applied == ()


async def test_a_store_of_the_first_schema_file_alone_gets_the_others(
    graph: Graph, embedder: Embedder, cypher: Cypher
) -> None:
    first = "schema.0100_baseline"
    later = sorted(name for name in SCHEMA if name.startswith("schema.") and name > first)
    await cypher("MATCH (m:SchemaMigration) WHERE m.id IN $later DELETE m", later=later)
    assert (await migrate(graph, embedder.model, embedder.dimension, up_to=first)).applied == ()
    assert (await migrate(graph, embedder.model, embedder.dimension)).applied == tuple(later)


async def test_migrators_at_the_same_time_apply_each_file_once(
    options: GraphOptions, embedder: Embedder, cypher: Cypher
) -> None:
    async def one() -> tuple[str, ...]:
        async with with_files(options, FIRST, SECOND) as graph:
            return (await migrate(graph, embedder.model, embedder.dimension)).applied

    applied = await asyncio.gather(*(one() for _ in range(4)))
    assert sorted(applied) == [(), (), (), (FIRST.name, SECOND.name)]
    assert len(await indexes(cypher, "migrate_test")) == 3


async def test_a_changed_file_is_refused(options: GraphOptions, embedder: Embedder) -> None:
    async with with_files(options, FIRST) as graph:
        await migrate(graph, embedder.model, embedder.dimension)
    changed = replace(FIRST, text=FIRST.text + "\n// more")
    async with with_files(options, changed) as graph:
        with pytest.raises(Misconfigured, match=r"9001_test was changed"):
            await migrate(graph, embedder.model, embedder.dimension)
    async with with_files(options, FIRST) as graph:
        assert (await migrate(graph, embedder.model, embedder.dimension)).applied == ()


async def test_a_failed_file_can_be_mended_and_the_rest_goes_on(
    options: GraphOptions, embedder: Embedder, cypher: Cypher
) -> None:
    broken = replace(SECOND, text="CREATE INDEX migrate_test_b FOR nonsense;")
    async with with_files(options, FIRST, broken) as graph:
        with pytest.raises(Exception, match="9002"):
            await migrate(graph, embedder.model, embedder.dimension)
    async with with_files(options, FIRST, SECOND) as graph:
        applied = (await migrate(graph, embedder.model, embedder.dimension)).applied
    assert applied == (SECOND.name,)
    assert len(await indexes(cypher, "migrate_test")) == 3


async def test_a_lease_that_ran_out_is_taken_over_and_a_live_one_is_not(
    graph: Graph, embedder: Embedder, cypher: Cypher
) -> None:
    take = (
        "MATCH (m:SchemaMigration {id: 'lock'}) "
        "SET m.holder = 'dead', m.until = datetime() + duration({seconds: $seconds})"
    )
    await cypher(take, seconds=-1)
    assert (await migrate(graph, embedder.model, embedder.dimension)).applied == ()
    await cypher(take, seconds=60)
    with pytest.raises(StoreUnavailable, match="another service"):
        await migrate(graph, embedder.model, embedder.dimension, lock_wait_s=0.3)


@pytest.mark.parametrize(("model", "more"), [("another-model", 0), (None, 1)])
async def test_a_store_of_another_model_is_refused_with_the_remedy(
    graph: Graph, embedder: Embedder, model: str | None, more: int
) -> None:
    with pytest.raises(EmbedderMismatch, match="set the embedder back") as refused:
        await migrate(graph, model or embedder.model, embedder.dimension + more)
    assert refused.value.fields["stored_model"] == embedder.model
    assert (await migrate(graph, embedder.model, embedder.dimension)).applied == ()


async def test_a_store_that_a_newer_release_has_used_is_refused(
    options: GraphOptions, cypher: Cypher, embedder: Embedder
) -> None:
    async with with_files(options, FIRST) as newer:
        await migrate(newer, embedder.model, embedder.dimension)
    async with with_files(options) as older:
        with pytest.raises(Misconfigured, match=r"newer release.*9001"):
            await migrate(older, embedder.model, embedder.dimension)


@pytest.mark.parametrize("file", ["0001_pre_identity", "0022_pre_engrams"])
async def test_a_store_from_before_the_first_release_is_refused_with_what_to_do(
    graph: Graph, cypher: Cypher, embedder: Embedder, file: str
) -> None:
    await cypher("CREATE (:SchemaMigration {id: $id, checksum: 'c'})", id=f"schema.{file}")
    try:
        with pytest.raises(Misconfigured, match=r"start with an empty store") as refused:
            await migrate(graph, embedder.model, embedder.dimension)
        assert refused.value.fields["file"] == f"schema.{file}"
    finally:
        await cypher("MATCH (m:SchemaMigration {id: $id}) DELETE m", id=f"schema.{file}")
    assert (await migrate(graph, embedder.model, embedder.dimension)).applied == ()
