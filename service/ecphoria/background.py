"""Wire the background: the cycle of consolidation, the queue of jobs, a worker."""

import contextlib
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import time as clock_time
from functools import partial
from pathlib import Path

from ecphoria.cold.files import ColdFiles
from ecphoria.consolidation.archiving import ArchiveService, Archiving
from ecphoria.consolidation.associate import Associate
from ecphoria.consolidation.clusters import MakeClusters
from ecphoria.consolidation.decay import Decay
from ecphoria.consolidation.dormancy import Dormancy
from ecphoria.consolidation.engrams import MakeEngrams
from ecphoria.consolidation.merge import ProposeMerges
from ecphoria.consolidation.prior import Prior
from ecphoria.consolidation.prune import Prune
from ecphoria.consolidation.replay import Replay
from ecphoria.consolidation.service import ConsolidationService
from ecphoria.consolidation.step import Step
from ecphoria.consolidation.supersede import Supersede
from ecphoria.errors import Misconfigured, NotFound
from ecphoria.graph.associations import AssociationStore
from ecphoria.graph.cold import ColdStore
from ecphoria.graph.cutting import CuttingStore
from ecphoria.graph.dormancy import DormancyStore
from ecphoria.graph.driver import GraphOptions
from ecphoria.graph.engrams import EngramStore
from ecphoria.graph.executor import Graph
from ecphoria.graph.facts import FactStore
from ecphoria.graph.gds import PriorStore
from ecphoria.graph.jobs import JobStore
from ecphoria.graph.links import LinkStore
from ecphoria.graph.merges import MergeStore
from ecphoria.graph.replay import ReplayStore
from ecphoria.graph.schedules import ScheduleStore
from ecphoria.graph.survey import GraphSurvey
from ecphoria.ingest.older import OlderEpisodes
from ecphoria.jobs.fault import killer
from ecphoria.jobs.retries import Retries
from ecphoria.jobs.scheduler import Scheduler, SchedulerOptions
from ecphoria.jobs.service import JobService
from ecphoria.jobs.worker import Handler, Worker, WorkerOptions
from ecphoria.model.consolidation import ConsolidationReport
from ecphoria.model.job import Claimed, Job, JobKind, JobState, Progress, Trigger
from ecphoria.model.schedule import Schedule
from ecphoria.ports.chat import Chat
from ecphoria.ports.world import Clock, Embedder
from ecphoria.settings import ConsolidationSettings, JobsSettings, LlmSettings, Settings
from ecphoria.telemetry import Metrics

__all__ = [
    "archive_folder",
    "build_archive",
    "build_cycle",
    "build_steps",
    "query_listener",
    "start_background",
]

_LIGHT = (ProposeMerges.name, MakeEngrams.name, Associate.name, Supersede.name)
"""Steps whose cost is that of what is new."""


async def start_background(
    settings: Settings,
    graph: Graph,
    options: GraphOptions,
    embedder: Embedder,
    *,
    metrics: Metrics,
    stack: AsyncExitStack,
) -> JobService:
    """Take jobs from now until the stack is unwound, as many at once as is set.

    Who takes none does not look after schedules either, nor after episodes that were stored
    before there were passages.

    Raises:
        Misconfigured: A language model is set, and the package that asks it is missing.
    """
    group, default = settings.jobs, _schedule(settings.consolidation)
    steps = build_cycle(settings, graph, options, embedder, metrics=metrics, stack=stack)
    consolidation = ConsolidationService(
        steps=steps, survey=GraphSurvey(graph), monotonic=time.monotonic
    )
    store, schedules = JobStore(graph, group.kept), ScheduleStore(graph)
    worker = Worker(
        store,
        _by_kind(consolidation, OlderEpisodes(CuttingStore(graph), embedder, time.monotonic)),
        WorkerOptions(
            lease_s=group.lease_s,
            poll_s=group.poll_s,
            retries=Retries(limit=group.attempts, first_pause_s=group.pause_s),
        ),
        ended=partial(_tell_job, metrics),
        fault=killer(group.fault),
    )
    scheduler = Scheduler(
        schedules,
        store,
        SchedulerOptions(default=default, light=_LIGHT, tick_s=group.schedule_s),
        queued=worker.wake,
        counted=partial(_tell_stored, metrics),
    )
    service = JobService(
        store, schedules, default=default, steps=consolidation.steps, wake=worker.wake
    )
    if group.workers:
        stack.push_async_callback(worker.stop)
        worker.start(group.workers)
        stack.push_async_callback(scheduler.stop)
        scheduler.start()
        for tenant in await CuttingStore(graph).tenants():
            with contextlib.suppress(NotFound):  # erased meanwhile
                await service.cut_older(tenant, trigger=Trigger.START)
    return service


