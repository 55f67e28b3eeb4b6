"""Recall of engrams: summaries as hits of their own, each with its evidence.

An engram is shown only if the recall may show every episode whose words are in it. So one that
quotes a dormant, excluded or filtered episode, or one from after `as_of`, is left out.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from ecphoria.maths.fusion import fusion
from ecphoria.neo4j_store.queries import any_of
from ecphoria.neo4j_store.session import Graph, Statement, packed
from ecphoria.ports import Vector
from ecphoria.recall.candidates import gather_more
from ecphoria.recall.pipeline import Search
from ecphoria.records.episode import Engram, EngramKind
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import EngramHit


@dataclass(frozen=True, slots=True, kw_only=True)
class EngramRow:
    """An engram as the store gives it."""

    id: str
    kind: str
    session: str | None
    summary: str
    members: int
    evidence: list[str]
    method: str
    recorded_at: datetime

    def to_engram(self) -> Engram:
        """Build the record."""
        return Engram(
            id=self.id,
            kind=EngramKind(self.kind),
            session=self.session,
            summary=self.summary,
            members=self.members,
            evidence=tuple(EpisodeId(episode) for episode in self.evidence),
            method=self.method,
            recorded_at=self.recorded_at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _FoundEngram(EngramRow):
    cosine: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _ByText:
    id: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _ByVector:
    id: str


_BY_TEXT = Statement("recall.list_engrams_by_text", _ByText)
_BY_VECTOR = Statement("recall.list_engrams_by_vector", _ByVector)
_LIST_ENGRAMS_OF = Statement("recall.list_engrams_of", _FoundEngram)
_AT_LEAST, _TIMES = 20, 4
"""Engrams taken from each index: some of them may not be shown, or are ranked low."""


class EngramReader:
    """Finds engrams by the words and by the meaning of their summaries."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph

    async def find(self, search: Search, count: int) -> tuple[EngramHit, ...]:
        """Find the best engrams for a cue, ranked by plain fusion of both indexes."""
        ranked = await self._ranked(search, max(_AT_LEAST, _TIMES * count))
        evidence = {one for engram, _ in ranked for one in engram.evidence}
        if not evidence:
            return ()
        seen = await gather_more(
            search.store, search.tenant, search.seeding, search.filters, sorted(evidence),
            subject=search.candidates.subject,
        )  # fmt: skip
        shown = [pair for pair in ranked if all(map(seen.holds, pair[0].evidence))][:count]
        wanted = [one for engram, _ in shown for one in engram.evidence]
        episodes = {
            one.id: one
            for one in await search.store.episodes(search.tenant, list(dict.fromkeys(wanted)))
        }
        return tuple(
            EngramHit(
                rank=rank,
                score=sum(parts.values()),
                parts=parts,
                engram=engram,
                evidence=tuple(episodes[one] for one in engram.evidence),
            )
            for rank, (engram, parts) in enumerate(shown, start=1)
            # An episode may have been erased since; its engram went with it.
            if episodes.keys() >= set(engram.evidence)
        )

    async def _ranked(
        self, search: Search, count: int
    ) -> Sequence[tuple[Engram, Mapping[str, float]]]:
        """Rank what the indexes find, with the parts of each score."""
        tenant, vector = search.tenant, search.seeding.vector
        by_text, by_vector = await asyncio.gather(
            self._by_text(tenant, search.seeding.analysis.stems, count),
            self._by_vector(tenant, vector, count),
        )
        ids = sorted({*by_text, *by_vector})
        if not ids:
            return []
        found = await self._graph.run(
            _LIST_ENGRAMS_OF,
            tenant=tenant,
            ids=ids,
            vector=None if vector is None else packed(vector),
        )
        scored = fusion([by_text.get(row.id, 0.0) for row in found], [row.cosine for row in found])
        parts = [dict(zip(("lex", "sem"), row.tolist(), strict=True)) for row in scored.parts]
        # The rows come by id, and the sort is stable: equal scores stay by id.
        order = np.argsort(-scored.score, kind="stable")
        return [(found[row].to_engram(), parts[row]) for row in order.tolist()]

    async def _by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int
    ) -> Mapping[str, float]:
        if not stems:
            return {}
        query = any_of(tenant, sorted(set(stems)))
        rows = await self._graph.run(_BY_TEXT, tenant=tenant, query=query, limit=limit)
        return {row.id: row.score for row in rows}

    async def _by_vector(
        self, tenant: TenantId, vector: Vector | None, limit: int
    ) -> Sequence[str]:
        if vector is None:
            return ()
        rows = await self._graph.run(_BY_VECTOR, tenant=tenant, vector=packed(vector), limit=limit)
        return [row.id for row in rows]
