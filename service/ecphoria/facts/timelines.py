"""Compute timelines from claims, by the classes of their predicates.

Unknown predicates are `multi`, so that no value supersedes another by mistake. These are the
defaults; a tenant may give any predicate another class.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from ecphoria.facts.store import FactStore, FactTransaction, TimelineRow
from ecphoria.maths.timeline import (
    OPEN,
    Proposition,
    Rulings,
    TimedClaim,
    Timeline,
    evidence,
    in_force,
    timeline,
)
from ecphoria.records.episode import EPOCH, TICK, in_offset, offset_of
from ecphoria.records.fact import (
    UNENDING,
    Decision,
    FactHistory,
    FactKey,
    FactView,
    Interval,
    KeyRecord,
    PredicateClass,
    Ruling,
    Standing,
)
from ecphoria.records.forms import lowered
from ecphoria.records.ids import FactId, TenantId
from ecphoria.runtime import in_parts

_FUNCTIONAL = """
    lives in, live in, lives at, resides in, is based in, home is, works as, works at, works for,
    is employed by, job is, job title is, studies at, partner, partner is, is married to,
    is engaged to, spouse is, relationship status is, status, status is, phone, phone is,
    phone number is, address, address is, email, email is, is located in, is owned by, owner is,
    is led by, ceo is, manager is, reports to, capital is, population is, price is, age is,
    weighs, version is, favourite colour is, favorite color is
"""
_IMMUTABLE = """
    born on, born in, was born on, was born in, birthplace, birthplace is, date of birth is,
    birthday is, native name, native name is, died on, died in, was founded in, was founded by
"""


def relation(predicate: str) -> str:
    """Normalise a predicate: lower case, single blanks.

    >>> relation("Lives_In")
    'lives in'
    """
    return " ".join(lowered(predicate).replace("_", " ").split())


def _listed(text: str, kind: PredicateClass) -> dict[str, PredicateClass]:
    return {" ".join(name.split()): kind for name in text.split(",")}


DEFAULTS: Mapping[str, PredicateClass] = {
    **_listed(_FUNCTIONAL, PredicateClass.FUNCTIONAL),
    **_listed(_IMMUTABLE, PredicateClass.IMMUTABLE),
}


def class_of(name: str, own: Mapping[str, PredicateClass]) -> PredicateClass:
    """Find a relation's class: the tenant's own, else the default, else `multi`."""
    return own.get(name) or DEFAULTS.get(name, PredicateClass.MULTI)


# Keys are written in parts, because a write holds the tenant's lock.
KEYS_AT_ONCE, KEYS_A_WRITE = 100_000, 200
"""Number of touched keys to list, and number of keys in one transaction."""

CONTESTED_FACTOR = 0.3
"""NeuromemoryAI's factor on the confidence of the weaker of two contradicting facts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaidOut:
    """A key's timeline, as numbers.

    Attributes:
        claims: The claims that were used; facts are given by their index in the record.
        retracted: Facts decided to be wrong.
        offsets: UTC offset in minutes of an instant as stated, so that its day is shown as meant.
    """

    record: KeyRecord
    kind: PredicateClass
    claims: tuple[TimedClaim, ...]
    retracted: frozenset[int]
    timeline: Timeline
    offsets: Mapping[int, int | None]

    def held(self, at: datetime) -> frozenset[FactId]:
        """List the facts that held then."""
        return frozenset(self.record.facts[row].id for row in self.timeline.at(_ticks(at)))

    def has(self, fact: FactId) -> bool:
        """Tell whether any used claim states a fact."""
        rows = {claim.fact for claim in self.claims}
        return any(self.record.facts[row].id == fact for row in rows)

    def standing_of(self, fact: FactId) -> Standing:
        """Return the state of a fact of the key."""
        return self.standing(self._row(fact))

    def ended_by(self, fact: FactId, at: datetime) -> datetime | None:
        """Find the end of the last spell that was over by then, or the time of a retraction."""
        row = self._row(fact)
        if row in self.retracted:
            return max(
                one.recorded_at
                for one in self.record.decisions
                if one.fact == fact and one.ruling is Ruling.RETRACT
            )
        ends = (interval.valid_to for interval in self.intervals(row))
        return max((end for end in ends if end is not None and end <= at), default=None)

    def _row(self, fact: FactId) -> int:
        return next(
            row for row, stored_fact in enumerate(self.record.facts) if stored_fact.id == fact
        )

    def intervals(self, row: int) -> tuple[Interval, ...]:
        """List the intervals in which a fact held, in order."""
        facts = self.record.facts
        return tuple(
            Interval(
                valid_from=self._shown(spell.start),
                valid_to=None if spell.end == OPEN else self._shown(spell.end),
                superseded_by=None if spell.ended_by < 0 else facts[spell.ended_by].id,
            )
            for spell in self.timeline.spells
            if row in spell.facts
        )

    def _shown(self, ticks: int) -> datetime:
        return in_offset(_instant(ticks), self.offsets.get(ticks))

    def contested_by(self, row: int) -> FactId | None:
        """Find the fact with the better evidence for the same time."""
        found = (winner for loser, winner in self.timeline.contested if loser == row)
        winner = next(found, None)
        return None if winner is None else self.record.facts[winner].id

    def standing(self, row: int) -> Standing:
        """Return the state of a fact."""
        if row in self.retracted:
            return Standing.RETRACTED
        if any(row in spell.facts for spell in self.timeline.spells):
            return Standing.HELD
        if self.contested_by(row) is not None:
            return Standing.CONTESTED
        if row in self.timeline.candidates or not any(c.fact == row for c in self.claims):
            return Standing.CANDIDATE
        return Standing.DENIAL

    def history(self, at: datetime) -> FactHistory:
        """Show every fact of the key, and whether it held at an instant."""
        held = self.held(at)
        views = [self._view(row, held) for row in sorted({claim.fact for claim in self.claims})]
        key = self.record.key
        return FactHistory(
            subject=key.subject,
            relation=key.relation,
            qualifier=key.qualifier,
            predicate_class=self.kind,
            facts=tuple(sorted(views, key=lambda v: (not v.intervals, _begun(v), v.id))),
            decisions=self.record.decisions,
        )

    def _view(self, row: int, held: frozenset[FactId]) -> FactView:
        fact, standing = self.record.facts[row], self.standing(row)
        mine = [place for place, claim in enumerate(self.claims) if claim.fact == row]
        weight = evidence(self.claims[place] for place in mine)
        contested = standing is Standing.CONTESTED
        claimed = [claim for claim in self.record.claims if claim.fact == fact.id]
        return FactView(
            id=fact.id,
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
            subject_name=fact.subject,
            object_name=fact.object,
            qualifier=fact.qualifier,
            polarity="negative" if fact.negated else "positive",
            predicate_class=self.kind,
            standing=standing,
            valid=fact.id in held,
            intervals=self.intervals(row),
            evidence=weight,
            confidence=weight * CONTESTED_FACTOR if contested else weight,
            contested_by=self.contested_by(row),
            episodes=tuple(sorted({claim.episode for claim in claimed})),
            quotes=tuple(claim.quote for claim in claimed if claim.quote is not None),
        )


