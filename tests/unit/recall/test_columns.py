"""Large reads are made in parts, so that other requests go on while the driver decodes one."""

from collections.abc import Sequence
from typing import cast

import numpy as np

from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.recall.cache import ColumnReader, Content
from ecphoria.records.ids import EpisodeId, TenantId

TENANT = TenantId("0" * 32)


class Store:
    """A graph whose episodes have this many stems each; every question is kept."""

    def __init__(self, stems: int) -> None:
        self.stems = stems
        self.asked: list[list[str]] = []

    async def run(self, _: Statement[object], **params: object) -> Sequence[Content]:
        ids = cast("list[str]", params["ids"])
        self.asked.append(ids)
        return [
            Content(
                id=one, turn=0, session="", ordinal=-1, speaker="", role="",
                occurred_ms=0, local_ms=0, terms="",
                length=self.stems,
                is_question=False, time_expression=False, first_person=False,
                second_person=False, title=None, importance=0.5, brief="",
                vector=np.zeros(4, np.float32),
            )
            for one in ids
        ]  # fmt: skip


async def parts(store: Store, ids: Sequence[EpisodeId]) -> list[list[EpisodeId]]:
    """Read columns of episodes, then cut a read of their texts into parts."""
    reader = ColumnReader(cast("Graph", store), 10_000)
    reader.check(TENANT, change=0, deletions=0)
    assert len(await reader.vectors(TENANT, ids)) == len(ids)
    return list(reader.by_length(TENANT, ids))


def episodes(number: int) -> list[EpisodeId]:
    return [EpisodeId(f"e{place}") for place in range(number)]


async def test_many_contents_are_read_in_parts() -> None:
    store, ids = Store(20), episodes(1_200)
    await parts(store, ids)
    assert [len(asked) for asked in store.asked] == [500, 500, 200]
    assert [one for asked in store.asked for one in asked] == ids


async def test_short_texts_are_read_at_once() -> None:
    ids = episodes(1_200)
    assert await parts(Store(20), ids) == [ids]


async def test_long_texts_are_read_in_parts_and_the_longest_alone() -> None:
    one, two, three, four = ids = episodes(4)
    assert await parts(Store(50_000), ids) == [[one, two], [three, four]]
    assert await parts(Store(1_000_000), ids) == [[one], [two], [three], [four]]


async def test_texts_of_unknown_length_are_read_too() -> None:
    ids = episodes(3)
    reader = ColumnReader(cast("Graph", Store(50_000)), 10_000)
    assert list(reader.by_length(TENANT, ids)) == [ids]
    assert list(reader.by_length(TENANT, [])) == []


async def test_a_tenant_with_too_many_keeps_the_half_that_was_used_last() -> None:
    store, ids = Store(20), episodes(12)
    reader = ColumnReader(cast("Graph", store), 10)
    reader.check(TENANT, change=0, deletions=0)
    await reader.vectors(TENANT, ids[:8])
    await reader.vectors(TENANT, ids[:2])
    assert len(await reader.vectors(TENANT, ids[8:])) == 4
    store.asked.clear()
    assert len(await reader.vectors(TENANT, [*ids[8:], ids[1]])) == 5
    assert store.asked == []
    await reader.vectors(TENANT, [ids[0], ids[7]])
    assert store.asked == [[ids[0], ids[7]]]
