"""The saved queries of Neo4j Browser, run as they are: each shows something of any store."""

from pathlib import Path

import pytest

from ecphoria.ingest.service import IngestService
from ecphoria.recall.service import RecallService
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions
from tests.conftest import Cypher
from tests.integration.memory.talks import turns

QUERIES = {
    file.stem: file.read_text(encoding="utf-8")
    for file in sorted((Path(__file__).parents[3] / "cypher" / "browser").glob("*.cypher"))
}


@pytest.fixture
async def filled(ingest: IngestService, recalls: RecallService, tenant: TenantId) -> TenantId:
    await ingest.append_batch(tenant, turns())
    made = await recalls.recall(tenant, Cue(text="What did Ana see in Turku?"), RecallOptions())
    assert made.trace_id is not None
    await recalls.trace(tenant, made.trace_id)  # it waits until the trace is stored
    return tenant


@pytest.mark.parametrize("name", QUERIES)
async def test_a_saved_query_shows_something_of_any_store(
    name: str, filled: TenantId, cypher: Cypher
) -> None:
    if name == "what_is_dormant":
        await cypher("MATCH (e:LiveEpisode {tenant: $t}) REMOVE e:LiveEpisode", t=filled)
    assert await cypher(QUERIES[name])
