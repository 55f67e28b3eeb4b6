"""Look for what is wrong in a tenant's graph; nothing is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ecphoria.graph.executor import Graph, Statement
from ecphoria.graph.lucene import all_of
from ecphoria.graph.tenant_lock import no_tenant
from ecphoria.model.checkup import Finding, Rule, Symptom
from ecphoria.model.ids import TenantId
from ecphoria.ports.doctor import Account, TermCounts, Totals

__all__ = ["GraphPatient"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _TermRow:
    stem: str
    items: int
    near: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Indexed:
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Faults:
    found: int
    id: list[str]
    detail: list[str]


_FIND_TOTALS = Statement("doctor.find_totals", Totals)
_LIST_ACCOUNTS = Statement("doctor.list_accounts", Account)
_LIST_TERMS = Statement("doctor.list_terms", _TermRow)
_LIST_INDEXED = Statement("doctor.list_indexed", _Indexed)
_BY_RULE: Final = {
    "counts": Statement("doctor.find_miscounted", _Faults),
    "chains": Statement("doctor.find_bad_chains", _Faults),
    "edges": Statement("doctor.find_bad_edges", _Faults),
    "orphans": Statement("doctor.find_orphans", _Faults),
    "provenance": Statement("doctor.find_dangling", _Faults),
    "indexes": Statement("doctor.find_unindexed", _Faults),
    "states": Statement("doctor.find_bad_states", _Faults),
}


class GraphPatient:
    """A tenant's graph under examination; implements `ports.doctor.Patient`."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def totals(self, tenant: TenantId) -> Totals:
        """Read the counters; NotFound without the tenant."""
        row = await self._graph.run_one(_FIND_TOTALS, tenant=tenant)
        if row is None:
            raise no_tenant(tenant)
        return row

    async def accounts(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Account]:
        """List what episodes add to the counts, by turn."""
        return await self._graph.run(
            _LIST_ACCOUNTS, tenant=tenant, after_turn=after_turn, limit=limit
        )

    async def terms(self, tenant: TenantId) -> Mapping[str, TermCounts]:
        """Read the stored counts of every stem."""
        rows = await self._graph.run(_LIST_TERMS, tenant=tenant)
        return {row.stem: TermCounts(items=row.items, near=row.near) for row in rows}

    async def indexed(self, tenant: TenantId) -> frozenset[str]:
        """Name the episodes that the text index holds."""
        rows = await self._graph.run(_LIST_INDEXED, tenant=tenant, query=all_of(tenant))
        return frozenset(row.id for row in rows)

    async def findings(self, tenant: TenantId, limit: int) -> Sequence[Finding]:
        """Check what the store can check by itself, with at most `limit` symptoms a rule."""
        found: list[Finding] = []
        for rule, statement in _BY_RULE.items():
            (row,) = await self._graph.run(statement, tenant=tenant, limit=limit)
            symptoms = (
                Symptom(id=one, detail=detail)
                for one, detail in zip(row.id, row.detail, strict=True)
            )
            if row.found:
                found.append(Finding(rule=Rule(rule), found=row.found, symptoms=tuple(symptoms)))
        return found
