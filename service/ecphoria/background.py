"""Wire the background: the cycle of consolidation, the queue of jobs, a worker."""

import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial

from ecphoria.consolidation.associate import Associate
from ecphoria.consolidation.decay import Decay
from ecphoria.consolidation.dormancy import Dormancy
from ecphoria.consolidation.engrams import MakeEngrams
from ecphoria.consolidation.prior import Prior
from ecphoria.consolidation.prune import Prune
from ecphoria.consolidation.service import ConsolidationService
from ecphoria.consolidation.step import Step
from ecphoria.graph.associations import Associations
from ecphoria.graph.dormancy import Dormancies
from ecphoria.graph.driver import GraphOptions
from ecphoria.graph.engrams import Engrams
from ecphoria.graph.executor import Graph
from ecphoria.graph.gds import Priors
from ecphoria.graph.jobs import Jobs
from ecphoria.graph.links import Links
from ecphoria.jobs.fault import killer
from ecphoria.jobs.retries import Retries
from ecphoria.jobs.service import JobService
from ecphoria.jobs.worker import Worker, WorkerOptions
from ecphoria.model.consolidation import ConsolidationReport
from ecphoria.model.job import Job, JobState
from ecphoria.settings import JobsSettings
from ecphoria.telemetry import Metrics

__all__ = ["listener", "start"]


def start(
    settings: JobsSettings,
    graph: Graph,
    options: GraphOptions,
    metrics: Metrics,
    stack: AsyncExitStack,
) -> JobService:
    """Take jobs from now until the stack is unwound, as many at once as is set."""
    consolidation = ConsolidationService(steps=_steps(graph, options), monotonic=time.monotonic)
    store = Jobs(graph, settings.kept)
    worker = Worker(
        store,
        consolidation.run,
        WorkerOptions(
            lease_s=settings.lease_s,
            poll_s=settings.poll_s,
            retries=Retries(limit=settings.attempts, first_pause_s=settings.pause_s),
        ),
        ended=partial(_tell_job, metrics),
        fault=killer(settings.fault),
    )
    stack.push_async_callback(worker.stop)
    worker.start(settings.workers)
    return JobService(store, steps=consolidation.steps, wake=worker.wake)


def _steps(graph: Graph, options: GraphOptions) -> tuple[Step, ...]:
    """Give the steps of a cycle in their order."""
    links = Links(graph)
    return (
        MakeEngrams(Engrams(graph)),
        Associate(Associations(graph)),
        Prior(Priors(graph, options)),
        Decay(links),
        Prune(links),
        Dormancy(Dormancies(graph)),
    )


def listener(settings: JobsSettings, metrics: Metrics) -> Callable[[str, float], None]:
    """Count every query; under test, die at the one that is named."""
    if settings.fault is None:
        return metrics.query
    kill = killer(settings.fault)

    def listen(query: str, seconds: float) -> None:
        kill(query)
        metrics.query(query, seconds)

    return listen


def _tell_job(
    metrics: Metrics, job: Job, state: JobState, report: ConsolidationReport | None
) -> None:
    metrics.job(job.kind, state)
    for step in report.steps if report else ():
        metrics.step(job.kind, step.name, step.seconds)
