"""How a tenant's recalls run, kept as text on the tenant's node."""

import json
from dataclasses import asdict, dataclass

from ecphoria.graph.executor import Graph, Statement
from ecphoria.graph.tenant_lock import no_tenant
from ecphoria.model.ids import TenantId
from ecphoria.model.shadow import Choice, Policy, Shadow

__all__ = ["Policies"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _PolicyRow:
    policy: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _TenantKey:
    id: str


_FIND = Statement("tenants.find_policy", _PolicyRow)
_SAVE = Statement("tenants.save_policy", _TenantKey)


class Policies:
    """Choices of strategy; implements `ports.recall.PolicyStore`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def find(self, tenant: TenantId) -> Policy:
        """Find how the tenant's recalls run; NotFound without the tenant."""
        row = await self._graph.run_one(_FIND, tenant=tenant)
        if row is None:
            raise no_tenant(tenant)
        return Policy() if row.policy is None else _policy_of(row.policy)

    async def save(self, tenant: TenantId, policy: Policy) -> None:
        """Keep how the tenant's recalls run; NotFound without the tenant."""
        text = None if policy == Policy() else json.dumps(asdict(policy), sort_keys=True)
        if not await self._graph.run(_SAVE, tenant=tenant, policy=text):
            raise no_tenant(tenant)


def _policy_of(text: str) -> Policy:
    stored = json.loads(text)
    shadow = stored["shadow"]
    return Policy(
        shadow=shadow and Shadow(choice=Choice(**shadow["choice"]), share=shadow["share"]),
        promoted=tuple(Choice(**choice) for choice in stored["promoted"]),
    )
