"""What episodes came with: names that are concepts by that alone, and facts with evidence.

The rules' table of names knows nothing of stated names, so that what rules find stays the same
with and without them; here the two are put together.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ecphoria.facts.predicates import class_of, relation
from ecphoria.graph.facts import EvidenceRow, FactRow
from ecphoria.graph.ingest import IngestTransaction
from ecphoria.ingest.prepare import Prepared, key_of
from ecphoria.language.names import is_name
from ecphoria.model.fact import FactKey, PredicateClass
from ecphoria.model.ids import FactId
from ecphoria.ports.world import Vector

__all__ = ["FactChanges", "Standing", "disturbed", "facts_of", "standing"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """Names that become concepts by a write, and those that are none any more; in order."""

    made: tuple[str, ...]
    unmade: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactChanges:
    """Facts new to the store, and who states which."""

    made: tuple[FactRow, ...] = ()
    evidence: tuple[EvidenceRow, ...] = ()


async def standing(
    transaction: IngestTransaction,
    *,
    appeared: Collection[str],
    vanished: Collection[str],
    ruled: Collection[str],
    stated: Mapping[str, int],
) -> Standing:
    """Tell which names begin and end to be concepts, by rule or by statement.

    Args:
        transaction: Knows who states what already.
        appeared: Names the rules make concepts by this write.
        vanished: Names the rules no longer make concepts.
        ruled: Names the rules make concepts, after this write.
        stated: Change of the number of items that state a name.
    """
    if not stated and not transaction.stated:
        return Standing(made=tuple(sorted(appeared)), unmade=tuple(sorted(vanished)))
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
    return Standing(made=tuple(made), unmade=tuple(unmade))


async def facts_of(
    transaction: IngestTransaction, new: Sequence[Prepared], vectors: Mapping[FactId, Vector]
) -> FactChanges:
    """Store each fact once, and every episode that came with it as evidence."""
    stated = {ident: triple for one in new for ident, triple in one.facts.items()}
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
        evidence=tuple(claim for one in new for claim in sorted(one.claims, key=_by_fact)),
    )


async def disturbed(transaction: IngestTransaction, new: Sequence[Prepared]) -> set[FactKey]:
    """List the keys whose timelines new episodes may change.

    Values that stand side by side, with neither an end nor a denial, need none.
    """
    own = transaction.timelines.classes
    sought: set[FactKey] = set()
    found: set[FactKey] = set()
    for claim in (claim for one in new for claim in one.extraction.claims):
        key = key_of(claim.fact)
        plain = class_of(key.relation, own) is PredicateClass.MULTI
        undisturbed = plain and not claim.fact.negated and claim.valid_to is None
        (sought if undisturbed else found).add(key)
    if transaction.timed and (sought := sought - found):
        found.update(await transaction.timed_among(sorted(sought)))
    return found


def _by_fact(claim: EvidenceRow) -> FactId:
    return claim.fact
