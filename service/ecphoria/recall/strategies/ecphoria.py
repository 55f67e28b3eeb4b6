"""The default strategy: words spread over NEXT, speakers told apart, concepts as bridges.

Its weights and constants were measured (see the docs' page on recall); a part that a store does
not support (no sessions, no speakers, no titles) is 0 there by itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.concept_channel import ChannelOptions, boost
from ecphoria.maths.fusion import (
    PARTS,
    TextBounds,
    TextSignals,
    TextWeights,
    bounds_of,
    rank,
    recipe_score,
)
from ecphoria.recall.candidates import Candidates, gather_more, holder
from ecphoria.recall.options import parameter
from ecphoria.recall.ports import NearFacts
from ecphoria.recall.strategies.channel import Woken, walk
from ecphoria.recall.strategies.evidence import next_wave, seed_records, text_path
from ecphoria.recall.strategies.strategy import Ranked, Search
from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import PathStep

FloatArray = NDArray[np.float64]
_TRACED_HITS = 10
_TINY = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class EcphoriaOptions:
    """Weights of the recipe; setting one to 0 switches its signal off."""

    w_lex: float = parameter(0.28, "Words, spread over NEXT.", low=0, high=2, source="fit")
    w_sem: float = parameter(
        0.17, "Cosine of the memory and its passages.", low=0, high=2, source="fit"
    )
    w_ctx: float = parameter(0.13, "Cosine with its neighbours.", low=0, high=2, source="fit")
    w_speaker: float = parameter(
        0.20, "Spoken by the one whom the cue is about.", low=0, high=2, source="fit"
    )
    w_length: float = parameter(
        0.10, "Turns of about 30 stems say most.", low=0, high=2, source="fit"
    )
    w_question: float = parameter(
        0.05, "Taken from questions, a user's to an assistant aside.", low=0, high=2, source="fit"
    )
    w_when: float = parameter(
        0.12, "Names a time where the cue asks for one.", low=0, high=2, source="fit"
    )
    w_date: float = parameter(0.20, "Close to a date in the cue.", low=0, high=2, source="fit")
    next_spreading: bool = parameter(
        default=True, doc="Let each stem spread along NEXT before it saturates."
    )
    w_concepts: float = parameter(
        1.2, "Weight of the concept channel.", low=0, high=5, source="measured on titled passages"
    )
    concept_seeds: int = parameter(
        2, "Best memories that start the channel.", unit="memories", low=1, high=20
    )
    seed_contrast: float = parameter(
        4.0,
        "Power of a seed's score: a much better one starts the channel nearly alone.",
        low=1,
        high=50,
        source="measured on titled passages",
    )
    w_related: float = parameter(
        0.4,
        "Share of energy that goes from a concept to its synonyms and to what facts join it to.",
        low=0,
        high=1,
        source="measured on titled passages",
    )
    near_facts: int = parameter(
        5,
        "Facts nearest to the cue whose ends start the channel too.",
        unit="facts",
        low=0,
        high=50,
    )
    concept_steps: int = parameter(3, "Steps of the channel.", unit="steps", low=1, high=6)
    hub: int = parameter(
        50, "Mentions above which a concept carries nothing.", unit="mentions", low=1, high=1000
    )


class Ecphoria:
    """Spread words over NEXT, match speakers and dates, then walk over concepts."""

    name: ClassVar[str] = "ecphoria"
    seeds: ClassVar[int] = 50
    options: ClassVar[type[Any]] = EcphoriaOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": EcphoriaOptions()}

    async def rank(self, search: Search, options: EcphoriaOptions) -> Ranked:
        """Score the text of every candidate, then add what the concept channel woke."""
        candidates = search.candidates
        pool = _Pool.of(candidates, options)
        woken = await self._wake(search, pool, options)
        if woken is not None and woken.gate > 0.0:
            missing = sorted(one for one in woken.received if not candidates.holds(one))
            if missing:
                more = await gather_more(
                    search.store,
                    search.tenant,
                    search.seeding,
                    search.filters,
                    missing,
                    subject=candidates.subject,
                )
                pool = pool.joined(more, options)
            pool = pool.boosted(woken, options)
        return pool.ranked(search, woken)

    async def _wake(self, search: Search, pool: "_Pool", options: EcphoriaOptions) -> Woken | None:
        if not search.seeding.profile.titles or options.w_concepts == 0.0:
            return None
        best = rank(pool.parts, pool.turn, options.concept_seeds).index
        energy = np.maximum(0.0, pool.parts[best].sum(axis=1))
        energy = (energy / max(float(energy.max(initial=0.0)), _TINY)) ** options.seed_contrast
        total = float(energy.sum())
        if total <= 0.0 and not search.seeding.concepts:
            return None
        shares = energy / total if total > 0.0 else energy
        return await walk(
            search.store,
            search.tenant,
            {pool.ids[row]: float(share) for row, share in zip(best, shares, strict=True)},
            named=search.seeding.concepts,
            facts=await self._facts(search, options),
            options=ChannelOptions(
                steps=options.concept_steps, hub=options.hub, related=options.w_related
            ),
        )

    async def _facts(self, search: Search, options: EcphoriaOptions) -> NearFacts | None:
        vector = search.seeding.vector
        if not search.seeding.profile.stated or vector is None or not options.near_facts:
            return None
        return await search.store.nearest_facts(search.tenant, vector, options.near_facts)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Pool:
    """Memories that may be hits, with the parts of their scores."""

    ids: tuple[EpisodeId, ...]
    turn: NDArray[np.int64]
    parts: FloatArray
    bounds: TextBounds
    sources: tuple[Candidates, ...]

    @classmethod
    def of(cls, candidates: Candidates, options: EcphoriaOptions) -> "_Pool":
        signals = text_signals(candidates, options)
        bounds = bounds_of(signals, candidates.inside)
        scored = recipe_score(signals, weights=text_weights(options), bounds=bounds)
        rows = np.flatnonzero(candidates.inside)
        return cls(
            ids=tuple(candidates.columns.id[row] for row in rows),
            turn=candidates.columns.turn[rows],
            parts=np.column_stack((scored.parts[rows], np.zeros(rows.size))),
            bounds=bounds,
            sources=(candidates,),
        )

    def joined(self, more: Candidates, options: EcphoriaOptions) -> "_Pool":
        """Add memories the channel reached, on the scale of those that were there before."""
        scored = recipe_score(
            text_signals(more, options), weights=text_weights(options), bounds=self.bounds
        )
        known = set(self.ids)
        rows = [row for row in np.flatnonzero(more.inside) if more.columns.id[row] not in known]
        return replace(
            self,
            ids=(*self.ids, *(more.columns.id[row] for row in rows)),
            turn=np.concatenate((self.turn, more.columns.turn[rows])),
            parts=np.vstack(
                (self.parts, np.column_stack((scored.parts[rows], np.zeros(len(rows)))))
            ),
            sources=(*self.sources, more),
        )

    def boosted(self, woken: Woken, options: EcphoriaOptions) -> "_Pool":
        act = np.array([woken.received.get(one, 0.0) for one in self.ids])
        parts = self.parts.copy()
        parts[:, -1] = boost(act, woken.gate, weight=options.w_concepts)
        return replace(self, parts=parts)

    def ranked(self, search: Search, woken: Woken | None) -> Ranked:
        order = rank(self.parts, self.turn, len(self.ids))
        ids = tuple(self.ids[row] for row in order.index)
        hits = [one for one in ids[:_TRACED_HITS] if self.sources[0].holds(one)]
        waves = (next_wave(self.sources[0], hits), *(woken.waves if woken else ()))
        return Ranked(
            ids=ids,
            score=order.score[order.index],
            parts=self.parts[order.index],
            part_names=(*PARTS, "concepts"),
            seeds=(*seed_records(search.seeding), *(woken.fact_seeds() if woken else ())),
            waves=waves,
            path=self._path(woken),
            truncated=False,
        )

    def _path(self, woken: Woken | None) -> Callable[[EpisodeId], tuple[PathStep, ...]]:
        place = {one: row for row, one in enumerate(self.ids)}

        def path(episode: EpisodeId) -> tuple[PathStep, ...]:
            text, concepts = self.parts[place[episode], :3].sum(), self.parts[place[episode], -1]
            walked = woken.path(episode) if woken and concepts > text else ()
            return walked or text_path(holder(self.sources, episode))(episode)

        return path


def text_signals(candidates: Candidates, options: EcphoriaOptions) -> TextSignals:
    """Take the recipe's signals; without spreading, a word counts only where it stands."""
    if options.next_spreading:
        return candidates.signals
    return replace(candidates.signals, lex=candidates.single)


def text_weights(options: EcphoriaOptions) -> TextWeights:
    """Read the recipe's weights from the options."""
    return TextWeights(
        lex=options.w_lex,
        sem=options.w_sem,
        ctx=options.w_ctx,
        spk=options.w_speaker,
        len=options.w_length,
        isq=-options.w_question,
        texp=options.w_when,
        date=options.w_date,
    )
