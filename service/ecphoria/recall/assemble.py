"""From a ranking to an answer: hits with texts and paths, and near misses."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ecphoria.recall.currency import Superseded
from ecphoria.recall.pipeline import Ranked
from ecphoria.records.episode import Episode, excerpt, headline
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Hit, HitPassage, NearMiss, PathStep, Wave

MISSES = 3
"""Near misses that an answer tells."""


def needed(ranked: Ranked, k: int) -> list[EpisodeId]:
    """List the episodes an answer shows: hits, near misses and what lies on the paths."""
    shown = dict.fromkeys(ranked.ids[: k + MISSES])
    for episode in ranked.ids[:k]:
        steps = ranked.path(episode)
        shown.update(dict.fromkeys(EpisodeId(s.node) for s in steps if s.kind == "episode"))
    return list(shown)


def hits_of(
    ranked: Ranked,
    k: int,
    episodes: Mapping[str, Episode],
    behind: Mapping[EpisodeId, Superseded],
    *,
    copies: Mapping[EpisodeId, tuple[EpisodeId, ...]],
    passages: Mapping[EpisodeId, Sequence[HitPassage]],
) -> tuple[Hit, ...]:
    """Join ranks, scores, parts, texts and paths; what was deleted meanwhile is left out.

    Args:
        ranked: The ranking.
        k: Number of hits.
        episodes: The texts, by id.
        behind: What is outdated.
        copies: Other memories that say the same as a ranked one, newest last.
        passages: Of long episodes, the passage that matches best first, then the others.
    """
    rows = [row for row, one in enumerate(ranked.ids[:k]) if one in episodes]
    hits = (
        Hit(
            episode=episodes[ranked.ids[row]],
            rank=place,
            score=float(ranked.parts[row].sum()),
            parts=_parts(ranked, row),
            path=_labelled(ranked.path(ranked.ids[row]), episodes),
            copies=copies.get(ranked.ids[row], ()),
            passage=next(iter(passages.get(ranked.ids[row], ())), None),
            passages=tuple(passages.get(ranked.ids[row], ())),
        )
        for place, row in enumerate(rows, 1)
    )
    return tuple(_marked(hit, behind.get(hit.episode.id)) for hit in hits)


def _marked(hit: Hit, late: Superseded | None) -> Hit:
    return hit if late is None else replace(hit, superseded_at=late.at, superseded_by=late.by)


def misses_of(ranked: Ranked, k: int, episodes: Mapping[str, Episode]) -> tuple[NearMiss, ...]:
    """Name the memories just below the cut."""
    below = zip(ranked.ids[k : k + MISSES], ranked.score[k : k + MISSES], strict=True)
    return tuple(
        NearMiss(episode=one, score=float(score), text=excerpt(episodes[one].text))
        for one, score in below
        if one in episodes
    )


def summed_up(waves: Sequence[Wave]) -> tuple[Wave, ...]:
    """Keep of each wave how much moved, and count its arcs instead of listing them."""
    return tuple(
        replace(wave, arcs=(), arcs_left_out=wave.arcs_left_out + len(wave.arcs)) for wave in waves
    )


def _parts(ranked: Ranked, row: int) -> dict[str, float]:
    return dict(zip(ranked.part_names, ranked.parts[row].tolist(), strict=True))


def _labelled(path: Sequence[PathStep], episodes: Mapping[str, Episode]) -> tuple[PathStep, ...]:
    return tuple(
        replace(step, label=step.label or _label(episodes.get(step.node))) for step in path
    )


def _label(episode: Episode | None) -> str:
    return "" if episode is None else headline(episode.title, episode.speaker, episode.text)
