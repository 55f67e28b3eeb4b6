"""What should join memories and concepts, as computed from vectors and counts alone."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

import numpy as np

from ecphoria.consolidation.step import TOLD
from ecphoria.graph.associations import Association, AssociationStore, Companion, Crowd, Near
from ecphoria.kernels.hebbian import association, linked
from ecphoria.kernels.neighbours import similarity
from ecphoria.model.consolidation import Change, Outcome
from ecphoria.model.ids import TenantId

__all__ = [
    "NEAR",
    "NEIGHBOURS",
    "Differences",
    "Lifts",
    "NearReader",
    "Pair",
    "Surroundings",
    "admits",
    "crowd_of",
    "everyone",
    "joined",
]


class NearReader(Protocol):
    """Reads the surroundings of episodes."""

    async def near(
        self, tenant: TenantId, episodes: Sequence[str], *, fetch: int, above: float
    ) -> Sequence[Near]:
        """Search around live episodes: `fetch` each, of these the ones with enough cosine.

        By episode as asked, then nearest first, ties by turn. None is its own neighbour.
        """
        ...

    async def similar(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Association]:
        """List the edges of these episodes to live ones that have a part by nearness."""
        ...

    async def crowds(self, tenant: TenantId, episodes: Sequence[str]) -> Sequence[Crowd]:
        """Read what was stored of the crowds of these; whoever was never searched has none."""
        ...


NEIGHBOURS = 15
"""k of SYNAPSE's edges, asked of both ends."""
NEAR = 0.60
"""Least cosine of an association; SYNAPSE's .92 is where two concepts are one."""
_JOINT, _LIFT = 3, 2.0
"""NeuromemoryAI's rule for a link, with lift so that a hub is not linked to all it touches."""
_LEAST_WEIGHT = 0.1
_FETCH, _FETCH_MOST = 32, 1_024
_SAME = 1e-9

Pair = tuple[str, str]


class Surroundings:
    """Who is near whom."""

    def __init__(self, store: NearReader, tenant: TenantId) -> None:
        self._store = store
        self._tenant = tenant

    async def wanted(self, ids: frozenset[str]) -> dict[Pair, float]:
        """Find every pair with one of these that should be SIMILAR, with its part.

        Whoever is near is searched too, whatever is stored of them.
        """
        around = await self.nearest(ids)
        beyond = await self.nearest(everyone(around) - ids)
        crowds = {one: crowd_of(one, near) for one, near in (around | beyond).items()}
        return joined(around, crowds)

    async def stored(self, ids: Iterable[str]) -> Sequence[Association]:
        """List the pairs with one of these that are joined by nearness."""
        return await self._store.similar(self._tenant, sorted(ids))

    async def nearest(self, ids: frozenset[str]) -> dict[str, Sequence[Near]]:
        """List the nearest of each of these in order, and some behind them if there are more.

        Nobody is near what is not live.
        """
        return await self._searched(sorted(ids), _FETCH)

    async def near(self, ids: frozenset[str]) -> dict[str, Sequence[Near]]:
        """List all that are near each of these, nearest first, however many there are."""
        found: dict[str, Sequence[Near]] = {}
        fetch, asked = _FETCH, sorted(ids)
        while asked:
            found |= await self._searched(asked, fetch)
            if fetch >= _FETCH_MOST:
                break
            asked = [one for one in asked if len(found[one]) >= fetch - 1]
            fetch *= 4
        return found

    async def _searched(self, ids: Sequence[str], fetch: int) -> dict[str, Sequence[Near]]:
        rows = await self._store.near(self._tenant, ids, fetch=fetch, above=NEAR)
        found: dict[str, list[Near]] = {one: [] for one in ids}
        for row in rows:
            found[row.of].append(row)
        return dict(found)


class Lifts:
    """Which concepts are mentioned together above chance, of so many episodes in all."""

    def __init__(self, store: AssociationStore, tenant: TenantId, total: int) -> None:
        self._store = store
        self._tenant = tenant
        self._total = total

    async def wanted(self, ids: frozenset[str]) -> dict[Pair, float]:
        """Find every pair with one of these that should be ASSOCIATED, with its part."""
        most = int(self._total / _LIFT)
        rows = await self._store.companions(self._tenant, sorted(ids), least=_JOINT, most=most)
        return _lifted(rows, self._total)

    async def stored(self, ids: Iterable[str]) -> Sequence[Association]:
        """List the pairs with one of these that are joined by lift."""
        return await self._store.associated(self._tenant, sorted(ids))


