"""What should join memories and concepts, as computed from vectors and counts alone."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ecphoria.consolidation.step import TOLD
from ecphoria.kernels.hebbian import association, linked
from ecphoria.kernels.neighbours import mutual, similarity
from ecphoria.model.consolidation import Change, Outcome
from ecphoria.model.ids import TenantId
from ecphoria.ports.associations import Association, AssociationStore, Companion, Near

__all__ = ["NEAR", "NEIGHBOURS", "Differences", "Lifts", "Pair", "Surroundings", "everyone"]

NEIGHBOURS = 15
"""k of SYNAPSE's edges, asked of both ends."""
NEAR = 0.60
"""Least cosine of an association; SYNAPSE's .92 is where two concepts are one."""
_JOINT, _LIFT = 3, 2.0
"""NeuromemoryAI's rule for a link, with lift so that a hub is not linked to all it touches."""
_LEAST_WEIGHT = 0.1
_FETCH, _FETCH_MOST = 32, 1_024
_KEPT = 5_000
_SAME = 1e-9

Pair = tuple[str, str]


class Surroundings:
    """Who is near whom, asked once for a node while a step runs and memory lasts."""

    def __init__(self, store: AssociationStore, tenant: TenantId) -> None:
        self._store = store
        self._tenant = tenant
        self._known: dict[str, Sequence[Near]] = {}

    async def wanted(self, ids: frozenset[str]) -> dict[Pair, float]:
        """Find every pair with one of these that should be SIMILAR, with its part."""
        around = await self.of(ids)
        nearest = {one: near[:NEIGHBOURS] for one, near in around.items()}
        beyond = await self.of(everyone(nearest) - ids)
        nearest |= {one: near[:NEIGHBOURS] for one, near in beyond.items()}
        pairs = _mutual(nearest).items()
        return {pair: part for pair, part in pairs if not ids.isdisjoint(pair)}

    async def stored(self, ids: Iterable[str]) -> Sequence[Association]:
        """List the pairs with one of these that are joined by nearness."""
        return await self._store.similar(self._tenant, sorted(ids))

    async def of(self, ids: frozenset[str]) -> dict[str, Sequence[Near]]:
        """List who is near each of these, nearest first; nobody is near what is not live."""
        found = {one: self._known[one] for one in ids & self._known.keys()}
        fresh = await self._search(sorted(ids - found.keys()))
        if len(self._known) > _KEPT:
            self._known.clear()
        self._known |= fresh
        return found | fresh

    async def _search(self, ids: Sequence[str]) -> dict[str, Sequence[Near]]:
        """Search, and search for more where all that were fetched are near enough."""
        fetch, asked = _FETCH, ids
        found: dict[str, Sequence[Near]] = dict.fromkeys(ids, ())
        while asked:
            rows = await self._store.near(self._tenant, asked, fetch=fetch, above=NEAR)
            by_node: dict[str, list[Near]] = {}
            for row in rows:
                by_node.setdefault(row.of, []).append(row)
            found |= by_node
            asked = [one for one, near in by_node.items() if len(near) >= fetch - 1]
            if fetch >= _FETCH_MOST:
                break
            fetch *= 4
        return found


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

    @property
    def found(self) -> int:
        """How many there are."""
        return sum(self._counts.values())

    def between(
        self, edge: str, stored: Sequence[Association], wanted: Mapping[Pair, float]
    ) -> list[Association]:
        """Compare edges with what they should be; a part of 0 is an edge to part from."""
        was = {(one.one, one.other): one.part for one in stored}
        edges: list[Association] = []
        for pair in sorted(was.keys() | wanted.keys()):
            before, after = was.get(pair, 0.0), wanted.get(pair, 0.0)
            if abs(before - after) <= _SAME:
                continue
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


def _mutual(near: Mapping[str, Sequence[Near]]) -> dict[Pair, float]:
    """Find the pairs that are among each other's nearest, with their part."""
    ids = sorted(near)
    place = {one: row for row, one in enumerate(ids)}
    rows = [row for of in near.values() for row in of if row.id in place]
    cosine = {(row.of, row.id): row.cosine for row in rows}
    pairs = mutual([place[row.of] for row in rows], [place[row.id] for row in rows], size=len(ids))
    named = [(ids[one], ids[other]) for one, other in pairs.tolist()]
    parts = similarity([cosine[pair] for pair in named])
    return dict(zip(named, parts.tolist(), strict=True))


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
