"""Generated tasks: which memories fire.

One memory lies alone; cues stimulate it with growing strength, since the stimulus of a memory is
its cosine to the cue where both are of the same time.

The system returns as many memories as fire, k of them. ERC is the share of the right memories
among them; the baseline gets its first k, or with the minimum guarantee (ERC-MG) its first
max(k, m) where m memories are right. Source: SynapticRAG, evaluation metrics. A set has no
penalty on its size, so size and precision stand beside it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import ClassVar

import numpy as np

from ecphoria.client import AsyncClient
from ecphoria.records.episode import NewEpisode
from ecphoria_eval.datasets.dataset import Collection as Part
from ecphoria_eval.datasets.locomo import load_mini
from ecphoria_eval.dynamics.ground import Floats, Ground, axis, lean, remember

_OTHERS, _SILENT_CUES = 20, 20
_COSINES = tuple(np.linspace(0.0, 1.0, 41).tolist())


@dataclass(frozen=True, slots=True, kw_only=True)
class Firing:
    """The measured figures.

    Attributes:
        silent_fires: Memories that fired at cues to which they are orthogonal.
        monotone: Whether a stronger stimulus never gave a lower peak, and it fired in the end.
        fires_at: Least cosine at which it fired; None if it never did.
    """

    silent_fires: int
    monotone: bool
    fires_at: float | None

    bound: ClassVar[str] = "no memory fires unstimulated; more stimulus never a lower peak"

    @property
    def holds(self) -> bool:
        """Tell whether memories fire at the right strength."""
        return self.silent_fires == 0 and self.monotone


async def firing(ground: Ground) -> Firing:
    """Stimulate memories from not at all to fully."""
    size = ground.dimension
    async with ground.tenant("lif") as client:
        memories = [
            NewEpisode(text=f"trace {place}", vector=tuple(axis(place, size)))
            for place in range(_OTHERS + 1)
        ]
        alone, *_ = await remember(client, memories)
        silent = 0
        for place in range(_SILENT_CUES):
            silent += len(await fired_by(client, axis(size - 1 - place, size)))
        aside = axis(size - 1, size)
        peaks = []
        for cosine in _COSINES:
            found = await fired_by(client, lean(axis(0, size), aside, cosine))
            peaks.append(found.get(alone, 0.0))
    fires = [cosine for cosine, peak in zip(_COSINES, peaks, strict=True) if peak > 0.0]
    return Firing(
        silent_fires=silent,
        monotone=bool(fires) and _never_falls(peaks),
        fires_at=min(fires, default=None),
    )


async def fired_by(
    client: AsyncClient, vector: Floats | None = None, cue: str | None = None
) -> dict[str, float]:
    """Ask by `synaptic` alone; give the projected peak of each memory that fired."""
    answer = await client.recall(
        cue,
        vector=None if vector is None else tuple(vector),
        strategy="synaptic",
        options={"w_base": 0.0},
        explain=True,
        collapse=False,
    )
    trace = await client.trace(answer.trace_id)
    return {
        mark.node: mark.value
        for wave in trace.waves
        for mark in wave.marks
        if mark.says == "fired"
    }


def _never_falls(values: Sequence[float]) -> bool:
    return bool(np.all(np.diff(values) >= 0.0))


_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class FiredSets:
    """Sets of memories that fired, beside as many by cosine: means over questions.

    Attributes:
        erc: Share of the right memories in the fired set.
        erc_mg: The same: the guarantee is the baseline's alone.
        baseline_erc: Share among as many by cosine.
        baseline_erc_mg: Share among at least as many as are right.
        mean_set_size: Memories that fire.
        precision: Share of them that are right; an empty set counts as 0.
    """

    questions: int
    erc: float
    erc_mg: float
    baseline_erc: float
    baseline_erc_mg: float
    mean_set_size: float
    precision: float

    bound: ClassVar[str] = "told for comparison"

    @property
    def holds(self) -> bool:
        """Tell whether anything was asked; the figures are for comparison only."""
        return self.questions > 0


def share_found(found: Collection[str], gold: Collection[str]) -> float:
    """Give the share of the right memories that were found."""
    return len(set(found) & set(gold)) / len(set(gold))


def equal_count(
    asked: Sequence[tuple[Collection[str], Sequence[str], Collection[str]]],
) -> FiredSets:
    """Compare fired sets with a ranking.

    Args:
        asked: For each question the fired set, the baseline's ranking, and what is right.

    >>> found = equal_count([({"a", "b"}, ["a", "x", "c"], {"a", "b", "c", "d"})])
    >>> found.erc, found.baseline_erc, found.baseline_erc_mg
    (0.5, 0.25, 0.5)
    """
    fired = [set(one) for one, _, _ in asked]
    right = [set(gold) for _, _, gold in asked]
    ranked = [list(one) for _, one, _ in asked]
    rows = list(zip(fired, ranked, right, strict=True))
    erc = mean(share_found(one, gold) for one, _, gold in rows)
    return FiredSets(
        questions=len(asked),
        erc=erc,
        erc_mg=erc,
        baseline_erc=mean(share_found(order[: len(one)], gold) for one, order, gold in rows),
        baseline_erc_mg=mean(
            share_found(order[: max(len(one), len(gold))], gold) for one, order, gold in rows
        ),
        mean_set_size=mean(map(len, fired)),
        precision=mean(len(one & gold) / len(one) if one else 0.0 for one, _, gold in rows),
    )


async def fired_sets(ground: Ground) -> FiredSets:
    """Ask the answerable questions of the shipped conversation."""
    part: Part = load_mini()[0].collections[0]
    async with ground.tenant("erc") as client:
        ids = await remember(client, list(part.memories.values()))
        known = dict(zip(ids, part.memories, strict=True))
        asked = []
        for question in part.questions:
            if not question.gold:
                continue
            fired = await fired_by(client, cue=question.text)
            dense = await client.recall(
                question.text, strategy="dense", k=_MOST, record=False, collapse=False
            )
            asked.append(
                (
                    {known[episode] for episode in fired},
                    [known[hit.episode.id] for hit in dense.hits],
                    question.gold,
                )
            )
    return equal_count(asked)
