"""Store of facts: claims, timelines and decisions, by subject and relation."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, TypeVar

from ecphoria.neo4j_store.locks import (
    change_under,
    count_change_beside_names,
    find_property,
    lock_tenant,
)
from ecphoria.neo4j_store.nodes import load_nodes
from ecphoria.neo4j_store.session import Done, Graph, Statement, Store, Work
from ecphoria.ports import Vector
from ecphoria.records.episode import DEFAULT_RELIABILITY
from ecphoria.records.fact import (
    UNENDING,
    Decision,
    FactKey,
    FactSort,
    KeyRecord,
    ListedDecision,
    PredicateClass,
    Standing,
    StoredClaim,
    StoredFact,
)
from ecphoria.records.ids import EpisodeId, FactId, TenantId, concept_id
from ecphoria.records.job import Lease
from ecphoria.records.traced import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class FactRow:
    """A new fact, with the concepts of its subject and object.

    Attributes:
        subject, object, qualifier: Normalised.
        relation: The predicate, normalised.
        subject_concept, object_concept: The same if it is a concept, else None.
        statement: The text that is embedded.
    """

    id: FactId
    subject: str
    predicate: str
    object: str
    subject_concept: str | None
    object_concept: str | None
    statement: str
    vector: Vector
    relation: str
    qualifier: str = ""
    negated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """An EVIDENCE edge, from a fact to an episode that states it.

    Attributes:
        valid_from, valid_to: As stated; None if not stated.
        reliability: 0 to 1.
        weight: How strongly the fact relates its ends, 0 to 1.
        by: The language model that found it; None if the caller sent it.
        start, end: Offsets of its words in the episode's text; None if unknown.
    """

    fact: FactId
    episode: EpisodeId
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    reliability: float = DEFAULT_RELIABILITY
    weight: float = 1.0
    by: str | None = None
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineRow:
    """The stored times of a fact; empty if its key needs no timeline.

    Attributes:
        held_from, held_until: Its spells, in order.
        superseded_by: The fact that ended the last of them.
    """

    fact: FactId
    standing: Standing | None = None
    held_from: tuple[datetime, ...] = ()
    held_until: tuple[datetime, ...] = ()
    superseded_by: FactId | None = None
    contested_by: FactId | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FactQuery:
    """Filter of facts: by subject or object, by relation and standing, after a place and an id."""

    concept: str | None = None
    relation: str | None = None
    standing: Standing | None = None
    sort: FactSort = FactSort.ID
    after: tuple[int, str] | None = None
    limit: int = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedFact:
    """A fact with its key, and with its place in the list: the number that it is sorted by."""

    fact: FactId
    place: int
    key: FactKey


T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claimed(StoredClaim):
    """A claim with its fact, and the place of its key among those asked for."""

    place: int
    stated: StoredFact


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyedFact:
    """A fact with its key.

    Attributes:
        of: The episode that claims it, or the concept that it relates; empty for a fact alone.
        other: The concept to which it relates; empty without one.
    """

    of: str
    other: str
    fact: FactId
    key: FactKey


_LIST_CLAIMS = Statement("facts.list_claims", _Claimed)
_LIST_DECISIONS = Statement("facts.list_decisions", Decision)
_LIST_LATEST_DECISIONS = Statement("facts.list_latest_decisions", ListedDecision)
_CREATE_DECISIONS = Statement("facts.create_decisions", Done)
_SAVE_TIMELINES = Statement("facts.save_timelines", Done)
_SAVE_CLASSES = Statement("facts.save_classes", Done)
_LIST_TOUCHED_KEYS = Statement("facts.list_touched_keys", FactKey)
_LIST_TIMED_KEYS = Statement("facts.list_timed_keys", FactKey)
_LIST_TIMED_KEYS_OF = Statement("facts.list_timed_keys_of", FactKey)
_LIST_FACTS = Statement("facts.list_facts", ListedFact)
_LIST_FACT_KEYS = Statement("recall.list_fact_keys", KeyedFact)


@dataclass(frozen=True, slots=True)
class FactTransaction:
    """Facts in an open transaction.

    Attributes:
        classes: The tenant's own classes by relation.
        number: The tenant's change counter, which numbers the next decision.
    """

    work: Work
    tenant: TenantId
    classes: Mapping[str, PredicateClass]
    number: int

    async def records(self, keys: Sequence[FactKey]) -> Sequence[KeyRecord]:
        """Load the stored records of these keys."""
        return await _records(self.work, self.tenant, keys)

    async def existing(self, facts: Sequence[FactId]) -> frozenset[FactId]:
        """List which of these facts are stored."""
        found = await keyed(self.work, self.tenant, facts=facts)
        return frozenset(row.fact for row in found)

    async def timed_among(self, keys: Sequence[FactKey]) -> Sequence[FactKey]:
        """List which of these keys have a timeline."""
        return await self.work.run(_LIST_TIMED_KEYS, tenant=self.tenant, keys=_maps(keys))

    async def timed_of(self, episode: EpisodeId) -> Sequence[FactKey]:
        """List the keys with a timeline about which an episode makes a claim."""
        return await self.work.run(_LIST_TIMED_KEYS_OF, tenant=self.tenant, episode=episode)

    async def save_timelines(self, rows: Sequence[TimelineRow]) -> None:
        """Store the timelines of facts."""
        ordered = sorted(rows, key=lambda row: row.fact)
        await self.work.run(
            _SAVE_TIMELINES, tenant=self.tenant, rows=[_timeline(row) for row in ordered]
        )

    async def decide(self, decision: Decision) -> None:
        """Append to the list of decisions."""
        row = asdict(decision)
        row["decided_by"] = row.pop("by")
        row["facts"] = [fact for fact in (decision.fact, decision.other) if fact is not None]
        await self.work.run(_CREATE_DECISIONS, tenant=self.tenant, rows=[row])

    async def class_decisions(self) -> Sequence[Decision]:
        """List the decisions about classes, in order."""
        return await _decisions(self.work, self.tenant, about_classes=True)

    async def set_classes(self, classes: Mapping[str, PredicateClass], relation: str) -> None:
        """Store the tenant's own classes, and mark the facts of a relation."""
        text = json.dumps(dict(classes), sort_keys=True) if classes else None
        await self.work.run(_SAVE_CLASSES, tenant=self.tenant, classes=text, relation=relation)

    async def changed(self) -> None:
        """Raise the tenant's change counter by one."""
        await count_change_beside_names(self.work, self.tenant)


