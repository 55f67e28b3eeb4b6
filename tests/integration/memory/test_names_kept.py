"""A service keeps a tenant's names between writes; the graph is as if each write had read them."""

import random
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from pathlib import Path

import pytest

from ecphoria.consolidation.merge import MergeReview, MergeStore, ProposeMerges
from ecphoria.errors import NotFound
from ecphoria.facts.service import FactService
from ecphoria.facts.store import FactStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder
from ecphoria.records.episode import EpisodeUpdate, Extracted, NewEpisode, Statement
from ecphoria.records.fact import MergeStatus, PredicateClass
from ecphoria.records.ids import EpisodeId, TenantId
from tests.conftest import Cypher, WallClock
from tests.integration.memory.archives import World, a_cycle, archived, world_of
from tests.integration.memory.talks import START, a_talk, remember, turns, without_ids

# Names that become concepts and end as such: by a second turn, a title, a word in lower case.
SAID = (
    "Marek Novak met Rose at the harbour.",
    "Then Rose told Marek Novak of the boat.",
    "The rose in the garden is red.",
    "Today Novak Marek sold a boat to Ilse Brandt.",
    "Then Ilse Brandt and Novak Marek went to Oslo.",
    "Is it cold in Oslo, asked Rose.",
    "They say oslo without a capital.",
    "We met Petra Lind in Oslo.",
    "Yes, Petra Lind knows Marek Novak.",
)
ITEMS = (
    *(NewEpisode(text=text, session="one", occurred_at=START) for text in SAID),
    NewEpisode(text="A town by a fjord.", title="Oslo"),
    NewEpisode(text="She sells flowers.", title="Rose"),
)
KNOWN = Extracted(
    names=("rose garden", "Novak Marek"),
    facts=(Statement(subject="Rose", predicate="lives in", object="Oslo"),),
)
STEPS = (
    "append", "append", "append", "append", "delete", "delete", "sleep", "sleep", "archive",
    "restore", "wake", "attach", "update", "merge", "rule",
)  # fmt: skip


class Life:
    """One tenant's memory; each step is written by the services of some world."""

    def __init__(self, tenant: TenantId) -> None:
        self._tenant = tenant
        self._kept: dict[int, EpisodeId] = {}

    async def step(self, what: str, places: Sequence[int], world: World) -> None:
        """Do one step to the items at these places, those for which it is possible."""
        await getattr(self, f"_{what}")(world, places)

    def _ids(self, places: Sequence[int]) -> list[EpisodeId]:
        return [self._kept[place] for place in places if place in self._kept]

    async def _append(self, world: World, places: Sequence[int]) -> None:
        new = [place for place in places if place not in self._kept]
        if new:
            ids = await remember(world.ingest, self._tenant, [ITEMS[place] for place in new])
            self._kept |= zip(new, ids, strict=True)

    async def _delete(self, world: World, places: Sequence[int]) -> None:
        for ident in self._ids(places):
            await world.ingest.delete(self._tenant, ident)
        for place in places:
            self._kept.pop(place, None)

    async def _sleep(self, world: World, places: Sequence[int]) -> None:
        await world.forgetting.sleep(self._tenant, self._ids(places))

    async def _wake(self, world: World, places: Sequence[int]) -> None:
        await world.forgetting.wake(self._tenant, self._ids(places))

    async def _archive(self, world: World, _: Sequence[int]) -> None:
        await world.step.run(a_cycle(self._tenant))

    async def _restore(self, world: World, places: Sequence[int]) -> None:
        await world.archive.restore(self._tenant, self._ids(places))

    async def _attach(self, world: World, places: Sequence[int]) -> None:
        for ident in self._ids(places[:1]):
            with suppress(NotFound):  # it is dormant
                await world.ingest.attach(self._tenant, ident, KNOWN)

    async def _update(self, world: World, places: Sequence[int]) -> None:
        for ident in self._ids(places[:1]):
            update = EpisodeUpdate(metadata={}, expires_at=None, sets_expiry=True)
            await world.ingest.update(self._tenant, ident, update)

    async def _merge(self, world: World, places: Sequence[int]) -> None:
        merges = MergeStore(world.graph)
        await ProposeMerges(merges, world.ingest.embedder).run(a_cycle(self._tenant))
        review = MergeReview(merges, FactStore(world.graph))
        status = (MergeStatus.ACCEPTED, MergeStatus.REJECTED)[places[0] % 2]
        found = await review.list(self._tenant, status=None, after=None, limit=10)
        for merge in found:
            await review.decide(self._tenant, merge.one, merge.other, status)

    async def _rule(self, world: World, places: Sequence[int]) -> None:
        kind = (PredicateClass.FUNCTIONAL, PredicateClass.MULTI)[places[0] % 2]
        facts = FactService(store=FactStore(world.graph), clock=WallClock())
        await facts.set_class(self._tenant, "lives in", kind)


@pytest.fixture
def open_world(graph: Graph, embedder: Embedder, tmp_path: Path) -> Callable[[str], World]:
    """Start the services of a process on an archive of that name."""
    return lambda name: world_of(graph, embedder, tmp_path / name)


@pytest.mark.parametrize("seed", range(3))
async def test_two_services_that_keep_names_write_what_one_without_writes(
    seed: int,
    open_world: Callable[[str], World],
    tenant: TenantId,
    other_tenant: TenantId,
    cypher: Cypher,
) -> None:
    chosen = random.Random(seed)  # noqa: S311 - an order, not a secret
    both = [open_world("both") for _ in range(2)]
    kept, fresh = Life(tenant), Life(other_tenant)
    done = []
    for _ in range(40):
        what = chosen.choice(STEPS)
        places = chosen.sample(range(len(ITEMS)), 3)
        done.append((what, places))
        await kept.step(what, places, chosen.choice(both))
        await fresh.step(what, places, open_world("fresh"))
        assert await without_ids(cypher, tenant) == await without_ids(cypher, other_tenant), done
    assert (await both[0].doctor.examine(tenant)).findings == ()


async def test_names_are_read_again_only_after_another_service_changed_names(
    graph: Graph, embedder: Embedder, tenant: TenantId, cypher: Cypher, tmp_path: Path
) -> None:
    asked: Counter[str] = Counter()
    counted = copy(graph)
    counted._on_query = lambda name, _: asked.update([name])
    mine, other = (world_of(one, embedder, tmp_path) for one in (counted, graph))

    async def reads(*new: NewEpisode) -> int:
        asked.clear()
        await remember(mine.ingest, tenant, new)
        return asked["ingest.list_names"]

    ids = await a_talk(mine.ingest, tenant)
    late = turns("two")
    for place, world in enumerate((mine, other)):
        await archived(world, tenant, ids[:3])
        await world.archive.restore(tenant, ids[:2])
        assert await reads(late[place]) == 0
        await mine.forgetting.wake(tenant, ids)
    await archived(mine, tenant, ids[:3])
    asked.clear()
    for ident in ids[:3]:
        await mine.ingest.delete(tenant, ident)
    assert (asked["cold.restore_episodes"], asked["ingest.list_names"]) == (3, 0)
    await remember(other.ingest, tenant, [late[2]])
    assert await reads(late[3]) == 1
    assert await reads(late[4]) == 0
    # An earlier version counts no changes that keep all names: each may have changed them.
    await cypher("MATCH (t:Tenant {id: $t}) REMOVE t.names_kept", t=tenant)
    assert await reads(late[5]) == 1
