"""Bodies of the doctor."""

from ecphoria.model.checkup import Rule
from ecphoria.wire.base import Answer

__all__ = ["CheckupAnswer", "FindingAnswer", "SymptomAnswer"]


class SymptomAnswer(Answer):
    """One place where a rule is broken."""

    id: str
    """A node's id, a name, a stem or a total."""
    detail: str
    """What is wrong with it."""


class FindingAnswer(Answer):
    """A rule that is broken somewhere."""

    rule: Rule
    """Which one: `GET /v1/doctor` checks them all."""
    found: int
    """How many places there are."""
    symptoms: tuple[SymptomAnswer, ...]
    """The first of them."""


class CheckupAnswer(Answer):
    """What an examination found."""

    is_healthy: bool
    """Whether every rule holds."""
    episodes: int
    """How many episodes were looked at."""
    settled: bool
    """Whether nothing was written meanwhile; else findings may be of the moment: ask again."""
    seconds: float
    """How long it took."""
    findings: tuple[FindingAnswer, ...]
    """What is wrong, by rule."""
