"""Background work: the steps of a cycle, the workers and the schedules."""

import time
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Final

from ecphoria.consolidation.archive import ArchiveService, Archiving, ColdStore
from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.dormancy import Dormancy, Expire
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.engram_store import EngramStore
from ecphoria.consolidation.engrams import MakeClusters, MakeEngrams
from ecphoria.consolidation.knn import Associate
from ecphoria.consolidation.knn_store import AssociationStore
from ecphoria.consolidation.links import Decay, LinkStore, Prune
from ecphoria.consolidation.merge import MergeStore, ProposeMerges
from ecphoria.consolidation.replay import Replay, ReplayStore
from ecphoria.consolidation.service import ConsolidationService, GraphSurvey, Step
from ecphoria.consolidation.steps import EmbedConcepts, NodeVectors, Prior, Supersede
from ecphoria.errors import Misconfigured, install
from ecphoria.extraction.service import Extract
from ecphoria.facts.store import FactStore
from ecphoria.ingest.service import IngestService
from ecphoria.jobs.service import JobService, Scheduler, SchedulerOptions, ScheduleStore
from ecphoria.jobs.store import JobStore
from ecphoria.jobs.worker import Attempts, Handler, Watch, Worker, WorkerOptions, crash_at
from ecphoria.models.chat import StructuredChat
from ecphoria.neo4j_store.gds import PriorStore
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.ports import Clock, Embedder
from ecphoria.records.job import Claimed, ConsolidationReport, Job, JobKind, JobReport, JobState
from ecphoria.settings import JobsSettings, Settings
from ecphoria.telemetry import Metrics

# Their cost depends on the new memories only.
LIGHT: Final = (
    EmbedConcepts.name, ProposeMerges.name, MakeEngrams.name, Associate.name, Supersede.name,
)  # fmt: skip
"""Steps of a light cycle, beside `expire` and, where it is switched on, `extract`."""


async def start_background(
    settings: Settings,
    graph: Graph,
    options: GraphOptions,
    embedder: Embedder,
    chat: StructuredChat | None,
    *,
    ingest: IngestService,
    extract: Extract,
    calibrate: Handler,
    metrics: Metrics,
    stack: AsyncExitStack,
) -> JobService:
    """Run workers and the scheduler until the stack is closed, as set.

    Without workers there is no scheduler either.
    """
    group, default = settings.jobs, settings.consolidation.schedule
    steps = build_steps(graph, options, embedder, archive_files(settings), chat)
    extracts, expire = settings.llm.extract and chat is not None, Expire(ingest.expire)
    consolidation = ConsolidationService(
        steps=(expire, extract, *steps),
        survey=GraphSurvey(graph),
        monotonic=time.monotonic,
        on_request=() if extracts else (extract.name,),
    )
    store, schedules = JobStore(graph, group.kept), ScheduleStore(graph)

    async def work(claimed: Claimed, watch: Watch) -> JobReport:
        if claimed.job.kind is JobKind.CALIBRATION:
            return await calibrate(claimed, watch)
        return await consolidation.run(claimed, watch)

    worker = Worker(
        store,
        work,
        _worker_options(settings),
        ended=partial(_tell_job, metrics),
        fault=crash_at(group.fault),
    )
    scheduler = Scheduler(
        schedules,
        store,
        SchedulerOptions(
            default=default,
            light=(expire.name, *((extract.name,) if extracts else ()), *LIGHT),
            tick_s=group.schedule_s,
        ),
        queued=worker.wake,
        counted=partial(_tell_stored, metrics),
        expire=ingest.expire_all,
    )
    service = JobService(
        store,
        schedules,
        default=default,
        steps=consolidation.steps,
        wake=worker.wake,
        need_model=() if chat else (extract.name,),
    )
    if group.workers:
        stack.push_async_callback(worker.stop)
        worker.start(group.workers)
        stack.push_async_callback(scheduler.stop)
        scheduler.start()
    return service


def _worker_options(settings: Settings) -> WorkerOptions:
    group = settings.jobs
    return WorkerOptions(
        lease_s=group.lease_s,
        poll_s=group.poll_s,
        grace_s=settings.server.shutdown_s / 3,
        retries=Attempts(limit=group.attempts, first_pause_s=group.pause_s),
    )


def build_steps(
    graph: Graph,
    options: GraphOptions,
    embedder: Embedder,
    files: ColdFiles,
    chat: StructuredChat | None = None,
) -> tuple[Step, ...]:
    """Build the steps of a cycle in their order; `files` are those of the archive."""
    links, associations, engrams = LinkStore(graph), AssociationStore(graph), EngramStore(graph)
    return (
        EmbedConcepts(NodeVectors(graph, concepts=True), embedder),
        ProposeMerges(MergeStore(graph), embedder),
        MakeEngrams(engrams, chat, embedder),
        Associate(associations),
        Prior(PriorStore(graph, options)),
        Decay(links),
        Prune(links),
        Dormancy(DormancyStore(graph)),
        Archiving(ColdStore(graph, embedder), files, DormancyStore(graph)),
        Supersede(FactStore(graph)),
        Replay(ReplayStore(graph), associations),
        MakeClusters(engrams, chat, embedder),
    )


def build_archive(
    settings: Settings, graph: Graph, embedder: Embedder, clock: Clock
) -> ArchiveService:
    """Build the archive service for commands."""
    cold, files = ColdStore(graph, embedder), archive_files(settings)
    return ArchiveService(Archiving(cold, files, DormancyStore(graph)), cold, files, clock)


def archive_files(settings: Settings) -> ColdFiles:
    """Open the archive in its folder or its bucket.

    Raises:
        Misconfigured: The extra `bucket` is not installed, or the address of the bucket or a
            variable for it cannot be used.
    """
    group = settings.archive
    if group.url is None:
        return ColdFiles(Disk(group.dir or settings.home / "archive"))
    try:
        from ecphoria.consolidation.archive_bucket import Bucket  # noqa: PLC0415 (optional extra)
    except ModuleNotFoundError as error:
        raise Misconfigured(
            f"ECPHORIA_ARCHIVE__URL needs obstore: {install('bucket')}, or unset it.",
            setting="ECPHORIA_ARCHIVE__URL",
        ) from error
    return ColdFiles(Bucket(group.url))


def query_listener(settings: JobsSettings, metrics: Metrics) -> Callable[[str, float], None]:
    """Count every query; in crash tests, end the process at the named one."""
    if settings.fault is None:
        return metrics.query
    kill = crash_at(settings.fault)

    def listen(query: str, seconds: float) -> None:
        kill(query)
        metrics.query(query, seconds)

    return listen


def _tell_stored(metrics: Metrics, counts: Mapping[JobState, int]) -> None:
    for state, number in counts.items():
        metrics.stored_jobs(state, number)


def _tell_job(metrics: Metrics, job: Job, state: JobState, report: JobReport | None) -> None:
    metrics.job(job.kind, state)
    for step in report.steps if isinstance(report, ConsolidationReport) else ():
        metrics.step(job.kind, step.name, step.seconds)
