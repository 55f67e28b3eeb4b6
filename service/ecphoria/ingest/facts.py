"""Store the facts that episodes state."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from ecphoria.facts.store import EvidenceRow, FactRow
from ecphoria.facts.timelines import class_of, relation
from ecphoria.ingest.changes import Changes
from ecphoria.ingest.prepare import key_of
from ecphoria.ingest.store import IngestTransaction
from ecphoria.ports import Vector
from ecphoria.records.fact import FactKey, PredicateClass
from ecphoria.records.ids import FactId
from ecphoria.text.concepts import Extraction, Triple
from ecphoria.text.names import is_name


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


async def add_facts(
    transaction: IngestTransaction,
    new: Sequence[Stating],
    vectors: Mapping[FactId, Vector],
    changes: Changes,
) -> None:
    """Store each fact once, and each episode that states it as evidence."""
    stated = {ident: triple for one in new for ident, triple in one.facts.items()}
    if not stated:
        return
    known = await transaction.facts.existing(sorted(stated))
    changes.facts_made += (
        _fact_row(ident, triple, vectors[ident])
        for ident, triple in sorted(stated.items())
        if ident not in known
    )
    evidence = [claim for one in new for claim in sorted(one.claims, key=_by_fact)]
    changes.evidence_added += evidence
    changes.stated += len(evidence)


async def disturbed(transaction: IngestTransaction, new: Sequence[Stating]) -> set[FactKey]:
    """List the keys of facts whose timelines new episodes may change.

    A key whose values coexist, without an end or a denial, needs no timeline.
    """
    own = transaction.facts.classes
    sought: set[FactKey] = set()
    found: set[FactKey] = set()
    for claim in (claim for one in new for claim in one.extraction.claims):
        key = key_of(claim.fact)
        plain = class_of(key.relation, own) is PredicateClass.MULTI
        undisturbed = plain and not claim.fact.negated and claim.valid_to is None
        (sought if undisturbed else found).add(key)
    if transaction.counters.timed and (sought := sought - found):
        found.update(await transaction.facts.timed_among(sorted(sought)))
    return found


def _fact_row(ident: FactId, triple: Triple, vector: Vector) -> FactRow:
    return FactRow(
        id=ident,
        subject=triple.subject,
        predicate=triple.predicate,
        object=triple.object,
        subject_concept=triple.subject if is_name(triple.subject) else None,
        object_concept=triple.object if is_name(triple.object) else None,
        statement=triple.statement,
        vector=vector,
        relation=relation(triple.predicate),
        qualifier=triple.qualifier,
        negated=triple.negated,
    )


def _by_fact(claim: EvidenceRow) -> FactId:
    return claim.fact
