"""What the doctor needs: the stored counts, what they count, and what the store finds itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from ecphoria.model.checkup import Finding
from ecphoria.model.ids import TenantId

__all__ = ["Account", "NameCounts", "Patient", "Said", "TermCounts", "Totals"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """A tenant's counters as stored.

    Attributes:
        stated: The stored number of names and facts that episodes came with.
        came_with: The same, as its names and its evidence say.
        passages, passage_length: The stored number of passages, and of their stems.
        passages_found, passage_length_found: The same, as the passages say.
        cut_after: Episodes behind this turn may still wait for their passages; None: none does.
    """

    change: int
    turn: int
    items: int
    titles: int
    length: int
    near_length: float
    stated: int
    came_with: int
    passages: int = 0
    passages_found: int = 0
    passage_length: int = 0
    passage_length_found: int = 0
    cut_after: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What one episode adds to the counts.

    Attributes:
        session: Empty for documents and notes.
        terms: Its stems, joined by blanks; None where they are not in the store.
        live: Whether recall can find it.
    """

    id: str
    turn: int
    session: str
    ordinal: int | None
    titled: bool
    length: int
    near_length: float
    terms: str | None
    live: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TermCounts:
    """How many items have a stem, and how many it reaches over NEXT."""

    items: int
    near: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an episode says; its text is None where it is archived.

    Attributes:
        passages: How many it has.
    """

    turn: int
    title: str | None
    text: str | None
    id: str = ""
    passages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NameCounts:
    """How many items have a name as their title, and how many as a candidate in their text."""

    titles: int
    candidates: int


class Patient(Protocol):
    """A store that lets itself be examined; it is only read."""

    async def totals(self, tenant: TenantId) -> Totals:
        """Read the counters; NotFound without the tenant."""
        ...

    async def accounts(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Account]:
        """List what episodes add to the counts, by turn."""
        ...

    async def terms(self, tenant: TenantId) -> Mapping[str, TermCounts]:
        """Read the stored counts of every stem."""
        ...

    async def said(self, tenant: TenantId, after_turn: int, limit: int) -> Sequence[Said]:
        """List what episodes say, by turn."""
        ...

    async def words(self, tenant: TenantId) -> Mapping[str, int]:
        """Read of how many items it is stored that they have a word in lower case."""
        ...

    async def names(self, tenant: TenantId) -> Mapping[str, NameCounts]:
        """Read the stored counts of every name."""
        ...

    async def indexed(self, tenant: TenantId) -> frozenset[str]:
        """Name the episodes that the text index holds."""
        ...

    async def findings(self, tenant: TenantId, limit: int) -> Sequence[Finding]:
        """Check what the store can check by itself, with at most `limit` symptoms a rule."""
        ...
