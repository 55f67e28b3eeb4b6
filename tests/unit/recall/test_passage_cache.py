"""What is remembered of passages: each once, in the order asked for, and forgotten by rule."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest

from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.recall.cache import ColumnReader, PassageCache
from ecphoria.recall.ports import StoredPassage
from ecphoria.records.ids import EpisodeId, TenantId

TENANT = TenantId("0" * 32)


def passage(episode: str, part: int) -> StoredPassage:
    vector = np.zeros(4, np.int8)
    vector[part % 4] = 127
    return StoredPassage(
        episode=episode,
        part=part,
        start=10 * part,
        end=10 * part + 9,
        terms=f"{episode} part{part}",
        length=2,
        vector=vector,
    )


def none_of(episode: str) -> StoredPassage:
    nothing = np.zeros(0, np.int8)
    return StoredPassage(
        episode=episode, part=None, start=0, end=0, terms="", length=0, vector=nothing
    )


class Store:
    """A graph with passages by episode; every question is kept."""

    def __init__(self, **passages: int) -> None:
        self.passages = dict(passages)
        self.asked: list[list[str]] = []

    async def run(self, _: Statement[object], **params: object) -> Sequence[StoredPassage]:
        ids = cast("list[str]", params["ids"])
        self.asked.append(ids)
        return [
            row
            for one in ids
            if one in self.passages
            for row in (
                [passage(one, part) for part in range(self.passages[one])] or [none_of(one)]
            )
        ]

    def reader(self, keep: int = 100) -> ColumnReader:
        return ColumnReader(cast("Graph", self), keep)


async def parts(reader: ColumnReader, *episodes: str) -> list[tuple[str, int]]:
    found = await reader.passages(TENANT, [EpisodeId(one) for one in episodes], None)
    return list(zip(found.episode, found.part.tolist(), strict=True))


def test_columns_are_ordered_by_episode_and_part_whatever_came_first() -> None:
    cache = PassageCache()
    cache.put([passage("b", 0), passage("b", 1), none_of("c")])
    cache.put([passage("a", number) for number in range(600)])
    assert cache.missing(["a", "b", "c", "d", "d"]) == ["d"]
    cue = np.array([0, 1, 0, 0], np.float32)
    found = cache.columns(["c", "b", "a", "b"], cue)
    assert found.episode == ("a",) * 600 + ("b",) * 2
    assert found.part.tolist() == [*range(600), 0, 1]
    assert found.start[-1] == 10
    assert found.end[-1] == 19
    assert found.terms[-2:] == ("b part0", "b part1")
    assert found.cosine.tolist() == [float(part % 4 == 1) for part in found.part]
    assert not cache.columns(["b"], None).cosine.any()
    assert cache.columns(["c"], cue).episode == ()


async def test_what_is_known_is_not_asked_again() -> None:
    store = Store(a=2, b=0)
    reader = store.reader()
    reader.check(TENANT, change=0, deletions=0)
    assert await parts(reader, "b", "a") == [("a", 0), ("a", 1)]
    assert await parts(reader, "a", "b") == [("a", 0), ("a", 1)]
    assert store.asked == [["b", "a"]]


async def test_who_is_not_there_is_asked_for_again() -> None:
    store = Store()
    reader = store.reader()
    reader.check(TENANT, change=0, deletions=0)
    assert await parts(reader, "a") == []
    store.passages["a"] = 1
    assert await parts(reader, "a") == [("a", 0)]


@pytest.mark.parametrize("forget", ["deletion", "erasure"])
async def test_a_deletion_forgets_all(forget: str) -> None:
    store = Store(a=1)
    reader = store.reader()
    reader.check(TENANT, change=0, deletions=0)
    assert await parts(reader, "a") == [("a", 0)]
    del store.passages["a"]
    if forget == "deletion":
        reader.check(TENANT, change=0, deletions=1)
    else:
        reader.forget(TENANT)
    assert await parts(reader, "a") == []


async def test_no_more_is_kept_than_may_be() -> None:
    store = Store(a=3, b=3)
    reader = store.reader(keep=4)
    reader.check(TENANT, change=0, deletions=0)
    assert len(await parts(reader, "a")) == 3
    assert len(await parts(reader, "b")) == 3
    reader.check(TENANT, change=0, deletions=0)
    assert len(await parts(reader, "a")) == 3
    assert store.asked == [["a"], ["b"], ["a"]]
