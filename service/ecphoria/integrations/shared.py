"""Helpers of all adapters: cues, recalled memories, and long lists in pages."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ecphoria.records.recall import LONGEST_CUE, Hit, RecallResult

_Item = TypeVar("_Item")


def in_pages(
    fetch: Callable[[int, int], Sequence[_Item]],
    *,
    most: int,
    limit: int | None = None,
    offset: int = 0,
) -> Iterator[_Item]:
    """Read a list that the service gives in pages of at most `most` entries.

    `fetch` reads up to a number of entries from an offset on. Without a `limit` all are read.
    """
    seen = 0
    while limit is None or seen < limit:
        wanted = most if limit is None else min(most, limit - seen)
        page = fetch(wanted, offset + seen)
        yield from page
        seen += len(page)
        if len(page) < wanted:
            return


def cue_of(message: str) -> str:
    """Cut a message to what a recall reads; the framework chooses it, so it may be very long."""
    return message[:LONGEST_CUE]


def hits_of(result: RecallResult, *, abstain: bool) -> Sequence[Hit]:
    """Give the hits of a recall; with `abstain` none if the gate refused it."""
    return () if abstain and result.verdict.refused else result.hits


def text_of(hit: Hit) -> str:
    """Give the words of a memory; of a long memory the part that matches best."""
    text = hit.episode.text
    return text[hit.passage.start : hit.passage.end] if hit.passage else text


def details_of(hit: Hit, result: RecallResult) -> dict[str, Any]:
    """Describe a hit: the memory's fields and metadata, its score, and the verdict on all hits.

    The memory's own metadata stand under `metadata`, so that they cannot replace a field.
    """
    episode = hit.episode
    return {
        "id": episode.id,
        "score": hit.score,
        "rank": hit.rank,
        "session": episode.session,
        "speaker": episode.speaker,
        "role": episode.role,
        "title": episode.title,
        "source": episode.source,
        "occurred_at": episode.occurred_at.isoformat(),
        "superseded": hit.superseded_at is not None,
        "metadata": dict(episode.metadata),
        "verdict": str(result.verdict),
        "confidence": result.confidence,
        "trace_id": result.trace_id,
    }
