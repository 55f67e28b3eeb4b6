"""What the hot queries touch in the store grows with their answer, not with the graph.

Every query of a recall and of an append is profiled as it runs, on two tenants of unequal size.
budgets.toml bounds the db hits per row of the answer, or per row written. A longer run with
`ECPHORIA_TEST_BUDGET_NODES=1000,10000` is for the night.
"""

import math
import os
import tomllib
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import neo4j
import pytest

from ecphoria.app import STRATEGIES
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.learning.service import LearningService
from ecphoria.learning.store import LearningStore
from ecphoria.neo4j_store.queries import Query
from ecphoria.neo4j_store.session import Graph, Statement, _rows_of
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.ports import Embedder
from ecphoria.recall.service import RecallService
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.episode import NewEpisode
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions
from ecphoria.tenancy.store import Tenants
from ecphoria_eval.load_data import Talk
from tests.conftest import Cypher, Server, WallClock, new_tenant
from tests.contract.learning import LONG_AGO
from tests.contract.tenants import set_settings

R = TypeVar("R")

BUDGETS: Mapping[str, float] = tomllib.loads(
    Path(__file__).with_name("budgets.toml").read_text("utf-8")
)["hits_per_row"]
SIZES = tuple(
    int(size)
    for size in os.environ.get("ECPHORIA_TEST_BUDGET_NODES", "300,1000").split(",")  # noqa: TID251
)
APPENDED = 20
GROWTH = 1.5
"""How much dearer a row may be on the larger graph: index trees are deeper there."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What one run of a query touched, and how much it answered or wrote."""

    hits: int
    rows: int


Costs = dict[str, list[Cost]]


class ProfiledGraph(Graph):
    """Profiles every named query it runs."""

    costs: Costs

    async def run(self, statement: Statement[R], **params: object) -> list[R]:
        async with self._session() as session:
            return await session.execute_write(self.run_in, statement, params)

    async def run_in(
        self,
        transaction: neo4j.AsyncManagedTransaction | neo4j.AsyncTransaction,
        statement: Statement[R],
        params: Mapping[str, object],
    ) -> list[R]:
        query = self._query(statement)
        result = await transaction.run("PROFILE " + query.sent.text, query.sent.given(params))
        rows = await _rows_of(statement.row, query)(result)
        summary = await result.consume()
        assert summary.profile is not None
        cost = Cost(hits=_hits(summary.profile), rows=_size(query, rows, params))
        self.costs[query.name].append(cost)
        return rows


def _hits(plan: Mapping[str, Any]) -> int:
    return int(plan.get("dbHits", 0)) + sum(_hits(child) for child in plan.get("children", ()))


def _size(query: Query, rows: Sequence[object], params: Mapping[str, object]) -> int:
    """Count rows; of columns the values, of a write the rows given, if these are more."""
    told = [row for row in rows if not query.each]
    columns = [value for row in told for value in _values(row)]
    lists = [value for value in (*columns, *params.values()) if isinstance(value, list | tuple)]
    return max(1, len(rows), *(sum(map(_rows_in, each)) for each in lists))


def _values(row: object) -> list[object]:
    return [getattr(row, field.name) for field in fields(row)] if is_dataclass(row) else [row]


def _rows_in(value: object) -> int:
    """Count what one element of a list stands for: itself, or the rows of its group."""
    return len(value["rows"]) if isinstance(value, dict) and "rows" in value else 1


@pytest.fixture(scope="module")
async def profiled(neo4j_server: Server, graph: Graph) -> AsyncIterator[ProfiledGraph]:
    """The migrated graph, through a profiling connection."""
    options = neo4j_server.options()
    async with ProfiledGraph.connect(options) as connected:
        connected.costs = defaultdict(list)
        yield connected


def _items(talk: Talk, count: int) -> list[list[NewEpisode]]:
    return [
        [
            NewEpisode(
                text=turn.text,
                speaker=turn.speaker,
                session=turn.session,
                occurred_at=turn.occurred_at,
                vector=tuple(float(x) for x in turn.vector),
            )
            for turn in batch
        ]
        for batch in talk.batches(count, 500)
    ]


async def _measured(
    profiled: ProfiledGraph, graph: Graph, embedder: Embedder, tenant: TenantId, talk: Talk
) -> Costs:
    """Watch one append, one recall of each strategy, and what is learned from them."""
    profiled.costs = defaultdict(list)
    ingest = IngestService(store=IngestStore(profiled), embedder=embedder, clock=WallClock())
    (added,) = _items(talk, APPENDED)
    await ingest.append_batch(tenant, added)
    learning = LearningService(LearningStore(profiled), WallClock())
    await set_settings(graph, tenant, learning={"on": True}, now=LONG_AGO)
    recalls = RecallService(
        store=EpisodeReader(profiled),
        strategies=STRATEGIES,
        traces=TraceStore(graph, keep=10, pending=learning.wake),
        embedder=embedder,
        clock=WallClock(),
    )
    (probe,) = talk.probes(1)
    for strategy in STRATEGIES:
        cue = Cue(text=probe.text, vector=tuple(float(x) for x in probe.vector))
        await recalls.recall(tenant, cue, RecallOptions(strategy=strategy))
    await recalls.close()
    await learning.drain()
    return profiled.costs


@pytest.fixture(scope="module")
async def costs(
    profiled: ProfiledGraph, graph: Graph, embedder: Embedder, cypher: Cypher
) -> AsyncIterator[Mapping[int, Costs]]:
    """Costs by the size of the tenant; all are filled before, so that plans are the same."""
    filling = IngestService(store=IngestStore(graph), embedder=embedder, clock=WallClock())
    tenants = {size: await new_tenant(graph) for size in SIZES}
    talks = {size: Talk(seed=3) for size in SIZES}
    for size, tenant in tenants.items():
        for batch in _items(talks[size], size):
            await filling.append_batch(tenant, batch)
    await cypher("CALL db.prepareForReplanning()")
    yield {
        size: await _measured(profiled, graph, embedder, tenant, talks[size])
        for size, tenant in tenants.items()
    }
    for tenant in tenants.values():
        await Tenants(graph).erase(tenant)


def per_row(costs: Costs, name: str) -> float:
    return sum(cost.hits for cost in costs[name]) / sum(cost.rows for cost in costs[name])


def test_every_hot_query_has_a_budget(costs: Mapping[int, Costs]) -> None:
    for size, found in costs.items():
        without = {name: round(per_row(found, name), 1) for name in found.keys() - BUDGETS.keys()}
        assert not without, f"at {size} episodes; put them into budgets.toml"


def test_every_budget_is_of_a_query_that_there_is(profiled: ProfiledGraph) -> None:
    assert BUDGETS.keys() <= profiled.queries.keys()


def test_a_row_costs_what_the_budget_allows(costs: Mapping[int, Costs]) -> None:
    dear = {
        (name, size): round(per_row(found, name), 1)
        for size, found in costs.items()
        for name in found
        if per_row(found, name) > BUDGETS.get(name, math.inf)
    }
    assert not dear


def test_a_row_costs_no_more_on_a_larger_graph(costs: Mapping[int, Costs]) -> None:
    small, *_, large = (costs[size] for size in SIZES)
    grown = {
        name: (round(per_row(small, name), 1), round(per_row(large, name), 1))
        for name in small.keys() & large.keys()
        if per_row(large, name) > GROWTH * per_row(small, name) + 5
    }
    assert not grown
