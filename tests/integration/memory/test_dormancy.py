"""What sleeps is found by nobody, and comes back as it was."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import exp

import pytest

from ecphoria.app import STRATEGIES
from ecphoria.consolidation.archive import ArchiveService, Archiving, ColdStore
from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.doctor import Doctor, IntegrityStore
from ecphoria.consolidation.dormancy import Dormancy, ForgettingService
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.service import Cycle
from ecphoria.errors import NotFound
from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.tenant_settings import SettingsStore
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.ports import Embedder
from ecphoria.recall.service import RecallService
from ecphoria.recall.store import DORMANT, EpisodeReader
from ecphoria.recall.tenant_recall import TenantRecall
from ecphoria.records.episode import NewEpisode, State
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import Lease, LeaseLost
from ecphoria.records.recall import Cue, Filters, RecallOptions, RecallResult, Verdict
from ecphoria.records.settings import DormancyMode, Stability, TenantSettings
from tests.conftest import COMPARATORS, Cypher, WallClock
from tests.contract.memories import appended, everything, turn, write
from tests.contract.tenants import set_settings
from tests.integration.memory.talks import START, a_talk, graph_of

CUE = "What did Ana see by the river in Turku?"


@pytest.fixture(scope="module")
def store(graph: Graph) -> DormancyStore:
    return DormancyStore(graph)


@pytest.fixture(scope="module")
def forgetting(
    graph: Graph,
    store: DormancyStore,
    ingest: IngestService,
    tmp_path_factory: pytest.TempPathFactory,
) -> ForgettingService:
    files, cold = ColdFiles(Disk(tmp_path_factory.mktemp("archive"))), ColdStore(graph)
    archive = ArchiveService(Archiving(cold, files, store), cold, files, WallClock())
    return ForgettingService(store, archive, ingest.wake, WallClock())


@pytest.fixture(scope="module")
def doctor(graph: Graph) -> Doctor:
    return Doctor(IntegrityStore(graph), lambda: 0.0)


def told(result: RecallResult) -> object:
    hits = [(hit.episode.id, hit.score, dict(hit.parts), hit.path) for hit in result.hits]
    return hits, result.confidence, result.reasons, result.context


class StoppedClock:
    def now(self) -> datetime:
        return START + timedelta(days=40)


async def test_what_sleeps_is_found_by_no_strategy_and_wakes_unchanged(
    graph: Graph,
    embedder: Embedder,
    ingest: IngestService,
    forgetting: ForgettingService,
    tenant: TenantId,
) -> None:
    recalls = RecallService(
        store=EpisodeReader(graph),
        strategies=STRATEGIES,
        traces=TraceStore(graph, keep=1),
        embedder=embedder,
        clock=StoppedClock(),
    )

    async def by_each() -> dict[str, RecallResult]:
        return {
            strategy: await recalls.recall(
                tenant, Cue(text=CUE), RecallOptions(strategy=strategy), record=False
            )
            for strategy in STRATEGIES
        }

    ids = await a_talk(ingest, tenant)
    asleep = {ids[1], ids[5]}
    before = await by_each()
    assert set(await forgetting.sleep(tenant, sorted(asleep))) == asleep
    for strategy, during in (await by_each()).items():
        found = {hit.episode.id for hit in during.hits}
        assert found, strategy
        assert found <= set(ids) - asleep, strategy
        assert not asleep & {step.node for hit in during.hits for step in hit.path}, strategy
        known = {hit.episode.id for hit in before[strategy].hits}
        assert asleep <= known or strategy in COMPARATORS, strategy
    assert set(await forgetting.wake(tenant, ids)) == asleep
    for strategy, after in (await by_each()).items():
        assert told(after) == told(before[strategy]), strategy


async def test_nothing_but_the_label_changes(
    ingest: IngestService,
    forgetting: ForgettingService,
    doctor: Doctor,
    tenant: TenantId,
    cypher: Cypher,
) -> None:
    ids = await a_talk(ingest, tenant)
    before = await graph_of(cypher, tenant)
    await forgetting.sleep(tenant, ids[:3])
    assert (await doctor.examine(tenant)).is_healthy
    listed = await forgetting.store.sleepers(tenant, 0, 10)
    assert [(one.id, one.reason) for one in listed] == [(one, "by request") for one in ids[:3]]
    await forgetting.wake(tenant, ids[:3])
    assert await graph_of(cypher, tenant) == before
    assert (await doctor.examine(tenant)).is_healthy


async def test_names_that_became_concepts_meanwhile_are_mentioned_after_waking(  # noqa: PLR0917
    ingest: IngestService,
    forgetting: ForgettingService,
    doctor: Doctor,
    tenant: TenantId,
    other_tenant: TenantId,
    cypher: Cypher,
) -> None:
    mentions = (
        "MATCH (:Episode {tenant: $t})-[r:MENTIONS]->(c)"
        " RETURN c.normalised AS c, count(r) AS n ORDER BY c"
    )
    for one in (tenant, other_tenant):
        ids = await a_talk(ingest, one)
        if one == tenant:
            await forgetting.sleep(tenant, ids)
        late = [f"We met Cleo at the cathedral of Turku, {word}." for word in ("twice", "then")]
        await ingest.append_batch(one, [NewEpisode(text=text) for text in late])
        await forgetting.wake(one, ids)
        assert (await doctor.examine(one)).is_healthy
    assert await cypher(mentions, t=tenant) == await cypher(mentions, t=other_tenant)


async def test_turns_come_and_go_around_one_that_sleeps(
    ingest: IngestService, forgetting: ForgettingService, doctor: Doctor, tenant: TenantId
) -> None:
    ids = await a_talk(ingest, tenant)
    await forgetting.sleep(tenant, [ids[2], ids[3]])
    late = NewEpisode(
        text="The bridge was closed.",
        session="one",
        speaker="Ana",
        occurred_at=START + timedelta(seconds=150),
    )
    await ingest.append(tenant, late)
    await ingest.delete(tenant, ids[1])
    await ingest.delete(tenant, ids[3])
    assert (await doctor.examine(tenant)).is_healthy


async def test_what_is_pinned_stays_awake(
    ingest: IngestService, forgetting: ForgettingService, tenant: TenantId, other_tenant: TenantId
) -> None:
    ids = await a_talk(ingest, tenant)
    await forgetting.store.pin(tenant, ids[0], pinned=True)
    assert await forgetting.sleep(tenant, ids[:2]) == [ids[1]]
    await forgetting.store.pin(tenant, ids[0], pinned=False)
    assert await forgetting.sleep(tenant, ids[:2]) == [ids[0]]
    with pytest.raises(NotFound):
        await forgetting.store.pin(other_tenant, ids[0], pinned=True)
    assert await forgetting.sleep(other_tenant, ids) == []
    assert await forgetting.wake(other_tenant, ids) == ()
    assert len(await forgetting.store.sleepers(tenant, 0, 10)) == 2


NOW = datetime(2026, 1, 1, tzinfo=UTC)


def aged(tenant: TenantId, number: int, days: float, importance: float = 0.5) -> object:
    return turn(
        tenant,
        number,
        session="",
        ordinal=None,
        occurred_at=NOW - timedelta(days=days),
        recorded_at=NOW - timedelta(days=days),
        importance=importance,
    )


async def cycle(store: DormancyStore, tenant: TenantId, **how: object) -> tuple[list[str], dict]:  # type: ignore[type-arg]
    made = Cycle(id=fresh_id(), tenant=tenant, now=NOW, **how)  # type: ignore[arg-type]
    outcome = await Dormancy(store).run(made)
    return [change.id for change in outcome.changes], dict(outcome.counts)


async def asleep(store: DormancyStore, tenant: TenantId) -> Sequence[str]:
    return [one.id for one in await store.sleepers(tenant, 0, 1_000)]


async def test_a_budget_keeps_what_is_worth_most(
    graph: Graph, store: DormancyStore, tenant: TenantId
) -> None:
    rows = [aged(tenant, n, 30 + n, importance=n / 10) for n in range(1, 9)]
    await write(graph, tenant, appended(*rows, aged(tenant, 9, 2, 0)))  # type: ignore[arg-type]
    of = [row.id for row in rows]  # type: ignore[attr-defined]
    assert await cycle(store, tenant) == ([], {"live": 9, "dormant": 0})
    await set_settings(graph, tenant, dormancy={"budget": 6})
    assert await cycle(store, tenant, dry_run=True) == (
        of[:3],
        {"live": 6, "faded": 8, "dormant": 3},
    )
    assert await asleep(store, tenant) == []
    assert (await cycle(store, tenant))[1]["dormant"] == 3
    assert await asleep(store, tenant) == of[:3]
    reason = (await store.sleepers(tenant, 0, 1))[0].reason
    kept = 0.5 * max(exp(-31 / 30), exp(-3.1) + 0.05 * (exp(-0.31) - exp(-3.1)) / 0.09) + 0.02
    assert reason.startswith(f"least worth keeping over 6 live memories: {kept:.3f} (")
    assert (await cycle(store, tenant))[1] == {"live": 6, "dormant": 0}


async def test_a_threshold_takes_what_can_hardly_be_called_back(
    graph: Graph, store: DormancyStore, tenant: TenantId, cypher: Cypher
) -> None:
    days = (100, 130, 137, 139, 150, 400)
    rows = [aged(tenant, n, age) for n, age in enumerate(days, 1)]
    await write(graph, tenant, appended(*rows))  # type: ignore[arg-type]
    of = [row.id for row in rows]  # type: ignore[attr-defined]
    await cypher(
        "MATCH (e:Episode {id: $id}) SET e.stability = 90.0, e.stability_at = $at",
        id=of[5],
        at=int(1e3 * (NOW - timedelta(days=400)).timestamp()),
    )
    await set_settings(graph, tenant, dormancy={"mode": DormancyMode.THRESHOLD})
    # exp(-age / 30) < .01 from 138.2 days on; the sixth lasts longer, exp(-400 / 90) = .0117.
    assert sorted((await cycle(store, tenant))[0]) == sorted(of[3:5])
    assert sorted(await asleep(store, tenant)) == sorted(of[3:5])
    await set_settings(graph, tenant, dormancy={"mode": DormancyMode.OFF})
    assert (await cycle(store, tenant))[1] == {"live": 4, "dormant": 0}


@pytest.mark.parametrize(
    ("stability", "age", "asleep_after"),
    [
        (Stability.UNIFORM, 400, [0, 1, 2]),
        (Stability.BY_KIND, 400, [0]),
        (Stability.BY_KIND, 1_400, [0, 1, 2]),
        (Stability.PRINTED, 30, [0, 1]),
        (Stability.PRINTED, 20, [0]),
    ],
)
async def test_a_document_lasts_longer_than_a_turn_and_what_a_tool_said_longest(
    graph: Graph,
    store: DormancyStore,
    tenant: TenantId,
    cypher: Cypher,
    *,
    stability: Stability,
    age: int,
    asleep_after: list[int],
) -> None:
    rows = [aged(tenant, n, age) for n in (1, 2, 3)]
    await write(graph, tenant, appended(*rows))  # type: ignore[arg-type]
    of = [row.id for row in rows]  # type: ignore[attr-defined]
    await cypher("MATCH (e:Episode {id: $id}) SET e.title = 'A manual'", id=of[1])
    await cypher("MATCH (e:Episode {id: $id}) SET e.role = 'tool'", id=of[2])
    await set_settings(
        graph, tenant, dormancy={"mode": DormancyMode.THRESHOLD, "stability": stability}
    )
    await cycle(store, tenant)
    assert sorted(await asleep(store, tenant)) == sorted(of[place] for place in asleep_after)


async def test_a_fact_keeps_its_last_evidence_and_what_was_woken_lately_stays(
    graph: Graph, store: DormancyStore, tenant: TenantId, cypher: Cypher
) -> None:
    await write(graph, tenant, everything(tenant))
    await set_settings(graph, tenant, dormancy={"mode": DormancyMode.THRESHOLD})
    await cypher(
        "MATCH (e:Episode {tenant: $t, turn: 3})"
        " CREATE (:Trace {id: $id, tenant: $t, created_at: $at})-[:WOKE"
        " {family: 'provenance', weight: 1.0, created_at: $at}]->(e)",
        t=tenant,
        id=fresh_id(),
        at=NOW - timedelta(days=1),
    )
    assert (await cycle(store, tenant))[1] == {"live": 2, "faded": 3, "dormant": 2}
    turns = await cypher(
        "MATCH (e:LiveEpisode {tenant: $t}) RETURN e.turn AS turn ORDER BY turn", t=tenant
    )
    assert [row["turn"] for row in turns] == [3, 4]


async def test_a_cycle_that_lost_its_job_writes_nothing(
    graph: Graph, store: DormancyStore, tenant: TenantId
) -> None:
    await write(graph, tenant, appended(aged(tenant, 1, 400)))  # type: ignore[arg-type]
    await set_settings(graph, tenant, dormancy={"mode": DormancyMode.THRESHOLD})
    with pytest.raises(LeaseLost):
        await cycle(store, tenant, lease=Lease(job=fresh_id(), token=1))
    assert await asleep(store, tenant) == []


async def test_a_chunk_that_was_cut_short_is_completed_by_the_next(
    graph: Graph, store: DormancyStore, tenant: TenantId, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ecphoria.consolidation.dormancy._CHUNK", 2)
    rows = [aged(tenant, n, 300 + n) for n in range(1, 6)]
    await write(graph, tenant, appended(*rows))  # type: ignore[arg-type]
    await set_settings(graph, tenant, dormancy={"mode": DormancyMode.THRESHOLD})
    places: list[str] = []

    async def killed(place: str) -> None:
        places.append(place)
        if places.count("dormancy: put to sleep") == 2:
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        await cycle(store, tenant, reached=killed)
    assert len(await asleep(store, tenant)) == 2
    assert (await cycle(store, tenant))[1]["dormant"] == 3


async def test_caches_of_places_learn_of_it(
    graph: Graph, ingest: IngestService, forgetting: ForgettingService, tenant: TenantId
) -> None:
    ids = await a_talk(ingest, tenant)
    reader = EpisodeReader(graph)
    await reader.lexicon(tenant, (), ())
    assert len((await reader.columns(tenant, ids, (), None)).id) == 6
    await forgetting.sleep(tenant, ids[:2])
    await reader.lexicon(tenant, (), ())
    assert set((await reader.columns(tenant, ids, (), None)).id) == set(ids[2:])


async def test_a_cue_looks_among_what_sleeps_if_asked_to(  # noqa: PLR0917
    graph: Graph,
    embedder: Embedder,
    ingest: IngestService,
    forgetting: ForgettingService,
    tenant: TenantId,
    other_tenant: TenantId,
) -> None:
    recalls = RecallService(
        store=EpisodeReader(graph),
        strategies=STRATEGIES,
        dormant=EpisodeReader(graph, dormant=DORMANT),
        traces=TraceStore(graph, keep=1),
        embedder=embedder,
        clock=StoppedClock(),
    )
    ids = await a_talk(ingest, tenant)
    strangers = await a_talk(ingest, other_tenant)
    await forgetting.sleep(other_tenant, strangers)
    awake = RecallOptions(k=10)
    before = await recalls.recall(tenant, Cue(text=CUE), awake, record=False)
    await forgetting.sleep(tenant, ids)
    gone = await recalls.recall(tenant, Cue(text=CUE), awake, record=False)
    assert (gone.hits, gone.verdict) == ((), Verdict.EMPTY)
    wider = RecallOptions(k=10, include_dormant=True)
    found = await recalls.recall(tenant, Cue(text=CUE), wider, record=False)
    assert {hit.episode.state for hit in found.hits} == {State.DORMANT}
    assert [hit.episode.id for hit in found.hits][:2] == [hit.episode.id for hit in before.hits][
        :2
    ]
    only = Filters(speaker="Bruno", occurred_before=START + timedelta(minutes=3))
    within = await recalls.recall(
        tenant, Cue(text=CUE), replace(wider, filters=only), record=False
    )
    assert {hit.episode.id for hit in within.hits} == {ids[1]}


async def test_a_second_look_wakes_what_answers(  # noqa: PLR0917
    graph: Graph,
    embedder: Embedder,
    ingest: IngestService,
    store: DormancyStore,
    forgetting: ForgettingService,
    tenant: TenantId,
) -> None:
    recalls = RecallService(
        store=EpisodeReader(graph),
        strategies=STRATEGIES,
        dormant=EpisodeReader(graph, dormant=DORMANT),
        traces=TraceStore(graph, keep=10),
        embedder=embedder,
        clock=StoppedClock(),
    )

    async def settings_of(tenant: TenantId) -> TenantSettings:
        return (await SettingsStore(graph).find(tenant)).settings

    waking = TenantRecall(recalls, settings_of, lambda *_: None, forgetting.wake)
    ids = await a_talk(ingest, tenant)
    await forgetting.sleep(tenant, ids)
    cue = Cue(text="Who painted the boat?")
    assert (await waking.recall(tenant, cue, RecallOptions(k=3))).verdict is Verdict.EMPTY
    await set_settings(graph, tenant, dormancy={"second_look": True})
    looked = await waking.recall(tenant, cue, RecallOptions(k=3), record=False)
    assert (looked.verdict, looked.woken) == (Verdict.EMPTY, ())
    found = await waking.recall(tenant, cue, RecallOptions(k=3))
    assert found.second_look
    assert set(found.woken) == {hit.episode.id for hit in found.hits}
    assert ids[4] in found.woken
    again = await waking.recall(tenant, cue, RecallOptions(k=3))
    assert (again.second_look, again.woken) == (False, ())
    assert again.hits[0].episode.id == found.hits[0].episode.id
    await set_settings(graph, tenant, dormancy=None)
    asked = RecallOptions(k=3, include_dormant=True, wake=True)
    woken = await waking.recall(tenant, Cue(text="Did it rain by the river?"), asked)
    assert woken.woken
    assert not set(woken.woken) & set(found.woken)
    await recalls.close()
