"""Link episodes to the concepts they name.

Whether a name is a concept depends on the whole tenant (seen twice, nowhere in lower case). So a
new episode can create a concept that older episodes mention, and can end one. `ConceptBook` keeps
each tenant's table of names between writes. It uses the table only if the tenant's counters show
that no other process changed names meanwhile. Changes that keep all names, such as a restore from
the archive, are counted apart, because to read the names of a large tenant takes half a second.

The table of names holds only names that rules find, so stated names do not change what rules find.
This module combines both.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from weakref import WeakValueDictionary

from ecphoria.ingest.changes import Changes, MentionRow, NameState, StatedBy, StoredBody
from ecphoria.ingest.facts import Restated
from ecphoria.ingest.prepare import Prepared
from ecphoria.ingest.store import IngestTransaction
from ecphoria.records.episode import Episode, indexed_text
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.runtime import Bounded, run_off_loop
from ecphoria.text.concepts import Candidate, Extraction, NameRow, NameTable, SynonymTable, extract
from ecphoria.text.names import NameKind
from ecphoria.text.terms import terms as terms_of


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedConcepts:
    """Names that become concepts by a write, and names that stop being concepts; both sorted."""

    made: tuple[str, ...]
    unmade: tuple[str, ...]


async def changed_concepts(
    transaction: IngestTransaction,
    *,
    appeared: Collection[str],
    vanished: Collection[str],
    ruled: Collection[str],
    stated: Mapping[str, int],
) -> ChangedConcepts:
    """Find names that become or stop being concepts, by rule or by statement.

    In this write, names appear and vanish as concepts by rule; `ruled` are concepts by rule after
    it, and `stated` is how the number of items that state a name changes.
    """
    if not stated and not transaction.counters.stated:
        return ChangedConcepts(made=tuple(sorted(appeared)), unmade=tuple(sorted(vanished)))
    names = sorted({*appeared, *vanished, *stated})
    counts = await transaction.stated_counts(names)
    made: list[str] = []
    unmade: list[str] = []
    for name in names:
        before = counts.get(name, 0)
        was = before > 0 or name in vanished or (name in ruled and name not in appeared)
        remains = before + stated.get(name, 0) > 0 or name in ruled
        if remains and not was:
            made.append(name)
        elif was and not remains:
            unmade.append(name)
    return ChangedConcepts(made=tuple(made), unmade=tuple(unmade))


# The counts of names are in the graph: another process or a restart would not have them (decision
# 0006).
_TENANTS_KEPT = 64
_MENTION_WEIGHT = 0.8
"""SYNAPSE's weight of an explicit mention at full confidence."""

