"""Routes of upkeep: jobs, consolidation, dormancy, archive, integrity."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from starlette.status import HTTP_202_ACCEPTED, HTTP_204_NO_CONTENT

from ecphoria import wire
from ecphoria.errors import ArchiveDamaged, ArchiveUnavailable, Conflict, ModelMissing, TooLarge
from ecphoria.http.auth import GuardedRoute, Reader, Served, TenantAdmin, Writer
from ecphoria.http.problems import guarded
from ecphoria.http.traits import having
from ecphoria.records.ids import EpisodeId, JobId
from ecphoria.records.job import ConsolidationReport, Job
from ecphoria.records.upkeep import DormancyPreview, IntegrityReport, Restored, Scrub
from ecphoria.wire.base import TurnPage, place_of

jobs_routes = APIRouter(prefix="/v1/jobs", tags=["jobs"], route_class=GuardedRoute)


@jobs_routes.get("", responses=guarded())
async def list_jobs(
    tenant: Reader, services: Served, wanted: Annotated[wire.upkeep.JobQuery, Query()]
) -> wire.upkeep.JobList:
    """List jobs, the newest first; the latest hundred ended ones are kept."""
    found = await services.jobs.store.list(tenant, state=wanted.state, limit=wanted.limit)
    return wire.upkeep.JobList(items=tuple(found))


@jobs_routes.get("/{job}", responses=guarded())
async def get_job(job: str, tenant: Reader, services: Served) -> Job:
    """Return a job: its state, and its report once it is done."""
    return await services.jobs.store.find(tenant, JobId(job))


@jobs_routes.post("/{job}/cancel", responses=guarded(Conflict))
async def cancel_job(job: str, tenant: Writer, services: Served) -> Job:
    """Cancel a job; a running one ends at its next checkpoint."""
    return await services.jobs.store.cancel(tenant, JobId(job))


@jobs_routes.post("/{job}/retry", status_code=HTTP_202_ACCEPTED, responses=guarded(Conflict))
async def retry_job(job: str, tenant: Writer, services: Served, response: Response) -> Job:
    """Queue a failed, dead or cancelled job again, with fresh attempts."""
    return tell(await services.jobs.retry(tenant, JobId(job)), response)


def tell(job: Job, response: Response) -> Job:
    """Return a queued job, and the address of its state."""
    response.headers["Location"] = f"/v1/jobs/{job.id}"
    return job


consolidation_routes = APIRouter(
    prefix="/v1/consolidation", tags=["consolidation"], route_class=GuardedRoute
)


extraction_routes = APIRouter(
    prefix="/v1/extraction", tags=["consolidation"], route_class=GuardedRoute
)


@consolidation_routes.post(
    "", status_code=HTTP_202_ACCEPTED, responses=guarded(TooLarge, ModelMissing)
)
async def consolidate(
    tenant: Writer,
    services: Served,
    response: Response,
    body: wire.upkeep.ConsolidationRequest | None = None,
) -> Job:
    """Queue a cycle, or join the waiting one; `Location` is the address of its state."""
    wanted = body or wire.upkeep.ConsolidationRequest()
    job = await services.jobs.consolidate(tenant, steps=wanted.steps, dry_run=wanted.dry_run)
    return tell(job, response)


@extraction_routes.post("/reset", status_code=HTTP_204_NO_CONTENT, responses=guarded())
async def reset_extraction(tenant: Writer, services: Served) -> None:
    """Have the step `extract` read every live episode again; results stay until replaced."""
    await services.extract.store.reset(tenant)


@consolidation_routes.get("", responses=guarded())
async def get_last_report(tenant: Reader, services: Served) -> ConsolidationReport:
    """Return the report of the latest cycle."""
    return await services.jobs.last_report(tenant)


dormancy_routes = APIRouter(prefix="/v1", tags=["dormancy"], route_class=GuardedRoute)


@dormancy_routes.get("/dormancy", responses=guarded())
async def list_dormant(
    tenant: Reader, services: Served, wanted: Annotated[TurnPage, Query()]
) -> wire.upkeep.SleeperPage:
    """List dormant memories with the reason, a page at a time."""
    found = await services.forgetting.store.sleepers(tenant, wanted.cursor or 0, wanted.limit + 1)
    return wire.upkeep.SleeperPage.cut(found, wanted.limit, lambda last: str(last.turn))


@dormancy_routes.get("/expiring", responses=guarded())
async def list_expiring(
    tenant: Reader, services: Served, wanted: Annotated[wire.episodes.ExpiringQuery, Query()]
) -> wire.episodes.EpisodePage:
    """List the episodes whose life has an end, the soonest first, a page at a time."""
    found = await services.archive.expiring(
        tenant, after=place_of(wanted.cursor), limit=wanted.limit + 1
    )
    return wire.episodes.EpisodePage.cut(found, wanted.limit, wire.episodes.end_of)


@dormancy_routes.post("/dormancy/preview", responses=guarded())
@having(is_bulk=True, is_read=True)
async def preview_dormancy(
    tenant: Reader, services: Served, body: wire.upkeep.PreviewRequest | None = None
) -> DormancyPreview:
    """Tell which memories a policy would make dormant now, with the reasons; changes nothing."""
    wanted = body or wire.upkeep.PreviewRequest()
    return await services.forgetting.preview(tenant, wanted.changes(), limit=wanted.limit)


@dormancy_routes.post("/dormancy/sleep", responses=guarded(TooLarge))
async def sleep(
    body: wire.upkeep.IdsRequest, tenant: Writer, services: Served
) -> wire.upkeep.IdsAnswer:
    """Make live memories dormant, except pinned ones."""
    slept = await services.forgetting.sleep(tenant, [EpisodeId(one) for one in body.ids])
    return wire.upkeep.IdsAnswer(ids=tuple(slept))


@dormancy_routes.post("/dormancy/wake", responses=guarded(TooLarge))
async def wake(
    body: wire.upkeep.IdsRequest, tenant: Writer, services: Served
) -> wire.upkeep.IdsAnswer:
    """Make dormant memories live again, exactly as they were."""
    woken = await services.forgetting.wake(tenant, [EpisodeId(one) for one in body.ids])
    return wire.upkeep.IdsAnswer(ids=tuple(woken))


@dormancy_routes.put(
    "/episodes/{episode}/pin", status_code=HTTP_204_NO_CONTENT, responses=guarded()
)
async def pin(episode: str, tenant: Writer, services: Served) -> None:
    """Pin a memory; pinned memories never become dormant."""
    await services.forgetting.store.pin(tenant, EpisodeId(episode), pinned=True)


@dormancy_routes.delete(
    "/episodes/{episode}/pin", status_code=HTTP_204_NO_CONTENT, responses=guarded()
)
async def unpin(episode: str, tenant: Writer, services: Served) -> None:
    """Unpin a memory."""
    await services.forgetting.store.pin(tenant, EpisodeId(episode), pinned=False)


cold_routes = APIRouter(prefix="/v1/archive", tags=["archive"], route_class=GuardedRoute)


@cold_routes.get("", responses=guarded())
async def list_archived(
    tenant: Reader, services: Served, wanted: Annotated[wire.upkeep.ArchivedQuery, Query()]
) -> wire.upkeep.ArchivedPage:
    """List archived memories, a page at a time."""
    found = await services.cold.graph.archived(
        tenant,
        session=wanted.session,
        speaker=wanted.speaker,
        after_turn=wanted.cursor or 0,
        limit=wanted.limit + 1,
    )
    return wire.upkeep.ArchivedPage.cut(found, wanted.limit, lambda last: str(last.turn))


@cold_routes.post("", responses=guarded(ArchiveUnavailable))
async def archive(
    tenant: TenantAdmin, services: Served, body: wire.upkeep.ArchiveRequest | None = None
) -> wire.upkeep.ArchiveAnswer:
    """Archive memories that have been dormant for long."""
    days = (body or wire.upkeep.ArchiveRequest()).days
    return wire.upkeep.ArchiveAnswer(archived=await services.cold.archive(tenant, days))


@cold_routes.post("/restore", responses=guarded(ArchiveUnavailable, ArchiveDamaged, TooLarge))
async def restore(body: wire.upkeep.IdsRequest, tenant: Writer, services: Served) -> Restored:
    """Make archived memories dormant again, byte for byte."""
    ids = [EpisodeId(one) for one in body.ids]
    return await services.cold.restore(tenant, ids)


@cold_routes.post("/scrub", responses=guarded(ArchiveUnavailable))
async def scrub(tenant: TenantAdmin, services: Served) -> Scrub:
    """Read every record of the archive and check it; changes nothing."""
    return await services.cold.scrub(tenant)


doctor_routes = APIRouter(prefix="/v1", tags=["consolidation"], route_class=GuardedRoute)


@doctor_routes.get("/doctor", responses=guarded())
@having(is_bulk=True, is_read=True)
async def examine(tenant: TenantAdmin, services: Served) -> IntegrityReport:
    """Check the integrity of the graph and its counts; changes nothing."""
    return await services.doctor.examine(tenant)
