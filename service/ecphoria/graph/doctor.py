"""Check a tenant's graph for inconsistencies; writes nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ecphoria.graph.executor import Graph, Statement
from ecphoria.graph.lucene import all_of
from ecphoria.graph.tenant_lock import no_tenant
from ecphoria.model.checkup import Finding, Rule, Symptom
from ecphoria.model.ids import TenantId

__all__ = ["Account", "IntegrityStore", "NameCounts", "Said", "TermCounts", "Totals"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """A tenant's counters as stored.

    Attributes:
        stated: The stored number of names and facts that episodes came with.
        came_with: The same, as its names and its evidence say.
        passages, passage_length: The stored number of passages, and of their stems.
        passages_found, passage_length_found: The same, as the passages say.
        cut_after: Episodes behind this turn may still wait for their passages; None: none does.
    """

    change: int
    turn: int
    items: int
    titles: int
    length: int
    near_length: float
    stated: int
    came_with: int
    passages: int = 0
    passages_found: int = 0
    passage_length: int = 0
    passage_length_found: int = 0
    cut_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What one episode adds to the counts.

    Attributes:
        session: Empty for documents and notes.
        terms: Its stems, joined by blanks; None where they are not in the store.
        live: Whether recall can find it.
    """

    id: str
    turn: int
    session: str
    ordinal: int | None
    titled: bool
    length: int
    near_length: float
    terms: str | None
    live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TermCounts:
    """How many items have a stem, and how many it reaches over NEXT."""

    items: int
    near: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an episode says; its text is None where it is archived.

    Attributes:
        passages: How many it has.
    """

    turn: int
    title: str | None
    text: str | None
    id: str = ""
    passages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NameCounts:
    """How many items have a name as their title, and how many as a candidate in their text."""

    titles: int
    candidates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _TermRow:
    stem: str
    items: int
    near: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _WordRow:
    word: str
    items: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _NameRow:
    name: str
    titles: int
    candidates: int


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
_LIST_TEXTS = Statement("doctor.list_texts", Said)
_LIST_WORDS = Statement("doctor.list_words", _WordRow)
_LIST_NAMES = Statement("doctor.list_names", _NameRow)
_LIST_INDEXED = Statement("doctor.list_indexed", _Indexed)
_BY_RULE: Final = {
    "find_miscounted": Rule.COUNTS,
    "find_bad_chains": Rule.CHAINS,
    "find_bad_edges": Rule.EDGES,
    "find_crowded": Rule.EDGES,
    "find_orphans": Rule.ORPHANS,
    "find_dangling": Rule.PROVENANCE,
    "find_bad_engrams": Rule.PROVENANCE,
    "find_unindexed": Rule.INDEXES,
    "find_bad_states": Rule.STATES,
}
_FIND: Final = {name: Statement(f"doctor.{name}", _Faults) for name in _BY_RULE}


class IntegrityStore:
    """A tenant's graph under examination."""

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

    async def said(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Said]:
        """List what episodes say, by turn."""
        return await self._graph.run(
            _LIST_TEXTS, tenant=tenant, after_turn=after_turn, limit=limit
        )

    async def words(self, tenant: TenantId) -> Mapping[str, int]:
        """Read of how many items it is stored that they have a word in lower case."""
        rows = await self._graph.run(_LIST_WORDS, tenant=tenant)
        return {row.word: row.items for row in rows}

    async def names(self, tenant: TenantId) -> Mapping[str, NameCounts]:
        """Read the stored counts of every name."""
        rows = await self._graph.run(_LIST_NAMES, tenant=tenant)
        return {row.name: NameCounts(titles=row.titles, candidates=row.candidates) for row in rows}

    async def indexed(self, tenant: TenantId) -> frozenset[str]:
        """Name the episodes that the text index holds."""
        rows = await self._graph.run(_LIST_INDEXED, tenant=tenant, query=all_of(tenant))
        return frozenset(row.id for row in rows)

    async def findings(self, tenant: TenantId, limit: int) -> Sequence[Finding]:
        """Check what the store can check by itself, with at most `limit` symptoms a rule."""
        found: list[Finding] = []
        for name, rule in _BY_RULE.items():
            (row,) = await self._graph.run(_FIND[name], tenant=tenant, limit=limit)
            symptoms = (
                Symptom(id=one, detail=detail)
                for one, detail in zip(row.id, row.detail, strict=True)
            )
            if row.found:
                found.append(Finding(rule=rule, found=row.found, symptoms=tuple(symptoms)))
        return found
