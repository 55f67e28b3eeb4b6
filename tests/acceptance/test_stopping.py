"""The service stops while it is asked: what is under way is answered, the rest is told when."""

import asyncio
import gc
from pathlib import Path

import httpx

from ecphoria.app import build
from ecphoria.http.app import create_app
from ecphoria.recall.service import RecallService
from ecphoria.records.recall import Cue, RecallOptions
from ecphoria.settings import AuthSettings
from ecphoria.telemetry import configure_logging
from ecphoria.tenancy.access import DEFAULT_TENANT
from tests.acceptance.conftest import problem, running, settings_for
from tests.conftest import Server

HEADERS = {"Ecphoria-Tenant": DEFAULT_TENANT}


async def test_recalls_under_way_are_answered_and_later_ones_are_sent_away(
    neo4j_server: Server, tmp_path: Path
) -> None:
    configure_logging("critical", "json")
    services = await build(settings_for(neo4j_server, tmp_path, auth=AuthSettings(enabled=False)))
    (tenant,) = [
        one.id for one in await services.tenancy.tenants.list() if one.name == DEFAULT_TENANT
    ]
    under_way = [
        asyncio.create_task(
            services.recalls.recall(
                tenant, Cue(text=f"cue {n} " * 60), RecallOptions(), record=False
            )
        )
        for n in range(6)
    ]
    await asyncio.sleep(0)
    await services.close()
    assert {(await one).strategy for one in under_way} == {"ecphoria"}

    app = httpx.ASGITransport(create_app(services))
    async with httpx.AsyncClient(
        transport=app, base_url="http://localhost", headers=HEADERS
    ) as client:
        answers = [
            await client.get("/v1/episodes"),
            await client.post("/v1/recall", json={"cue": "later"}),
            await client.post("/v1/episodes", json={"text": "Something to remember."}),
        ]
    for answer in answers:
        problem(answer, 503, "store-unavailable")


def recall_services() -> set[int]:
    """List the ids of those in memory."""
    gc.collect()
    return {id(one) for one in gc.get_objects() if isinstance(one, RecallService)}


def test_a_service_that_has_ended_leaves_nothing_in_memory(
    neo4j_server: Server, tmp_path: Path
) -> None:
    former = recall_services()
    with running(settings_for(neo4j_server, tmp_path)) as service:
        assert httpx.get(f"{service.url}/").json()["service"]
        assert recall_services() > former
    del service
    assert recall_services() <= former
