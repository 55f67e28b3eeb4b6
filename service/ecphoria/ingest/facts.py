"""Store the facts that episodes state, and what a model or a caller read in them later."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ecphoria.facts.store import EvidenceRow, FactRow
from ecphoria.facts.timelines import class_of, relation
from ecphoria.ingest.changes import Changes, ReadEpisode, Reading
from ecphoria.ingest.prepare import Prepared, evidence_rows, facts_by_id, key_of
from ecphoria.ingest.store import IngestTransaction
from ecphoria.ports import Vector
from ecphoria.records.episode import usual_reliability
from ecphoria.records.fact import FactKey, PredicateClass
from ecphoria.records.ids import FactId, TenantId
from ecphoria.text.concepts import Candidate, Extraction, Triple, extract
from ecphoria.text.names import is_name

# A found quote does not prove that the fact follows from it (decision 0034).
MOST_RELIABLE = 0.7
"""Highest reliability of a fact that a model read, because the model may have misread the text."""


@dataclass(frozen=True, kw_only=True)
class Restated:
    """A stored episode with its new reading, which replaces the earlier one.

    Attributes:
        by: Name of the model; None for a caller, whose reading replaces everything stated before.
    """

    tenant: TenantId
    stored: ReadEpisode
    reading: Reading
    by: str | None

    @cached_property
    def extraction(self) -> Extraction:
        """The names that the rules find, and the names and claims that were read."""
        stored = self.stored
        return extract(stored.title, stored.text, given=self.reading.found)

    @cached_property
    def claims(self) -> tuple[EvidenceRow, ...]:
        """The evidence for facts that were read later, not sent with the episode."""
        stored = self.stored
        rows = evidence_rows(self.tenant, stored.id, self.extraction.claims, stored.role, self.by)
        return tuple(row for row in rows if row.fact not in stored.sent_facts)

    @cached_property
    def facts(self) -> dict[FactId, Triple]:
        """The facts of the evidence, by id."""
        wanted = {row.fact for row in self.claims}
        every = facts_by_id(self.tenant, self.extraction.claims)
        return {ident: triple for ident, triple in every.items() if ident in wanted}

    @property
    def appeared(self) -> set[str]:
        """Names that it did not state before."""
        return self.names - {*self.stored.sent, *self.stored.read}

    @property
    def vanished(self) -> set[str]:
        """Names that it states no longer."""
        return set(self.stored.read) - self.names

    @cached_property
    def names(self) -> set[str]:
        """Names that it states from now on, read by the model only."""
        return {named.name for named in self.extraction.stated} - set(self.stored.sent)

    @cached_property
    def details(self) -> dict[str, Candidate]:
        """The same names, with what is said of them."""
        return {named.name: named for named in self.extraction.stated if named.name in self.names}


def reliability_of(role: str | None) -> float:
    """Compute the reliability of a fact that a model read in a speaker's words."""
    return min(MOST_RELIABLE, usual_reliability(role))


Stating = Prepared | Restated
"""An episode with the facts that it states."""


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
    evidence = [claim for one in new for claim in sorted(one.claims, key=lambda claim: claim.fact)]
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