def _begun(view: FactView) -> datetime:
    return view.intervals[0].valid_from if view.intervals else UNENDING


# Claims are ordered, not facts, so that a value that returns (Oslo, Bergen, Oslo again) holds
# twice (decision 0020).
def lay_out(
    record: KeyRecord,
    own: Mapping[str, PredicateClass],
    *,
    known_at: datetime | None = None,
    happened_by: datetime | None = None,
) -> LaidOut:
    """Compute the timeline of a key, with the tenant's `own` classes.

    Only claims and decisions recorded by `known_at` count, and only claims of episodes that had
    occurred by `happened_by`.
    """
    number = {fact.id: row for row, fact in enumerate(record.facts)}
    values = _numbered(fact.object for fact in record.facts)
    episodes = _numbered(claim.episode for claim in record.claims)
    claims = tuple(
        TimedClaim(
            fact=number[claim.fact],
            episode=episodes[claim.episode],
            start=_ticks(claim.valid_from or claim.occurred_at),
            end=OPEN if claim.valid_to is None else _ticks(claim.valid_to),
            dated=claim.valid_from is not None,
            recorded_at=_ticks(claim.recorded_at),
            reliability=claim.reliability,
        )
        for claim in record.claims
        if (known_at is None or claim.recorded_at <= known_at)
        and (happened_by is None or claim.occurred_at <= happened_by)
    )
    decided = effective(record.decisions, known_at)
    rulings = _rulings(decided, number)
    # One key for all predicates of the same meaning would need judgement, so a language model
    # (decision 0020).
    kind = class_of(record.key.relation, own)
    stated = [
        Proposition(object=values[fact.object], negated=fact.negated) for fact in record.facts
    ]
    return LaidOut(
        record=record,
        kind=kind,
        claims=claims,
        retracted=rulings.retracted,
        offsets={
            _ticks(at): offset_of(claim.occurred_at)
            for claim in record.claims
            for at in (claim.valid_from or claim.occurred_at, claim.valid_to)
            if at is not None
        },
        timeline=timeline(str(kind), stated, claims, rulings),
    )


