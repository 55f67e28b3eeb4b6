"""Give passages to long episodes that were stored before there were passages."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence

import structlog

from ecphoria.graph.cutting import CuttingStore, Uncut
from ecphoria.ingest.prepare import Part, parts_of
from ecphoria.model.consolidation import ConsolidationReport, StepReport, StepStatus
from ecphoria.model.ids import EpisodeId, TenantId, fresh_id
from ecphoria.model.job import Claimed, Progress
from ecphoria.ports.passages import PassageRow
from ecphoria.ports.world import Embedder

__all__ = ["OlderEpisodes"]

_NAME = "passages"
_PAGE = 100
"""Episodes looked at before the job says how far it is."""
_ENCODED_AT_ONCE = 256
"""Passages of one call and one transaction, unless a single episode has more."""

log = structlog.get_logger(__name__)


class OlderEpisodes:
    """Cuts and encodes what a tenant stored before there were passages, as a job.

    It goes by turn and keeps after each transaction how far it has come, so an attempt goes on
    where the last one ended. Episodes that have passages are left alone: appends may go on.
    """

    def __init__(
        self, store: CuttingStore, embedder: Embedder, monotonic: Callable[[], float]
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._monotonic = monotonic

    async def run(
        self, claimed: Claimed, watch: Callable[[Progress], Awaitable[None]]
    ) -> ConsolidationReport:
        """Cut all that is left; the report counts what this attempt did.

        Args:
            claimed: The job, and the lease every write is checked against.
            watch: Told each place that is reached; ends the job by raising.

        Raises:
            LeaseLost: Another worker has the job; nothing more was written.
            NotFound: The tenant is gone.
            Unavailable: The store or the encoder does not answer; what was done stays.
        """
        job, begun = claimed.job, self._monotonic()
        assert job.started_at is not None, "a claimed job was begun"
        start = await self._store.begin(job.tenant, claimed.lease)
        counts = {"episodes": 0, "passages": 0}
        after = start.after
        while True:
            total = max(start.turn, after)
            place = f"{_NAME}: after turn {after}"
            await watch(Progress(place=place, done=after, total=total, may_rest=True))
            page = await self._store.page(job.tenant, after, _PAGE)
            if page.last_turn is None:
                break
            cut = await asyncio.to_thread(_cut, job.tenant, page.found)
            for batch in _batches(cut):
                rows = await self._encoded(batch)
                await self._store.save(job.tenant, claimed.lease, rows, after)
                counts["episodes"] += len(rows)
                counts["passages"] += sum(map(len, rows.values()))
                await watch(Progress(place=place, done=after, total=total))
            after = page.last_turn
            await self._store.save(job.tenant, claimed.lease, {}, after)
        await self._store.save(job.tenant, claimed.lease, {}, None)
        log.info("older_episodes_cut", **counts)
        seconds = self._monotonic() - begun
        step = StepReport(name=_NAME, status=StepStatus.DONE, seconds=seconds, counts=counts)
        return ConsolidationReport(
            cycle=fresh_id(), started_at=job.started_at, seconds=seconds, steps=(step,)
        )

    async def _encoded(
        self, batch: Mapping[EpisodeId, Sequence[Part]]
    ) -> dict[EpisodeId, list[PassageRow]]:
        texts = [part.text for parts in batch.values() for part in parts]
        vectors = iter(await self._embedder.embed(texts))
        return {
            episode: [part.row(next(vectors)) for part in parts]
            for episode, parts in batch.items()
        }


def _cut(tenant: TenantId, found: Sequence[Uncut]) -> dict[EpisodeId, Sequence[Part]]:
    cut = {one.id: parts_of(tenant, one.id, one.title, one.text) for one in found}
    return {episode: parts for episode, parts in cut.items() if parts}


def _batches(
    cut: Mapping[EpisodeId, Sequence[Part]],
) -> list[dict[EpisodeId, Sequence[Part]]]:
    """Gather episodes until they have enough passages for one call."""
    batches: list[dict[EpisodeId, Sequence[Part]]] = []
    size = _ENCODED_AT_ONCE
    for episode, parts in cut.items():
        if size + len(parts) > _ENCODED_AT_ONCE:
            batches.append({})
            size = 0
        batches[-1][episode] = parts
        size += len(parts)
    return batches