class FactStore(Store):
    """Facts of tenants."""

    async def change(
        self,
        tenant: TenantId,
        work: Callable[[FactTransaction], Awaitable[T]],
        lease: Lease | None = None,
    ) -> T:
        """Run `work` in one transaction under the tenant's write lock."""

        async def locked(inner: Work) -> T:
            found = await lock_tenant(inner, tenant)
            return await work(
                FactTransaction(inner, tenant, classes_of(found.classes), found.change)
            )

        return await change_under(self._graph, lease, "facts.change", locked)

    async def keys(self, tenant: TenantId, query: FactQuery) -> Sequence[ListedFact]:
        """List facts with their keys; some of them may have another standing by now."""
        place, after = query.after or (None, "")
        return await self._graph.run(
            _LIST_FACTS,
            tenant=tenant,
            name=query.concept,
            relation=query.relation,
            standing=query.standing and query.standing.value,
            newest=query.sort is FactSort.TIME,
            after_place=place,
            after=after,
            limit=query.limit,
        )

    async def names(self, tenant: TenantId, ends: Iterable[str]) -> Mapping[str, Node]:
        """Look up the concepts at the ends of facts, by normalised name."""
        names: dict[str, str] = {concept_id(tenant, name): name for name in ends}
        shown = await load_nodes(self._graph, tenant, names)
        return {names[node.id]: node for node in shown.nodes}

    async def key_of(self, tenant: TenantId, fact: FactId) -> FactKey | None:
        """Find the key of a fact; None if there is no such fact."""
        found = await keyed(self._graph, tenant, facts=[fact])
        return found[0].key if found else None

    async def read(
        self, tenant: TenantId, keys: Sequence[FactKey]
    ) -> tuple[Mapping[str, PredicateClass], Sequence[KeyRecord]]:
        """Load the tenant's own classes and the stored records of these keys."""
        classes = await find_property(self._graph, tenant, "classes")
        return classes_of(classes), await _records(self._graph, tenant, keys)

    async def touched(self, tenant: TenantId, limit: int) -> Sequence[FactKey]:
        """List keys whose timelines must be recomputed."""
        return await self._graph.run(_LIST_TOUCHED_KEYS, tenant=tenant, limit=limit)

    async def decision(self, tenant: TenantId, decision: str) -> Decision | None:
        """Find a decision."""
        found = await _decisions(self._graph, tenant, ids=[decision])
        return found[0] if found else None

    async def class_decisions(self, tenant: TenantId) -> Sequence[Decision]:
        """List decisions about classes, and decisions that undo them, in order."""
        return await _decisions(self._graph, tenant, about_classes=True)

    async def latest_decisions(
        self, tenant: TenantId, *, before: int, limit: int
    ) -> Sequence[ListedDecision]:
        """List the decisions about facts that are shown, the latest first, from a number down."""
        return await self._graph.run(
            _LIST_LATEST_DECISIONS, tenant=tenant, before=before, limit=limit
        )


