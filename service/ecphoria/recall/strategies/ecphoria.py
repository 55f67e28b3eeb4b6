"""The default strategy: text score with words spread over NEXT, then a walk over concepts.

Its weights and constants were measured (see the docs' page on recall); a part that a store does
not support (no sessions, no speakers, no titles) is 0 there by itself.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.concept_channel import ChannelOptions, boost
from ecphoria.maths.fusion import (
    PARTS,
    TextSignals,
    TextWeights,
    bounds_of,
    rank,
    recipe_score,
)
from ecphoria.recall.candidates import Candidates
from ecphoria.recall.explain import next_wave, seed_records, text_path
from ecphoria.recall.options import parameter
from ecphoria.recall.pipeline import Path, Pool, Ranked, Search, TextScore
from ecphoria.recall.ports import NearFacts
from ecphoria.recall.strategies.channel import Woken, walk
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
        pool = Pool.of(candidates, text_parts(candidates, options))
        woken = await self._wake(search, pool, options)
        if woken is not None and woken.gate > 0.0:
            missing = [episode for episode in woken.received if not candidates.holds(episode)]
            pool = await pool.extended(search, missing)
        received = np.zeros(len(pool.ids)) if woken is None else pool.read(woken.received)
        concepts = boost(received, woken.gate if woken else 0.0, weight=options.w_concepts)
        parts = {**dict(zip(PARTS, pool.parts.T, strict=True)), "concepts": concepts}
        ranked = pool.ranked(
            parts,
            seeds=(*seed_records(search.seeding), *(woken.fact_seeds() if woken else ())),
            waves=(),
            path=_path(pool, concepts, woken),
        )
        hits = [episode for episode in ranked.ids[:_TRACED_HITS] if candidates.holds(episode)]
        waves = (next_wave(candidates, hits), *(woken.waves if woken else ()))
        return replace(ranked, waves=waves)

    async def _wake(self, search: Search, pool: Pool, options: EcphoriaOptions) -> Woken | None:
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


def _path(pool: Pool, concepts: FloatArray, woken: Woken | None) -> Path:
    """Tell the way over concepts if they weigh more than the words, else that of the words."""
    # The first three parts are those of words and meaning.
    by_concepts = concepts > pool.parts[:, :3].sum(axis=1)
    walked = frozenset(pool.ids[row] for row in np.flatnonzero(by_concepts))

    def over_concepts(episode: EpisodeId) -> tuple[PathStep, ...]:
        return woken.path(episode) if woken and episode in walked else ()

    return pool.explain(over_concepts, text_path)


def text_parts(candidates: Candidates, options: EcphoriaOptions) -> TextScore:
    """Score text by the recipe, on the scale of these candidates."""
    weights = text_weights(options)
    bounds = bounds_of(text_signals(candidates, options), candidates.inside)

    def parts(more: Candidates) -> FloatArray:
        return recipe_score(text_signals(more, options), weights=weights, bounds=bounds).parts

    return parts


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
