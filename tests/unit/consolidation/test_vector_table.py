"""A table of vectors finds what comparing one by one finds."""

from collections.abc import Sequence
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from ecphoria.consolidation import vector_table
from ecphoria.consolidation.service import Cycle
from ecphoria.consolidation.vector_table import VectorTable
from ecphoria.ports import Vector
from ecphoria.records.ids import TenantId

CYCLE = Cycle(id="c", tenant=TenantId("t"), now=datetime(2026, 1, 1, tzinfo=UTC))


def some_vectors(count: int, seed: int = 5) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).normal(size=(count, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return rows


@given(st.integers(1, 40), st.integers(1, 50), st.floats(-0.9, 0.9), st.integers(1, 5_000))
def test_it_finds_the_nearest_of_each(count: int, most: int, above: float, block: int) -> None:
    rows = some_vectors(count, seed=count)
    ids = [f"n{row}" for row in range(count)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector_table, "_BLOCK", block)
        found = VectorTable(ids, rows).near([*ids, "unknown"], above=above, most=most)
    assert found.pop() == []
    for own, near in enumerate(found):
        cosines = {ids[row]: float(rows[own] @ rows[row]) for row in range(count) if row != own}
        expected = sorted((one for one in cosines.values() if one >= above), reverse=True)[:most]
        chosen = sorted((cosines[one] for one in near), reverse=True)
        # Those at the edge may be one more: the server decides with its own rounding.
        assert chosen[: len(expected)] == pytest.approx(expected, abs=2e-4)
        assert all(one >= above - 2e-4 for one in chosen)
        assert len(near) == len(set(near)) <= most


async def test_it_is_read_in_pages_and_leaves_out_nodes_without_a_vector(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(vector_table, "_PAGE", 3)
    vectors = dict(zip("abcdefgh", 2.0 * some_vectors(8), strict=True))
    pages: list[int] = []

    async def read(tenant: TenantId, ids: Sequence[str]) -> list[tuple[str, Vector]]:
        assert tenant == CYCLE.tenant
        pages.append(len(ids))
        return [(one, vectors[one]) for one in ids if one in vectors]

    table = await VectorTable.load(CYCLE, "here", [*"xyzabcdefgh"], read)
    assert table is not None
    assert pages == [3, 3, 3, 2]
    found = table.near("abc", above=-1, most=1)
    nearest = {one: near[0] for one, near in zip("abc", found, strict=True)}
    for one, other in nearest.items():
        assert other == max(vectors.keys() - {one}, key=lambda two: vectors[one] @ vectors[two])
    monkeypatch.setattr(vector_table, "_MOST_BYTES", 100)
    assert await VectorTable.load(CYCLE, "here", [*"abcd"], read) is None
    assert await VectorTable.load(CYCLE, "here", [], read) is not None


def test_a_table_pays_where_many_are_searched() -> None:
    assert VectorTable.pays(1_000, 16_000)
    assert not VectorTable.pays(999, 16_000)
