"""Measure what an archive saves: a made-up talk, most of it archived, recalled before and after.

Needs a Neo4j server of its own, since its figures are those of the whole store.

    python -m scripts.measure_archive --uri bolt://127.0.0.1:7687 --password ... --folder /tmp/cold
"""

import argparse
import asyncio
import statistics
import time
from datetime import UTC, datetime
from pathlib import Path

from ecphoria.cold.files import ColdFiles
from ecphoria.consolidation.archiving import ArchiveService, Archiving
from ecphoria.embedding.factory import EmbedderOptions, create_embedder
from ecphoria.evaluation.load_data import Probe, Talk
from ecphoria.graph.cold import ColdEpisodes
from ecphoria.graph.dormancy import Dormancies
from ecphoria.graph.driver import GraphOptions
from ecphoria.graph.executor import Graph
from ecphoria.graph.ingest import EpisodeWriter
from ecphoria.graph.migrate import migrate
from ecphoria.graph.recall import EpisodeReader
from ecphoria.graph.tenants import Tenants
from ecphoria.graph.traces import Traces
from ecphoria.ingest.service import IngestService
from ecphoria.model.episode import NewEpisode, Receipt
from ecphoria.model.ids import EpisodeId, TenantId, fresh_id
from ecphoria.model.recall import Cue, RecallOptions
from ecphoria.model.tenant import Tenant
from ecphoria.ports.world import Embedder
from ecphoria.recall.service import RecallService


class _Clock:
    def now(self) -> datetime:
        return datetime.now(UTC)


async def _fill(
    graph: Graph, embedder: Embedder, tenant: TenantId, talk: Talk, count: int
) -> list[EpisodeId]:
    ingest = IngestService(store=EpisodeWriter(graph), embedder=embedder, clock=_Clock())
    ids: list[EpisodeId] = []
    for batch in talk.batches(count, 500):
        items = [
            NewEpisode(
                text=turn.text,
                speaker=turn.speaker,
                session=turn.session,
                occurred_at=turn.occurred_at,
                vector=tuple(map(float, turn.vector)),
            )
            for turn in batch
        ]
        results = await ingest.append_batch(tenant, items)
        ids += [one.id for one in results if isinstance(one, Receipt)]
    return ids


async def _recall(graph: Graph, embedder: Embedder, tenant: TenantId, probes: list[Probe]) -> str:
    """Tell the median and the 95th percentile of a recall, the second time each cue is asked."""
    recalls = RecallService(
        store=EpisodeReader(graph), traces=Traces(graph, keep=1), embedder=embedder, clock=_Clock()
    )
    for _ in range(2):
        took: list[float] = []
        for probe in probes:
            cue = Cue(text=probe.text, vector=tuple(map(float, probe.vector)))
            begun = time.perf_counter()
            await recalls.recall(tenant, cue, RecallOptions(), record=False)
            took.append(1e3 * (time.perf_counter() - begun))
    took.sort()
    return f"p50 {statistics.median(took):.1f} ms, p95 {took[int(0.95 * len(took))]:.1f} ms"


async def _measure(given: argparse.Namespace) -> None:
    embedder = create_embedder(EmbedderOptions(cache_dir=given.cache))
    options = GraphOptions(uri=given.uri, user="neo4j", password=given.password)
    tenant, talk = TenantId(fresh_id()), Talk(seed=3)
    async with Graph.connect(options) as graph:
        await migrate(graph, embedder.model, embedder.dimension)
        tenants = Tenants(graph)
        await tenants.create(Tenant(id=tenant, name=f"m-{tenant}", created_at=_Clock().now()))
        ids = await _fill(graph, embedder, tenant, talk, given.episodes)
        probes = talk.probes(given.cues)
        print("all live     ", await _recall(graph, embedder, tenant, probes))
        cold, files, store = ColdEpisodes(graph), ColdFiles(given.folder), Dormancies(graph)
        gone = ids[: int(given.share * len(ids))]
        for first in range(0, len(gone), 1_000):
            rows = [(one, "measured") for one in gone[first : first + 1_000]]
            await store.put_to_sleep(tenant, rows, _Clock().now())
        content = 0
        for first in range(0, len(gone), 1_000):
            records = await cold.records(tenant, gone[first : first + 1_000])
            content += sum(len(record.content) for record in records)
        service = ArchiveService(Archiving(cold, files, store), cold, files, _Clock())
        done = await service.archive(tenant, 0)
        print("after archive", await _recall(graph, embedder, tenant, probes))
        on_disk = sum(path.stat().st_size for path in (given.folder / tenant).iterdir())
        print(f"{done:,} archived: {content:,} bytes left the graph, {on_disk:,} bytes of files")
        print("scrub        ", await service.scrub(tenant))
        await tenants.erase(tenant)
        await service.erase(tenant)
    await embedder.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uri", required=True)
    parser.add_argument("--password", required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "ecphoria")
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.9)
    parser.add_argument("--cues", type=int, default=50)
    asyncio.run(_measure(parser.parse_args()))
