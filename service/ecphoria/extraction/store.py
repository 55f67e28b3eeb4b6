"""Store of extraction: episodes to read, and the progress."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

from ecphoria.extraction.reading import Unread, told_by
from ecphoria.neo4j_store.decoding import parsed
from ecphoria.neo4j_store.locks import change_under, find_property, lock_tenant, save_property
from ecphoria.neo4j_store.session import Graph, Statement, Store, Work
from ecphoria.records.ids import ConceptId, EpisodeId, TenantId, concept_id
from ecphoria.records.job import Lease
from ecphoria.text.code_blocks import one_line

_LONGEST_LINE = 600
"""Largest number of characters of an earlier turn in the prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """The progress of a tenant's extraction.

    Attributes:
        after_turn: All live episodes up to this turn are read.
        round: Grows with each request to read everything again.
    """

    after_turn: int = 0
    round: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _BeforeRow:
    id: EpisodeId
    speakers: list[str]
    texts: list[str]


_LIST_UNREAD = Statement("extraction.list_unread", Unread)
_LIST_BEFORE = Statement("extraction.list_before", _BeforeRow)
_LIST_CONCEPT_NAMES = Statement("jobs.list_concept_names", tuple[ConceptId, str])


class ExtractionStore(Store):
    """Reads episodes for the extraction; `IngestService.restate` writes the findings."""

    async def position(self, tenant: TenantId) -> Position:
        """Find the position; NotFound without the tenant."""
        return await _position(self._graph, tenant)

    async def save(self, tenant: TenantId, lease: Lease | None, position: Position) -> None:
        """Store the position, unless the extraction was reset meanwhile.

        Raises:
            NotFound: There is no such tenant.
            LeaseLost: Another worker has the job; nothing was written.
        """

        async def write(work: Work) -> None:
            await lock_tenant(work, tenant)
            if (await _position(work, tenant)).round == position.round:
                await _save(work, tenant, position)

        await change_under(self._graph, lease, "extraction.save", write)

    async def reset(self, tenant: TenantId) -> None:
        """Request another reading of every live episode; earlier findings stay until then.

        Raises:
            NotFound: There is no such tenant.
        """

        async def start_again(work: Work) -> None:
            await lock_tenant(work, tenant)
            before = await _position(work, tenant)
            await _save(work, tenant, Position(round=before.round + 1))

        await self._graph.change("extraction.reset", start_again)

    async def unread(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Unread]:
        """List the next live episodes by turn."""
        return await self._graph.run(
            _LIST_UNREAD, tenant=tenant, after_turn=after_turn, limit=limit
        )

    async def before(
        self, tenant: TenantId, ids: Sequence[EpisodeId]
    ) -> Mapping[EpisodeId, tuple[str, ...]]:
        """Write a line for each of the two turns before each of these episodes."""
        rows = await self._graph.run(_LIST_BEFORE, tenant=tenant, ids=list(ids))
        return {
            row.id: tuple(
                told_by(speaker, one_line(text)[:_LONGEST_LINE])
                for speaker, text in zip(row.speakers, row.texts, strict=True)
            )
            for row in rows
        }

    async def known(self, tenant: TenantId, names: Collection[str]) -> frozenset[str]:
        """List which of these normalised names are concepts."""
        if not names:
            return frozenset()
        ids = sorted(concept_id(tenant, name) for name in names)
        rows = await self._graph.run(_LIST_CONCEPT_NAMES, tenant=tenant, ids=ids)
        return frozenset(name for _, name in rows)


async def _position(graph: Graph | Work, tenant: TenantId) -> Position:
    text = await find_property(graph, tenant, "extraction")
    return parsed(Position, text) if text else Position()


async def _save(work: Work, tenant: TenantId, position: Position) -> None:
    await save_property(work, tenant, "extraction", json.dumps(asdict(position)))
