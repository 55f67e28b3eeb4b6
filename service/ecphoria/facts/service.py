"""The fact service: list facts, show their history, and record decisions about them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ecphoria.errors import InvalidInput, NotFound
from ecphoria.facts.store import FactQuery, FactStore, FactTransaction
from ecphoria.facts.timelines import (
    DEFAULTS,
    class_of,
    effective,
    lay_out,
    not_undone,
    relation,
    renew,
    settle,
)
from ecphoria.ports import Clock
from ecphoria.records.episode import LONGEST_NAME
from ecphoria.records.fact import (
    Decision,
    FactHistory,
    FactKey,
    FactView,
    ListedDecision,
    NewDecision,
    Predicate,
    PredicateClass,
    Ruling,
)
from ecphoria.records.ids import FactId, KeyId, TenantId, fresh_id
from ecphoria.records.traced import Node
from ecphoria.text.names import normalise

_BEYOND_ALL = 2**62
"""A number that no decision has."""
_MOST = 1_000
"""Most own classes of a tenant; they are stored and listed as one value."""


class FactService:
    """Reads facts as of any time, and records decisions, which can be undone."""

    def __init__(self, *, store: FactStore, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def facts(
        self,
        tenant: TenantId,
        query: FactQuery,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> tuple[FactView, ...]:
        """List facts, each with its standing, and whether it held at an instant (default: now).

        Raises:
            NotFound: There is no such tenant.
        """
        asked = replace(
            query,
            concept=None if query.concept is None else normalise(query.concept),
            relation=None if query.relation is None else relation(query.relation),
            # The stored standings are those of now.
            standing=query.standing if known_at is None else None,
        )
        found: list[FactView] = []
        while len(found) < query.limit:
            rows = await self._store.keys(tenant, asked)
            keys = sorted({row.key for row in rows})
            histories = await self._histories(tenant, keys, as_of, known_at)
            views = {view.id: view for history in histories for view in history.facts}
            found += (
                replace(view, place=row.place)
                for row in rows
                if (view := views.get(row.fact)) and query.standing in {None, view.standing}
            )
            if len(rows) < asked.limit:
                break
            asked = replace(asked, after=(rows[-1].place, rows[-1].fact))
        return await self._named(tenant, found[: query.limit])

    async def history(
        self,
        tenant: TenantId,
        fact: FactId,
        *,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> FactHistory:
        """Show all claims and decisions about the subject and predicate of a fact.

        Raises:
            NotFound: There is no such fact, or it was unknown then.
        """
        key = await self._key(tenant, fact)
        found = await self._histories(tenant, [key], as_of, known_at)
        if not found or not found[0].facts:
            raise NotFound(
                "nothing was known of this fact at `known_at`; send a later time", id=fact
            )
        return replace(found[0], facts=await self._named(tenant, found[0].facts))

    async def decisions(
        self, tenant: TenantId, *, before: int | None, limit: int
    ) -> Sequence[ListedDecision]:
        """List decisions from a number down, the latest first."""
        return await self._store.latest_decisions(
            tenant, before=before or _BEYOND_ALL, limit=limit
        )

    async def decide(
        self, tenant: TenantId, fact: FactId, request: NewDecision, *, by: KeyId | None = None
    ) -> Decision:
        """Append a decision, and recompute the timelines that it concerns.

        If the same was decided already, and holds, that decision is returned.

        Raises:
            InvalidInput: An interval that ends before it begins, or a pair of facts that cannot
                contradict each other.
            NotFound: There is no such fact.
        """
        _check(fact, request)
        key = await self._key(tenant, fact)
        if request.other is not None:
            await self._require_same(tenant, key, request.other)

        async def work(transaction: FactTransaction) -> Decision:
            decision = Decision(
                id=fresh_id(),
                number=transaction.number,
                recorded_at=self._clock.now(),
                ruling=Ruling(request.ruling),
                fact=fact,
                other=request.other,
                valid_from=request.valid_from,
                valid_to=request.valid_to,
                by=by,
                why=request.why,
            )
            made = effective(await _decisions(transaction, key))
            alike = [one for one in made if _matter(one) == _matter(decision)]
            if alike and _interval(alike[-1]) == _interval(decision):
                return alike[-1]
            await transaction.decide(decision)
            await settle(transaction, [key])
            await transaction.changed()
            return decision

        return await self._store.change(tenant, work)

    async def set_class(
        self,
        tenant: TenantId,
        predicate: str,
        kind: PredicateClass,
        *,
        by: KeyId | None = None,
        why: str = "",
    ) -> Decision:
        """Set the class of a predicate, and recompute its timelines.

        If the same class was decided already, that decision is returned.

        Raises:
            InvalidInput: The predicate is empty or too long, or the tenant has chosen too many.
            NotFound: There is no such tenant.
        """
        name = relation(predicate)
        if not 0 < len(name) <= LONGEST_NAME:
            raise InvalidInput(
                f"`predicate` needs 1 to {LONGEST_NAME} characters, as those of facts have",
                field="predicate",
            )

        async def work(transaction: FactTransaction) -> Decision:
            if transaction.classes.get(name) is kind:
                made = effective(await transaction.class_decisions())
                if standing := [one for one in made if one.relation == name]:
                    return standing[-1]
            if len(transaction.classes) >= _MOST and name not in transaction.classes:
                raise InvalidInput(
                    f"{_MOST:,} predicates have a class of their own; undo one you do not need",
                    field="predicate",
                )
            decision = Decision(
                id=fresh_id(),
                number=transaction.number,
                recorded_at=self._clock.now(),
                ruling=Ruling.SET_CLASS,
                relation=name,
                predicate_class=kind,
                by=by,
                why=why,
            )
            await transaction.decide(decision)
            await _renew_classes(transaction, name)
            return decision

        decision = await self._store.change(tenant, work)
        await renew(self._store, tenant)
        return decision

    async def undo(
        self, tenant: TenantId, decision: str, *, by: KeyId | None = None, why: str = ""
    ) -> Decision:
        """Undo a decision; undo the undo to restore it.

        If the decision is undone already, its undo is returned.

        Raises:
            NotFound: There is no such decision.
        """
        undone = await self._store.decision(tenant, decision)
        if undone is None:
            raise NotFound(
                f"there is no decision {decision}; `GET /v1/decisions` lists them", id=decision
            )

        key = None if undone.fact is None else await self._key(tenant, undone.fact)

        async def work(transaction: FactTransaction) -> Decision:
            made = (
                await transaction.class_decisions()
                if key is None
                else await _decisions(transaction, key)
            )
            if undos := [one for one in not_undone(made) if one.undoes == undone.id]:
                return undos[0]
            undo = replace(
                undone,
                id=fresh_id(),
                number=transaction.number,
                recorded_at=self._clock.now(),
                ruling=Ruling.UNDO,
                predicate_class=None,
                valid_from=None,
                valid_to=None,
                undoes=undone.id,
                by=by,
                why=why,
            )
            await transaction.decide(undo)
            if undo.relation is not None:
                await _renew_classes(transaction, undo.relation)
            elif key is not None:
                await settle(transaction, [key])
                await transaction.changed()
            return undo

        made = await self._store.change(tenant, work)
        if undone.relation is not None:
            await renew(self._store, tenant)
        return made

    async def predicates(self, tenant: TenantId) -> tuple[Predicate, ...]:
        """List the predicates with one value at a time or ever, and the tenant's own classes."""
        own, _ = await self._store.read(tenant, ())
        names = sorted(DEFAULTS.keys() | own.keys())
        return tuple(
            Predicate(relation=name, predicate_class=class_of(name, own), own=name in own)
            for name in names
        )

    async def _named(self, tenant: TenantId, views: Sequence[FactView]) -> tuple[FactView, ...]:
        """Tell the concepts at the ends of facts, and their names as they were written first."""
        ends = {end for view in views for end in (view.subject, view.object)}
        nodes = await self._store.names(tenant, ends)
        return tuple(_with_names(view, nodes) for view in views)

    async def _require_same(self, tenant: TenantId, key: FactKey, fact: FactId) -> None:
        """Require that a fact has the key, or the key of a merged name."""
        if await self._key(tenant, fact) == key:
            return
        _, records = await self._store.read(tenant, [key])
        if all(fact != stored_fact.id for record in records for stored_fact in record.facts):
            raise InvalidInput(
                "only facts of the same subject and predicate can be kept open together",
                field="other",
            )

    async def _key(self, tenant: TenantId, fact: FactId) -> FactKey:
        key = await self._store.key_of(tenant, fact)
        if key is None:
            raise NotFound(f"there is no fact {fact}", id=fact)
        return key

    async def _histories(
        self,
        tenant: TenantId,
        keys: Sequence[FactKey],
        as_of: datetime | None,
        known_at: datetime | None,
    ) -> list[FactHistory]:
        own, records = await self._store.read(tenant, keys)
        if known_at is not None:
            own = _classes(await self._store.class_decisions(tenant), known_at)
        at = as_of or self._clock.now()
        return [lay_out(record, own, known_at=known_at).history(at) for record in records]