def effective(
    decisions: Sequence[Decision], known_at: datetime | None = None
) -> tuple[Decision, ...]:
    """Select the decisions that count, without undos: made by then, and not undone."""
    return tuple(one for one in not_undone(decisions, known_at) if one.undoes is None)


def not_undone(
    decisions: Sequence[Decision], known_at: datetime | None = None
) -> tuple[Decision, ...]:
    """Select the decisions and undos that were made by then and not undone, in their order."""
    made = sorted(
        (
            decision
            for decision in decisions
            if known_at is None or decision.recorded_at <= known_at
        ),
        key=lambda one: one.number,
    )
    place = {decision.id: row for row, decision in enumerate(made)}
    counts = in_force([place.get(decision.undoes or "", -1) for decision in made])
    return tuple(one for one, count in zip(made, counts, strict=True) if count)


def rows_of(laid: LaidOut) -> tuple[TimelineRow, ...]:
    """Build the row to store for each fact; no rows if values coexist without conflict."""
    record = laid.record
    # Values that coexist need no timeline and cost nothing (docs/explanation/facts.md).
    plain = (
        laid.kind is PredicateClass.MULTI
        and not any(fact.negated for fact in record.facts)
        and not any(claim.end < OPEN for claim in laid.claims)
        and not record.decisions
    )
    return tuple(
        TimelineRow(fact=fact.id) if plain else _row(laid, row)
        for row, fact in enumerate(record.facts)
    )


def _row(laid: LaidOut, row: int) -> TimelineRow:
    spells = laid.intervals(row)
    return TimelineRow(
        fact=laid.record.facts[row].id,
        standing=laid.standing(row),
        held_from=tuple(spell.valid_from.astimezone(UTC) for spell in spells),
        held_until=tuple((spell.valid_to or UNENDING).astimezone(UTC) for spell in spells),
        superseded_by=spells[-1].superseded_by if spells else None,
        contested_by=laid.contested_by(row),
    )


async def settle(transaction: FactTransaction, keys: Iterable[FactKey]) -> tuple[LaidOut, ...]:
    """Recompute, store and return the timelines of these keys."""
    wanted = sorted(set(keys))
    laid = laid_out(await transaction.records(wanted) if wanted else (), transaction.classes)
    # The append that changes a key also writes its timeline: recall is never behind (decision
    # 0020).
    if laid:
        await transaction.save_timelines([row for fact in laid for row in rows_of(fact)])
    return laid


def laid_out(
    records: Iterable[KeyRecord], own: Mapping[str, PredicateClass]
) -> tuple[LaidOut, ...]:
    """Compute the timelines of stored keys; keys with merged names are computed once."""
    shared = {record.facts[0].id: record for record in records}
    return tuple(lay_out(record, own) for record in shared.values())


async def renew(store: FactStore, tenant: TenantId) -> None:
    """Recompute the timelines of touched keys; a consolidation completes interrupted work."""
    keys = await store.touched(tenant, KEYS_AT_ONCE)
    for some in in_parts(keys, KEYS_A_WRITE):

        async def work(transaction: FactTransaction, some: Sequence[FactKey] = some) -> None:
            await settle(transaction, some)
            await transaction.changed()

        await store.change(tenant, work)


def _rulings(decided: Sequence[Decision], number: Mapping[FactId, int]) -> Rulings:
    retracted: set[int] = set()
    together: set[tuple[int, int]] = set()
    intervals: dict[int, tuple[int, int]] = {}
    for decision in decided:
        if decision.fact is None or decision.fact not in number:
            continue
        row = number[decision.fact]
        if decision.ruling is Ruling.RETRACT:
            retracted.add(row)
        elif (
            decision.ruling is Ruling.KEEP_OPEN
            and decision.other is not None
            and decision.other in number
        ):
            pair = sorted((row, number[decision.other]))
            together.add((pair[0], pair[1]))
        elif decision.ruling is Ruling.SET_INTERVAL and decision.valid_from is not None:
            end = OPEN if decision.valid_to is None else _ticks(decision.valid_to)
            intervals[row] = (_ticks(decision.valid_from), end)
    return Rulings(
        retracted=frozenset(retracted), together=frozenset(together), intervals=intervals
    )


def _numbered(names: Iterable[str]) -> dict[str, int]:
    return {name: row for row, name in enumerate(sorted(set(names)))}


def _ticks(at: datetime) -> int:
    return (at - EPOCH) // TICK


def _instant(ticks: int) -> datetime:
    return EPOCH + ticks * TICK
