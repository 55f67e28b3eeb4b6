"""Rows that an append reads."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ecphoria.records.episode import Extracted
from ecphoria.records.ids import EpisodeId


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPlace:
    """The place of a turn in its session.

    Attributes:
        position: The caller's order among turns of one time; None counts as 0.
        sequence: Its number among the tenant's appends.
        ordinal: Its place among the turns, from 0 on; None of a turn that is not stored yet.
    """

    session: str
    id: EpisodeId
    occurred_at: datetime
    position: int | None
    sequence: int
    ordinal: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredBody:
    """The text of a stored episode, for a repeated extraction.

    Attributes:
        mentions: The concepts (normalised) it mentions so far.
    """

    id: EpisodeId
    title: str | None
    text: str
    mentions: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NameState:
    """The stored state of a name, which is a concept or may become one.

    Attributes:
        normalised: Lower case letters and digits, single spaces.
        surface: How it was written when first seen.
        titles: Number of documents with this title.
        candidates: Number of items that contain it as a candidate in their body.
        live: Whether it is a concept node.
        stated: Number of items that state it.
    """

    normalised: str
    surface: str
    kind: str
    titles: int
    candidates: int
    live: bool
    stated: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedBy:
    """The names sent with an episode, and the number of its facts."""

    names: frozenset[str]
    facts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """The names and facts that a language model found in a stored episode, or a caller.

    Attributes:
        found: The names and facts.
        extracted_by: The mark to store on the episode: the model and a hash of its prompt;
            None for a caller.
    """

    episode: EpisodeId
    found: Extracted
    extracted_by: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadEpisode:
    """A stored live episode, with the names and facts it has so far.

    Attributes:
        mentions: All concepts it mentions, normalised.
        sent, read: Those of them that were sent with it, and that a model read.
        sent_facts: Ids of the facts that were sent with it.
        read_facts: Number of facts that a model read.
    """

    id: str
    title: str | None
    text: str
    role: str | None
    occurred_at: datetime
    mentions: list[str]
    sent: list[str]
    read: list[str]
    sent_facts: list[str]
    read_facts: int

    def replaceable(self) -> "ReadEpisode":
        """Mark sent names and facts as read by a model, so that all are replaced."""
        return replace(
            self,
            sent=[],
            read=sorted({*self.sent, *self.read}),
            sent_facts=[],
            read_facts=self.read_facts + len(self.sent_facts),
        )
