"""Tenants and API keys."""

from datetime import UTC, datetime

from ecphoria.records.ids import KeyId, TenantId, fresh_id
from ecphoria.records.tenant import ApiKey, Scope, Tenant

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
        scopes=frozenset(scopes),
        created_at=NOW,
        revoked_at=None,
    )
