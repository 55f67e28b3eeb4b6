"""Episodes and hits to write a context from."""

from datetime import UTC, datetime

from ecphoria.records.episode import Episode, State
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Hit, HitPassage

__all__ = ["episode", "hit"]


def episode(
    text: str,
    *,
    turn: int = 1,
    speaker: str | None = "Ana",
    title: str | None = None,
    role: str | None = None,
    source: str | None = None,
    day: int = 1,
) -> Episode:
    at = datetime(2025, 3, day, 10, tzinfo=UTC)
    return Episode(
        id=EpisodeId(f"e{turn}"), turn=turn, text=text, title=title,
        speaker=speaker, role=role, session=None, ordinal=None, position=None, occurred_at=at,
        recorded_at=at, source=source, metadata={}, importance=0.5, kind="episodic",
        state=State.LIVE,
    )  # fmt: skip


def hit(
    rank: int,
    text: str,
    *,
    passages: tuple[HitPassage, ...] = (),
    copies: int = 0,
    outdated: datetime | None = None,
    speaker: str | None = "Ana",
    title: str | None = None,
    role: str | None = None,
    source: str | None = None,
    day: int | None = None,
    follows: int | None = None,
) -> Hit:
    told = {"speaker": speaker, "title": title, "role": role, "source": source}
    return Hit(
        episode=episode(text, turn=rank, day=day or rank, **told),
        rank=rank, score=1.0 / rank, parts={"text": 1.0 / rank}, path=(),
        superseded_at=outdated, copies=tuple(EpisodeId(f"c{each}") for each in range(copies)),
        passage=next(iter(passages), None), passages=passages, follows=follows,
    )  # fmt: skip
