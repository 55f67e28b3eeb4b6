"""Seeds of the mechanisms: the nodes where the cue enters, each with its level as energy.

The best memory and a lone named concept have level 1.
"""

from collections.abc import Callable

from ecphoria.recall.pipeline import Pool, Search
from ecphoria.recall.ports import FoundConcept
from ecphoria.recall.walk import concept_seed, episode_seed
from ecphoria.records.traced import SeedRecord, Stream


async def near_anchors(search: Search, count: int) -> tuple[SeedRecord, ...]:
    """Find the concepts nearest to the cue in meaning, without those that it names.

    The level of each is its cosine (SYNAPSE, Eq. 1).
    """
    vector = search.seeding.vector
    if not count or vector is None:
        return ()
    known = {concept.id for concept in search.seeding.concepts}
    found = await search.store.near_concepts(search.tenant, vector, count + len(known))
    near = [concept for concept in found if concept.id not in known and concept.cosine > 0.0]
    return tuple(
        concept_seed(concept.id, concept.name, Stream.VECTOR, concept.cosine)
        for concept in near[:count]
    )


def cosine_anchors(search: Search, count: int) -> list[SeedRecord]:
    """Take the first memories of each index, in the order of the index, with their cosine.

    A negative cosine counts as 0, because activation is never negative.
    """
    streams = ((Stream.TEXT, search.seeding.by_text), (Stream.VECTOR, search.seeding.by_vector))
    first = {row.id: stream for stream, rows in reversed(streams) for row in rows[:count]}
    row, cosine = search.frame.row, search.frame.cosine
    return [
        episode_seed(one, stream, float(cosine[row[one]]))
        for one, stream in first.items()
        if one in row and cosine[row[one]] > 0.0
    ]


def anchors(
    search: Search, pool: Pool, count: int, level: Callable[[FoundConcept], float]
) -> tuple[SeedRecord, ...]:
    """Take the best of each index and the concepts the cue names.

    Args:
        search: The recall under way, with what the indexes found.
        pool: The text scores.
        count: Memories from each index.
        level: Of a named concept.
    """
    chosen: dict[str, tuple[Stream, float]] = {}
    streams = ((Stream.TEXT, search.seeding.by_text), (Stream.VECTOR, search.seeding.by_vector))
    for stream, rows in streams:
        for episode, score in pool.best((row.id for row in rows), count):
            chosen.setdefault(episode, (stream, score))
    top = max((score for _, score in chosen.values()), default=0.0) or 1.0
    episodes = (episode_seed(one, stream, score / top) for one, (stream, score) in chosen.items())
    named = (
        concept_seed(concept.id, concept.name, Stream.NAME, level(concept))
        for concept in search.seeding.concepts
    )
    return (*episodes, *named)
