"""A tenant is erased while others write for it: they are refused, or what they wrote goes too."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import neo4j
import pytest
from structlog.testing import capture_logs

from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.merge import MergeStore
from ecphoria.errors import EcphoriaError, NotFound
from ecphoria.facts.store import FactStore, FactTransaction
from ecphoria.jobs.service import ScheduleStore
from ecphoria.jobs.store import JobStore
from ecphoria.learning.store import LearningStore, LearningTransaction
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.records.fact import Decision, MergeStatus, Ruling
from ecphoria.records.ids import TenantId, fresh_id
from ecphoria.records.job import JobKind, ScheduleMark
from ecphoria.records.tenant import Scope
from ecphoria.tenancy.store import Keys, Tenants
from tests.conftest import Cypher, Server, new_tenant
from tests.contract.memories import START, appended, episode_id, everything, turn, write
from tests.contract.tenants import a_key
from tests.contract.traces import a_trace

Writer = Callable[[Graph, TenantId], Awaitable[object]]


async def keep_a_trace(graph: Graph, tenant: TenantId) -> None:
    await TraceStore(graph, keep=9).save(tenant, [a_trace(tenant)])


async def queue(graph: Graph, tenant: TenantId) -> None:
    await JobStore(graph, keep=9).enqueue(tenant, JobKind.DRY_RUN)


async def schedule(graph: Graph, tenant: TenantId) -> None:
    due = ScheduleMark(scheduled_turn=1, light_turn=1, due_at=START, is_due=True, steps=())
    await ScheduleStore(graph).advance(tenant, lambda _: due)


async def issue(graph: Graph, tenant: TenantId) -> None:
    await Keys(graph).create(a_key(tenant, Scope.READ), fresh_id())


async def append(graph: Graph, tenant: TenantId) -> None:
    one = turn(tenant, int(fresh_id()[:7], 16), session=fresh_id(), ordinal=0)
    await write(graph, tenant, appended(one))


async def learn(graph: Graph, tenant: TenantId) -> None:
    async def judge(transaction: LearningTransaction) -> None:
        await transaction.judge(a_trace(tenant).id, [], {})

    await LearningStore(graph).change(tenant, judge)


async def decide(graph: Graph, tenant: TenantId) -> None:
    decision = Decision(
        id=fresh_id(), number=1, recorded_at=START, ruling=Ruling.UNDO, fact=None, other=None,
        relation="lies on", predicate_class=None, valid_from=None, valid_to=None, undoes=None,
        by=None, why="",
    )  # fmt: skip

    async def work(transaction: FactTransaction) -> None:
        await transaction.decide(decision)

    await FactStore(graph).change(tenant, work)


async def merge(graph: Graph, tenant: TenantId) -> None:
    await MergeStore(graph).decide(tenant, "rome", "roma", MergeStatus.ACCEPTED)


async def sleep(graph: Graph, tenant: TenantId) -> None:
    reasons = [(episode_id(tenant, str(number)), "test") for number in range(1, 5)]
    await DormancyStore(graph).put_to_sleep(tenant, reasons, START)


async def pin(graph: Graph, tenant: TenantId) -> None:
    await DormancyStore(graph).pin(tenant, episode_id(tenant, "1"), pinned=True)


WRITERS: tuple[Writer, ...] = (
    keep_a_trace, queue, schedule, issue, append, learn, decide, merge, sleep, pin,
)  # fmt: skip


@pytest.fixture(params=WRITERS, ids=[one.__name__ for one in WRITERS])
def writer(request: pytest.FixtureRequest) -> Writer:
    found: Writer = request.param
    return found


async def owned(cypher: Cypher, tenant: TenantId) -> int:
    """Count every node of the tenant, by no index and no label."""
    rows = await cypher(
        "MATCH (n) WHERE n.tenant = $id OR n.id = $id RETURN count(n) AS n", id=tenant
    )
    return int(rows[0]["n"])


async def somebody_waits(cypher: Cypher) -> None:
    for _ in range(500):
        if await cypher("SHOW TRANSACTIONS YIELD status WHERE status STARTS WITH 'Blocked'"):
            return
        await asyncio.sleep(0.02)
    raise AssertionError("nobody waits")


async def test_who_waited_while_the_tenant_went_writes_nothing(
    graph: Graph, neo4j_server: Server, cypher: Cypher, writer: Writer
) -> None:
    tenant = await new_tenant(graph)
    auth = (neo4j_server.user, neo4j_server.password)
    async with (
        neo4j.AsyncGraphDatabase.driver(neo4j_server.uri, auth=auth) as driver,
        driver.session() as session,
        await session.begin_transaction() as erasing,
    ):
        await erasing.run("MATCH (t:Tenant {id: $id}) DETACH DELETE t", id=tenant)
        writing = asyncio.ensure_future(writer(graph, tenant))
        await somebody_waits(cypher)
        await erasing.commit()
        with suppress(NotFound):
            await writing
    assert await owned(cypher, tenant) == 0


@pytest.mark.parametrize("writer", [sleep, pin], ids=["sleep", "pin"])
async def test_a_change_of_state_while_the_episodes_go_is_refused(
    graph: Graph, neo4j_server: Server, cypher: Cypher, writer: Writer
) -> None:
    tenant = await new_tenant(graph)
    await write(graph, tenant, everything(tenant))
    auth = (neo4j_server.user, neo4j_server.password)
    async with (
        neo4j.AsyncGraphDatabase.driver(neo4j_server.uri, auth=auth) as driver,
        driver.session() as session,
        await session.begin_transaction() as erasing,
    ):
        await cypher("MATCH (t:Tenant {id: $id}) SET t.erasing = true", id=tenant)
        await erasing.run("MATCH (e:Episode {tenant: $id}) DETACH DELETE e", id=tenant)
        writing = asyncio.ensure_future(writer(graph, tenant))
        await asyncio.wait([writing], timeout=0.5)
        await erasing.commit()
        with pytest.raises(NotFound):
            await writing
    await Tenants(graph).erase(tenant)


async def test_nothing_is_left_whoever_writes_meanwhile(graph: Graph, cypher: Cypher) -> None:
    tenant = await new_tenant(graph)
    await write(graph, tenant, everything(tenant))
    done: set[Writer] = set()
    everybody, over = asyncio.Event(), asyncio.Event()

    async def go_on(writer: Writer) -> None:
        while not over.is_set():
            with suppress(NotFound):
                await writer(graph, tenant)
                done.add(writer)
            if len(done) == len(WRITERS):
                everybody.set()
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as writing:
        for one in WRITERS:
            writing.create_task(go_on(one))
        await everybody.wait()
        with capture_logs() as logs:
            counts = await Tenants(graph).erase(tenant)
        over.set()
    assert (counts["tenants"], counts["remaining"]) == (1, 0)
    assert min(counts[kind] for kind in ("traces", "jobs", "keys", "episodes", "decisions")) > 0
    assert logs == []
    assert await owned(cypher, tenant) == 0


async def test_only_kinds_that_a_tenant_has_are_erased(
    graph: Graph, options: GraphOptions
) -> None:
    tenant = await new_tenant(graph)
    await queue(graph, tenant)
    sent: list[str] = []
    async with Graph.connect(options, on_query=lambda query, _: sent.append(query)) as other:
        counts = await Tenants(other).erase(tenant)
    assert (counts["jobs"], counts["tenants"], counts["remaining"]) == (1, 1, 0)
    assert sent.count("tenants.erase_kind") == 2, "the jobs and the tenant"


@asynccontextmanager
async def intruded(server: Server, tenant: TenantId, *, once: bool) -> AsyncIterator[Graph]:
    """A graph where somebody without the lock queues a job after every job was erased."""
    options = server.options()
    auth = (server.user, server.password)
    with neo4j.GraphDatabase.driver(server.uri, auth=auth) as driver:
        seen: list[str] = []

        def intrude(query: str, _: float) -> None:
            if query == "tenants.erase_kind" and not (once and seen):
                seen.append(query)
                driver.execute_query(
                    "CREATE (:Job {id: $id, tenant: $tenant, recorded_at: datetime(), cue: 'x'})",
                    id=fresh_id(),
                    tenant=tenant,
                )

        async with Graph.connect(options, on_query=intrude) as graph:
            yield graph


async def test_what_somebody_wrote_all_the_same_is_erased_too(
    graph: Graph, neo4j_server: Server, cypher: Cypher
) -> None:
    tenant = await new_tenant(graph)
    async with intruded(neo4j_server, tenant, once=True) as other:
        with capture_logs() as logs:
            counts = await Tenants(other).erase(tenant)
    assert (counts["jobs"], counts["tenants"], counts["remaining"]) == (1, 1, 0)
    assert [(one["event"], one["left"]) for one in logs] == [("tenant_not_empty", {"Job": 1})]
    assert await owned(cypher, tenant) == 0


async def test_an_erasure_that_cannot_end_is_finished_by_another(
    graph: Graph, neo4j_server: Server, cypher: Cypher
) -> None:
    tenant = await new_tenant(graph)
    async with intruded(neo4j_server, tenant, once=False) as other:
        with pytest.raises(EcphoriaError, match="erase it again"):
            await Tenants(other).erase(tenant)
    with pytest.raises(NotFound):
        await queue(graph, tenant)
    assert (await Tenants(graph).erase(tenant))["remaining"] == 0
    assert await owned(cypher, tenant) == 0
