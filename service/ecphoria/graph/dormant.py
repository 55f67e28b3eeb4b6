"""Read for recall among what sleeps too: what no index holds is compared one by one."""

from collections.abc import Sequence

from ecphoria.graph.episodes import StoredEpisode, to_episode
from ecphoria.graph.executor import Graph, Statement, packed
from ecphoria.graph.passages import SeedOfPassage, to_passage_seed
from ecphoria.graph.recall import EpisodeReader, SeedColumns, to_seed
from ecphoria.model.episode import Episode
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.model.recall import Filters
from ecphoria.ports.passages import PassageSeed
from ecphoria.ports.recall import SeedRow
from ecphoria.ports.world import Vector

__all__ = ["DormantReader"]

_BY_VECTOR = Statement("recall.list_dormant_by_vector", SeedColumns)
_BY_TEXT = Statement("recall.list_dormant_by_text", SeedColumns)
_PASSAGES_BY_VECTOR = Statement("recall.list_dormant_passages_by_vector", SeedOfPassage)
_PASSAGES_BY_TEXT = Statement("recall.list_dormant_passages_by_text", SeedOfPassage)
_LIST_ALL_EPISODES = Statement("recall.list_all_episodes", StoredEpisode)


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
        """Search the vector index and what sleeps; best first."""
        live = await super().seeds_by_vector(tenant, vector, limit, filters)
        rows = await self._graph.run(
            _BY_VECTOR, vector=packed(vector), **self._bounds(tenant, limit, filters)
        )
        return sorted([*live, *map(to_seed, rows)], key=lambda seed: -seed.score)

    async def seeds_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[SeedRow]:
        """Search the text index, then what sleeps, where the score counts stems."""
        live = await super().seeds_by_text(tenant, stems, limit, filters)
        wanted = sorted(set(stems))
        if not wanted:
            return live
        rows = await self._graph.run(
            _BY_TEXT, stems=wanted, **self._bounds(tenant, limit, filters)
        )
        return [*live, *map(to_seed, rows)]

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the vector index and what sleeps; best first."""
        live = await super().passages_by_vector(tenant, vector, limit, filters)
        rows = await self._graph.run(
            _PASSAGES_BY_VECTOR, vector=packed(vector), **self._bounds(tenant, limit, filters)
        )
        return sorted([*live, *map(to_passage_seed, rows)], key=lambda seed: -seed.score)

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the text index, then what sleeps, where the score counts stems."""
        live = await super().passages_by_text(tenant, stems, limit, filters)
        wanted = sorted(set(stems))
        if not wanted:
            return live
        rows = await self._graph.run(
            _PASSAGES_BY_TEXT, stems=wanted, **self._bounds(tenant, limit, filters)
        )
        return [*live, *map(to_passage_seed, rows)]

    async def episodes(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> Sequence[Episode]:
        """Fetch whole episodes, live or dormant, in the order asked."""
        rows = await self._graph.run(_LIST_ALL_EPISODES, tenant=tenant, ids=list(ids))
        found = {row.id: to_episode(row) for row in rows}
        return [found[one] for one in ids if one in found]

    def _bounds(self, tenant: TenantId, limit: int, filters: Filters) -> dict[str, object]:
        return {
            "tenant": tenant,
            "scan": self._scan,
            "limit": limit,
            "session": filters.session,
            "speaker": filters.speaker,
            "occurred_from": filters.occurred_from,
            "occurred_before": filters.occurred_before,
        }
