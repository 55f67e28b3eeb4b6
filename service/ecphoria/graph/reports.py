"""Reports of jobs as they are stored, and as they are read.

A stored report names concepts by id. A name in it would be a copy that nobody finds when the
episodes that have the name are erased.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Final

from ecphoria.graph.executor import Graph, Statement
from ecphoria.model.consolidation import (
    Change,
    ConsolidationReport,
    Degrees,
    Gap,
    GraphSize,
    StepReport,
    StepStatus,
)
from ecphoria.model.ids import TenantId
from ecphoria.model.job import Job

__all__ = ["report_of", "size_of", "step_of", "text_of", "with_names"]

_OF_CONCEPTS: Final = "propose"
_ID: Final = re.compile(r"\b[0-9a-f]{32}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _ConceptName:
    id: str
    name: str


_LIST_CONCEPT_NAMES = Statement("jobs.list_concept_names", _ConceptName)


async def with_names(graph: Graph, tenant: TenantId, jobs: Sequence[Job]) -> list[Job]:
    """Put names in the place of the ids of those concepts that are still there."""
    ids = {
        ident
        for job in jobs
        for step in _steps(job)
        for change in step.changes
        if change.kind == _OF_CONCEPTS
        for ident in _ID.findall(f"{change.id} {change.detail}")
    }
    if not ids:
        return list(jobs)
    rows = await graph.run(_LIST_CONCEPT_NAMES, tenant=tenant, ids=sorted(ids))
    names = {row.id: row.name for row in rows}
    return [_named(job, names) for job in jobs]


def _steps(job: Job) -> Iterator[StepReport]:
    yield from job.ended
    if job.report is not None:
        yield from job.report.steps


def _named(job: Job, names: Mapping[str, str]) -> Job:
    def told(text: str) -> str:
        return _ID.sub(lambda found: names.get(found[0], found[0]), text)

    def named(step: StepReport) -> StepReport:
        changes = (
            replace(change, id=told(change.id), detail=told(change.detail))
            if change.kind == _OF_CONCEPTS
            else change
            for change in step.changes
        )
        return replace(step, changes=tuple(changes))

    report = job.report and replace(job.report, steps=tuple(map(named, job.report.steps)))
    return replace(job, ended=tuple(map(named, job.ended)), report=report)


def text_of(report: ConsolidationReport) -> str:
    """Write a report as JSON."""
    plain = asdict(report) | {"started_at": report.started_at.isoformat()}
    return json.dumps(plain, ensure_ascii=False)


def report_of(text: str) -> ConsolidationReport:
    """Read a report."""
    stored = json.loads(text)
    return ConsolidationReport(
        **{
            **stored,
            "started_at": datetime.fromisoformat(stored["started_at"]),
            "steps": tuple(step_of(step) for step in stored["steps"]),
            "before": size_of(stored.get("before")),
            "after": size_of(stored.get("after")),
            "degrees": {edge: Degrees(**one) for edge, one in stored.get("degrees", {}).items()},
            "gaps": tuple(_gap_of(gap) for gap in stored.get("gaps", ())),
        }
    )


def size_of(stored: Mapping[str, Any] | None) -> GraphSize | None:
    """Read the size of a graph."""
    return GraphSize(**stored) if stored else None


def _gap_of(stored: Mapping[str, Any]) -> Gap:
    return Gap(refused=stored["refused"], traces=tuple(stored["traces"]))


def step_of(stored: Mapping[str, Any]) -> StepReport:
    """Read the report of a step."""
    changes = tuple(Change(**change) for change in stored["changes"])
    typed = {"status": StepStatus(stored["status"]), "changes": changes}
    return StepReport(**{**stored, **typed, "degraded": tuple(stored.get("degraded", ()))})
