"""Passages of long episodes: how they are written, found by the indexes, and fetched."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from ecphoria.graph.executor import Done, Graph, Statement, packed, to_map
from ecphoria.graph.histories import HistoryReader
from ecphoria.graph.lucene import any_of
from ecphoria.graph.shelves import PassageReader
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.model.recall import Filters
from ecphoria.ports.passages import PassageColumns, PassageRow, PassageSeed
from ecphoria.ports.world import Vector

__all__ = [
    "CREATE_PASSAGES",
    "REMOVE_PASSAGES",
    "PassageFinder",
    "SeedOfPassage",
    "by_filter",
    "overfetch",
    "passage_groups",
    "to_passage_seed",
]

R = TypeVar("R")

# Ranges that leave nothing out, so that one query text serves every filter.
_FIRST_TEXT, _LAST_TEXT = "", "\U0010ffff"
_FIRST_INSTANT = datetime(1, 1, 1, tzinfo=UTC)
_LAST_INSTANT = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
# How many more than asked are fetched from an index whose scores are rounded or tied.
_OVERFETCH, _OVERFETCH_AT_LEAST = 1.25, 20
# A passage unlike the rest of its text is far from its neighbours in the vector index: with 23
# fetched it was missed among 436 others, with 62 it was found.
_PASSAGES_AT_LEAST: Final = 100
# Filters cut the text index's hits after ranking, so with filters all of them are looked at.
_FILTERED_FETCH: Final = 100_000
# Passages of one statement: 3 kB each on the way to the server.
_WRITTEN_AT_ONCE: Final = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedOfPassage:
    """A seed as the store gives it; no session is the empty string."""

    passage: str
    episode: str
    session: str
    ordinal: int | None
    part: int
    score: float


CREATE_PASSAGES = Statement("ingest.create_passages", Done)
REMOVE_PASSAGES = Statement("ingest.remove_passages", Done)
_BY_VECTOR = Statement("recall.seeds_by_passage_vector", SeedOfPassage)
_BY_VECTOR_WITHIN = Statement("recall.seeds_by_passage_vector_within", SeedOfPassage)
_BY_TEXT = Statement("recall.seeds_by_passage_text", SeedOfPassage)


def passage_groups(
    passages: Mapping[EpisodeId, Sequence[PassageRow]],
) -> Iterator[list[dict[str, Any]]]:
    """Gather passages by episode, in the order of the ids, for one statement after the other."""
    groups: list[dict[str, Any]] = []
    size = 0
    for episode, rows in sorted(passages.items()):
        for first in range(0, len(rows), _WRITTEN_AT_ONCE):
            part = rows[first : first + _WRITTEN_AT_ONCE]
            if size + len(part) > _WRITTEN_AT_ONCE:
                yield groups
                groups, size = [], 0
            groups.append({"episode": episode, "rows": [to_map(row) for row in part]})
            size += len(part)
    if groups:
        yield groups


class PassageFinder(HistoryReader):
    """Reads passages for recall; implements `ports.passages.PassageReads`."""

    def __init__(self, graph: Graph, *, keep: int, dormant: bool = False) -> None:
        """Remember up to `keep` passages (3 kB each) between recalls."""
        super().__init__(graph)
        self._passages = PassageReader(graph, keep, dormant=dormant)

    async def passages_by_vector(
        self, tenant: TenantId, vector: Vector, limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the vector index; score is the cosine; best first, ties by turn, then part."""
        search = (_BY_VECTOR, _BY_VECTOR_WITHIN)
        rows = await self._by_vector(
            search, tenant, vector, limit, filters, at_least=_PASSAGES_AT_LEAST
        )
        return [to_passage_seed(row) for row in rows]

    async def passages_by_text(
        self, tenant: TenantId, stems: Sequence[str], limit: int, filters: Filters
    ) -> Sequence[PassageSeed]:
        """Search the text index for any of the stems; best first, ties by turn, then part."""
        rows = await self._by_text(_BY_TEXT, tenant, stems, limit, filters)
        return [to_passage_seed(row) for row in rows]

    async def passages_of(
        self, tenant: TenantId, episodes: Sequence[EpisodeId], vector: Vector | None
    ) -> PassageColumns:
        """Fetch all passages of episodes; an episode without passages is absent."""
        return await self._passages.read(tenant, episodes, vector)

    async def _by_vector(
        self,
        search: tuple[Statement[R], Statement[R]],
        tenant: TenantId,
        vector: Vector,
        limit: int,
        filters: Filters,
        *,
        at_least: int = 0,
    ) -> list[R]:
        """Search a vector index: by the first statement without filters, else by the second.

        `at_least` so many more than `limit` are fetched from the index.
        """
        plain, filtered = search
        fetch = max(overfetch(limit), limit + at_least)
        asked = {"tenant": tenant, "vector": packed(vector), "fetch": fetch, "limit": limit}
        if filters == Filters():
            return await self._graph.run(plain, **asked)
        return await self._graph.run(filtered, **asked, **_within(filters))

    async def _by_text(
        self,
        search: Statement[R],
        tenant: TenantId,
        stems: Sequence[str],
        limit: int,
        filters: Filters,
    ) -> list[R]:
        """Search a text index for any of the stems."""
        if not stems:
            return []
        return await self._graph.run(
            search,
            tenant=tenant,
            query=any_of(tenant, sorted(set(stems))),
            fetch=overfetch(limit) if filters == Filters() else _FILTERED_FETCH,
            limit=limit,
            **by_filter(filters),
        )


def overfetch(limit: int) -> int:
    """Tell how many to fetch from an index so that the best `limit` are among them."""
    return max(int(limit * _OVERFETCH), limit + _OVERFETCH_AT_LEAST)


def _within(filters: Filters) -> dict[str, str | datetime]:
    """Write filters as the ranges that a vector index takes."""
    return {
        "session_from": filters.session or _FIRST_TEXT,
        "session_to": filters.session or _LAST_TEXT,
        "speaker_from": filters.speaker or _FIRST_TEXT,
        "speaker_to": filters.speaker or _LAST_TEXT,
        "occurred_from": filters.occurred_from or _FIRST_INSTANT,
        "occurred_before": filters.occurred_before or _LAST_INSTANT,
    }


def by_filter(filters: Filters) -> dict[str, str | datetime | None]:
    """Write filters as parameters that are null where nothing is asked."""
    return {
        "session": filters.session,
        "speaker": filters.speaker,
        "occurred_from": filters.occurred_from,
        "occurred_before": filters.occurred_before,
    }


def to_passage_seed(row: SeedOfPassage) -> PassageSeed:
    """Build the seed a row describes."""
    return PassageSeed(
        passage=row.passage,
        episode=EpisodeId(row.episode),
        session=row.session or None,
        ordinal=row.ordinal,
        part=row.part,
        score=row.score,
    )
