"""Summaries by a language model: a real endpoint on this machine, and the real server."""

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from pydantic import SecretStr

from ecphoria.app import open_chat
from ecphoria.background import build_steps
from ecphoria.consolidation.engram_store import EngramStore
from ecphoria.consolidation.engrams import MakeClusters, MakeEngrams
from ecphoria.consolidation.knn import Associate
from ecphoria.consolidation.knn_store import AssociationStore
from ecphoria.consolidation.replay import ReplayStore
from ecphoria.consolidation.service import Cycle
from ecphoria.models.chat import StructuredChat
from ecphoria.models.openai import OpenAIChat
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.ports import Embedder
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.records.episode import SessionPoint
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.settings import LlmSettings
from ecphoria.telemetry import Metrics
from tests.chat_endpoint import ChatEndpoint, chat_endpoint, summary
from tests.conftest import Cypher
from tests.contract.canonical import canonical
from tests.contract.cycles import NOWHERE
from tests.contract.memories import START, appended, axis, episode_id, turn, write

NOW = START + timedelta(days=2)


@pytest.fixture
def endpoint() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        yield endpoint


@pytest.fixture
async def chat(endpoint: ChatEndpoint) -> AsyncIterator[StructuredChat]:
    made = OpenAIChat("small", base_url=endpoint.url, timeout=5, retries=0)
    yield StructuredChat(made)
    await made.close()


def a_cycle(tenant: TenantId, **how: Any) -> Cycle:
    return Cycle(**{"id": fresh_id(), "tenant": tenant, "now": NOW, **how})


async def a_talk(graph: Graph, tenant: TenantId) -> None:
    """Six turns of one session, about one thing."""
    rows = [
        turn(tenant, number, length=10, text=f"Sentence number {number} of the talk.",
             vector=axis(20 + number, 0, 0.75))
        for number in range(1, 7)
    ]  # fmt: skip
    await write(graph, tenant, appended(*rows))
    await Associate(AssociationStore(graph)).run(a_cycle(tenant))


async def engrams(cypher: Cypher, tenant: TenantId) -> list[dict[str, Any]]:
    return await cypher(
        "MATCH (g:Engram) WHERE g.tenant = $tenant RETURN g.id AS id, g.kind AS kind,"
        " g.summary AS summary, g.method AS method, COUNT { (g)-[:EVIDENCE]->() } AS evidence"
        " ORDER BY kind",
        tenant=tenant,
    )


SAID = "Sentence number 1 of the talk.\nSentence number 6 of the talk."


async def test_a_model_writes_and_is_asked_once_about_the_same(
    graph: Graph, tenant: TenantId, cypher: Cypher, chat: StructuredChat, endpoint: ChatEndpoint
) -> None:
    await a_talk(graph, tenant)
    steps = (MakeEngrams(EngramStore(graph), chat), MakeClusters(EngramStore(graph), chat))
    for step in steps:
        dry = await step.run(a_cycle(tenant, dry_run=True))
        assert (dry.counts["made"], dry.counts["asked"]) == (1, 0)
    assert (endpoint.requests, await engrams(cypher, tenant)) == ([], [])
    for step in steps:
        counts = (await step.run(a_cycle(tenant))).counts
        assert (counts["made"], counts["asked"], counts["tokens"]) == (1, 1, 77)
    for one in await engrams(cypher, tenant):
        assert (one["summary"], one["method"], one["evidence"]) == (SAID, "llm:small", 6)
    before = await canonical(cypher, tenant)
    await cypher("MATCH (s:Session {tenant: $tenant}) SET s.touched = 'again'", tenant=tenant)
    for step in steps:
        counts = (await step.run(a_cycle(tenant))).counts
        assert (counts["made"], counts["dropped"], counts["asked"]) == (0, 0, 0)
    assert await canonical(cypher, tenant) == before


async def test_the_record_of_a_session_is_stored_listed_and_heeded(
    graph: Graph, tenant: TenantId, chat: StructuredChat, endpoint: ChatEndpoint
) -> None:
    await a_talk(graph, tenant)
    answer = {
        "sentences": [{"text": "Sentence number 1 of the talk.", "turns": [1]}],
        "topic": "Talk",
        "decisions": [{"turn": 2, "quote": "sentence number 2"}],
        "open_questions": [{"turn": 3, "quote": "of the talk"}],
        "valence": -0.75,
        "novelty": 2,
    }
    endpoint.says = lambda _: json.dumps(answer)
    await MakeEngrams(EngramStore(graph), chat).run(a_cycle(tenant))
    (engram,) = await EpisodeArchive(graph).list_engrams(tenant, kind=None, after="", limit=5)
    second, third = episode_id(tenant, "2"), episode_id(tenant, "3")
    assert (engram.topic, engram.valence, engram.novelty) == ("Talk", -0.75, 1.0)
    assert engram.decisions == (SessionPoint(text="Sentence number 2", episode=second),)
    assert engram.open_questions == (SessionPoint(text="of the talk", episode=third),)
    memories = await ReplayStore(graph).memories(tenant, range(1, 7))
    assert {one.valence for one in memories} == {0.75}
    assert [one.id for one in memories if one.open] == [third]


