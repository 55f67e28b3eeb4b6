"""Columns of a bounded subgraph, and the memory of what never changes in them.

An episode is immutable: only its place among its neighbours moves. So each recall reads places,
and contents (terms, vector, speaker, flags) only of episodes this process has not seen lately.
The database stays the only truth: an episode that is not live any more has no place, and what is
remembered of a tenant is dropped as soon as one of its episodes was deleted.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.graph.executor import Graph, Statement
from ecphoria.model.ids import EpisodeId, TenantId
from ecphoria.ports.recall import Columns, Window
from ecphoria.ports.world import Vector

__all__ = ["ColumnReader"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    id: list[str]
    turn: list[int]
    session: list[str]
    ordinal: list[int]
    near_length: list[float]
    context_norm: list[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Content:
    id: str
    speaker: str
    occurred_ms: int
    terms: str
    length: float
    length_prior: float
    is_question: bool
    time_expression: bool
    first_person: bool
    second_person: bool
    title: str | None
    vector: NDArray[np.float32]


_LIST_PLACES = Statement("recall.list_places", _Places)
_LIST_CONTENTS = Statement("recall.list_contents", _Content)

Contents = OrderedDict[str, _Content]


class ColumnReader:
    """Reads columns, remembering the contents of up to `keep` episodes."""

    def __init__(self, graph: Graph, keep: int) -> None:
        self._graph = graph
        self._keep = keep
        self._contents: OrderedDict[TenantId, tuple[int, Contents]] = OrderedDict()

    def check(self, tenant: TenantId, deletions: int) -> None:
        """Forget a tenant's contents if an episode was deleted since they were read."""
        known = self._contents.get(tenant)
        if known is None or known[0] != deletions:
            self._contents[tenant] = (deletions, OrderedDict())

    def forget(self, tenant: TenantId) -> None:
        """Forget all of a tenant that is gone."""
        self._contents.pop(tenant, None)

    async def read(
        self,
        tenant: TenantId,
        ids: Sequence[EpisodeId],
        windows: Sequence[Window],
        vector: Vector | None,
    ) -> Columns:
        """Fetch episodes by id and by place in their session, each once."""
        (places,) = await self._graph.run(
            _LIST_PLACES,
            tenant=tenant,
            ids=list(ids),
            windows=[
                {"session": window.session, "first": window.first, "last": window.last}
                for window in windows
            ],
        )
        contents = await self._known(tenant, places.id)
        # An episode deleted between the two reads has a place but no content.
        rows = [row for row, one in enumerate(places.id) if one in contents]
        return _columns(places, rows, [contents[places.id[row]] for row in rows], vector)

    async def _known(self, tenant: TenantId, ids: Sequence[str]) -> Mapping[str, _Content]:
        _, known = self._contents.get(tenant, (0, OrderedDict()))
        missing = [one for one in ids if one not in known]
        found = {one: known[one] for one in ids if one in known}
        if missing:
            read = await self._graph.run(_LIST_CONTENTS, tenant=tenant, ids=missing)
            found.update((content.id, content) for content in read)
        self._remember(tenant, known, found.values())
        return found

    def _remember(self, tenant: TenantId, known: Contents, found: Iterable[_Content]) -> None:
        for content in found:
            known[content.id] = content
            known.move_to_end(content.id)
        if tenant in self._contents:
            self._contents.move_to_end(tenant)
        over = sum(len(kept) for _, kept in self._contents.values()) - self._keep
        while over > 0:
            eldest, (_, kept) = next(iter(self._contents.items()))
            for _ in range(min(over, len(kept))):
                kept.popitem(last=False)
                over -= 1
            if not kept and eldest != tenant:
                del self._contents[eldest]
            elif over > 0:
                self._contents.move_to_end(eldest)


def _columns(
    places: _Places, rows: Sequence[int], contents: Sequence[_Content], vector: Vector | None
) -> Columns:
    def numbers(values: Sequence[float]) -> NDArray[np.float64]:
        return np.array([values[row] for row in rows], dtype=np.float64)

    def counts(values: Sequence[int]) -> NDArray[np.int64]:
        return np.array([values[row] for row in rows], dtype=np.int64)

    def facts(name: str) -> NDArray[np.bool_]:
        return np.array([getattr(one, name) for one in contents], dtype=np.bool_)

    return Columns(
        id=tuple(EpisodeId(places.id[row]) for row in rows),
        turn=counts(places.turn),
        session=tuple(places.session[row] or None for row in rows),
        ordinal=counts(places.ordinal),
        speaker=tuple(one.speaker or None for one in contents),
        occurred_ms=np.array([one.occurred_ms for one in contents], dtype=np.int64),
        terms=tuple(one.terms for one in contents),
        length=np.array([one.length for one in contents], dtype=np.float64),
        near_length=numbers(places.near_length),
        context_norm=numbers(places.context_norm),
        length_prior=np.array([one.length_prior for one in contents], dtype=np.float64),
        is_question=facts("is_question"),
        time_expression=facts("time_expression"),
        first_person=facts("first_person"),
        second_person=facts("second_person"),
        title=tuple(one.title for one in contents),
        cosine=_cosine(contents, vector),
    )


def _cosine(contents: Sequence[_Content], vector: Vector | None) -> NDArray[np.float64]:
    if vector is None or not contents:
        return np.zeros(len(contents))
    stored = np.stack([one.vector for one in contents])
    return (stored @ vector).astype(np.float64)
