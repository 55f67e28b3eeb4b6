"""Endpoints of the archive: archive, restore, scrub."""

from fastapi import APIRouter

from ecphoria.api.guard import GuardedRoute, Served, TenantAdmin, Writer
from ecphoria.api.problems import guarded
from ecphoria.errors import ArchiveDamaged, ArchiveUnavailable, TooLarge
from ecphoria.model.ids import EpisodeId
from ecphoria.wire.cold import ArchiveAnswer, ArchiveRequest, RestoreAnswer, ScrubAnswer
from ecphoria.wire.dormancy import IdsRequest

__all__ = ["router"]

router = APIRouter(prefix="/v1/archive", tags=["dormancy"], route_class=GuardedRoute)


@router.post("", responses=guarded(ArchiveUnavailable))
async def archive(
    tenant: TenantAdmin, services: Served, body: ArchiveRequest | None = None
) -> ArchiveAnswer:
    """Move what has slept long to the archive's files now."""
    days = (body or ArchiveRequest()).days
    return ArchiveAnswer(archived=await services.cold.archive(tenant, days))


@router.post("/restore", responses=guarded(ArchiveUnavailable, ArchiveDamaged, TooLarge))
async def restore(body: IdsRequest, tenant: Writer, services: Served) -> RestoreAnswer:
    """Make archived memories dormant again, byte for byte."""
    ids = [EpisodeId(one) for one in body.ids]
    return RestoreAnswer.model_validate(await services.forgetting.restore(tenant, ids))


@router.post("/scrub", responses=guarded(ArchiveUnavailable))
async def scrub(tenant: TenantAdmin, services: Served) -> ScrubAnswer:
    """Read every record of the archive and check it; changes nothing."""
    return ScrubAnswer.model_validate(await services.cold.scrub(tenant))