_NOTHING = StatedBy(names=frozenset(), facts=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """The cached names of a tenant, as of the number of changes of names."""

    named: int
    table: NameTable
    alike: SynonymTable


class ConceptBook:
    """Tables of names of recently written tenants."""

    def __init__(self) -> None:
        self._kept = Bounded[TenantId, _Names](_TENANTS_KEPT)
        self._pending: dict[TenantId, _Names] = {}
        self._locks: WeakValueDictionary[TenantId, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def writing(self, tenant: TenantId) -> AsyncIterator[None]:
        """Admit one writer of a tenant at a time; keep its table only if it committed."""
        # Queue the writers of a tenant here, before they take a connection (decision 0001).
        lock = self._locks.setdefault(tenant, asyncio.Lock())
        async with lock:
            self._pending.pop(tenant, None)
            yield
            written = self._pending.pop(tenant, None)
            if written is not None:
                self._kept[tenant] = written

    async def add(
        self, transaction: IngestTransaction, new: Sequence[Prepared], changes: Changes
    ) -> None:
        """Add new episodes, and check older episodes that may mention a new name."""
        names = await self._names(transaction)
        table = names.table
        items = [one.extraction for one in new]
        size = sum(len(one.new.text) for one in new)
        delta = await run_off_loop(lambda: table.add(items), size)
        changed = await changed_concepts(
            transaction,
            appeared=delta.appeared,
            vanished=delta.vanished,
            ruled=table.concepts,
            stated=Counter(named.name for item in items for named in item.stated),
        )
        # In the same transaction: a background job would leave another graph until it ran, and
        # another order of arrival would give another graph (decision 0006).
        touched = {*delta.sought, *delta.silenced, *delta.vanished} - set(changed.unmade)
        older = await transaction.bodies_with(sorted(touched))
        await _read_again(transaction, older, table, changed.unmade, changes)
        mentions = await run_off_loop(lambda: [_all_mentions(one, table) for one in new], size)
        changes.mentions_added += chain.from_iterable(mentions)
        changes.names += _names(items, 1)
        changes.abouts_added += (
            MentionRow(episode=one.id, concept=one.extraction.title.name, weight=1.0)
            for one in new
            if one.extraction.title
        )
        _change(names.alike, changed, changes)
        self._keep(transaction, names)

    async def remove(
        self, transaction: IngestTransaction, gone: Episode, changes: Changes
    ) -> None:
        """Remove an episode, and delete names and words that no other episode has."""
        came_with = (await _came_with(transaction, [gone.id])).get(gone.id, _NOTHING)
        out = await _extraction_of(gone, came_with)
        counts = await transaction.word_counts(sorted(out.lower))
        last = {word for word, count in counts.items() if count <= 1}
        names = await self._names(transaction)
        table = names.table
        delta = table.remove(out, last)
        changed = await changed_concepts(
            transaction,
            appeared=delta.appeared,
            vanished=delta.vanished,
            ruled=table.concepts,
            stated=dict.fromkeys(came_with.names, -1),
        )
        found = await transaction.bodies_with(delta.sought)
        older = [body for body in found if body.id != gone.id]
        await _read_again(transaction, older, table, changed.unmade, changes)
        text = indexed_text(gone.title, gone.text)
        terms = await run_off_loop(partial(terms_of, text), len(text))
        changes.remove(gone, terms, out)
        changes.names += _names([out], -1)
        changes.stated -= len(came_with.names) + came_with.facts
        _change(names.alike, changed, changes)
        self._keep(transaction, names)

    async def restate(
        self, transaction: IngestTransaction, restated: Sequence[Restated], changes: Changes
    ) -> None:
        """Replace the names that were stated for stored episodes."""
        names = await self._names(transaction)
        table = names.table
        counts = Counter(name for one in restated for name in one.appeared)
        counts.subtract(name for one in restated for name in one.vanished)
        stated = {name: count for name, count in counts.items() if count}
        changed = await changed_concepts(
            transaction, appeared=(), vanished=(), ruled=table.concepts, stated=stated
        )
        size = sum(len(one.stored.text) for one in restated)
        edges = await run_off_loop(lambda: [_restated_edges(one, table) for one in restated], size)
        unmade = frozenset(changed.unmade)
        for one, (added, removed) in zip(restated, edges, strict=True):
            changes.mentions_added += added
            changes.mentions_removed += (
                (one.stored.id, name) for name in sorted(removed - unmade)
            )
            changes.stated += len(one.names) - len(one.stored.read) - one.stored.read_facts
        changes.names += _stated_names(restated, stated)
        _change(names.alike, changed, changes)
        self._keep(transaction, names)

    async def look_again(
        self, transaction: IngestTransaction, bodies: Sequence[StoredBody], changes: Changes
    ) -> None:
        """Update the mentions of items that were dormant while concepts were made or ended."""
        names = await self._names(transaction)
        await _read_again(transaction, bodies, names.table, (), changes)
        self._keep(transaction, names)

    async def _names(self, transaction: IngestTransaction) -> _Names:
        """Remove the kept table, which this write will change; return it if it is current."""
        named = transaction.counters.named
        kept = self._kept.pop(transaction.tenant, None)
        if kept is not None and kept.named == named:
            return kept
        states, lower = await transaction.names()
        return _Names(
            named=named,
            table=NameTable(map(_row, states), lower),
            alike=SynonymTable(state.normalised for state in states if state.live),
        )

    def _keep(self, transaction: IngestTransaction, names: _Names) -> None:
        """Keep the table as it will be when this transaction has counted its change."""
        self._pending[transaction.tenant] = replace(names, named=transaction.counters.named + 1)


def _change(alike: SynonymTable, changed: ChangedConcepts, changes: Changes) -> None:
    """Make and end concepts; pair new concepts with concepts that have nearly the same words."""
    changes.concepts_made += changed.made
    changes.concepts_unmade += changed.unmade
    alike.remove(changed.unmade)
    alike.add(changed.made)
    changes.synonyms_added += alike.pairs(changed.made)


async def _extraction_of(gone: Episode, came_with: StatedBy) -> Extraction:
    """Read an episode's names again, and add the names that were sent with it."""
    found = await run_off_loop(partial(extract, gone.title, gone.text), len(gone.text))
    stated = (
        Candidate(name=name, surface=name, kind=NameKind.TOPIC) for name in sorted(came_with.names)
    )
    return replace(found, stated=tuple(stated))


def _row(state: NameState) -> NameRow:
    return NameRow(name=state.normalised, titles=state.titles, candidates=state.candidates)


def _names(items: Iterable[Extraction], sign: int) -> tuple[NameState, ...]:
    first: dict[str, Candidate] = {}
    kinds: dict[str, NameKind] = {}
    titles: Counter[str] = Counter()
    candidates: Counter[str] = Counter()
    stated: Counter[str] = Counter()
    for item in items:
        for named in item.candidates:
            first.setdefault(named.name, named)
            candidates[named.name] += sign
        if item.title:
            first.setdefault(item.title.name, item.title)
            titles[item.title.name] += sign
        for named in item.stated:
            first.setdefault(named.name, named)
            stated[named.name] += sign
            if named.kind is not NameKind.TOPIC:
                kinds.setdefault(named.name, named.kind)
    return tuple(
        NameState(
            normalised=name,
            surface=first[name].surface,
            kind=kinds.get(name, first[name].kind),
            titles=titles[name],
            candidates=candidates[name],
            live=False,
            stated=stated[name],
        )
        for name in sorted(first)
    )


def _all_mentions(prepared: Prepared, table: NameTable) -> list[MentionRow]:
    """List the names that the rules find in an item, and names sent with it."""
    stated = {named.name: named for named in prepared.extraction.stated}
    found = {*stated, *table.mentions(prepared.extraction)}
    return [_mention(prepared.id, name, stated) for name in sorted(found)]


def _mention(
    episode: EpisodeId, name: str, stated: Mapping[str, Candidate], by: str | None = None
) -> MentionRow:
    """Build the mention of a name, with what is stated of it."""
    row = MentionRow(episode=episode, concept=name, weight=_MENTION_WEIGHT)
    if name not in stated:
        return row
    named = stated[name]
    return replace(
        row,
        stated=True,
        by=by,
        cognitive=named.cognitive,
        description=named.description,
        importance=named.importance,
    )


def _restated_edges(one: Restated, table: NameTable) -> tuple[list[MentionRow], set[str]]:
    """List the mentions to write and to remove; a stated mention is always written again."""
    before, sent = set(one.stored.mentions), set(one.stored.sent)
    ruled = set(table.mentions(one.extraction))
    renewed = (one.names | set(one.stored.read)) - sent
    added = ((ruled | one.names) - before) | (renewed & (ruled | one.names))
    rows = [_mention(one.stored.id, name, one.details, one.by) for name in sorted(added)]
    return rows, before & renewed


def _stated_names(
    restated: Sequence[Restated], stated: Mapping[str, int]
) -> tuple[NameState, ...]:
    """Count, for each name, the change of the number of episodes that state it."""
    found = {named.name: named for one in restated for named in one.extraction.stated}
    states = []
    for name in sorted(stated):
        named = found.get(name)
        states.append(
            NameState(
                normalised=name,
                surface=named.surface if named else name,
                kind=named.kind if named else NameKind.TOPIC,
                titles=0,
                candidates=0,
                live=False,
                stated=stated[name],
            )
        )
    return tuple(states)


async def _came_with(
    transaction: IngestTransaction, ids: Sequence[EpisodeId]
) -> Mapping[EpisodeId, StatedBy]:
    return await transaction.stated_by(ids) if ids and transaction.counters.stated else {}


async def _read_again(
    transaction: IngestTransaction,
    older: Sequence[StoredBody],
    table: NameTable,
    unmade: Sequence[str],
    changes: Changes,
) -> None:
    """Recompute the mentions of older items; an `unmade` concept loses its edges with its node."""
    stated = await _came_with(transaction, [body.id for body in older])
    found = await run_off_loop(
        lambda: [{*table.mentions(extract(body.title, body.text))} for body in older],
        sum(len(body.text) for body in older),
    )
    gone = frozenset(unmade)
    for body, read in zip(older, found, strict=True):
        was = frozenset(body.mentions)
        now = read | stated[body.id].names if body.id in stated else read
        changes.mentions_added += (
            MentionRow(episode=body.id, concept=name, weight=_MENTION_WEIGHT)
            for name in sorted(now - was)
        )
        changes.mentions_removed += ((body.id, name) for name in sorted(was - now - gone))
