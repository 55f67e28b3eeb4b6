"""Update the timelines of facts that changed, so that newer facts supersede older ones.

Appends and decisions update the timelines that they change at once. This step updates facts from
before timelines existed, and completes interrupted changes of a class (decision 0020).
"""

from collections import Counter
from collections.abc import Sequence

from ecphoria.consolidation.service import TOLD, Cycle
from ecphoria.facts.store import FactStore, FactTransaction
from ecphoria.facts.timelines import KEYS_A_WRITE, KEYS_AT_ONCE, LaidOut, laid_out, rows_of, settle
from ecphoria.records.fact import UNENDING as OPEN_END
from ecphoria.records.fact import FactKey, Standing
from ecphoria.records.job import Change, StepOutcome


class Supersede:
    """Computes and stores the timelines of touched facts, by subject and predicate.

    It is a pure function of claims and decisions: the same facts give the same times in any order,
    and a second run finds no touched facts.
    """

    name = "supersede"

    def __init__(self, store: FactStore) -> None:
        self._store = store

    async def run(self, cycle: Cycle) -> StepOutcome:
        """Update the timelines of all touched facts."""
        keys = await self._store.touched(cycle.tenant, KEYS_AT_ONCE)
        counts = Counter(keys=len(keys), superseded=0, contested=0, reopened=0)
        changes: list[Change] = []
        async for some in cycle.chunks(keys, KEYS_A_WRITE, "supersede: lay out"):
            for change in await self._lay_out(cycle, some):
                counts[_COUNTED[change.kind]] += 1
                changes.append(change)
        return StepOutcome(counts=counts, changes=tuple(changes[:TOLD]))

    async def _lay_out(self, cycle: Cycle, keys: Sequence[FactKey]) -> list[Change]:
        if cycle.dry_run:
            own, records = await self._store.read(cycle.tenant, keys)
            return _changes(laid_out(records, own))

        async def work(transaction: FactTransaction) -> list[Change]:
            laid = await settle(transaction, keys)
            await transaction.changed()
            return _changes(laid)

        return await self._store.change(cycle.tenant, work, cycle.lease)


_COUNTED = {"supersede": "superseded", "contest": "contested", "reopen": "reopened"}


def _changes(laid: Sequence[LaidOut]) -> list[Change]:
    """List the changed facts by ids and dates, without words, which are memory text."""
    changes: list[Change] = []
    pairs = (
        pair
        for timed_fact in laid
        for pair in zip(timed_fact.record.facts, rows_of(timed_fact), strict=True)
    )
    for fact, row in pairs:
        end = row.held_until[-1] if row.held_until else OPEN_END
        if end < OPEN_END and fact.valid_to != end:
            by = f" by fact {row.superseded_by}" if row.superseded_by else " as it was stated"
            changes.append(
                Change(kind="supersede", id=fact.id, detail=f"ended {end:%Y-%m-%d}{by}")
            )
        elif end == OPEN_END and fact.valid_to is not None:
            detail = f"had ended {fact.valid_to:%Y-%m-%d}"
            changes.append(Change(kind="reopen", id=fact.id, detail=detail))
        if row.standing is Standing.CONTESTED and fact.contested_by != row.contested_by:
            detail = f"fact {row.contested_by} has better evidence for the same time"
            changes.append(Change(kind="contest", id=fact.id, detail=detail))
    return changes
