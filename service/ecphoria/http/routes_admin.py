"""Routes of administration, operations and settings."""

import asyncio
from importlib.metadata import version
from pathlib import Path
from typing import Final

from fastapi import APIRouter, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.concurrency import run_in_threadpool
from starlette.status import HTTP_201_CREATED, HTTP_202_ACCEPTED, HTTP_204_NO_CONTENT

from ecphoria import wire
from ecphoria.app import Services
from ecphoria.errors import (
    Conflict,
    EcphoriaError,
    EncoderUnavailable,
    InvalidInput,
    Misconfigured,
    NotFound,
    StoreUnavailable,
    TooLarge,
    UnknownStrategy,
)
from ecphoria.http.auth import (
    Admin,
    Anyone,
    Caller,
    GuardedRoute,
    Operator,
    Reader,
    Served,
    TenantAdmin,
)
from ecphoria.http.problems import PROBLEMS, guarded, responses
from ecphoria.http.routes_upkeep import tell
from ecphoria.http.traits import having
from ecphoria.neo4j_store.tenant_settings import OwnSettings
from ecphoria.records.calibration import Calibration, CalibrationOptions, FitRequest
from ecphoria.records.embedding import EmbedderChoice, Reembedding
from ecphoria.records.ids import KeyId, TenantId
from ecphoria.records.job import Job
from ecphoria.records.settings import Choice, TenantSettings
from ecphoria.records.tenant import SHIPPED, IssuedKey, Me, Tenant
from ecphoria.records.upkeep import Disk
from ecphoria.wire.settings import SettingsAnswer, SettingsRequest, TrialAnswer

administration_routes = APIRouter(prefix="/v1", tags=["administration"], route_class=GuardedRoute)


@administration_routes.post("/tenants", status_code=HTTP_201_CREATED, responses=guarded(Conflict))
async def create_tenant(body: wire.admin.TenantRequest, _: Operator, services: Served) -> Tenant:
    """Create a tenant."""
    return await services.tenancy.create_tenant(body.name)


@administration_routes.get("/tenants", responses=guarded())
async def list_tenants(_: Operator, services: Served) -> wire.admin.TenantList:
    """List tenants by name."""
    return wire.admin.TenantList(items=tuple(await services.tenancy.tenants.list()))


@administration_routes.delete("/tenants/{name}", responses=guarded())
@having(is_bulk=True)
async def erase_tenant(name: str, _: Operator, services: Served) -> wire.admin.ErasureAnswer:
    """Erase a tenant with everything it owns, and count what was removed."""
    return wire.admin.ErasureAnswer(removed=dict(await services.tenancy.erase_tenant(name)))


@administration_routes.get("/disk", responses=guarded())
async def get_disk(_: Operator, services: Served) -> Disk:
    """Sum the store's files by kind, if the service runs Neo4j itself.

    The figures are of all tenants. New memories count after Neo4j's next checkpoint, some minutes
    later.
    """
    return await run_in_threadpool(services.disk)


@administration_routes.get("/me", responses=guarded())
async def get_me(tenant: Anyone, caller: Caller, services: Served) -> Me:
    """Describe the caller: its tenant, its key, and what it may do; any key will do."""
    ask = bool(services.settings.llm.model)
    return await services.tenancy.describe(caller, tenant, ask=ask)


@administration_routes.delete("/me", status_code=HTTP_204_NO_CONTENT, responses=guarded(Conflict))
async def sign_out(caller: Caller, services: Served) -> None:
    """Revoke the key of this request, whatever its scopes, if it is one that expires.

    A key without an end may be in use elsewhere; only an admin revokes it.
    """
    await services.tenancy.sign_out(caller)


@administration_routes.post("/keys", status_code=HTTP_201_CREATED, responses=guarded())
async def issue_key(body: wire.admin.KeyRequest, tenant: Admin, services: Served) -> IssuedKey:
    """Issue a key for the tenant; an operator who names no tenant issues an operator's key."""
    return await services.tenancy.issue(
        tenant, body.name, body.scopes, expires_in_s=body.expires_in_s
    )


@administration_routes.get("/keys", responses=guarded())
async def list_keys(tenant: Admin, services: Served) -> wire.admin.KeyList:
    """List the tenant's keys; an operator who names no tenant lists the operators' keys."""
    return wire.admin.KeyList(items=tuple(await services.tenancy.keys.list(tenant)))


