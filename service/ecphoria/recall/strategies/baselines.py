"""The bars: one index alone, or both added up, and no edge walked."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ecphoria.maths.fusion import Scored, fusion
from ecphoria.recall.options import parameter
from ecphoria.recall.strategies.evidence import found_directly, rank_rows, seed_records
from ecphoria.recall.strategies.strategy import Ranked, Search


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

    async def rank(self, search: Search, options: NoOptions) -> Ranked:
        """Order the vector index's seeds by exact cosine."""
        del options
        found = {seed.id for seed in search.seeding.by_vector}
        cosine = search.candidates.columns.cosine
        return _direct(search, Scored(score=cosine, parts=cosine[:, None]), ("sem",), found)


class Lexical:
    """Rank by BM25 of the cue's stems alone."""

    name: ClassVar[str] = "lexical"
    seeds: ClassVar[int] = 200
    options: ClassVar[type[Any]] = NoOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": NoOptions()}

    async def rank(self, search: Search, options: NoOptions) -> Ranked:
        """Order the text index's seeds by BM25 with the tenant's own statistics."""
        del options
        found = {seed.id for seed in search.seeding.by_text}
        single = search.candidates.single
        return _direct(search, Scored(score=single, parts=single[:, None]), ("lex",), found)


class Fusion:
    """Add up BM25 and cosine, each min-max scaled: the bar every mechanism has to beat."""

    name: ClassVar[str] = "fusion"
    seeds: ClassVar[int] = 200
    options: ClassVar[type[Any]] = FusionOptions
    presets: ClassVar[Mapping[str, Any]] = {"default": FusionOptions()}

    async def rank(self, search: Search, options: FusionOptions) -> Ranked:
        """Order both indexes' seeds by the weighted sum."""
        found = {seed.id for seed in (*search.seeding.by_text, *search.seeding.by_vector)}
        among = _rows(search, found)
        candidates = search.candidates
        scored = fusion(
            candidates.single[among], candidates.columns.cosine[among], lexical=options.w_lex
        )
        score, parts = np.zeros(among.size), np.zeros((among.size, 2))
        score[among], parts[among] = scored.score, scored.parts
        return _direct(search, Scored(score=score, parts=parts), ("lex", "sem"), found)


def _rows(search: Search, found: set[Any]) -> np.ndarray[Any, np.dtype[np.bool_]]:
    wanted = np.array([one in found for one in search.candidates.columns.id], dtype=np.bool_)
    return wanted & search.candidates.inside


def _direct(search: Search, scored: Scored, names: tuple[str, ...], found: set[Any]) -> Ranked:
    return rank_rows(
        search.candidates,
        scored,
        names,
        among=_rows(search, found),
        seeds=seed_records(search.seeding),
        waves=(),
        path=found_directly(search.candidates),
    )
