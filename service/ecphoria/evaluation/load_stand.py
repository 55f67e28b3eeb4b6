"""A service and a Neo4j of their own to measure, in a folder that is removed afterwards."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from ecphoria.engine import Endpoint
from ecphoria.evaluation.load_data import Floats
from ecphoria.garbage import look_seldom
from ecphoria.graph.driver import GraphOptions
from ecphoria.graph.executor import Graph, Statement, packed
from ecphoria.graph.recall import EpisodeReader
from ecphoria.model.ids import TenantId
from ecphoria.model.recall import Filters
from ecphoria.settings import Settings
from ecphoria.wiring import Reports, Services, build

__all__ = ["Stand", "open_stand", "private_settings", "store_bytes"]

_MEGABYTE = 10**6
_LOOKS, _LOOK_S = 100, 0.1
_RESTING = 0.2
"""Of one core: Neo4j's own housekeeping takes less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    id: str
    score: float


_FIND_NEAREST = Statement("evaluation.find_nearest", _Near)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """What is measured."""

    services: Services
    endpoint: Endpoint
    graph: Graph
    home: Path

    async def nearest(self, tenant: TenantId, vector: Floats) -> Sequence[str]:
        """Ask the vector index alone for the ten nearest."""
        rows = await self.graph.run(_FIND_NEAREST, tenant=tenant, vector=packed(vector))
        return [row.id for row in rows]

    async def seeds(self, tenant: TenantId, vector: Floats) -> Sequence[str]:
        """Ask for the seeds a recall takes from the vector index, best first."""
        rows = await EpisodeReader(self.graph).seeds_by_vector(tenant, vector, 50, Filters())
        return [row.id for row in rows]

    async def quiet(self) -> None:
        """Wait, ten seconds at most, until the server rests from merging its indexes."""
        server = psutil.Process(self.endpoint.pid)
        resting, busy = 0, _busy_s(server)
        for _ in range(_LOOKS):
            await asyncio.sleep(_LOOK_S)
            before, busy = busy, _busy_s(server)
            resting = resting + 1 if busy - before < _RESTING * _LOOK_S else 0
            if resting == 2:
                return

    def service_mb(self) -> float:
        """Read this process's resident memory."""
        return float(psutil.Process().memory_info().rss) / _MEGABYTE

    def server_mb(self) -> float:
        """Read the resident memory of Neo4j."""
        return float(psutil.Process(self.endpoint.pid).memory_info().rss) / _MEGABYTE


@asynccontextmanager
async def open_stand(settings: Settings, reports: Reports | None = None) -> AsyncIterator[Stand]:
    """Bring up the service on a local Neo4j, and take both down afterwards."""
    services = await build(settings, reports)
    look_seldom()
    try:
        endpoint = services.engine
        assert endpoint is not None, "private settings name no server"
        options = GraphOptions(
            uri=endpoint.bolt_uri, user=endpoint.user, password=endpoint.password
        )
        async with Graph.connect(options) as graph:
            yield Stand(services=services, endpoint=endpoint, graph=graph, home=settings.home)
    finally:
        await services.close()


@asynccontextmanager
async def private_settings(given: Settings) -> AsyncIterator[Settings]:
    """Turn the user's settings to an empty home and a server of its own."""
    with tempfile.TemporaryDirectory(prefix="ecphoria-load-") as folder:
        yield given.model_copy(
            update={
                "home": Path(folder),
                "neo4j": given.neo4j.model_copy(update={"uri": None}),
                "engine": given.engine.model_copy(
                    update={"home": None, "bolt_port": None, "http_port": None}
                ),
            }
        )


def _busy_s(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


def store_bytes(home: Path, part: str = "") -> int:
    """Sum a stopped store's files with their indexes; the transaction logs lie elsewhere.

    `schema` is the part with the indexes. A running Neo4j writes its pages only now and then, so
    its files tell too little.
    """
    store = home / "engine" / "data" / "databases" / "neo4j" / part
    return sum(file.stat().st_size for file in store.rglob("*") if file.is_file())
