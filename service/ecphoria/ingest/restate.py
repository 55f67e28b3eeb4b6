"""Store names and facts that a language model or a caller read in stored episodes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ecphoria.facts.store import EvidenceRow
from ecphoria.ingest.changes import ReadEpisode, Reading
from ecphoria.ingest.prepare import evidence_rows, facts_by_id
from ecphoria.records.episode import usual_reliability
from ecphoria.records.ids import EpisodeId, FactId, TenantId
from ecphoria.text.concepts import Candidate, Extraction, Triple, extract

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
        rows = evidence_rows(
            self.tenant, EpisodeId(stored.id), self.extraction.claims, stored.role, self.by
        )
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


def ids_of(readings: Sequence[Reading]) -> list[EpisodeId]:
    """List the ids sorted, so that all writers lock episodes in the same order."""
    return sorted(reading.episode for reading in readings)
