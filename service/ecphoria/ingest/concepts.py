"""Link episodes to the concepts they name, and store the facts they came with.

Whether a name is a concept depends on the whole tenant (seen twice, nowhere in lower case). So a
new episode can create a concept that older episodes mention, and can end one. `ConceptBook` keeps
each tenant's table of names between writes. It uses the table only if the tenant's change counter
shows that no other process wrote meanwhile.

The table of names holds only names that rules find, so stated names do not change what rules find.
This module combines both.
"""

import asyncio
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Protocol
from weakref import WeakValueDictionary

from ecphoria.facts.store import EvidenceRow, FactRow
from ecphoria.facts.timelines import class_of, relation
from ecphoria.ingest.prepare import Prepared, key_of
from ecphoria.ingest.restate import Restated
from ecphoria.ingest.rows import (
    AboutRow,
    ConceptRow,
    IngestChanges,
    MentionRow,
    NameState,
    StatedBy,
    StoredBody,
    SynonymRow,
)
from ecphoria.ingest.store import IngestTransaction
from ecphoria.ports import Vector
from ecphoria.records.episode import Episode
from ecphoria.records.fact import FactKey, PredicateClass
from ecphoria.records.ids import EpisodeId, FactId, TenantId, concept_id
from ecphoria.runtime import run_off_loop
from ecphoria.text.concepts import (
    Candidate,
    Extraction,
    NameRow,
    NameTable,
    SynonymTable,
    Triple,
    extract,
)
from ecphoria.text.names import NameKind, is_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedConcepts:
    """Names that become concepts by a write, and names that stop being concepts; both sorted."""

    made: tuple[str, ...]
    unmade: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChanges:
    """New facts, and the evidence for facts from new episodes."""

    made: tuple[FactRow, ...] = ()
    evidence: tuple[EvidenceRow, ...] = ()


async def standing(
    transaction: IngestTransaction,
    *,
    appeared: Collection[str],
    vanished: Collection[str],
    ruled: Collection[str],
    stated: Mapping[str, int],
) -> ChangedConcepts:
    """Find names that become or stop being concepts, by rule or by statement.

    Args:
        transaction: Reads how many items state a name so far.
        appeared: Names that become concepts by rule in this write.
        vanished: Names that stop being concepts by rule in this write.
        ruled: Names that are concepts by rule after this write.
        stated: Change of the number of items that state a name.
    """
    if not stated and not transaction.stated:
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


class Stating(Protocol):
    """An episode with the facts that it states."""

    @property
    def extraction(self) -> Extraction:
        """The names and claims of the episode."""
        ...

    @property
    def facts(self) -> Mapping[FactId, Triple]:
        """The facts that the episode states, by id."""
        ...

    @property
    def claims(self) -> tuple[EvidenceRow, ...]:
        """The episode's evidence for these facts."""
        ...


async def facts_of(
    transaction: IngestTransaction, new: Sequence[Stating], vectors: Mapping[FactId, Vector]
) -> FactChanges:
    """Store each fact once, and each episode that states it as evidence."""
    stated = {ident: triple for prepared in new for ident, triple in prepared.facts.items()}
    if not stated:
        return FactChanges()
    known = await transaction.facts(sorted(stated))
    return FactChanges(
        made=tuple(
            FactRow(
                id=ident,
                subject=triple.subject,
                predicate=triple.predicate,
                object=triple.object,
                subject_concept=triple.subject if is_name(triple.subject) else None,
                object_concept=triple.object if is_name(triple.object) else None,
                statement=triple.statement,
                vector=vectors[ident],
                relation=relation(triple.predicate),
                qualifier=triple.qualifier,
                negated=triple.negated,
            )
            for ident, triple in sorted(stated.items())
            if ident not in known
        ),
        evidence=tuple(
            claim for prepared in new for claim in sorted(prepared.claims, key=_by_fact)
        ),
    )


async def disturbed(transaction: IngestTransaction, new: Sequence[Stating]) -> set[FactKey]:
    """List the keys of facts whose timelines new episodes may change.

    A key whose values coexist, without an end or a denial, needs no timeline.
    """
    own = transaction.timelines.classes
    sought: set[FactKey] = set()
    found: set[FactKey] = set()
    for claim in (claim for prepared in new for claim in prepared.extraction.claims):
        key = key_of(claim.fact)
        plain = class_of(key.relation, own) is PredicateClass.MULTI
        undisturbed = plain and not claim.fact.negated and claim.valid_to is None
        (sought if undisturbed else found).add(key)
    if transaction.timed and (sought := sought - found):
        found.update(await transaction.timed_among(sorted(sought)))
    return found


