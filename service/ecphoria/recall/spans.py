"""Which passage of a long memory answers the cue, and which others it has."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from ecphoria.recall.pipeline import Search
from ecphoria.recall.units import count_stems, counting_work
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import HitPassage
from ecphoria.runtime import aside


async def passages_of_hits(
    search: Search, hits: Sequence[EpisodeId]
) -> Mapping[EpisodeId, tuple[HitPassage, ...]]:
    """List each long hit's passages, best first: most of the cue's words, and near in meaning.

    The two count alike: the share of the cue's words by rarity, and the cosine. Short memories
    are absent.
    """
    if not search.seeding.profile.passages or not hits:
        return {}
    found = await search.store.passages_of(search.tenant, hits, search.seeding.vector)
    stems, rarity = search.candidates.stems, search.candidates.rarity
    mass = float(rarity.sum()) or 1.0
    counts = await aside(
        partial(count_stems, found.terms, stems), counting_work(found.terms, stems)
    )
    score = (counts > 0.0) @ rarity / mass + found.cosine
    listed: dict[EpisodeId, list[HitPassage]] = {}
    for row in np.argsort(-score, kind="stable").tolist():
        passage = HitPassage(
            part=int(found.part[row]), start=int(found.start[row]), end=int(found.end[row])
        )
        listed.setdefault(found.episode[row], []).append(passage)
    return {episode: tuple(passages) for episode, passages in listed.items()}
