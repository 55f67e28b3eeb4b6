"""Recall of engrams: summaries as hits of their own, each with its evidence.

An engram is returned only if the recall may show all episodes that it rests on. So an engram that
quotes a dormant, excluded, filtered or later episode (`as_of`) is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ecphoria.maths.fusion import fusion
from ecphoria.neo4j_store.queries import any_of
from ecphoria.neo4j_store.session import Statement, Store, packed
from ecphoria.recall.pipeline import Search
from ecphoria.records.episode import Engram
from ecphoria.records.recall import EngramHit


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    engram: Engram
    score: float
    cosine: float


_FIND_ENGRAMS = Statement("recall.find_engrams", _Found)
_AT_LEAST, _TIMES = 20, 4
"""Engrams taken from each index: some of them may not be shown, or are ranked low."""


class EngramReader(Store):
    """Finds engrams by the words and by the meaning of their summaries."""

    async def find(self, search: Search, count: int) -> tuple[EngramHit, ...]:
        """Find the best engrams for a cue, ranked by plain fusion of both indexes."""
        ranked = await self._ranked(search, max(_AT_LEAST, _TIMES * count))
        evidence = {one for engram, _ in ranked for one in engram.evidence}
        if not evidence:
            return ()
        seen = await search.more(evidence)
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
            # An episode may be erased meanwhile, and its engram with it.
            if episodes.keys() >= set(engram.evidence)
        )

    async def _ranked(
        self, search: Search, count: int
    ) -> Sequence[tuple[Engram, Mapping[str, float]]]:
        """Rank what the indexes find, with the parts of each score."""
        analysis, vector = search.seeding.analysis, search.seeding.vector
        stems = analysis.sought
        found = await self._graph.run(
            _FIND_ENGRAMS,
            tenant=search.tenant,
            query=any_of(search.tenant, stems) if stems else None,
            vector=None if vector is None else packed(vector),
            limit=count,
        )
        if not found:
            return []
        scored = fusion([row.score for row in found], [row.cosine for row in found])
        parts = [dict(zip(("lex", "sem"), row.tolist(), strict=True)) for row in scored]
        # The rows are sorted by id and the sort is stable, so equal scores keep the order of ids.
        order = np.argsort(-scored.sum(axis=1), kind="stable")
        return [(found[row].engram, parts[row]) for row in order.tolist()]