@administration_routes.delete(
    "/keys/{key}", status_code=HTTP_204_NO_CONTENT, responses=guarded(Conflict)
)
async def revoke_key(key: str, tenant: Admin, services: Served) -> None:
    """Revoke a key: at once here, within seconds in other processes on the same store."""
    await services.tenancy.revoke(tenant, KeyId(key))


operations_routes = APIRouter(tags=["operations"])

_READY_WITHIN_S: Final = 0.8

_NO_GDS = (
    "Neo4j lacks Graph Data Science, so concepts have no PageRank prior: install the plugin, "
    "or unset ECPHORIA_NEO4J__URI to use the local server, which has it."
)


@operations_routes.head("/healthz", include_in_schema=False)  # monitors ask so
@operations_routes.get("/healthz")
async def get_health() -> wire.admin.HealthAnswer:
    """Report that the process is alive."""
    return wire.admin.HealthAnswer(version=version("ecphoria"))


@operations_routes.head("/readyz", include_in_schema=False)
@operations_routes.get(
    "/readyz", responses=responses(StoreUnavailable, Misconfigured, EcphoriaError)
)
async def get_readiness(services: Served) -> wire.admin.ReadinessAnswer:
    """Report whether requests can be served, and list missing parts."""
    try:
        # Whoever asks needs an answer now; the driver would go on trying for longer.
        async with asyncio.timeout(_READY_WITHIN_S):
            found = await services.health()
    except TimeoutError as error:
        raise StoreUnavailable from error
    degraded = found.missing if found.gds else (*found.missing, _NO_GDS)
    return wire.admin.ReadinessAnswer(
        status="degraded" if degraded else "ready",
        degraded=degraded,
        neo4j=found.neo4j,
        gds=found.gds,
        model=services.embedder.model,
        dimension=services.embedder.dimension,
        language_model=services.settings.llm.model or None,
    )


@operations_routes.get(
    "/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}}
)
async def get_metrics(services: Served) -> Response:
    """Return metrics in Prometheus' text format; none names a tenant or a memory."""
    return Response(generate_latest(services.metrics.registry), media_type=CONTENT_TYPE_LATEST)


@operations_routes.get(
    "/errors/{code}", responses=responses(NotFound, InvalidInput, EcphoriaError)
)
async def get_error(code: str) -> wire.admin.ErrorAnswer:
    """Explain an error code; the `type` of every problem points here."""
    for cls, kind in PROBLEMS.items():
        if cls.code == code:
            return wire.admin.ErrorAnswer(
                code=code, title=kind.title, status=kind.status, remedy=cls().message
            )
    raise NotFound("There is no error with this code; the `type` of a problem ends with one.")


browser_routes = APIRouter(tags=["browser"])


@browser_routes.get("/v1/browser")
async def list_files(services: Served) -> wire.admin.BrowserFileList:
    """List the files for Neo4j Browser: a GraSS style and saved queries. Needs no key."""
    return await run_in_threadpool(_listed, services.browser)


@browser_routes.get(
    "/browser-guide/{file}",
    response_class=Response,
    responses={
        **responses(NotFound, InvalidInput, EcphoriaError),
        200: {"content": {"text/plain": {}}},
    },
)
async def get_file(file: str, services: Served) -> Response:
    """Fetch a file to drop on Neo4j Browser or to paste into it. Needs no key."""
    return Response(
        await run_in_threadpool(_read, services.browser, file),
        media_type="text/plain; charset=utf-8",
        headers={"Access-Control-Allow-Origin": "*"},  # Neo4j Browser has another origin
    )


def _files(folder: Path) -> dict[str, Path]:
    return {
        file.name: file
        for file in sorted(folder.iterdir())
        if file.suffix in {".cypher", ".grass"}
    }


def _listed(folder: Path) -> wire.admin.BrowserFileList:
    return wire.admin.BrowserFileList(
        items=tuple(
            wire.admin.BrowserFileAnswer(name=name, doc=_doc(file), href=f"/browser-guide/{name}")
            for name, file in _files(folder).items()
        )
    )


def _read(folder: Path, name: str) -> str:
    file = _files(folder).get(name)
    if file is None:
        raise NotFound("There is no such file; `GET /v1/browser` lists those there are.")
    return file.read_text(encoding="utf-8")


def _doc(file: Path) -> str:
    """Say what a file shows: the comment in the first line of a query."""
    if file.suffix == ".grass":
        return "Colours and captions"
    first = file.read_text(encoding="utf-8").partition("\n")[0]
    return first.strip("/* ").removeprefix("doc:").strip()


embedding_routes = APIRouter(prefix="/v1", tags=["administration"], route_class=GuardedRoute)
gate_routes = APIRouter(prefix="/v1/gate", tags=["administration"], route_class=GuardedRoute)