async def keyed(
    graph: Graph | Work,
    tenant: TenantId,
    *,
    facts: Sequence[FactId] = (),
    episodes: Sequence[EpisodeId] = (),
    concepts: Sequence[str] = (),
    hub: int = 0,
) -> Sequence[KeyedFact]:
    """List these facts, and those that episodes claim.

    Also those behind the RELATED edges of concepts with at most `hub` edges.
    """
    return await graph.run(
        _LIST_FACT_KEYS,
        tenant=tenant,
        facts=list(facts),
        episodes=list(episodes),
        concepts=list(concepts),
        hub=hub,
    )


def classes_of(text: str | None) -> Mapping[str, PredicateClass]:
    """Read a tenant's own classes."""
    stored: dict[str, str] = json.loads(text) if text else {}
    return {relation: PredicateClass(kind) for relation, kind in stored.items()}


async def _records(
    graph: Graph | Work, tenant: TenantId, keys: Sequence[FactKey]
) -> Sequence[KeyRecord]:
    if not keys:
        return ()
    rows = await graph.run(_LIST_CLAIMS, tenant=tenant, keys=_maps(keys))
    ids = sorted({row.fact for row in rows})
    made = await _decisions(graph, tenant, facts=ids)
    by_key: dict[int, list[_Claimed]] = {}
    for row in rows:
        by_key.setdefault(row.place, []).append(row)
    return [_record(keys[place], mine, made) for place, mine in sorted(by_key.items())]


async def _decisions(
    graph: Graph | Work,
    tenant: TenantId,
    *,
    ids: Sequence[str] = (),
    facts: Sequence[str] = (),
    about_classes: bool = False,
) -> Sequence[Decision]:
    return await graph.run(
        _LIST_DECISIONS, tenant=tenant, ids=ids, facts=facts, about_classes=about_classes
    )


def _record(key: FactKey, rows: Sequence[_Claimed], made: Sequence[Decision]) -> KeyRecord:
    facts = {row.fact: row.stated for row in rows}
    return KeyRecord(
        key=key,
        facts=tuple(facts[fact] for fact in sorted(facts)),
        claims=tuple(rows),
        decisions=tuple(
            decision for decision in made if decision.fact in facts or decision.other in facts
        ),
    )


def _timeline(row: TimelineRow) -> dict[str, Any]:
    held = bool(row.held_from)
    last = row.held_until[-1] if held else None
    return {
        "fact": row.fact,
        "standing": row.standing,
        "held_from": list(row.held_from) if held else None,
        "held_until": list(row.held_until) if held else None,
        "valid_from": row.held_from[-1] if held else None,
        "valid_to": None if last == UNENDING else last,
        "superseded_by": row.superseded_by,
        "contested_by": row.contested_by,
    }


def _maps(keys: Sequence[FactKey]) -> list[dict[str, Any]]:
    return [asdict(key) for key in keys]