async def _decisions(transaction: FactTransaction, key: FactKey) -> Sequence[Decision]:
    """Read the decisions about a key, undos among them."""
    return [one for record in await transaction.records([key]) for one in record.decisions]


def _matter(decision: Decision) -> tuple[Ruling, frozenset[FactId | None]]:
    """Tell what a decision rules on: of two about one matter the last one counts."""
    pair = {decision.other} if decision.ruling is Ruling.KEEP_OPEN else set()
    return decision.ruling, frozenset({decision.fact, *pair})


def _interval(decision: Decision) -> tuple[datetime | None, datetime | None]:
    return decision.valid_from, decision.valid_to


async def _renew_classes(transaction: FactTransaction, name: str) -> None:
    """Store the classes by all decisions, and mark the facts of one relation."""
    await transaction.set_classes(_classes(await transaction.class_decisions()), name)
    await transaction.changed()


def _classes(
    decisions: Sequence[Decision], known_at: datetime | None = None
) -> dict[str, PredicateClass]:
    return {
        decision.relation: decision.predicate_class
        for decision in effective(decisions, known_at)
        if decision.relation is not None and decision.predicate_class is not None
    }


def _with_names(view: FactView, nodes: Mapping[str, Node]) -> FactView:
    subject, other = nodes.get(view.subject), nodes.get(view.object)
    return replace(
        view,
        subject_name=view.subject if subject is None else subject.label,
        object_name=view.object if other is None else other.label,
        subject_concept=None if subject is None else subject.id,
        object_concept=None if other is None else other.id,
    )


def _check(fact: FactId, request: NewDecision) -> None:
    if request.ruling == "keep_open" and request.other in {None, fact}:
        raise InvalidInput("name the other fact to keep open", field="other")
    if request.ruling == "set_interval":
        if request.valid_from is None:
            raise InvalidInput("an interval needs `valid_from`", field="valid_from")
        if request.valid_to is not None and request.valid_to <= request.valid_from:
            raise InvalidInput("`valid_to` must lie after `valid_from`", field="valid_to")
