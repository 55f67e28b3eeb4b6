"""The ingest service: validate, embed, place and write in one transaction."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import partial

from ecphoria.errors import (
    ArchiveUnavailable,
    Conflict,
    EcphoriaError,
    Erased,
    InvalidInput,
    NotFound,
    OutcomeUnknown,
)
from ecphoria.facts.timelines import settle
from ecphoria.ingest.changes import Changes, Reading
from ecphoria.ingest.facts import Restated, add_facts, disturbed
from ecphoria.ingest.names import ConceptBook
from ecphoria.ingest.order import place, take_out
from ecphoria.ingest.prepare import Prepared, facts_by_id, pieces, prepare
from ecphoria.ingest.store import BeforeItsTurn, IngestStore, IngestTransaction, LifeOver
from ecphoria.ingest.validation import (
    check_extraction,
    check_metadata,
    checked_claims,
    checked_expiry,
)
from ecphoria.models.embedders import embed_all
from ecphoria.ports import ArchiveReader, Clock, Embedder, TextsNotEmbedded, Vector
from ecphoria.records.episode import (
    Episode,
    EpisodeUpdate,
    ErasureCounts,
    Extracted,
    Load,
    NewEpisode,
    Outcome,
    Receipt,
    State,
)
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.records.job import Lease
from ecphoria.records.recall import Filters
from ecphoria.runtime import run_off_loop, run_text, while_wanted
from ecphoria.text.concepts import Triple, read_stated

_LONGEST_WAIT_S = 600.0
"""Seconds that a batch of a first load waits for the one before it."""

Result = Receipt | EcphoriaError


class _WordsArchived(Exception):
    """The words of the episode to delete are in the archive: restore the episode first."""


@dataclass(slots=True, kw_only=True)
class IngestService:
    """Writes memories: each once, in order, a batch completely or not at all.

    Each call raises NotFound without the tenant; Unavailable if the store or the encoder does not
    answer, then nothing was written; and OutcomeUnknown if it may be written: send it again.

    Attributes:
        archive: Restores archived episodes; None without an archive.
        erased: Called with the tenant after each erasure, so that caches drop its data.
        resting: Releases the request's slot while a batch waits for an earlier one.
        refuse_keys: How long the idempotency key of an erased episode is refused.
        look_s: Seconds between two looks for the batch before one of a first load. Only a batch
            that another service stores is found by a look.
    """

    store: IngestStore
    embedder: Embedder
    clock: Clock
    archive: ArchiveReader | None = None
    erased: Callable[[TenantId], None] = lambda _: None
    resting: Callable[[], AbstractAsyncContextManager[None]] = nullcontext
    refuse_keys: timedelta = timedelta(days=30)
    look_s: float = 0.5
    _book: ConceptBook = field(init=False, default_factory=ConceptBook)
    _next_batch: dict[TenantId, asyncio.Event] = field(init=False, default_factory=dict)

    async def append(self, tenant: TenantId, new: NewEpisode) -> Receipt:
        """Store one episode; the next recall can find it.

        Raises:
            InvalidInput: It cannot be stored as it is; the message says what to change.
            Conflict: Its idempotency key was used for another body.
            Erased: The episode with its idempotency key was erased recently.
        """
        (result,) = await self.append_batch(tenant, [new])
        if isinstance(result, EcphoriaError):
            raise result
        return result

    async def append_batch(
        self, tenant: TenantId, items: Sequence[NewEpisode], load: Load | None = None
    ) -> list[Result]:
        """Store the valid items of a batch together; a result for each item, in order.

        A batch of a first load waits, encoded, until the items before it are stored.

        Raises:
            Conflict: A first load met other memories, or the items before this batch do not come.
        """
        checked = await self._check_all(tenant, items)
        ready: dict[EpisodeId, Prepared] = {}
        for item in checked:
            if isinstance(item, Prepared):
                ready.setdefault(item.id, item)
        # Look up stored episodes first: they need no encoding. Given vectors need no look-up.
        to_encode = sorted(
            prepared.id
            for prepared in ready.values()
            if prepared.vector is None or prepared.passages
        )
        stored = dict(await self.store.body_hashes(tenant, to_encode)) if to_encode else {}
        fresh = [prepared for prepared in ready.values() if prepared.id not in stored]
        erased: frozenset[EpisodeId] = frozenset()
        faults: Mapping[EpisodeId, EcphoriaError] = {}
        facts: Mapping[FactId, Vector] = {}
        if fresh:
            async with while_wanted(None, ""):
                fresh, faults = await self._encoded(fresh)
                facts = await self._encoded_facts(
                    {ident: triple for one in fresh for ident, triple in one.facts.items()}
                )
        if fresh or load is not None:
            known, erased = await self._write(tenant, fresh, facts, load)
            stored |= known
        return list(_results(checked, stored, erased, faults))

    async def update(self, tenant: TenantId, episode: EpisodeId, update: EpisodeUpdate) -> Episode:
        """Change metadata and the end of a life; text, id and the hash of the append stay.

        Two updates at the same time both take effect; if they set the same entry, the later one
        wins.

        Raises:
            InvalidInput: The metadata or the end cannot be stored.
            TooLarge: With these entries the metadata are over their bound.
            Conflict: The metadata are in the archive.
            NotFound: No such episode in this tenant.
        """
        end = checked_expiry(update.expires_at, self.clock.now())

        async def work(transaction: IngestTransaction) -> Episode:
            found = await transaction.episode(episode, expired=False)
            if found is None:
                raise NotFound(f"there is no episode {episode} in this tenant", id=episode)
            changed = replace(found, expires_at=end if update.sets_expiry else found.expires_at)
            if update.metadata:
                if found.state is State.ARCHIVED:
                    raise Conflict(
                        "the metadata of this episode are in the archive; restore it first",
                        id=episode,
                    )
                merged = {**found.metadata, **update.metadata}
                kept = {name: value for name, value in merged.items() if value is not None}
                check_metadata(kept)
                changed = replace(changed, metadata=kept)
            if changed != found:
                metadata = changed.metadata if update.metadata else None
                await transaction.save_details(episode, metadata, changed.expires_at)
            return changed

        return await self.store.change(tenant, work)

    async def delete(self, tenant: TenantId, episode: EpisodeId) -> None:
        """Remove an episode and everything that only it supports; its session closes the gap.

        Raises:
            NotFound: No such episode in this tenant.
        """
        lost = False

        async def work(transaction: IngestTransaction) -> None:
            gone = await transaction.episode(episode)
            if gone is None:
                raise NotFound(f"there is no episode {episode} in this tenant", id=episode)
            if gone.state is State.ARCHIVED:
                # The counts of its words must fall, so the words are needed; if lost, they stay
                # counted.
                if not lost or self.archive is None:
                    raise _WordsArchived
                await self.archive.forget(tenant, [episode])
                gone = replace(gone, text="")
            changes = Changes()
            await take_out(transaction, gone, changes)
            await self._book.remove(transaction, gone, changes)
            timed = transaction.counters.timed
            keys = await transaction.facts.timed_of(episode) if timed else ()
            await transaction.write(changes)
            await settle(transaction.facts, keys)
            await transaction.forget_erased(self.refuse_keys)

        async with self._book.writing(tenant):
            while True:
                try:
                    await self.store.change(tenant, work)
                    break
                except _WordsArchived:
                    lost = await self._restored(tenant, episode)
        self.erased(tenant)

    async def erase(
        self, tenant: TenantId, filters: Filters, *, limit: int, ids: Sequence[EpisodeId] = ()
    ) -> tuple[int, int]:
        """Remove the episodes that pass filters, the oldest turns first.

        Each episode is removed as by `delete`, in its own transaction (decision 0035). If this
        fails halfway, removed episodes stay removed, and a repeat removes the rest. Return how
        many pass, and how many of them were removed.

        Raises:
            InvalidInput: The filters name nothing besides `exclude`, so everything would be
                removed.
            Conflict: They ask for metadata, which archived episodes have in the archive.
        """
        _check_bounded(filters, ids)
        matched, found = await self.store.matching(tenant, filters, limit, ids)
        removed = 0
        for episode in found:
            with suppress(NotFound):  # somebody else erased it meanwhile
                await self.delete(tenant, episode)
                removed += 1
        return matched, removed

    async def preview_erasure(
        self, tenant: TenantId, filters: Filters, *, ids: Sequence[EpisodeId] = ()
    ) -> tuple[int, ErasureCounts]:
        """Count the episodes that `erase` would remove, and what would go with them.

        Raises:
            InvalidInput, Conflict, NotFound: As by `erase`.
        """
        _check_bounded(filters, ids)
        return await self.store.erasure(tenant, filters, ids)

    async def expire(
        self, tenant: TenantId, limit: int, *, dry_run: bool = False
    ) -> tuple[int, int]:
        """Erase some of the expired episodes, each as by `delete`; a dry run only counts them.

        Returns:
            The number of erased episodes (in a dry run: of episodes to erase), and the number that
            could not be erased because the archive with their words cannot be read now. These stay
            hidden.
        """
        erased = kept = 0
        ended = await self.store.expired(tenant, limit)
        if dry_run:
            return len(ended), 0
        for episode in ended:
            try:
                await self.delete(tenant, episode)
                erased += 1
            except ArchiveUnavailable:
                kept += 1
            except NotFound:  # somebody else erased it meanwhile
                continue
        await self.store.renew_expiry(tenant)
        return erased, kept

    async def expire_all(self, limit: int = 1_000) -> int:
        """Erase expired episodes, at most `limit` of each tenant; return their number."""
        erased = 0
        for tenant in await self.store.expiring_tenants():
            with suppress(NotFound):  # the tenant was erased meanwhile
                erased += (await self.expire(tenant, limit))[0]
        return erased

    async def restate(
        self,
        tenant: TenantId,
        readings: Sequence[Reading],
        *,
        by: str | None,
        lease: Lease | None = None,
    ) -> int:
        """Store a model's reading of episodes, one for each; it replaces an earlier reading.

        Names and facts that were sent with an episode stay, unless `by` is None for a caller.
        Deleted and dormant episodes are skipped; the number of others is returned.

        Raises:
            LeaseLost: Another worker has the job; nothing was written.
        """
        by_episode = {reading.episode: reading for reading in readings}
        triples = {
            ident: triple
            for reading in readings
            for ident, triple in facts_by_id(tenant, read_stated(reading.found, "").claims).items()
        }
        vectors = await self._encoded_facts(triples)

        async def work(transaction: IngestTransaction) -> int:
            # Sorted, so that all writers lock episodes in the same order.
            stored = await transaction.read_episodes(sorted(by_episode))
            if by is None:
                stored = [one.replaceable() for one in stored]
            restated = [
                Restated(tenant=tenant, stored=one, reading=by_episode[one.id], by=by)
                for one in stored
            ]
            for one in restated:
                checked_claims(one.reading.found, one.stored.occurred_at)
            size = sum(len(one.stored.text) for one in restated)
            await run_off_loop(lambda: [one.extraction for one in restated], size)
            known = [one for one in restated if one.stored.read_facts]
            touched = await disturbed(transaction, restated)
            for one in known if transaction.counters.timed else ():
                touched.update(await transaction.facts.timed_of(one.stored.id))
            if known:
                gone = [one.stored.id for one in known]
                await transaction.remove_stated_facts(gone, every=by is None)
            if restated:
                changes = Changes()
                await add_facts(transaction, restated, vectors, changes)
                await self._book.restate(transaction, restated, changes)
                await transaction.write(changes)
                await settle(transaction.facts, touched)
            await transaction.save_read([one.reading for one in restated])
            return len(restated)

        async with self._book.writing(tenant):
            return await self.store.change(tenant, work, lease)

    async def attach(self, tenant: TenantId, episode: EpisodeId, given: Extracted) -> None:
        """Replace everything that a stored episode states by a caller's names and facts.

        The graph is then the same as if the episode had been sent with them. Its body hash stays.

        Raises:
            InvalidInput: A name or fact cannot be stored; TooLarge if there are too many.
            NotFound: There is no such episode, or it is dormant.
        """
        check_extraction(given)
        reading = Reading(episode=episode, found=given, extracted_by=None)
        if not await self.restate(tenant, [reading], by=None):
            raise NotFound(
                f"there is no live episode {episode} in this tenant; wake it if it is dormant",
                id=episode,
            )

    async def wake(self, tenant: TenantId, ids: Sequence[EpisodeId]) -> tuple[EpisodeId, ...]:
        """Make the dormant ones of these episodes live again; return their ids.

        They return as they were before, with mentions of names that became concepts meanwhile.
        """

        async def work(transaction: IngestTransaction) -> tuple[EpisodeId, ...]:
            bodies = await transaction.sleepers(sorted(set(ids)))
            woken = tuple(body.id for body in bodies)
            if woken:
                changes = Changes(woken=list(woken))
                await self._book.look_again(transaction, bodies, changes)
                await transaction.write(changes)
            return woken

        async with self._book.writing(tenant):
            return await self.store.change(tenant, work)

    async def _check_all(
        self, tenant: TenantId, items: Sequence[NewEpisode]
    ) -> list[Prepared | EcphoriaError]:
        """Prepare items in a thread, piece by piece, so that other requests run in between."""
        recorded_at = self.clock.now()
        results: list[Prepared | EcphoriaError] = []
        for piece in pieces(items):
            work = partial(self._check_some, tenant, piece, recorded_at)
            results += await run_text(work, sum(len(new.text) for new in piece))
        return results

    def _check_some(
        self, tenant: TenantId, items: Sequence[NewEpisode], recorded_at: datetime
    ) -> list[Prepared | EcphoriaError]:
        results: list[Prepared | EcphoriaError] = []
        for new in items:
            try:
                results.append(prepare(tenant, new, recorded_at, self.embedder.dimension))
            except EcphoriaError as error:
                results.append(error)
        return results

    async def _encoded(
        self, fresh: Sequence[Prepared]
    ) -> tuple[list[Prepared], Mapping[EpisodeId, EcphoriaError]]:
        """Encode all passages, and the episodes without a given vector, in one call.

        Returns:
            The episodes with their vectors, and those with a text that cannot be encoded, with
            the reason.
        """
        texts: list[str] = []
        owners: list[EpisodeId] = []
        for one in fresh:
            own = [one.opening] if one.vector is None else []
            texts += (*own, *one.passage_texts)
            owners += [one.id] * (len(texts) - len(owners))
        if not texts:
            return list(fresh), {}
        faults: dict[EpisodeId, EcphoriaError] = {}
        try:
            made = await self.embedder.embed(texts)
        except TextsNotEmbedded as some:
            made = some.vectors
            faults = {owners[place]: fault for place, fault in some.faults.items()}
        vectors = iter(made)
        encoded = [one.with_vectors(vectors) for one in fresh]
        return [one for one in encoded if one.id not in faults], faults

    async def _encoded_facts(self, stated: Mapping[FactId, Triple]) -> dict[FactId, Vector]:
        if not stated:
            return {}
        texts = [triple.statement for triple in stated.values()]
        made = await embed_all(self.embedder, texts)
        return dict(zip(stated, made, strict=True))

    async def _write(
        self,
        tenant: TenantId,
        fresh: Sequence[Prepared],
        facts: Mapping[FactId, Vector],
        load: Load | None,
    ) -> tuple[Mapping[EpisodeId, str], frozenset[EpisodeId]]:
        """Write the episodes that are not stored yet.

        Returns:
            The episodes that another writer stored meanwhile, and erased ones that stay erased.
        """
        mine = {one.id: one.body_hash for one in fresh}
        work = partial(self._add, fresh, facts, load)
        unsure = False
        end = asyncio.get_running_loop().time() + _LONGEST_WAIT_S
        while True:
            try:
                async with self._book.writing(tenant):
                    known, erased = await self.store.change(tenant, work)
                self._call_next(tenant)
                break
            except LifeOver as over:
                for episode in over.ids:
                    with suppress(NotFound):  # somebody else erased it meanwhile
                        await self.delete(tenant, episode)
            except BeforeItsTurn:
                await self._wait(tenant, end)
            except OutcomeUnknown:
                if unsure:
                    raise
                # The ids are fixed, so a second attempt finds what the first may have written.
                unsure = True
        if unsure:  # an episode with our body is the one that we wrote
            known = {episode: body for episode, body in known.items() if body != mine[episode]}
        return known, erased

    async def _add(
        self,
        fresh: Sequence[Prepared],
        facts: Mapping[FactId, Vector],
        load: Load | None,
        transaction: IngestTransaction,
    ) -> tuple[Mapping[EpisodeId, str], frozenset[EpisodeId]]:
        """Add the episodes that are neither stored nor erased; return these two groups."""
        if load is not None:
            await transaction.advance(load)
        known = await transaction.body_hashes([one.id for one in fresh])
        # Without a key, a late retry looks the same as a wish to store the text again.
        keyed = [
            one.id for one in fresh if one.new.idempotency_key is not None and one.id not in known
        ]
        erased = await transaction.erased(keyed, self.refuse_keys) if keyed else frozenset()
        new = [one for one in fresh if one.id not in known and one.id not in erased]
        if new:
            changes = Changes()
            new = await place(transaction, new, changes)
            await run_off_loop(partial(changes.add, new), sum(len(one.new.text) for one in new))
            await add_facts(transaction, new, facts, changes)
            await self._book.add(transaction, new, changes)
            await transaction.write(changes)
            # Timelines are computed at the append, so recall is never behind (decision 0020).
            await settle(transaction.facts, await disturbed(transaction, new))
        return known, erased

    async def _wait(self, tenant: TenantId, end: float) -> None:
        """Wait for the batch before this one, which is being encoded or written."""
        loop = asyncio.get_running_loop()
        if loop.time() > end:
            raise Conflict(
                "the items before this batch did not come; send them first", field="load"
            )
        written = self._next_batch.setdefault(tenant, asyncio.Event())
        # Without its slot, so that the batch before it is admitted.
        async with self.resting(), while_wanted(None, ""):
            with suppress(TimeoutError):
                async with asyncio.timeout(self.look_s):
                    await written.wait()

    def _call_next(self, tenant: TenantId) -> None:
        """Wake the batches that wait for this one."""
        if written := self._next_batch.pop(tenant, None):
            written.set()

    async def _restored(self, tenant: TenantId, episode: EpisodeId) -> bool:
        """Put an archived episode back into the graph; return whether its record is damaged."""
        if self.archive is None:
            raise ArchiveUnavailable
        return episode in (await self.archive.restore(tenant, [episode])).damaged


def _results(
    checked: Sequence[Prepared | EcphoriaError],
    stored: Mapping[EpisodeId, str],
    erased: frozenset[EpisodeId],
    faults: Mapping[EpisodeId, EcphoriaError],
) -> Iterator[Result]:
    """Acknowledge each item; among repeats in a batch, the first counts as created."""
    bodies = dict(stored)
    seen = set(stored)
    for item in checked:
        if isinstance(item, EcphoriaError):
            yield item
        elif item.id in faults:
            yield faults[item.id]
        elif item.id in erased:
            yield Erased(field="idempotency_key")
        elif bodies.setdefault(item.id, item.body_hash) != item.body_hash:
            yield _conflict(item)
        else:
            outcome = Outcome.EXISTED if item.id in seen else Outcome.CREATED
            seen.add(item.id)
            yield Receipt(id=item.id, outcome=outcome)


def _conflict(item: Prepared) -> Conflict:
    if item.new.idempotency_key is not None:
        return Conflict(
            "this idempotency key was used for another body; send the same body or a new key",
            field="idempotency_key",
        )
    return Conflict(
        "this text is stored with another extraction; delete the stored episode first, or give "
        "it the new extraction",
        field="extraction",
    )


def _check_bounded(filters: Filters, ids: Sequence[EpisodeId]) -> None:
    if not (ids or filters.bounded):
        raise InvalidInput(
            "give ids, or at least one filter besides `exclude`; to erase everything, delete the "
            "tenant",
            field="filters",
        )