class Differences:
    """Edges that are not as they should be, counted over chunks and told for the first."""

    def __init__(self) -> None:
        self._counts = {"added": 0, "changed": 0, "dropped": 0}
        self._changes: list[Change] = []
        self._now: dict[Pair, float] = {}

    @property
    def found(self) -> int:
        """How many there are."""
        return sum(self._counts.values())

    def between(
        self, edge: str, stored: Sequence[Association], wanted: Mapping[Pair, float]
    ) -> list[Association]:
        """Compare edges with what they should be; a part of 0 is an edge to part from.

        What was told is taken as done, which it is not in a dry run.
        """
        was = {(one.one, one.other): one.part for one in stored}
        edges: list[Association] = []
        for pair in sorted(was.keys() | wanted.keys()):
            before = self._now.get(pair, was.get(pair, 0.0))
            after = wanted.get(pair, 0.0)
            if abs(before - after) <= _SAME:
                continue
            self._now[pair] = after
            count = "added" if not before else "changed" if after else "dropped"
            self._counts[count] += 1
            edges.append(Association(one=pair[0], other=pair[1], part=after))
            if len(self._changes) < TOLD:
                verb = {"added": "link", "changed": "reweigh", "dropped": "unlink"}[count]
                detail = f"{edge} to {pair[1]}: {before:.3f} to {after:.3f}"
                self._changes.append(Change(kind=verb, id=pair[0], detail=detail))
        return edges

    def outcome(self, **seen: int) -> Outcome:
        """Sum up."""
        return Outcome(counts={**seen, **self._counts}, changes=tuple(self._changes))


def everyone(around: Mapping[str, Sequence[Near]]) -> frozenset[str]:
    """Collect whoever is near somebody."""
    return frozenset(one.id for near in around.values() for one in near)


def crowd_of(one: str, near: Sequence[Near]) -> Crowd:
    """Tell what it takes to be among the nearest of one with this list, nearest first."""
    if len(near) <= NEIGHBOURS:
        return Crowd(id=one, size=len(near))
    last = near[NEIGHBOURS - 1]
    return Crowd(id=one, size=len(near), cosine=last.cosine, turn=last.turn)


def admits(crowd: Crowd, cosine: float, turn: int) -> bool:
    """Tell whether one this near, and this old, is among the nearest; of two as near the older.

    >>> [admits(Crowd(id="a", size=20, cosine=0.7, turn=8), 0.7, turn) for turn in (7, 9)]
    [True, False]
    """
    if crowd.cosine is None or crowd.turn is None:
        return True
    return (cosine, -turn) >= (crowd.cosine, -crowd.turn)


def joined(around: Mapping[str, Sequence[Near]], crowds: Mapping[str, Crowd]) -> dict[Pair, float]:
    """Find the pairs that are among each other's nearest, with their part.

    Args:
        around: Who is near one end, nearest first.
        crowds: Of the other end; who has none here is joined with nobody.
    """
    cosines = {
        (min(one, row.id), max(one, row.id)): row.cosine
        for one, near in around.items()
        for row in near[:NEIGHBOURS]
        if row.id in crowds and admits(crowds[row.id], row.cosine, row.of_turn)
    }
    parts = similarity(list(cosines.values()))
    return dict(zip(cosines, parts.tolist(), strict=True))


def _lifted(rows: Sequence[Companion], total: int) -> dict[Pair, float]:
    """Weigh the pairs mentioned together often enough and above chance."""
    counts: dict[Pair, tuple[int, int, int]] = {}
    for row in rows:
        own, others = row.mentions, row.other_mentions
        joint = min(row.joint, own, others)
        pair = (row.of, row.id) if row.of < row.id else (row.id, row.of)
        counts[pair] = (joint, min(own, others), max(own, others))
    table = np.array(list(counts.values()), np.float64).reshape(-1, 3)
    both, fewer, more = table[:, 0], table[:, 1], table[:, 2]
    held = linked(both, fewer, more, total=total, least=_JOINT, above=_LIFT)
    parts = held * association(both, fewer, more, total=total)
    return {
        pair: part
        for pair, part in zip(counts, parts.tolist(), strict=True)
        if part >= _LEAST_WEIGHT
    }
