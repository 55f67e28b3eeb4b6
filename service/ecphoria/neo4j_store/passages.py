"""Passages as they are written, and reads that several features need."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ecphoria.neo4j_store.encoding import encoded
from ecphoria.neo4j_store.session import Done, Statement
from ecphoria.ports import Vector
from ecphoria.records.history import Charge, Use
from ecphoria.records.ids import EpisodeId
from ecphoria.runtime import in_parts


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageRow:
    """One passage to create.

    Attributes:
        ordinal: Its place among the passages of its episode, from 0 on.
        start, end: Character offsets into the episode's text; `end` is exclusive.
        terms: Stems of the title and the passage with repeats, joined by one blank.
        length: Number of stems.
        vector: None before the passage is encoded.
    """

    id: str
    ordinal: int
    start: int
    end: int
    terms: str
    length: int
    vector: Vector | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUse:
    """The uses of an episode as they are kept; none of one that was never used."""

    id: EpisodeId
    occurred_ms: int
    salience: float | None
    trust_change: float
    use: Use | None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCharge:
    """The charge of an episode of some turn; none of one that was never stimulated."""

    id: EpisodeId
    own: int
    charge: Charge | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A live episode near another one in meaning, and the turns of both."""

    of: EpisodeId
    of_turn: int
    id: EpisodeId
    turn: int
    cosine: float


LIST_NEAREST = Statement("recall.list_nearest", Neighbour)
LIST_CONCEPT_VECTORS = Statement("recall.list_concept_vectors", tuple[str, Vector])
LIST_USES = Statement("learning.list_uses", StoredUse)
LIST_CHARGES = Statement("learning.list_charges", StoredCharge)


def to_use(row: StoredUse) -> Use:
    """Convert a row to the uses of an episode."""
    # A memory that was never recalled has no stored state: the state follows from `occurred_at`,
    # so a tenant that never learns has an unchanged graph (decision 0015).
    return row.use or Use.fresh(
        row.occurred_ms, salience=row.salience, trust_change=row.trust_change
    )


# Passages of one statement; each is about 1.5 kB in the message to the server.
_WRITTEN_AT_ONCE: Final = 500


CREATE_PASSAGES = Statement("ingest.create_passages", Done)
REMOVE_PASSAGES = Statement("ingest.remove_passages", Done)


def passage_groups(
    passages: Mapping[EpisodeId, Sequence[PassageRow]],
) -> Iterator[list[dict[str, Any]]]:
    """Group passages by episode, sorted by id, into the parameters of several statements."""
    groups: list[dict[str, Any]] = []
    size = 0
    for episode, rows in sorted(passages.items()):
        for part in in_parts(rows, _WRITTEN_AT_ONCE):
            if size + len(part) > _WRITTEN_AT_ONCE:
                yield groups
                groups, size = [], 0
            groups.append({"episode": episode, "rows": [encoded(row) for row in part]})
            size += len(part)
    if groups:
        yield groups