async def test_without_an_answer_the_turns_stand_until_there_is_one(
    graph: Graph, tenant: TenantId, cypher: Cypher, chat: StructuredChat, endpoint: ChatEndpoint
) -> None:
    await a_talk(graph, tenant)
    steps = (MakeEngrams(EngramStore(graph), chat), MakeClusters(EngramStore(graph), chat))
    endpoint.statuses = [503] * 8  # each failure is followed by a look whether it is of the text
    for made in (1, 0):
        for step in steps:
            outcome = await step.run(a_cycle(tenant))
            assert (outcome.counts["made"], outcome.counts["dropped"]) == (made, 0)
            (reason,) = outcome.degraded
            assert "HTTP 503" in reason
        assert {one["method"] for one in await engrams(cypher, tenant)} == {"extractive"}
    for step in steps:
        outcome = await step.run(a_cycle(tenant))
        assert (outcome.counts["made"], outcome.degraded) == (1, ())
    assert [one["method"] for one in await engrams(cypher, tenant)] == ["llm:small"] * 2


async def test_what_cannot_be_used_is_not_asked_for_again(
    graph: Graph, tenant: TenantId, cypher: Cypher, chat: StructuredChat, endpoint: ChatEndpoint
) -> None:
    await a_talk(graph, tenant)
    endpoint.says = lambda _: summary(("Napoleon was here.", [1]))
    step = MakeEngrams(EngramStore(graph), chat)
    outcome = await step.run(a_cycle(tenant))
    assert (outcome.counts["asked"], len(outcome.degraded)) == (2, 1)
    (found,) = await engrams(cypher, tenant)
    assert found["method"] == "extractive"
    await cypher("MATCH (s:Session {tenant: $tenant}) SET s.touched = 'again'", tenant=tenant)
    assert (await step.run(a_cycle(tenant))).counts["asked"] == 0


async def test_any_turn_that_was_read_takes_the_summary_along(
    graph: Graph, tenant: TenantId, cypher: Cypher, chat: StructuredChat
) -> None:
    await a_talk(graph, tenant)
    for step in (MakeEngrams(EngramStore(graph), chat), MakeClusters(EngramStore(graph), chat)):
        await step.run(a_cycle(tenant))
    await write(graph, tenant, appended(removed=(episode_id(tenant, "3"),)))
    assert await engrams(cypher, tenant) == []


async def test_a_model_that_is_set_later_summarises_what_is_there_and_may_go_again(
    graph: Graph, tenant: TenantId, cypher: Cypher, chat: StructuredChat, endpoint: ChatEndpoint
) -> None:
    await a_talk(graph, tenant)
    for writer in (None, chat, None):
        steps = (MakeEngrams(EngramStore(graph), writer), MakeClusters(EngramStore(graph), writer))
        for step in steps:
            assert (await step.run(a_cycle(tenant))).counts["made"] == 1
        method = "llm:small" if writer else "extractive"
        assert [one["method"] for one in await engrams(cypher, tenant)] == [method] * 2
    assert len(endpoint.requests) == 2


async def test_a_model_that_is_set_writes_and_its_tokens_are_counted(
    graph: Graph, tenant: TenantId, embedder: Embedder, endpoint: ChatEndpoint, cypher: Cypher
) -> None:
    await a_talk(graph, tenant)
    metrics = Metrics(CollectorRegistry())
    llm = LlmSettings(model="small", base_url=endpoint.url, api_key=SecretStr("sk-secret"))
    options = GraphOptions(uri="bolt://127.0.0.1:1", user="neo4j", password="none")  # for GDS only
    async with AsyncExitStack() as stack:
        chat = open_chat(llm, metrics, stack)
        steps = build_steps(graph, options, embedder, NOWHERE, chat)
        for step in steps:
            if step.name in {"engrams", "clusters"}:
                await step.run(a_cycle(tenant))
    assert [one["method"] for one in await engrams(cypher, tenant)] == ["llm:small"] * 2
    assert endpoint.keys == ["Bearer sk-secret"] * 2
    for purpose in ("session", "cluster"):
        for direction, number in (("read", 70), ("written", 7)):
            labels = {"purpose": purpose, "direction": direction}
            assert metrics.registry.get_sample_value("ecphoria_llm_tokens_total", labels) == number
