"""Workers that die where they are told: each a process, forked so that it starts at once.

Reads lines `{"job": ID, "tenant": ID, "fault": PLACE or null}`; for each a child takes jobs, with
everything a service's worker has, until that one has ended. Writes how the child ended: 0, or less
the number of the signal that killed it.
"""

import asyncio
import json
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from functools import partial

import graphdatascience  # noqa: F401 (before the fork, where it costs once)
import platformdirs
from prometheus_client import CollectorRegistry

from ecphoria.background import query_listener, start_background
from ecphoria.extraction.service import Extract
from ecphoria.extraction.store import ExtractionStore
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.jobs.store import JobStore
from ecphoria.jobs.worker import Watch
from ecphoria.models.embedders import create_embedder
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.ports import Vectors
from ecphoria.records.ids import JobId, TenantId
from ecphoria.records.job import ENDED, Claimed, JobReport
from ecphoria.runtime import SystemClock
from ecphoria.settings import ConsolidationSettings, EmbedderSettings, JobsSettings, read_settings
from ecphoria.telemetry import Metrics, configure_logging

CACHE = platformdirs.user_cache_path("ecphoria")


class LateEmbedder:
    """The local encoder, loaded when first asked: its threads would not outlive a fork."""

    model, dimension = "all-MiniLM-L6-v2", 384

    async def embed(self, texts: Sequence[str]) -> Vectors:
        made = create_embedder(EmbedderSettings(), CACHE)
        try:
            return await made.embed(texts)
        finally:
            await made.close()

    async def close(self) -> None:
        pass


async def work(job: JobId, tenant: TenantId, fault: str | None) -> None:
    settings = read_settings(
        jobs=JobsSettings(poll_s=0.05, attempts=100, fault=fault),
        # No light cycle of another tenant in the store: it would die in place of this job.
        consolidation=ConsolidationSettings(light_episodes=0),
    )
    given, metrics = settings.neo4j, Metrics(CollectorRegistry())
    options = GraphOptions(
        uri=given.uri or "",
        user=given.user,
        password=given.password.get_secret_value(),
        retry_s=given.retry_s,
    )
    async with AsyncExitStack() as stack:
        on_query = query_listener(settings.jobs, metrics)
        graph = Graph.connect(options, on_query=on_query)
        stack.push_async_callback(graph.close)
        ingest = IngestService(
            store=IngestStore(graph), embedder=LateEmbedder(), clock=SystemClock()
        )
        extract = Extract(ExtractionStore(graph), ingest, None)
        start = partial(
            start_background,
            ingest=ingest,
            extract=extract,
            calibrate=_never,
            metrics=metrics,
            stack=stack,
        )
        await start(settings, graph, options, LateEmbedder(), None)
        jobs = JobStore(Graph.connect(options), settings.jobs.kept)
        stack.push_async_callback(jobs._graph.close)
        while True:
            if (await jobs.find(tenant, job)).state in ENDED:
                return
            await asyncio.sleep(0.05)


async def _never(_claimed: Claimed, _watch: Watch) -> JobReport:
    raise NotImplementedError("these workers only consolidate")


def main() -> None:
    configure_logging("warning", "json")
    for line in sys.stdin:
        asked = json.loads(line)
        child = os.fork()
        if not child:
            asyncio.run(work(asked["job"], asked["tenant"], asked["fault"]))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
