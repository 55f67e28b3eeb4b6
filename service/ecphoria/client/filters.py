"""Filters of episodes, as keyword arguments of the client's calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TypedDict

from ecphoria import records, wire
from ecphoria.client.exchange import body_of


class ListFilters(TypedDict, total=False):
    """Filters of episodes; each of them may be left out.

    Attributes:
        session: Only this session.
        speaker: Only what this speaker said, named in any case.
        role: Only what speakers of this role said.
        kind: Only memories of this kind: `episodic`, `semantic` or `procedural`.
        metadata: Only episodes whose metadata meet these conditions: values to equal, or
            comparisons such as `{"$gte": 4}`.
        occurred_from: Nothing earlier; with a time zone.
        occurred_before: Nothing at or after this instant; with a time zone.
    """

    session: str | None
    speaker: str | None
    role: str | None
    kind: records.episode.MemoryKind | None
    metadata: Mapping[str, records.episode.MetadataCondition] | None
    occurred_from: datetime | None
    occurred_before: datetime | None


class EpisodeFilters(ListFilters, total=False):
    """Filters of a list of episodes, with four of its own.

    Attributes:
        ids: Only these episodes; at most 100.
        state: Only `live`, `dormant` or `archived` ones.
        pinned: Only pinned ones, or with false only others.
        as_of: Only what had occurred by then; with a time zone.
    """

    ids: Sequence[str]
    state: records.episode.State | str | None
    pinned: bool | None
    as_of: datetime | None


class RecallFilters(ListFilters, total=False):
    """Filters of a recall, a question or an erasure: those of episodes, and two more.

    Attributes:
        exclude: Ids of episodes to leave out, as if they were not stored; at most 1,000.
        sessions: Only these sessions; at most 100.
    """

    exclude: Sequence[str]
    sessions: Sequence[str]


def erasure_of(
    ids: Sequence[str], filters: RecallFilters, *, dry_run: bool = False
) -> wire.episodes.EraseRequest:
    """Make the body of an erasure."""
    only = body_of(records.recall.Filters, **filters)
    return body_of(wire.episodes.EraseRequest, ids=tuple(ids), filters=only, dry_run=dry_run)