def _by_kind(consolidation: ConsolidationService, older: OlderEpisodes) -> Handler:
    def run(
        claimed: Claimed, watch: Callable[[Progress], Awaitable[None]]
    ) -> Awaitable[ConsolidationReport]:
        does = older.run if claimed.job.kind is JobKind.PASSAGES else consolidation.run
        return does(claimed, watch)

    return run


def _schedule(group: ConsolidationSettings) -> Schedule:
    daily_at = None if group.daily_at is None else clock_time.fromisoformat(group.daily_at)
    return Schedule(
        every_episodes=group.every_episodes,
        every_hours=group.every_hours,
        daily_at=daily_at,
        idle_minutes=group.idle_minutes,
        light_episodes=group.light_episodes,
    )


def build_cycle(
    settings: Settings,
    graph: Graph,
    options: GraphOptions,
    embedder: Embedder,
    *,
    metrics: Metrics,
    stack: AsyncExitStack,
) -> tuple[Step, ...]:
    """Give the steps of a cycle in their order, with a language model if one is set.

    Raises:
        Misconfigured: One is set, and the package that asks it is missing.
    """
    chat = _chat(settings.llm, metrics)
    if chat is not None:
        stack.push_async_callback(chat.close)
    return build_steps(graph, options, embedder, archive_folder(settings), chat)


def _chat(group: LlmSettings, metrics: Metrics) -> Chat | None:
    if group.model is None:
        return None
    try:
        from ecphoria.llm.openai import OpenAIChat  # noqa: PLC0415 (optional extra)
    except ModuleNotFoundError as error:
        raise Misconfigured(
            'ECPHORIA_LLM__MODEL needs the package openai: pip install "ecphoria[server]", or '
            "unset it.",
            setting="ECPHORIA_LLM__MODEL",
        ) from error
    return OpenAIChat(
        group.model,
        base_url=group.base_url,
        api_key=group.api_key.get_secret_value() if group.api_key else None,
        timeout=group.timeout_s,
        retries=group.retries,
        counted=metrics.tokens,
    )


def build_steps(
    graph: Graph,
    options: GraphOptions,
    embedder: Embedder,
    archive: Path,
    chat: Chat | None = None,
) -> tuple[Step, ...]:
    """Give the steps of a cycle in their order; `archive` is the folder of the archive."""
    links, associations, engrams = LinkStore(graph), AssociationStore(graph), EngramStore(graph)
    return (
        ProposeMerges(MergeStore(graph), embedder),
        MakeEngrams(engrams, chat),
        Associate(associations),
        Prior(PriorStore(graph, options)),
        Decay(links),
        Prune(links),
        Dormancy(DormancyStore(graph)),
        _archiving(graph, archive),
        Supersede(FactStore(graph)),
        Replay(ReplayStore(graph), associations),
        MakeClusters(engrams, chat),
    )


def build_archive(settings: Settings, graph: Graph, clock: Clock) -> ArchiveService:
    """Give the archive as it is used by hand."""
    folder = archive_folder(settings)
    return ArchiveService(_archiving(graph, folder), ColdStore(graph), ColdFiles(folder), clock)


def archive_folder(settings: Settings) -> Path:
    """Find the archive's folder."""
    return settings.archive.dir or settings.home / "archive"


def _archiving(graph: Graph, folder: Path) -> Archiving:
    return Archiving(ColdStore(graph), ColdFiles(folder), DormancyStore(graph))


def query_listener(settings: JobsSettings, metrics: Metrics) -> Callable[[str, float], None]:
    """Count every query; under test, die at the one that is named."""
    if settings.fault is None:
        return metrics.query
    kill = killer(settings.fault)

    def listen(query: str, seconds: float) -> None:
        kill(query)
        metrics.query(query, seconds)

    return listen


def _tell_stored(metrics: Metrics, counts: Mapping[JobState, int]) -> None:
    for state, number in counts.items():
        metrics.stored_jobs(state, number)


def _tell_job(
    metrics: Metrics, job: Job, state: JobState, report: ConsolidationReport | None
) -> None:
    metrics.job(job.kind, state)
    for step in report.steps if report else ():
        metrics.step(job.kind, step.name, step.seconds)
