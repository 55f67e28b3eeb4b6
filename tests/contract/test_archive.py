from datetime import datetime, timedelta
from typing import Any

import pytest

from ecphoria.errors import NotFound
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.records.episode import Session, State
from ecphoria.records.ids import TenantId, fresh_id
from tests.conftest import Cypher
from tests.contract.memories import START, episode_id, everything, write


@pytest.fixture
async def archive(graph: Graph, tenant: TenantId) -> EpisodeArchive:
    await write(graph, tenant, everything(tenant))
    return EpisodeArchive(graph)


async def turns(
    archive: EpisodeArchive,
    tenant: TenantId,
    *,
    session: str | None = None,
    concept: str | None = None,
    occurred_from: datetime | None = None,
    occurred_before: datetime | None = None,
    cursor: int = 0,
    limit: int = 10,
    **more: Any,
) -> list[int]:
    found = await archive.list_episodes(
        tenant,
        session=session,
        concept=concept,
        occurred_from=occurred_from,
        occurred_before=occurred_before,
        cursor=cursor,
        limit=limit,
        **more,
    )
    return [episode.turn for episode in found]


async def test_an_episode_has_all_it_was_given(archive: EpisodeArchive, tenant: TenantId) -> None:
    found = await archive.episode(tenant, episode_id(tenant, "2"))
    assert (found.turn, found.text) == (2, "Turn 2 was said.")
    assert (found.session, found.ordinal, found.position, found.speaker) == ("s1", 1, 2, "Bob")
    assert found.occurred_at == START + timedelta(minutes=2)
    assert found.recorded_at == START + timedelta(days=1)
    assert (found.importance, found.state, found.metadata) == (0.5, State.LIVE, {})
    paper = await archive.episode(tenant, episode_id(tenant, "4"))
    assert (paper.title, paper.session, paper.ordinal, paper.speaker) == ("Rome", None, None, None)


async def test_a_dormant_episode_is_still_read_here(
    archive: EpisodeArchive, tenant: TenantId, cypher: Cypher
) -> None:
    await cypher(
        "MATCH (e:Episode {id: $id}) REMOVE e:LiveEpisode RETURN e.id", id=episode_id(tenant, "2")
    )
    found = await archive.episode(tenant, episode_id(tenant, "2"))
    assert found.state is State.DORMANT
    stats = await archive.stats(tenant)
    assert (stats.episodes, stats.dormant) == (4, 1)


async def test_pages_go_by_turn(archive: EpisodeArchive, tenant: TenantId) -> None:
    assert await turns(archive, tenant, limit=3) == [1, 2, 3]
    assert await turns(archive, tenant, cursor=3, limit=3) == [4]
    assert await turns(archive, tenant, cursor=4) == []


async def test_lists_are_cut_by_session_concept_and_time(
    archive: EpisodeArchive, tenant: TenantId
) -> None:
    assert await turns(archive, tenant, session="s1") == [1, 2]
    assert await turns(archive, tenant, session="s1", cursor=1) == [2]
    assert await turns(archive, tenant, session="s1", limit=1) == [1]
    assert await turns(archive, tenant, concept="rome") == [1, 4]
    assert await turns(archive, tenant, concept="rome", session="s1") == [1]
    assert await turns(archive, tenant, concept="tiber", cursor=2, limit=5) == [4]
    assert await turns(archive, tenant, concept="nile") == []
    late = START + timedelta(minutes=2)
    assert await turns(archive, tenant, occurred_from=late) == [2, 3, 4]
    assert await turns(archive, tenant, occurred_before=late) == [1]
    assert await turns(archive, tenant, session="s1", occurred_from=late) == [2]
    assert await turns(archive, tenant, concept="rome", occurred_before=late) == [1]


async def test_the_newest_come_first_on_request(archive: EpisodeArchive, tenant: TenantId) -> None:
    lists: list[tuple[dict[str, Any], list[int]]] = [
        ({}, [4, 3, 2, 1]),
        ({"session": "s1"}, [2, 1]),
        ({"concept": "rome"}, [4, 1]),
    ]
    for among, expected in lists:
        assert await turns(archive, tenant, newest=True, **among) == expected
        first = await turns(archive, tenant, newest=True, limit=1, **among)
        rest = await turns(archive, tenant, newest=True, cursor=first[-1], **among)
        assert first + rest == expected


async def test_lists_are_cut_by_speaker_and_role(
    archive: EpisodeArchive, tenant: TenantId, cypher: Cypher
) -> None:
    ids = [episode_id(tenant, "2"), episode_id(tenant, "4")]
    await cypher("MATCH (e:Episode) WHERE e.id IN $ids SET e.role = 'tool'", ids=ids)
    assert await turns(archive, tenant, speaker="Ann") == [1, 3]
    assert await turns(archive, tenant, speaker="Ann", session="s1", newest=True) == [1]
    assert await turns(archive, tenant, speaker="ann") == [1, 3]
    assert await turns(archive, tenant, speaker="anne") == []
    assert await turns(archive, tenant, role="tool") == [2, 4]
    assert await turns(archive, tenant, role="tool", concept="rome") == [4]
    assert await turns(archive, tenant, role="tool", speaker="Bob", newest=True) == [2]


async def test_sessions_tell_what_they_hold(archive: EpisodeArchive, tenant: TenantId) -> None:
    first, second = (
        Session(
            name="s1",
            episodes=2,
            first_occurred_at=START + timedelta(minutes=1),
            last_occurred_at=START + timedelta(minutes=2),
            speakers=("Ann", "Bob"),
        ),
        Session(
            name="s2",
            episodes=1,
            first_occurred_at=START + timedelta(minutes=3),
            last_occurred_at=START + timedelta(minutes=3),
            speakers=("Ann",),
        ),
    )
    assert await archive.list_sessions(tenant, after=None, limit=10) == [first, second]
    assert await archive.list_sessions(tenant, after=None, limit=1) == [first]
    assert await archive.list_sessions(tenant, after="s1", limit=10) == [second]


async def test_the_graph_is_counted_by_kind(archive: EpisodeArchive, tenant: TenantId) -> None:
    stats = await archive.stats(tenant)
    assert (stats.episodes, stats.dormant, stats.sessions, stats.speakers) == (4, 0, 2, 2)
    assert (stats.concepts, stats.mentions, stats.abouts, stats.next_edges) == (2, 3, 1, 1)
    assert (stats.terms, stats.traces, stats.change) == (2, 0, 1)
    assert stats.first_occurred_at == START + timedelta(minutes=1)
    assert stats.last_occurred_at == START + timedelta(minutes=4)


async def test_an_empty_tenant_counts_nothing(graph: Graph, other_tenant: TenantId) -> None:
    stats = await EpisodeArchive(graph).stats(other_tenant)
    assert (stats.episodes, stats.mentions, stats.first_occurred_at) == (0, 0, None)
    with pytest.raises(NotFound):
        await EpisodeArchive(graph).stats(TenantId(fresh_id()))


async def test_no_listing_shows_another_tenant_anything(
    archive: EpisodeArchive, tenant: TenantId, other_tenant: TenantId
) -> None:
    with pytest.raises(NotFound):
        await archive.episode(other_tenant, episode_id(tenant, "1"))
    assert await turns(archive, other_tenant) == []
    assert await turns(archive, other_tenant, session="s1") == []
    assert await turns(archive, other_tenant, concept="rome") == []
    assert await archive.list_sessions(other_tenant, after=None, limit=10) == []
    assert (await archive.stats(other_tenant)).terms == 0
