"""The recalls before the service is ready: in the newest tenants, and never in the way."""

import asyncio
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

from structlog.testing import capture_logs

from ecphoria.app import warm_up
from ecphoria.errors import EcphoriaError, NotFound
from ecphoria.records.ids import TenantId
from ecphoria.records.tenant import Tenant

START = datetime(2026, 3, 1, tzinfo=UTC)


def warm(
    names: str, failures: dict[str, EcphoriaError] | None = None, text: str = ""
) -> list[tuple[str, bool]]:
    """Warm up the tenants, the oldest first in `names`; tell who was recalled, and if recorded."""
    recalled: list[tuple[str, bool]] = []

    async def list_tenants() -> list[Tenant]:
        return [
            Tenant(id=TenantId(name), name=name, created_at=START + timedelta(days=day))
            for day, name in enumerate(names)
        ]

    async def recall(tenant: str, *_: object, record: bool) -> None:
        recalled.append((tenant, record))
        if failures and tenant in failures:
            raise failures[tenant]

    async def tenant_of(_: object, name: str) -> str:
        return name

    async def list_episodes(*_: object, limit: int, newest: bool) -> list[SimpleNamespace]:
        assert newest
        return [SimpleNamespace(text=text)] * limit

    async def start() -> None:
        await warm_up(services)
        assert bool(recalled) == bool(names), "the recalls are over"
        # The service answers meanwhile.
        await asyncio.gather(*asyncio.all_tasks() - {asyncio.current_task()})

    services: Any = SimpleNamespace(
        own=AsyncExitStack(),
        tenancy=SimpleNamespace(tenants=SimpleNamespace(list=list_tenants)),
        access=SimpleNamespace(tenant_of=tenant_of),
        recalls=SimpleNamespace(recall=recall),
        archive=SimpleNamespace(list_episodes=list_episodes),
        embedder=SimpleNamespace(model="all-MiniLM-L6-v2"),
    )
    asyncio.run(start())
    return recalled


def test_the_five_newest_tenants_are_recalled_and_no_trace_is_left() -> None:
    assert warm("abcdefg") == [(name, False) for name in "ggffeeddcc"]
    assert warm("") == []


def test_a_tenant_that_is_erased_meanwhile_is_left_out() -> None:
    assert [name for name, _ in warm("abc", {"b": NotFound("gone")})] == list("ccbaa")


def test_a_failure_does_not_stop_the_start() -> None:
    assert [name for name, _ in warm("abc", {"b": EcphoriaError("no answer")})] == list("ccb")


def test_a_tenant_whose_texts_the_model_does_not_read_is_told_in_the_log() -> None:
    with capture_logs() as logs:
        warm("a", text="Where are the keys of the boat?")
        warm("b", text="Wo sind die Schl\u00fcssel vom Boot?")
    (told,) = logs
    assert (told["event"], told["tenant"]) == ("languages_not_read", "b")
    assert told["told"].startswith("100 of 100 texts are in languages")
