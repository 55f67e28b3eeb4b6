"""Episodes as the store keeps them, and back."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from ecphoria.graph.changes import EpisodeRow
from ecphoria.graph.executor import packed
from ecphoria.model.episode import Episode, State
from ecphoria.model.ids import EpisodeId, TenantId

__all__ = ["StoredEpisode", "to_episode", "to_groups"]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEpisode:
    """An episode's columns; no session or speaker is the empty string, so that ranges see it."""

    id: str
    tenant: str
    turn: int
    text: str
    title: str | None
    speaker: str
    role: str | None
    session: str
    ordinal: int | None
    position: int | None
    occurred_at: datetime
    recorded_at: datetime
    source: str | None
    metadata: str
    importance: float
    state: str


def to_episode(stored: StoredEpisode) -> Episode:
    """Build the episode a row describes."""
    return Episode(
        id=EpisodeId(stored.id),
        tenant=TenantId(stored.tenant),
        turn=stored.turn,
        text=stored.text,
        title=stored.title,
        speaker=stored.speaker or None,
        role=stored.role,
        session=stored.session or None,
        ordinal=stored.ordinal,
        position=stored.position,
        occurred_at=stored.occurred_at,
        recorded_at=stored.recorded_at,
        source=stored.source,
        metadata=json.loads(stored.metadata),
        importance=stored.importance,
        state=State(stored.state),
    )


def to_groups(rows: Sequence[EpisodeRow]) -> list[dict[str, Any]]:
    """Gather new episodes by session and speaker, so that each is looked up once a batch."""
    groups: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in sorted(rows, key=lambda row: row.turn):
        groups.setdefault((row.session or "", row.speaker or ""), []).append(_to_map(row))
    return [
        {"session": session, "speaker": speaker, "rows": members}
        for (session, speaker), members in sorted(groups.items())
    ]


def _to_map(row: EpisodeRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "turn": row.turn,
        "text": row.text,
        "title": row.title,
        "role": row.role,
        "ordinal": row.ordinal,
        "position": row.position,
        **_instant("occurred", row.occurred_at),
        **_instant("recorded", row.recorded_at),
        "source": row.source,
        "metadata": json.dumps(dict(row.metadata), ensure_ascii=False, sort_keys=True),
        "importance": row.importance,
        "body_hash": row.body_hash,
        "idempotency_key": row.idempotency_key,
        "terms": row.terms,
        "words": row.words,
        "length": row.length,
        "near_length": row.near_length,
        "context_norm": row.context_norm,
        "length_prior": row.length_prior,
        "is_question": row.is_question,
        "time_expression": row.time_expression,
        "first_person": row.first_person,
        "second_person": row.second_person,
        "vector": packed(row.vector),
    }


def _instant(name: str, at: datetime) -> dict[str, int]:
    """Send an instant as numbers, which the driver packs a hundred times faster."""
    since = at - _EPOCH
    return {
        f"{name}_s": since.days * 86_400 + since.seconds,
        f"{name}_ns": since.microseconds * 1_000,
    }
