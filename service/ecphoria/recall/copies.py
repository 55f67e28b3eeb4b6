"""Load the memories an answer shows, and join near copies into one hit.

Two memories are copies if the same person says the same words: the same words in the same order,
whatever the case, the punctuation, an interjection in front, and words that only stress. Vectors
are not compared: by the default model "We moved from Bath to Bristol" and "We moved from Bristol
to Bath" have a cosine of .99, but "I like espresso" and "Oh, I like espresso!" one of .94.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from ecphoria.recall.assemble import MISSES, needed
from ecphoria.recall.candidates import Candidates
from ecphoria.recall.currency import Superseded
from ecphoria.recall.pipeline import Ranked, Search
from ecphoria.records.episode import Episode
from ecphoria.records.ids import EpisodeId
from ecphoria.runtime import aside
from ecphoria.text.tokens import DENIALS, INTENSIFIERS, INTERJECTIONS, MARKS, RELATIVE_DATE

_LOOKED_AT = 200
"""Ranked memories in which copies are looked for, beside those an answer shows."""

_ROUNDS = 4
"""Look-ups at most. One is enough unless memories outside the candidates are copies."""

_LONGEST = 2_000
"""Characters; longer texts are copies only if they are equal."""

_MARK = re.compile(r"[.,;:!\u2026]+(?=\s|$)|[\"\u201c\u201d\u201e\u00ab\u00bb]")
_TOKEN = re.compile(rf"[-+\u2212]?\d+(?:[.,:]\d+)*|[\w{MARKS}]+|\?+|[^\w\s]")

Key = tuple[str | None, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shown:
    """What an answer shows.

    Attributes:
        ranked: The ranking without the copies.
        episodes: The texts, by id.
        copies: The other copies of a ranked memory, newest last.
    """

    ranked: Ranked
    episodes: Mapping[str, Episode]
    copies: Mapping[EpisodeId, tuple[EpisodeId, ...]]


async def load_shown(
    search: Search,
    ranked: Ranked,
    behind: Mapping[EpisodeId, Superseded],
    *,
    k: int,
    collapse: bool,
) -> Shown:
    """Fetch the texts of the best memories; with `collapse`, join copies and fill up to k.

    The stems of the candidates tell which memories may be copies, so that other texts are not
    fetched for it.
    """
    if not collapse:
        found = await search.store.episodes(search.tenant, needed(ranked, k))
        return Shown(ranked=ranked, episodes={one.id: one for one in found}, copies={})
    episodes: dict[str, Episode] = {}
    tried: set[EpisodeId] = set()
    suspects = _suspects(ranked, search.candidates, k + MISSES)
    first = [episode for group in suspects for episode in group]
    apart = _without(ranked, {episode for group in suspects for episode in group[1:]})
    shown = Shown(ranked=ranked, episodes=episodes, copies={})
    wanted = list(dict.fromkeys((*first, *needed(apart, k))))
    for _ in range(_ROUNDS):
        missing = [episode for episode in wanted if episode not in tried]
        if not missing:
            break
        tried.update(missing)
        for episode in await search.store.episodes(search.tenant, missing):
            episodes[episode.id] = episode
        size = sum(len(one.text) for one in episodes.values())
        shown = await aside(partial(_joined, ranked, episodes, behind), size)
        wanted = needed(shown.ranked, k)
    return shown


def same_words(text: str) -> tuple[str, ...]:
    """Reduce a text to what a copy of it must share.

    Words, numbers, question marks and signs stay, in order. Case, other punctuation,
    interjections in front and words that only stress go.
    """
    if len(text) > _LONGEST:
        return (text,)
    tokens = _TOKEN.findall(_MARK.sub(" ", text.casefold().replace("\u2019", "'")))
    start = 0
    while start < len(tokens) - 1 and tokens[start] in INTERJECTIONS:
        start += 1
    kept: list[str] = []
    for token in tokens[start:]:
        if token not in INTENSIFIERS or (kept and kept[-1] in DENIALS):
            kept.append("?" if token.startswith("?") else token)
    return tuple(kept) or (text,)


def _suspects(ranked: Ranked, candidates: Candidates, count: int) -> list[list[EpisodeId]]:
    """Group the best memories by speaker and stems, until there are `count` groups."""
    groups: dict[Key, list[EpisodeId]] = {}
    columns = candidates.columns
    for episode in ranked.ids[: count + _LOOKED_AT]:
        row = candidates.row.get(episode)
        key: Key = (
            (episode,)
            if row is None
            else (columns.terms[row], _folded(columns.speaker[row]), columns.title[row])
        )
        if key in groups or len(groups) < count:
            groups.setdefault(key, []).append(episode)
    return list(groups.values())


def _joined(
    ranked: Ranked, episodes: Mapping[str, Episode], behind: Mapping[EpisodeId, Superseded]
) -> Shown:
    """Keep of each memory the best ranked copy."""
    kept: dict[Key, EpisodeId] = {}
    copies: dict[EpisodeId, list[Episode]] = {}
    for ident in ranked.ids:
        episode = episodes.get(ident)
        if episode is None:
            continue
        best = kept.setdefault((*_key(episode), str(ident in behind)), ident)
        if best != ident:
            copies.setdefault(best, []).append(episode)
    for group in copies.values():
        group.sort(key=lambda episode: (episode.occurred_at, episode.turn))
    return Shown(
        ranked=_without(ranked, {episode.id for group in copies.values() for episode in group}),
        episodes=episodes,
        copies={best: tuple(one.id for one in group) for best, group in copies.items()},
    )


def _key(episode: Episode) -> Key:
    """Say of what kind of copy a memory is; "today" means the same only on the same day."""
    day = f"{episode.occurred_at:%Y-%m-%d}" if RELATIVE_DATE.search(episode.text) else None
    speaker = _folded(episode.speaker)
    return (speaker, episode.role, episode.title, day, *same_words(episode.text))


def _without(ranked: Ranked, left_out: set[EpisodeId]) -> Ranked:
    if not left_out:
        return ranked
    rows = [row for row, episode in enumerate(ranked.ids) if episode not in left_out]
    return replace(
        ranked,
        ids=tuple(ranked.ids[row] for row in rows),
        score=ranked.score[rows],
        parts=ranked.parts[rows],
    )


def _folded(speaker: str | None) -> str | None:
    return None if speaker is None else speaker.casefold()
