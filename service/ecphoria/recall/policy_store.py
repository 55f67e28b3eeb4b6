"""How a tenant's recalls run, kept as text on the tenant's node."""

import json
from dataclasses import asdict

from ecphoria.neo4j_store.locks import find_setting, save_setting
from ecphoria.neo4j_store.session import Graph
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Choice, Policy, Shadow


class Policies:
    """Choices of strategy; implements `ports.recall.PolicyStore`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def find(self, tenant: TenantId) -> Policy:
        """Find how the tenant's recalls run; NotFound without the tenant."""
        text = await find_setting(self._graph, tenant, "policy")
        return Policy() if text is None else _policy_of(text)

    async def save(self, tenant: TenantId, policy: Policy) -> None:
        """Keep how the tenant's recalls run; NotFound without the tenant."""
        text = None if policy == Policy() else json.dumps(asdict(policy), sort_keys=True)
        await save_setting(self._graph, tenant, "policy", text)


def _policy_of(text: str) -> Policy:
    stored = json.loads(text)
    shadow = stored["shadow"]
    return Policy(
        shadow=shadow and Shadow(choice=Choice(**shadow["choice"]), share=shadow["share"]),
        promoted=tuple(Choice(**choice) for choice in stored["promoted"]),
    )
