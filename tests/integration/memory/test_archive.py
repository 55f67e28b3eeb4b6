"""The archive: byte for byte, crash-safe, and no trace after erasure."""

import asyncio
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ecphoria.consolidation.archive import ArchiveService, Archiving
from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.service import Cycle
from ecphoria.errors import ArchiveUnavailable, NotFound
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.neo4j_store.rows import from_bytes
from ecphoria.neo4j_store.session import Done, Graph, Statement
from ecphoria.ports import Embedder
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import NewEpisode, Outcome, State
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.job import Lease, LeaseLost
from ecphoria.records.recall import Cue, RecallOptions
from ecphoria.records.upkeep import ColdRecord, Located
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, Server, WallClock, new_tenant
from tests.contract.tenants import set_settings
from tests.integration.memory.archives import World, a_cycle, archived, world_of
from tests.integration.memory.talks import START, TEXTS, a_talk, graph_of


@pytest.fixture
def world(graph: Graph, embedder: Embedder, tmp_path: Path) -> World:
    return world_of(graph, embedder, tmp_path)


def on_disk(world: World) -> bytes:
    return b"".join(
        path.read_bytes() for path in sorted(world.folder.rglob("*")) if path.is_file()
    )


async def test_a_round_trip_is_byte_for_byte(
    world: World, tenant: TenantId, cypher: Cypher
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await cypher(
        "MATCH (a:Episode {id: $a}), (b:Episode {id: $b}) SET a.stability = 1.0 / 3,"
        " a.spike_turns = [1, 5], a.prior = 0.1 + 0.2 CREATE (b)-[:SIMILAR"
        " {family: 'association', weight: 0.7, created_at: datetime(), w_sim: 0.1 + 0.2}]->(a)",
        a=ids[0],
        b=ids[1],
    )
    await world.forgetting.sleep(tenant, ids[:3])
    before = await graph_of(cypher, tenant)
    records = {one.id: one.content for one in await world.cold.records(tenant, ids[:3])}
    assert (await world.step.run(a_cycle(tenant))).counts == {"archived": 3, "wiped": 0}
    (stub,) = await cypher("MATCH (e:ArchivedEpisode {id: $id}) RETURN e", id=ids[0])
    assert {"text", "terms", "words", "embedding", "metadata", "stability"}.isdisjoint(stub["e"])
    assert stub["e"]["summary"] == TEXTS[0]
    kept = await cypher(
        "MATCH (e:Episode {id: $id})-[r]-() RETURN DISTINCT type(r) AS t ORDER BY t", id=ids[0]
    )
    assert [row["t"] for row in kept] == ["IN_SESSION", "MENTIONS", "NEXT", "SPOKEN_BY"]
    for place, _ in await world.cold.stubs(tenant, 0, 10):
        assert await world.files.read(tenant, place) == records[place.id]
    assert (await world.doctor.examine(tenant)).is_healthy
    done = await world.archive.restore(tenant, ids)
    assert (set(done.restored), done.damaged) == (set(ids[:3]), ())
    assert await graph_of(cypher, tenant) == before
    again = {one.id: one.content for one in await world.cold.records(tenant, ids[:3])}
    assert again == records
    assert on_disk(world) == b""


async def test_recall_is_as_it_was_once_all_is_back(
    world: World, recalls: RecallService, tenant: TenantId
) -> None:
    async def told(strategy: str) -> object:
        answer = await recalls.recall(
            tenant, Cue(text="Who painted the boat?"), RecallOptions(strategy=strategy)
        )
        return [(hit.episode, hit.score, dict(hit.parts), hit.path) for hit in answer.hits]

    ids = await a_talk(world.ingest, tenant)
    before = {name: await told(name) for name in ("ecphoria", "fusion", "synapse")}
    await archived(world, tenant, ids[3:])
    assert await told("fusion") != before["fusion"]
    assert set(await world.forgetting.wake(tenant, ids)) == set(ids[3:])
    assert {name: await told(name) for name in before} == before


async def test_an_archived_memory_is_told_by_its_summary(
    graph: Graph, world: World, tenant: TenantId
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await archived(world, tenant, ids[:1])
    found = await EpisodeArchive(graph).episode(tenant, ids[0])
    assert (found.state, found.text, dict(found.metadata)) == (State.ARCHIVED, TEXTS[0], {})
    stats = await EpisodeArchive(graph).stats(tenant)
    assert (stats.episodes, stats.dormant, stats.archived) == (6, 0, 1)


async def test_the_list_of_the_archive_leaves_out_what_has_expired(
    world: World, tenant: TenantId, cypher: Cypher
) -> None:
    ids = await a_talk(world.ingest, tenant)
    note = (await world.ingest.append(tenant, NewEpisode(text="The boat is blue."))).id
    await archived(world, tenant, [*ids[:1], note])
    await cypher(
        "MATCH (e:Episode {id: $id}) SET e.expires_at = datetime() - duration('PT1S')", id=ids[0]
    )
    (listed,) = await world.cold.archived(
        tenant, session=None, speaker=None, after_turn=0, limit=9
    )
    assert (listed.id, listed.speaker, listed.session) == (note, None, None)


@pytest.mark.parametrize("wanted", ["ipek", " IPEK ", "\u0130pek"])
async def test_the_list_of_the_archive_compares_speakers_as_a_recall_does(
    world: World, tenant: TenantId, wanted: str
) -> None:
    said = NewEpisode(text="The boat is blue.", speaker="\u0130pek")
    note = (await world.ingest.append(tenant, said)).id
    await archived(world, tenant, [note])
    for speaker, found in ((wanted, [note]), ("pek", [])):
        listed = await world.cold.archived(
            tenant, session=None, speaker=speaker, after_turn=0, limit=9
        )
        assert [one.id for one in listed] == found


async def test_writing_beside_the_archive_keeps_every_count(
    world: World, tenant: TenantId
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await archived(world, tenant, ids)
    same = NewEpisode(
        text=TEXTS[0], speaker="Ana", session="one", occurred_at=START,
        metadata={"mood": "glad", "number": 0, "share": 0.1},
    )  # fmt: skip
    assert (await world.ingest.append(tenant, same)).outcome is Outcome.EXISTED
    late = NewEpisode(
        text="The bridge was closed.", session="one", occurred_at=START + timedelta(seconds=90)
    )
    await world.ingest.append(tenant, late)
    assert (await world.doctor.examine(tenant)).is_healthy
    assert (await world.archive.scrub(tenant)).records == 6  # its neighbours stay where they are
    await world.ingest.delete(tenant, ids[5])
    await world.archive.restore(tenant, ids)
    assert (await world.doctor.examine(tenant)).findings == ()


async def test_what_is_deleted_leaves_no_trace_in_the_files(
    world: World, tenant: TenantId
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await archived(world, tenant, ids[:2])
    assert ids[0].encode() in on_disk(world)
    await world.ingest.delete(tenant, ids[0])
    assert ids[0].encode() not in on_disk(world)
    found = await world.archive.scrub(tenant)
    assert (found.damaged, found.unreferenced) == ((), 0)
    assert await world.archive.erase(tenant) == found.records
    assert on_disk(world) == b""


async def test_a_service_with_another_folder_says_so_instead_of_damage(
    world: World, tenant: TenantId, tmp_path: Path
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await archived(world, tenant, ids)
    other = ArchiveService(
        world.step, world.cold, ColdFiles(Disk(tmp_path / "other")), WallClock()
    )
    for work in (other.restore(tenant, ids), other.scrub(tenant)):
        with pytest.raises(ArchiveUnavailable, match="need the same archive"):
            await work
    assert set((await world.archive.restore(tenant, ids)).restored) == set(ids)


@pytest.mark.parametrize("call", ["restore", "scrub"])
async def test_what_another_call_restores_meanwhile_is_not_damaged(
    world: World, tenant: TenantId, call: str
) -> None:
    class Late(ColdFiles):
        async def sound(
            self, tenant: TenantId, places: Sequence[Located]
        ) -> tuple[list[ColdRecord], list[EpisodeId]]:
            await world.archive.restore(tenant, ids[:1])
            return await super().sound(tenant, places)

    ids = await a_talk(world.ingest, tenant)
    await archived(world, tenant, ids[:2])
    late = ArchiveService(world.step, world.cold, Late(Disk(world.folder)), WallClock())
    found = await (late.restore(tenant, ids[:2]) if call == "restore" else late.scrub(tenant))
    assert found.damaged == ()


async def test_a_damaged_record_is_told_and_loses_nothing_else(
    world: World, tenant: TenantId
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await archived(world, tenant, ids)
    place = next(one for one, _ in await world.cold.stubs(tenant, 0, 10) if one.id == ids[2])
    path = world.folder / tenant / place.file
    data = bytearray(path.read_bytes())
    data[place.offset + 90] ^= 1
    path.write_bytes(data)
    found = await world.archive.scrub(tenant)
    assert (found.records, found.damaged, found.unreferenced) == (6, (ids[2],), 0)
    (finding,) = (await world.doctor.examine(tenant)).findings
    assert (finding.rule, finding.symptoms[0].id) == ("archive", ids[2])
    done = await world.archive.restore(tenant, ids)
    assert (done.damaged, len(done.restored)) == ((ids[2],), 5)
    note = NewEpisode(text="More rain.", session="one", occurred_at=START + timedelta(seconds=130))
    await world.ingest.append(tenant, note)
    await world.ingest.delete(tenant, ids[2])
    assert (await world.archive.scrub(tenant)).records == 0
    assert on_disk(world) == b""


WRITERS: dict[str, tuple[str, dict[str, object]]] = {
    "crowd": ("consolidation.save_progress", {"size": 3, "cosine": 0.9, "turn": 4}),
    "prior": ("consolidation.save_priors", {"prior": 0.5}),
    "use": (
        "learning.save_histories",
        {
            "recent_ms": [1], "count": 1, "first_ms": 1, "stability": 2.0, "stability_ms": 1,
            "working": 0.1, "lasting": 0.2, "chain_ms": 1, "recalls": 1,
        },
    ),
    "charge": (
        "learning.save_histories",
        {
            "turns": [1], "strengths": [0.5], "tau": 9.0, "potential": 0.1, "current": 0.1,
            "turn": 1,
        },
    ),
}  # fmt: skip
"""Queries that write what is derived onto an episode, each with a row but its id."""


@pytest.mark.parametrize("writer", WRITERS)
async def test_a_stub_is_not_written_to(
    writer: str, world: World, graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await archived(world, tenant, ids[:1])
    before = await cypher("MATCH (e:Episode {id: $id}) RETURN properties(e) AS p", id=ids[0])
    name, row = WRITERS[writer]
    rows = [{"id": str(ids[0]), **row}]
    given = {"rows": rows, "crowds": rows, "uses": rows, "charges": rows}
    more = {"concepts": False, "turn": 0, "total": None}
    await graph.run(Statement(name, Done), tenant=tenant, **given, **more)
    after = await cypher("MATCH (e:Episode {id: $id}) RETURN properties(e) AS p", id=ids[0])
    assert after == before


@pytest.mark.parametrize("query", ["consolidation.save_associations", "learning.save_links"])
async def test_no_edge_is_made_to_a_stub(
    query: str, world: World, graph: Graph, tenant: TenantId, cypher: Cypher
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await archived(world, tenant, ids[:1])
    common = {"edge": "SIMILAR", "part": 0.9, "learned": 0.5, "coactivations": 1, "used_ms": 1}
    rows = [{"one": ids[1], "other": ids[0], **common}, {"one": ids[0], "other": ids[2], **common}]
    await graph.run(Statement(query, Done), tenant=tenant, rows=rows, now=datetime.now(UTC))
    (found,) = await cypher(
        "MATCH (:Episode {id: $id})-[r:SIMILAR]-() RETURN count(r) AS n", id=ids[0]
    )
    assert found["n"] == 0


async def test_a_stub_that_an_earlier_version_wrote_to_comes_back_as_it_was(
    world: World, tenant: TenantId, cypher: Cypher
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await world.forgetting.sleep(tenant, ids[:2])
    before = await graph_of(cypher, tenant)
    await world.step.run(a_cycle(tenant))
    await cypher(
        "UNWIND $ids AS id MATCH (e:Episode {id: id})"
        " SET e.crowd = 3, e.crowd_cosine = 0.9, e.crowd_turn = 4, e.reward_pos = 1.0",
        ids=ids[:2],
    )
    assert (await world.archive.scrub(tenant)).damaged == ()
    done = await world.archive.restore(tenant, ids)
    assert (set(done.restored), done.damaged) == (set(ids[:2]), ())
    assert await graph_of(cypher, tenant) == before


async def test_a_scrub_tells_of_a_sound_record_that_cannot_come_back(
    world: World, tenant: TenantId, cypher: Cypher
) -> None:
    ids = await a_talk(world.ingest, tenant)
    long = await world.ingest.append(
        tenant, NewEpisode(text="The boat leaks at the stern. " * 80, idempotency_key="long")
    )
    await archived(world, tenant, [*ids[:2], long.id])
    (record,) = [one for one in await world.archive_records(tenant) if one.id == long.id]
    taken = from_bytes(record.content).passages[0]["id"]
    await cypher("CREATE (:Passage {id: $id, tenant: 'another'})", id=taken)
    try:
        before = await graph_of(cypher, tenant)
        assert (await world.archive.scrub(tenant)).damaged == (long.id,)
        assert await graph_of(cypher, tenant) == before, "a scrub changes nothing"
        (finding,) = (await world.doctor.examine(tenant)).findings
        assert (finding.rule, finding.symptoms[0].id) == ("archive", long.id)
        done = await world.archive.restore(tenant, [*ids[:2], long.id])
        assert (set(done.restored), done.damaged) == (set(ids[:2]), (long.id,))
    finally:
        await cypher("MATCH (p:Passage {id: $id, tenant: 'another'}) DELETE p", id=taken)
    assert (await world.archive.restore(tenant, [long.id])).restored == (long.id,)


async def test_killed_between_file_and_graph(world: World, tenant: TenantId) -> None:
    ids = await a_talk(world.ingest, tenant)
    await world.forgetting.sleep(tenant, ids[:2])

    async def killed(place: str) -> None:
        if place == "archive: replace":
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        await world.step.run(a_cycle(tenant, reached=killed))
    found = await world.archive.scrub(tenant)
    assert (found.records, found.unreferenced) == (0, 2)
    assert (await world.doctor.examine(tenant)).is_healthy
    assert (await world.step.run(a_cycle(tenant))).counts == {"archived": 2, "wiped": 2}
    found = await world.archive.scrub(tenant)
    assert (found.records, found.damaged, found.unreferenced) == (2, (), 0)
    assert (await world.step.run(a_cycle(tenant))).counts == {"archived": 0, "wiped": 0}


async def test_a_lost_job_a_dry_run_and_a_full_disk_change_nothing(
    world: World, tenant: TenantId, cypher: Cypher, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await world.forgetting.sleep(tenant, ids[:2])
    before = await graph_of(cypher, tenant)
    with pytest.raises(LeaseLost):
        await world.step.run(a_cycle(tenant, lease=Lease(job=fresh_id(), token=1)))
    assert on_disk(world) == b""
    dry = await world.step.run(a_cycle(tenant, dry_run=True))
    assert sorted(change.id for change in dry.changes) == sorted(ids[:2])

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("ecphoria.consolidation.archive_disk.os.fsync", full)
        with pytest.raises(ArchiveUnavailable, match="ECPHORIA_ARCHIVE__DIR"):
            await world.archive.archive(tenant, 0)
    assert await graph_of(cypher, tenant) == before


async def test_what_is_done_in_the_graph_is_told_though_the_files_fail_afterwards(
    world: World, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A later cycle overwrites what is left."""

    async def unusable(*_: object) -> None:
        raise ArchiveUnavailable

    ids = await a_talk(world.ingest, tenant)
    await world.forgetting.sleep(tenant, ids[:3])
    files = ColdFiles(Disk(world.folder))
    monkeypatch.setattr(files, "wipe", unusable)
    monkeypatch.setattr(files, "unreferenced", unusable)
    step = Archiving(world.cold, files, world.forgetting.store, settled_s=0.0)
    failing = ArchiveService(step, world.cold, files, WallClock())
    assert await failing.archive(tenant, 0) == 3
    done = await failing.restore(tenant, ids[:2])
    assert (set(done.restored), done.damaged) == (set(ids[:2]), ())
    ingest = IngestService(
        store=IngestStore(world.graph),
        embedder=world.ingest.embedder,
        clock=WallClock(),
        archive=failing,
    )
    await ingest.delete(tenant, ids[2])
    assert (await world.archive.scrub(tenant)).unreferenced == 3
    await set_settings(world.graph, tenant, dormancy={"archive_days": "never"})
    with pytest.raises(ArchiveUnavailable):  # a cycle tells it: its job failed
        await step.run(a_cycle(tenant))
    assert (await world.step.run(a_cycle(tenant))).counts == {"archived": 0, "wiped": 3}
    assert on_disk(world) == b""


async def test_what_wakes_while_it_is_written_stays(
    world: World, tenant: TenantId, other_tenant: TenantId
) -> None:
    ids = await a_talk(world.ingest, tenant)
    strangers = await a_talk(world.ingest, other_tenant)
    await world.forgetting.sleep(other_tenant, strangers)
    await world.forgetting.sleep(tenant, ids[:2])

    class Waking(ColdFiles):
        async def write(self, of: TenantId, records: Sequence[ColdRecord]) -> Sequence[Located]:
            await world.forgetting.wake(of, ids[:1])
            return await super().write(of, records)

    step = Archiving(world.cold, Waking(Disk(world.folder)), world.forgetting.store, settled_s=0.0)
    assert (await step.run(a_cycle(tenant))).counts == {"archived": 1, "wiped": 1}
    assert (await world.archive.restore(tenant, strangers)).restored == ()
    assert len(await world.forgetting.store.sleepers(other_tenant, 0, 10)) == 6


async def test_no_file_is_left_of_a_tenant_erased_while_it_was_written(
    world: World, graph: Graph
) -> None:
    tenant = await new_tenant(graph)
    ids = await a_talk(world.ingest, tenant)
    await world.forgetting.sleep(tenant, ids)

    class Erased(ColdFiles):
        async def write(self, of: TenantId, records: Sequence[ColdRecord]) -> Sequence[Located]:
            await Tenants(graph).erase(of)
            await world.archive.erase(of)
            return await super().write(of, records)

    step = Archiving(world.cold, Erased(Disk(world.folder)), world.forgetting.store, settled_s=0.0)
    with pytest.raises(NotFound):
        await step.archive(a_cycle(tenant), 90)
    assert on_disk(world) == b""


async def test_a_tenant_whose_archive_cannot_be_deleted_can_be_erased_again(
    world: World, graph: Graph
) -> None:
    tenant = await new_tenant(graph)
    await archived(world, tenant, await a_talk(world.ingest, tenant))

    async def failing(_: TenantId) -> int:
        raise ArchiveUnavailable

    with pytest.raises(ArchiveUnavailable):
        await Tenants(graph).erase(tenant, failing)
    removed = await Tenants(graph).erase(tenant, world.archive.erase)
    assert (removed["tenants"], removed["archived"]) == (1, 6)
    assert on_disk(world) == b""


async def test_the_policy_says_when(graph: Graph, world: World, tenant: TenantId) -> None:
    ids = await a_talk(world.ingest, tenant)
    await world.forgetting.sleep(tenant, ids)
    early = Cycle(id=fresh_id(), tenant=tenant, now=datetime.now(UTC) + timedelta(days=89))
    assert (await world.step.run(early)).counts["archived"] == 0
    await set_settings(graph, tenant, dormancy={"archive_days": "never"})
    assert (await world.step.run(a_cycle(tenant))).counts["archived"] == 0
    await set_settings(graph, tenant, dormancy={"archive_days": 30})
    assert (await world.step.run(early)).counts["archived"] == 6


KILLED = """
    import asyncio, os, sys
    from datetime import UTC, datetime, timedelta
    from pathlib import Path
    from ecphoria.consolidation.archive_disk import Disk
    from ecphoria.consolidation.archive_files import ColdFiles
    from ecphoria.consolidation.archive import Archiving
    from ecphoria.consolidation.service import Cycle
    from ecphoria.consolidation.archive import ColdStore
    from ecphoria.consolidation.dormancy_store import DormancyStore
    from ecphoria.neo4j_store.session import GraphOptions
    from ecphoria.neo4j_store.session import Done, Graph, Statement

    async def main(uri, user, password, tenant, folder):
        async def reached(place):
            if place == "archive: replace":
                os.kill(os.getpid(), 9)

        async with Graph.connect(GraphOptions(uri=uri, user=user, password=password)) as graph:
            step = Archiving(ColdStore(graph), ColdFiles(Disk(Path(folder))), DormancyStore(graph))
            now = datetime.now(UTC) + timedelta(days=100)
            await step.run(Cycle(id="c", tenant=tenant, now=now, reached=reached))

    asyncio.run(main(*sys.argv[1:]))
"""


async def test_a_killed_process_loses_nothing(
    world: World, tenant: TenantId, neo4j_server: Server, cypher: Cypher
) -> None:
    ids = await a_talk(world.ingest, tenant)
    await world.forgetting.sleep(tenant, ids[:2])
    before = await graph_of(cypher, tenant)
    given = neo4j_server.uri, neo4j_server.user, neo4j_server.password
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", textwrap.dedent(KILLED), *given, tenant, str(world.folder)],
        check=False,
        timeout=60,
    )
    assert done.returncode == -9
    assert await graph_of(cypher, tenant) == before
    assert (await world.archive.scrub(tenant)).unreferenced == 2
    assert (await world.step.run(a_cycle(tenant))).counts == {"archived": 2, "wiped": 2}
    assert (await world.doctor.examine(tenant)).is_healthy
