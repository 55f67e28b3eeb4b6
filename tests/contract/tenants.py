"""Tenants, API keys and settings."""

import json
from dataclasses import asdict
from datetime import UTC, datetime

from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.tenant_settings import SettingsStore
from ecphoria.recall.listing import EpisodeArchive
from ecphoria.records.ids import KeyId, TenantId, fresh_id
from ecphoria.records.settings import TenantSettings, merge
from ecphoria.records.tenant import ApiKey, Gate, Scope, Tenant

NOW = datetime(2024, 5, 1, 8, 30, tzinfo=UTC)


def a_tenant() -> Tenant:
    made = fresh_id()
    return Tenant(id=TenantId(made), name=f"name {made}", created_at=NOW)


def a_key(tenant: TenantId | None, *scopes: Scope) -> ApiKey:
    return ApiKey(
        id=KeyId(fresh_id()),
        tenant=tenant,
        name="laptop",
        prefix="ek_1234",
        scopes=scopes,
        created_at=NOW,
        revoked_at=None,
    )


async def set_settings(
    graph: Graph, tenant: TenantId, *, now: datetime = NOW, **patch: object
) -> TenantSettings:
    """Merge a patch into a tenant's own settings; give those in force."""
    store = SettingsStore(graph)
    return (await store.change(tenant, lambda own: merge(own.values, patch), now)).settings


def gate_values(gate: Gate) -> object:
    """A gate as JSON has it."""
    return json.loads(json.dumps(asdict(gate), default=datetime.isoformat))


async def learned(graph: Graph, tenant: TenantId) -> tuple[int, int]:
    """Number of recalls that the tenant learned from, and of those that wait."""
    stats = await EpisodeArchive(graph).stats(tenant)
    return stats.recalls_learned, stats.recalls_pending
