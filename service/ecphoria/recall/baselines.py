"""Baselines: one index alone, or both added; no edge is walked."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.fusion import Bounds, fusion
from ecphoria.recall.candidates import Candidates
from ecphoria.recall.pipeline import FloatArray, Pool, Ranked, Search, TextScore, parameter
from ecphoria.recall.walk import Walk, seed_records
from ecphoria.records.ids import EpisodeId
from ecphoria.records.strategy import Mechanisms


@dataclass(frozen=True, slots=True, kw_only=True)
class NoOptions:
    """This strategy takes no options."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionOptions:
    """Weights of plain fusion."""

    w_lex: float = parameter(
        0.5, "Weight of BM25; the cosine has the rest.", low=0.0, high=1.0, source="min-max fusion"
    )


class Dense:
    """Rank by the cosine of the cue's vector alone."""

    name: ClassVar[str] = "dense"
    seeds: ClassVar[int] = 200
    options: ClassVar[type[Any]] = NoOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": NoOptions()}
    mechanisms: ClassVar[Mechanisms] = {}

    async def rank(self, search: Search, options: NoOptions) -> Ranked:
        """Order the vector index's seeds by exact cosine."""
        del options
        found = {seed.id for seed in search.seeding.by_vector}
        return _direct(search, found, ("sem",), lambda more: more.columns.cosine[:, None])


class Lexical:
    """Rank by BM25 of the cue's stems alone."""

    name: ClassVar[str] = "lexical"
    seeds: ClassVar[int] = 200
    options: ClassVar[type[Any]] = NoOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": NoOptions()}
    mechanisms: ClassVar[Mechanisms] = {}

    async def rank(self, search: Search, options: NoOptions) -> Ranked:
        """Order the text index's seeds by BM25 with the tenant's own statistics."""
        del options
        found = {seed.id for seed in search.seeding.by_text}
        return _direct(search, found, ("lex",), lambda more: more.single[:, None])


class Fusion:
    """Add up BM25 and cosine, each min-max scaled: the bar every mechanism has to beat."""

    name: ClassVar[str] = "fusion"
    seeds: ClassVar[int] = 200
    options: ClassVar[type[Any]] = FusionOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": FusionOptions()}
    mechanisms: ClassVar[Mechanisms] = {}

    async def rank(self, search: Search, options: FusionOptions) -> Ranked:
        """Order both indexes' seeds by the weighted sum."""
        found = {seed.id for seed in (*search.seeding.by_text, *search.seeding.by_vector)}
        candidates, among = search.candidates, _rows(search, found)
        bounds = Bounds.of(candidates.single[among]), Bounds.of(candidates.columns.cosine[among])

        def parts(more: Candidates) -> FloatArray:
            cosine = more.columns.cosine
            return fusion(more.single, cosine, lexical=options.w_lex, bounds=bounds).parts

        return _direct(search, found, ("lex", "sem"), parts)


def _rows(search: Search, found: AbstractSet[EpisodeId]) -> NDArray[np.bool_]:
    listed = np.array(
        [episode in found for episode in search.candidates.columns.id], dtype=np.bool_
    )
    return listed & search.candidates.inside


def _direct(
    search: Search, found: AbstractSet[EpisodeId], names: Sequence[str], text: TextScore
) -> Ranked:
    """Rank the memories that the indexes found by their text score alone."""
    pool = Pool.of(search.candidates, text, _rows(search, found))
    pool = pool.kept(np.flatnonzero(pool.found))
    parts = dict(zip(names, pool.parts.T, strict=True))
    return pool.ranked(parts, Walk(seeds=seed_records(search.seeding)))
