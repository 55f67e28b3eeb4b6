"""Baselines: one index alone, or both added; no edge is walked."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ecphoria.maths.arrays import BoolArray, FloatArray
from ecphoria.maths.fusion import Bounds, fusion
from ecphoria.recall.frame import Frame
from ecphoria.recall.pipeline import Pool, Ranked, Search, TextScore, parameter
from ecphoria.recall.ports import SeedRow
from ecphoria.recall.walk import Walk, seed_records
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
        found = listed_by(search, search.seeding.by_vector)
        return _direct(search, found, ("sem",), lambda more: more.cosine[:, None])


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
        found = listed_by(search, search.seeding.by_text)
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
        found, fused = plain_fusion(search, options.w_lex)
        return _direct(search, found, ("lex", "sem"), fused)


def plain_fusion(search: Search, lexical: float = 0.5) -> tuple[BoolArray, TextScore]:
    """Add up BM25, of weight `lexical`, and cosine, scaled among the memories the indexes list.

    Return the rows of these memories, and what scores any candidates.
    """
    frame, seeding = search.frame, search.seeding
    found = listed_by(search, (*seeding.by_text, *seeding.by_vector))
    bounds = Bounds.of(frame.single[found]), Bounds.of(frame.cosine[found])

    def fused(more: Frame) -> FloatArray:
        return fusion(more.single, more.cosine, lexical=lexical, bounds=bounds)

    return found, fused


def listed_by(search: Search, seeds: Iterable[SeedRow]) -> BoolArray:
    """Flag the candidates that an index listed, as seeds."""
    ids = {seed.id for seed in seeds}
    found = np.array([one in ids for one in search.frame.id], np.bool_)
    return found & search.frame.inside


def _direct(search: Search, found: BoolArray, names: Sequence[str], text: TextScore) -> Ranked:
    """Rank the memories that the indexes found by their text score alone."""
    pool = Pool.of(search.frame, text, found)
    pool = pool.kept(np.flatnonzero(pool.found))
    parts = dict(zip(names, pool.parts.T, strict=True))
    return pool.ranked(parts, Walk(seeds=seed_records(search.seeding)))