def _by_fact(claim: EvidenceRow) -> FactId:
    return claim.fact


# The counts of names are in the graph: another process or a restart would not have them (decision
# 0006).
_TENANTS_KEPT = 64
_MENTION_WEIGHT = 0.8
"""SYNAPSE's weight of an explicit mention at full confidence."""

_NOTHING = StatedBy(names=frozenset(), facts=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptChanges:
    """The changes of a write to names, concepts and their edges.

    Attributes:
        items: Added items, or removed items if `sign` is -1; `names` counts their names.
        unstated: Number of stated names and facts that are removed together with their episodes.
    """

    items: tuple[Extraction, ...]
    sign: int
    made: tuple[ConceptRow, ...]
    unmade: tuple[str, ...]
    mentions_added: tuple[MentionRow, ...]
    mentions_removed: tuple[tuple[EpisodeId, str], ...]
    synonyms_added: tuple[SynonymRow, ...]
    unstated: int = 0
    abouts_added: tuple[AboutRow, ...] = ()

    @property
    def names(self) -> tuple[NameState, ...]:
        """Count names."""
        return _names(self.items, self.sign)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Names:
    """The cached names of a tenant, as of the change counter."""

    change: int
    table: NameTable
    alike: SynonymTable


class ConceptBook:
    """Tables of names of recently written tenants."""

    def __init__(self) -> None:
        self._kept: OrderedDict[TenantId, _Names] = OrderedDict()
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
                self._kept.move_to_end(tenant)
                while len(self._kept) > _TENANTS_KEPT:
                    self._kept.popitem(last=False)

    async def add(
        self, tenant: TenantId, transaction: IngestTransaction, new: Sequence[Prepared]
    ) -> ConceptChanges:
        """Add new episodes, and check older episodes that may mention a new name."""
        names = await self._names(tenant, transaction)
        table = names.table
        size = sum(len(prepared.text) for prepared in new)
        delta = await run_off_loop(
            lambda: table.add([prepared.extraction for prepared in new]), size
        )
        stated = Counter(named.name for prepared in new for named in prepared.extraction.stated)
        changed = await standing(
            transaction,
            appeared=delta.appeared,
            vanished=delta.vanished,
            ruled=table.concepts,
            stated=stated,
        )
        # In the same transaction: a background job would leave another graph until it ran, and
        # another order of arrival would give another graph (decision 0006).
        touched = {*delta.sought, *delta.silenced, *delta.vanished} - set(changed.unmade)
        found = await transaction.bodies_with(sorted(touched))
        fresh = {prepared.id for prepared in new}
        older = [body for body in found if body.id not in fresh]
        added, removed = await _again(transaction, older, table, frozenset(changed.unmade))
        mentions = await run_off_loop(
            lambda: [_all_mentions(prepared, table) for prepared in new], size
        )
        self._pending[tenant] = replace(names, change=transaction.change + 1)
        return ConceptChanges(
            items=tuple(prepared.extraction for prepared in new),
            sign=1,
            made=_rows(tenant, changed.made),
            unmade=changed.unmade,
            mentions_added=(*added, *chain.from_iterable(mentions)),
            mentions_removed=removed,
            synonyms_added=_synonyms(names.alike, changed),
            abouts_added=tuple(
                AboutRow(episode=prepared.id, concept=prepared.extraction.title.name)
                for prepared in new
                if prepared.extraction.title
            ),
        )

    async def remove(
        self, tenant: TenantId, transaction: IngestTransaction, gone: Episode
    ) -> ConceptChanges:
        """Remove an episode, and delete names and words that no other episode has."""
        came_with = (await _came_with(transaction, [gone.id])).get(gone.id, _NOTHING)
        out = replace(
            await run_off_loop(partial(extract, gone.title, gone.text), len(gone.text)),
            stated=tuple(
                Candidate(name=name, surface=name, kind=NameKind.TOPIC)
                for name in sorted(came_with.names)
            ),
        )
        counts = await transaction.word_counts(sorted(out.lower))
        states, lower = await transaction.names()
        last = {word for word, count in counts.items() if count <= 1}
        less = {row.normalised: row for row in _names([out], -1)}
        before = NameTable(map(_row, states), lower)
        rows = (_row(state, less.get(state.normalised)) for state in states)
        # The table stays in memory, so remove names that no item has any more.
        left = (row for row in rows if row.is_title or row.candidates > 0)
        after = NameTable(left, set(lower) - last)
        changed = await standing(
            transaction,
            appeared=after.concepts - before.concepts,
            vanished=before.concepts - after.concepts,
            ruled=after.concepts,
            stated=dict.fromkeys(came_with.names, -1),
        )
        touched = {*less, *last} & {state.normalised for state in states}
        found = await transaction.bodies_with(sorted(touched))
        older = [body for body in found if body.id != gone.id]
        added, removed = await _again(transaction, older, after, frozenset(changed.unmade))
        alike = SynonymTable(state.normalised for state in states if state.live)
        synonyms = _synonyms(alike, changed)
        self._pending[tenant] = _Names(change=transaction.change + 1, table=after, alike=alike)
        return ConceptChanges(
            items=(out,),
            sign=-1,
            made=_rows(tenant, changed.made),
            unmade=changed.unmade,
            mentions_added=added,
            mentions_removed=removed,
            synonyms_added=synonyms,
            unstated=len(came_with.names) + came_with.facts,
        )

    async def restate(
        self,
        tenant: TenantId,
        transaction: IngestTransaction,
        restated: Sequence[Restated],
        facts: FactChanges,
    ) -> IngestChanges:
        """Replace the names and facts that a model read in stored episodes."""
        names = await self._names(tenant, transaction)
        table = names.table
        counts = Counter(name for one in restated for name in one.appeared)
        counts.subtract(name for one in restated for name in one.vanished)
        stated = {name: count for name, count in counts.items() if count}
        changed = await standing(
            transaction, appeared=(), vanished=(), ruled=table.concepts, stated=stated
        )
        size = sum(len(one.stored.text) for one in restated)
        edges = await run_off_loop(lambda: [_restated_edges(one, table) for one in restated], size)
        unmade = frozenset(changed.unmade)
        self._pending[tenant] = replace(names, change=transaction.change + 1)
        gone = sum(len(one.stored.read) + one.stored.read_facts for one in restated)
        return IngestChanges(
            stated=sum(len(one.names) for one in restated) + len(facts.evidence) - gone,
            names=_stated_names(restated, stated),
            concepts_made=_rows(tenant, changed.made),
            concepts_unmade=changed.unmade,
            mentions_added=tuple(chain.from_iterable(added for added, _ in edges)),
            mentions_removed=tuple(
                (EpisodeId(one.stored.id), name)
                for one, (_, removed) in zip(restated, edges, strict=True)
                for name in sorted(removed - unmade)
            ),
            synonyms_added=_synonyms(names.alike, changed),
            facts_made=facts.made,
            evidence_added=facts.evidence,
        )

    async def look_again(
        self, tenant: TenantId, transaction: IngestTransaction, bodies: Sequence[StoredBody]
    ) -> ConceptChanges:
        """Update the mentions of items that were dormant while concepts were made or ended."""
        names = await self._names(tenant, transaction)
        added, removed = await _again(transaction, bodies, names.table, frozenset())
        self._pending[tenant] = replace(names, change=transaction.change + 1)
        return ConceptChanges(
            items=(),
            sign=1,
            made=(),
            unmade=(),
            mentions_added=added,
            mentions_removed=removed,
            synonyms_added=(),
        )

    async def _names(self, tenant: TenantId, transaction: IngestTransaction) -> _Names:
        """Remove the kept table, which this write will change; return it if it is current."""
        kept = self._kept.pop(tenant, None)
        if kept is not None and kept.change == transaction.change:
            return kept
        states, lower = await transaction.names()
        return _Names(
            change=transaction.change,
            table=NameTable(map(_row, states), lower),
            alike=SynonymTable(state.normalised for state in states if state.live),
        )


def _synonyms(alike: SynonymTable, changed: ChangedConcepts) -> tuple[SynonymRow, ...]:
    """Pair new concepts with concepts that have nearly the same words."""
    alike.remove(changed.unmade)
    alike.add(changed.made)
    return tuple(
        SynonymRow(one=pair.one, other=pair.other, weight=pair.weight)
        for pair in alike.pairs(changed.made)
    )


def _row(state: NameState, less: NameState | None = None) -> NameRow:
    titles = state.titles + (less.titles if less else 0)
    candidates = state.candidates + (less.candidates if less else 0)
    return NameRow(name=state.normalised, is_title=titles > 0, candidates=candidates)


def _names(items: Iterable[Extraction], sign: int) -> tuple[NameState, ...]:
    first: dict[str, Candidate] = {}
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
    return tuple(
        NameState(
            normalised=name,
            surface=first[name].surface,
            kind=first[name].kind,
            titles=titles[name],
            candidates=candidates[name],
            live=False,
            stated=stated[name],
        )
        for name in sorted(first)
    )


def _rows(tenant: TenantId, names: Iterable[str]) -> tuple[ConceptRow, ...]:
    return tuple(ConceptRow(id=concept_id(tenant, name), normalised=name) for name in names)


def _mentions(episode: EpisodeId, names: Iterable[str]) -> list[MentionRow]:
    return [MentionRow(episode=episode, concept=name, weight=_MENTION_WEIGHT) for name in names]


def _all_mentions(prepared: Prepared, table: NameTable) -> list[MentionRow]:
    """List the names that the rules find in an item, and names sent with it."""
    stated = {named.name for named in prepared.extraction.stated}
    found = stated.union(table.mentions(prepared.extraction))
    return [
        MentionRow(
            episode=prepared.id, concept=name, weight=_MENTION_WEIGHT, stated=name in stated
        )
        for name in sorted(found)
    ]


def _restated_edges(one: Restated, table: NameTable) -> tuple[list[MentionRow], set[str]]:
    """List the mentions to write and to remove; a stated mention is always written again."""
    before, sent = set(one.stored.mentions), set(one.stored.sent)
    ruled = set(table.mentions(one.extraction))
    renewed = (one.names | set(one.stored.read)) - sent
    added = ((ruled | one.names) - before) | (renewed & (ruled | one.names))
    rows = [
        MentionRow(
            episode=EpisodeId(one.stored.id),
            concept=name,
            weight=_MENTION_WEIGHT,
            stated=name in one.names,
            by=one.by if name in one.names else None,
        )
        for name in sorted(added)
    ]
    return rows, before & renewed


def _stated_names(
    restated: Sequence[Restated], stated: Mapping[str, int]
) -> tuple[NameState, ...]:
    """Count, for each name, the change of the number of episodes that state it."""
    found = {named.name: (named, one) for one in restated for named in one.extraction.stated}
    states = []
    for name in sorted(stated):
        named, one = found.get(name, (None, None))
        kinds = one.reading.kinds if one else {}
        states.append(
            NameState(
                normalised=name,
                surface=named.surface if named else name,
                kind=kinds.get(named.surface, named.kind) if named else NameKind.TOPIC,
                titles=0,
                candidates=0,
                live=False,
                stated=stated[name],
            )
        )
    return tuple(states)


def _mentions_of(body: StoredBody, table: NameTable) -> frozenset[str]:
    return frozenset(table.mentions(extract(body.title, body.text)))


async def _came_with(
    transaction: IngestTransaction, ids: Sequence[EpisodeId]
) -> Mapping[EpisodeId, StatedBy]:
    return await transaction.stated_by(ids) if ids and transaction.stated else {}


async def _again(
    transaction: IngestTransaction,
    older: Sequence[StoredBody],
    table: NameTable,
    unmade: frozenset[str],
) -> tuple[tuple[MentionRow, ...], tuple[tuple[EpisodeId, str], ...]]:
    """Recompute the mentions of older items; removing a concept removes its edges too."""
    stated = await _came_with(transaction, [body.id for body in older])
    added: list[MentionRow] = []
    removed: list[tuple[EpisodeId, str]] = []
    found = await run_off_loop(
        lambda: [_mentions_of(body, table) for body in older],
        sum(len(body.text) for body in older),
    )
    for body, read in zip(older, found, strict=True):
        was = frozenset(body.mentions)
        now = read | stated[body.id].names if body.id in stated else read
        added += _mentions(body.id, sorted(now - was))
        removed += ((body.id, name) for name in sorted(was - now - unmade))
    return tuple(added), tuple(removed)