@gate_routes.post("/calibrations", status_code=HTTP_202_ACCEPTED, responses=guarded(Conflict))
async def calibrate_gate(
    tenant: TenantAdmin,
    services: Served,
    response: Response,
    body: CalibrationOptions | None = None,
) -> Job:
    """Queue a calibration on questions made of the tenant's memories; applies nothing.

    `Location` is the address of the job, whose `calibration` has the gate and its quality.
    """
    wanted = body or CalibrationOptions()
    return tell(await services.jobs.calibrate(tenant, wanted), response)


@gate_routes.post("/fits", responses=guarded(TooLarge))
async def fit_gate(body: FitRequest, _: TenantAdmin, services: Served) -> Calibration:
    """Fit a gate on the evidence of labelled questions; stores and applies nothing."""
    return await services.calibration.fit(body.samples, body, data_sha256=body.data_sha256)


@embedding_routes.post(
    "/embedding", status_code=HTTP_202_ACCEPTED, responses=guarded(Conflict, EncoderUnavailable)
)
async def change_embedding(body: EmbedderChoice, _: Operator, services: Served) -> Reembedding:
    """Change the embedding model of the whole store in the background."""
    return await services.reembedding.start(body)


@embedding_routes.get("/embedding", responses=guarded())
async def get_embedding(_: Operator, services: Served) -> Reembedding:
    """Show the change of the embedding model that is under way, or was the last."""
    return await services.reembedding.find()


@embedding_routes.delete("/embedding", responses=guarded(Conflict))
async def cancel_embedding(_: Operator, services: Served) -> Reembedding:
    """Cancel the change of the embedding model before the switch; the new vectors are removed."""
    return await services.reembedding.cancel()


settings_routes = APIRouter(prefix="/v1/settings", tags=["settings"], route_class=GuardedRoute)


@settings_routes.get("", responses=guarded())
async def get_settings(tenant: Reader, services: Served) -> SettingsAnswer:
    """Show the tenant's settings in force, and which of them are its own."""
    return await _settings_answer(services, tenant, await services.tenant_settings.find(tenant))


@settings_routes.patch("", responses=guarded(UnknownStrategy))
async def change_settings(
    body: SettingsRequest, tenant: TenantAdmin, services: Served
) -> SettingsAnswer:
    """Change some of the tenant's settings; null resets a field or a section to the default."""
    own = await services.tenant_settings.change(tenant, body.values())
    if "trial" in body.model_fields_set:
        services.recalls.reset(tenant)
    return await _settings_answer(services, tenant, own)


async def _settings_answer(
    services: Services, tenant: TenantId, own: OwnSettings
) -> SettingsAnswer:
    settings = own.settings
    schedule, next_at = await services.jobs.schedule(tenant)
    return SettingsAnswer(
        gate=settings.gate or SHIPPED,
        dormancy=settings.dormancy,
        expiry=settings.expiry,
        learning=settings.learning,
        schedule=schedule,
        trial=settings.trial,
        own=own.keys,
        next_cycle_at=next_at,
    )


strategies_routes = APIRouter(prefix="/v1/strategies", tags=["settings"], route_class=GuardedRoute)


@strategies_routes.get("/trial", responses=guarded())
async def get_trial(tenant: TenantAdmin, services: Served) -> TrialAnswer:
    """Show the tenant's default strategy, the one on trial, and how they compare."""
    return _trial_answer(services, tenant, (await services.tenant_settings.find(tenant)).settings)


@strategies_routes.post("/promotions", responses=guarded(Conflict))
async def promote_strategy(tenant: TenantAdmin, services: Served) -> TrialAnswer:
    """Make the strategy on trial the tenant's default, and end the trial."""
    return _trial_answer(
        services, tenant, (await services.tenant_settings.promote(tenant)).settings
    )


@strategies_routes.delete("/promotions/latest", responses=guarded(Conflict))
async def roll_back_strategy(tenant: TenantAdmin, services: Served) -> TrialAnswer:
    """Go back to the default before the latest promotion."""
    return _trial_answer(
        services, tenant, (await services.tenant_settings.roll_back(tenant)).settings
    )


def _trial_answer(services: Services, tenant: TenantId, settings: TenantSettings) -> TrialAnswer:
    return TrialAnswer(
        live=settings.live or Choice(strategy=services.settings.recall.strategy),
        promoted=settings.promoted,
        trial=settings.trial,
        report=services.recalls.report(tenant, settings),
    )
