"""What an examination of a tenant's graph finds wrong."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = ["Checkup", "Finding", "Rule", "Symptom"]


class Rule(StrEnum):
    """What must hold of every tenant's graph."""

    COUNTS = "counts"
    CHAINS = "chains"
    EDGES = "edges"
    ORPHANS = "orphans"
    PROVENANCE = "provenance"
    INDEXES = "indexes"
    STATES = "states"
    ARCHIVE = "archive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Symptom:
    """One place where a rule is broken.

    Attributes:
        id: A node's id, a name, a stem or a total.
        detail: What is wrong with it, in words; no memory's text.
    """

    id: str
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A rule that is broken somewhere.

    Attributes:
        found: How many places there are.
        symptoms: The first of them.
    """

    rule: Rule
    found: int
    symptoms: tuple[Symptom, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """The result of an examination.

    Attributes:
        episodes: How many were looked at.
        settled: Whether nothing was written meanwhile; else findings may be of the moment.
        findings: What is wrong, by rule; empty in a healthy graph.
    """

    episodes: int
    settled: bool
    seconds: float
    findings: tuple[Finding, ...]

    @property
    def is_healthy(self) -> bool:
        """Whether every rule holds."""
        return not self.findings
