"""The turns that follow an open question, for the context.

The turn with the decision ("OK, chi it is") often has no word of the cue, but the question before
it does ("Which router should I take?"). So the context shows the next turns of such a hit too.
These turns are no hits: they change no rank, score or verdict.
"""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from ecphoria.recall.frame import Frame
from ecphoria.recall.outdated import standings_of, superseded_by
from ecphoria.recall.pipeline import Search
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import Hit
from ecphoria.text.asking import leaves_open
from ecphoria.text.cue import without_caption

# A decision often has no word of the cue ("OK, chi it is."); the question before it does
# (docs/explanation/context.md).
FIRST: Final = 5
"""Number of best hits whose next turns are shown after an open question."""

MOST: Final = 2
"""Largest number of turns that are shown for one hit."""

_AHEAD = 4
"""Number of following positions in the session that are searched; some may be hits or hidden."""


async def load_followers(search: Search, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Load the turns that follow the open questions among the first hits.

    Only candidates that may be hits are taken, so every filter and view of the recall holds.

    Returns:
        The turns in the form of hits without a score. Their numbers continue after the last rank.
    """
    after = _following(search.frame, hits)
    if not after:
        return ()
    episodes, standings = await asyncio.gather(
        search.store.episodes(search.tenant, list(after)), standings_of(search, list(after))
    )
    behind = superseded_by(standings)
    by_id = {episode.id: episode for episode in episodes}
    found = [by_id[turn] for turn in after if turn in by_id]
    return tuple(
        Hit(
            episode=episode,
            trust=episode.trust,
            rank=number,
            score=0.0,
            parts={},
            path=(),
            superseded_at=behind[episode.id].at_for(episode) if episode.id in behind else None,
            follows=after[episode.id],
        )
        for number, episode in enumerate(found, 1 + max(hit.rank for hit in hits))
    )


def _following(frame: Frame, hits: Sequence[Hit]) -> dict[EpisodeId, int]:
    """Find the next turns, each with the rank of the hit that it follows."""
    known = {episode for hit in hits for episode in (hit.episode.id, *hit.copies)}
    found: dict[EpisodeId, int] = {}
    for hit in hits[:FIRST]:
        if hit.echo or not leaves_open(without_caption(hit.episode.text)):
            continue
        turns = _next_turns(frame, hit.episode.id)
        fresh = (turn for turn in turns if turn not in known)
        found.update((turn, hit.rank) for turn in islice(fresh, MOST) if turn not in found)
    return found


def _next_turns(frame: Frame, episode: EpisodeId) -> Iterator[EpisodeId]:
    """List the turns behind an episode in its session that may be hits, in order."""
    row = frame.row.get(episode)
    if row is None or frame.session[row] is None:
        return
    # The rows are ordered by session and place.
    for later in range(row + 1, len(frame.id)):
        far = frame.ordinal[later] > frame.ordinal[row] + _AHEAD
        if far or frame.session[later] != frame.session[row]:
            return
        if frame.inside[later]:
            yield frame.id[later]
