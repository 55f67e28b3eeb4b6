"""Read dormant memories for recall too; no index holds them, so they are compared one by one."""

from collections.abc import Sequence

from ecphoria.graph.executor import Graph, Statement, packed
from ecphoria.graph.passages import SeedOfPassage, by_filter, to_passage_seed
from ecphoria.graph.recall import EpisodeReader, SeedColumns, to_seed
from ecphoria.model.ids import TenantId
from ecphoria.model.recall import Filters
from ecphoria.ports.passages import PassageSeed
from ecphoria.ports.recall import SeedRow
from ecphoria.ports.world import Vector

__all__ = ["DormantReader"]

_LIST_DORMANT = Statement("recall.list_dormant", SeedColumns)
_LIST_DORMANT_PASSAGES = Statement("recall.list_dormant_passages", SeedOfPassage)


class DormantReader(EpisodeReader):
    """Finds live and dormant episodes; implements `ports.recall.RecallStore`.

    Dormant seeds come beside those of the indexes, with the turns around them. Spreading goes
    over live nodes only.
    """

    def __init__(self, graph: Graph, *, scan: int = 20_000, keep: int = 10_000) -> None:
        """Look at the newest `scan` dormant episodes."""
        super().__init__(graph, keep=keep, keep_passages=keep, dormant=True)
        self._scan = scan

    async def seeds_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the vector index and the dormant episodes; best first."""
        live = await super().seeds_by_vector(tenant, vector, limit, filters)
        asked = self._asked(tenant, limit, filters, vector=vector)
        asleep = map(to_seed, await self._graph.run(_LIST_DORMANT, **asked))
        return sorted([*live, *asleep], key=lambda seed: -seed.score)

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index, then the dormant episodes, where the score counts stems."""
        live = await super().seeds_by_text(tenant, stems, limit, filters)
        if not stems:
            return live
        asked = self._asked(tenant, limit, filters, stems=stems)
        return [*live, *map(to_seed, await self._graph.run(_LIST_DORMANT, **asked))]

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the vector index and the dormant passages; best first."""
        live = await super().passages_by_vector(tenant, vector, limit, filters)
        asked = self._asked(tenant, limit, filters, vector=vector)
        asleep = map(to_passage_seed, await self._graph.run(_LIST_DORMANT_PASSAGES, **asked))
        return sorted([*live, *asleep], key=lambda seed: -seed.score)

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the text index, then the dormant passages, where the score counts stems."""
        live = await super().passages_by_text(tenant, stems, limit, filters)
        if not stems:
            return live
        asked = self._asked(tenant, limit, filters, stems=stems)
        asleep = await self._graph.run(_LIST_DORMANT_PASSAGES, **asked)
        return [*live, *map(to_passage_seed, asleep)]

    def _asked(
        self,
        tenant: TenantId,
        limit: int,
        filters: Filters,
        *,
        vector: Vector | None = None,
        stems: Sequence[str] = (),
    ) -> dict[str, object]:
        """Write a search as parameters: by vector, or by stems without one."""
        return {
            "tenant": tenant,
            "vector": None if vector is None else packed(vector),
            "stems": sorted(set(stems)),
            "scan": self._scan,
            "limit": limit,
            **by_filter(filters),
        }
