"""A change of the embedding model, ended at every step: nothing is lost, and nothing is mixed."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from ecphoria.consolidation.archive import ArchiveService, Archiving, ColdStore
from ecphoria.consolidation.archive_disk import Disk
from ecphoria.consolidation.archive_files import ColdFiles
from ecphoria.consolidation.dormancy import ForgettingService
from ecphoria.consolidation.dormancy_store import DormancyStore
from ecphoria.consolidation.engram_store import EngramStore
from ecphoria.consolidation.engrams import MakeEngrams
from ecphoria.consolidation.merge import MergeStore, ProposeMerges
from ecphoria.consolidation.service import Cycle
from ecphoria.consolidation.steps import EmbedConcepts, NodeVectors
from ecphoria.embedding.service import Reembedder, ReembedderOptions, ReembeddingService
from ecphoria.errors import (
    Conflict,
    EmbedderChanged,
    EmbedderMismatch,
    EncoderUnavailable,
    InvalidInput,
    Misconfigured,
)
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.items.service import ItemService
from ecphoria.items.store import ItemStore
from ecphoria.neo4j_store.decoding import read_vector
from ecphoria.neo4j_store.schema import migrate
from ecphoria.neo4j_store.session import Graph, GraphOptions
from ecphoria.portability.service import Portability
from ecphoria.portability.store import Copies
from ecphoria.ports import Embedder
from ecphoria.records.embedding import EmbedderChoice, Reembedding, ReembeddingState
from ecphoria.records.episode import Extracted, NewEpisode, Statement
from ecphoria.records.ids import EpisodeId, TenantId, fresh_id
from ecphoria.records.item import ItemWrite
from ecphoria.tenancy.store import Tenants
from tests.conftest import Cypher, Server, WallClock, asking, emptied, new_tenant
from tests.hashing import HashingEmbedder

pytestmark = pytest.mark.engine

DIMENSION = 256
CHOICE = EmbedderChoice(provider="openai", model="projected", dimension=DIMENSION)
OPTIONS = ReembedderOptions(lease_s=1.0, pause_s=0.0, grace_s=0.0)
LABELS = ("Episode", "Passage", "Concept", "Fact", "Engram", "Item")
LONG = "\n\n".join(f"Floor {n} has a lamp. " + "The keeper counts steps. " * 20 for n in range(6))


class Killed(BaseException):
    """The process ends: no handler of an error runs."""


class Projected:
    """The local encoder's vectors, projected at random into a space of another dimension."""

    def __init__(self, embedder: Embedder, dimension: int = DIMENSION) -> None:
        self._embedder = embedder
        self.into = np.random.default_rng(7).normal(size=(embedder.dimension, dimension))
        self.model, self.dimension = "projected", dimension
        self.failures: list[Exception] = []
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        if self.failures:
            raise self.failures.pop(0)
        self.texts += texts
        made = (await self._embedder.embed(texts)) @ self.into
        return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)

    async def close(self) -> None:
        """Do nothing: the tests share the encoder."""


@dataclass
class World:
    """A store of its own, filled with all that has a vector."""

    options: GraphOptions
    graph: Graph
    cypher: Cypher
    old: Embedder
    new: Projected
    folder: Path
    tenants: list[TenantId] = field(default_factory=list)

    @property
    def service(self) -> ReembeddingService:
        return ReembeddingService(self.graph, self.old, self.open)

    async def open(self, _: EmbedderChoice) -> Embedder:
        return self.new

    def reembedder(self, fault: Callable[[str], None] = lambda _: None) -> Reembedder:
        return Reembedder(self.graph, self.open, OPTIONS, fault)

    def ingest(self, generation: int = 0) -> IngestService:
        return IngestService(
            store=IngestStore(self.graph.at(generation)),
            embedder=self.new if generation else self.old,
            clock=WallClock(),
            archive=self.archive(generation),
        )

    def archive(self, generation: int = 0) -> ArchiveService:
        cold = ColdStore(self.graph.at(generation), self.new if generation else self.old)
        files = ColdFiles(Disk(self.folder))
        return ArchiveService(
            Archiving(cold, files, DormancyStore(self.graph), settled_s=0.0),
            cold,
            files,
            WallClock(),
        )

    async def finished(self) -> ReembeddingState:
        """Work as a service does, with a pause for leases of others to run out."""
        worker = self.reembedder()
        for _ in range(200):
            await worker.run_one()
            state = (await self.service.find()).state
            if state in {"done", "failed", "cancelled"}:
                return state
            await asyncio.sleep(0.05)
        raise AssertionError(state)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The old model: no test judges a ranking, and each fills a store with the same long texts."""
    return HashingEmbedder("words", 384)


@asynccontextmanager
async def opened(server: Server, embedder: Embedder, folder: Path) -> AsyncIterator[World]:
    """Empty a Neo4j, and let two tenants live there."""
    up = emptied(server)
    # The first queries of a new server are slow on a busy machine.
    place = up.options(query_timeout_s=120)
    async with asking(place) as cypher, Graph.connect(place) as graph:
        await migrate(graph, embedder.model, embedder.dimension)
        made = World(place, graph, cypher, embedder, Projected(embedder), folder)
        made.tenants = [await new_tenant(graph) for _ in range(2)]
        for tenant in made.tenants:
            await fill(made, tenant)
        yield made


@pytest.fixture
async def world(
    changing_server: Server, embedder: Embedder, tmp_path: Path
) -> AsyncIterator[World]:
    async with opened(changing_server, embedder, tmp_path) as made:
        yield made


Vectors = dict[str, list[float]]


@dataclass
class Switched:
    """A store that has changed its model, and what was there before."""

    world: World
    wanted: Vectors
    begun: Reembedding
    searched: int
    copy: Path


@pytest.fixture(scope="module")
async def switched(
    changing_server: Server, embedder: Embedder, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Switched]:
    """One change for the tests that look at its end; they come before those with a `world`."""
    folder = tmp_path_factory.mktemp("world")
    async with opened(changing_server, embedder, folder) as world:
        wanted = await expected(world)
        await world.cypher("MATCH (t:Tenant) SET t.associated_turn = 3")
        merges = ProposeMerges(MergeStore(world.graph), world.old)
        searched = (await merges.run(cycle_of(world))).counts["searched"]
        await copies_of(world).export(f"t-{world.tenants[0]}", folder / "old.gz", silent)
        begun = await world.service.start(CHOICE)
        assert await world.finished() == "done"
        yield Switched(world, wanted, begun, searched, folder / "old.gz")


def cycle_of(world: World) -> Cycle:
    return Cycle(id=fresh_id(), tenant=world.tenants[0], now=datetime.now(UTC))


def copies_of(world: World) -> Portability:
    return Portability(Copies(world.graph), Tenants(world.graph), ColdFiles(Disk(world.folder)))


def silent(_: str, __: int, ___: int) -> None:
    """Take no notice."""


async def fill(world: World, tenant: TenantId) -> None:
    """Write episodes, passages, a fact and items, and let concepts and engrams have vectors."""
    homes = Extracted(
        names=("Marek Novak", "Trieste"),
        facts=(Statement(subject="Marek Novak", predicate="lives in", object="Trieste"),),
    )
    await world.ingest().append_batch(
        tenant,
        [
            NewEpisode(text="Marek Novak lives in Trieste.", speaker="Ana", extraction=homes),
            NewEpisode(text="Ana Berg painted the old boat.", speaker="Ben", session="s"),
            NewEpisode(text="The boat of Ana Berg is red.", speaker="Ana", session="s"),
            NewEpisode(text="Nobody wants the third oar.", speaker="Ben", session="s"),
            NewEpisode(title="The tower 🗼", text=LONG),
        ],
    )
    items = ItemService(store=ItemStore(world.graph), embedder=world.old, clock=WallClock())
    await items.write(
        tenant,
        [
            ItemWrite(namespace=("users",), key="pet", value={"likes": "dogs"}),
            ItemWrite(namespace=("users",), key="car", value={"n": 1}, text="a red van"),
            ItemWrite(namespace=("users",), key="mute", value={"n": 2}, text=""),
        ],
    )
    step = EmbedConcepts(NodeVectors(world.graph, concepts=True), world.old)
    await step.run(Cycle(id=fresh_id(), tenant=tenant, now=datetime.now(UTC)))
    # Sessions are summarised when they have rested.
    later = datetime.now(UTC) + timedelta(days=30)
    engrams = MakeEngrams(EngramStore(world.graph), embedder=world.old)
    await engrams.run(Cycle(id=fresh_id(), tenant=tenant, now=later))


async def vectors(world: World, name: str = "embedding") -> Vectors:
    """Read every vector under a name, by what its node is."""
    rows = await world.cypher(
        "MATCH (n) WHERE n[$name] IS NOT NULL "
        "RETURN n.tenant + ' ' + coalesce(n.id, n.key) AS id, n[$name] AS vector",
        name=name,
    )
    return {row["id"]: read_vector(row["vector"]).tolist() for row in rows}


async def expected(world: World) -> Vectors:
    """Project the old vectors: what the new encoder makes of the same texts."""
    old = await vectors(world)
    made = np.array(list(old.values())) @ world.new.into
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return dict(zip(old, made.tolist(), strict=True))


def require_same(found: Vectors, wanted: Vectors) -> None:
    assert found.keys() == wanted.keys()
    for key, vector in wanted.items():
        np.testing.assert_allclose(found[key], vector, atol=2e-3, err_msg=key)


async def require_switched(world: World, wanted: Vectors, generation: int = 1) -> None:
    """Check vectors, indexes and the model of a store that has changed."""
    name = f"embedding_{generation}"
    require_same(await vectors(world, name), wanted)
    keys = await world.cypher(
        "MATCH (n) UNWIND [k IN keys(n) WHERE k STARTS WITH 'embedding'] AS k RETURN DISTINCT k"
    )
    assert [row["k"] for row in keys] == [name]
    for label in LABELS:
        (row,) = await world.cypher(f"MATCH (n:{label}) RETURN count(n[$name]) AS c", name=name)
        assert row["c"], label
    indexes = await world.cypher(
        "SHOW VECTOR INDEXES YIELD properties, state RETURN properties, state"
    )
    assert [(row["properties"][0], row["state"]) for row in indexes] == len(LABELS) * [
        (name, "ONLINE")
    ]
    (store,) = await world.cypher(
        "MATCH (s:Store) RETURN s.model AS m, s.dimension AS d, s.generation AS g"
    )
    assert store == {"m": "projected", "d": DIMENSION, "g": generation}


async def require_untouched(world: World, wanted: Vectors) -> None:
    """Check that the store is as before the change."""
    assert await vectors(world) == wanted
    assert await vectors(world, "embedding_1") == {}
    (store,) = await world.cypher(
        "MATCH (s:Store) RETURN s.model AS m, coalesce(s.generation, 0) AS g"
    )
    assert store == {"m": world.old.model, "g": 0}
    names = await world.cypher("SHOW VECTOR INDEXES YIELD properties RETURN properties[0] AS p")
    assert [row["p"] for row in names] == len(LABELS) * ["embedding"]


async def test_every_vector_is_made_anew_and_the_store_switches(switched: Switched) -> None:
    world, wanted, begun = switched.world, switched.wanted, switched.begun
    assert len(wanted) > 30
    assert (begun.state, begun.model, begun.dimension) == ("filling", "projected", DIMENSION)
    await require_switched(world, wanted)
    told = await world.service.find()
    assert told.done == told.total == len(wanted)
    assert told.switched_at is not None
    assert len(world.new.texts) == len(wanted) + 1, "each once, and one to try the model"
    # The next cycle finds the neighbours of all episodes anew.
    (progress,) = await world.cypher("MATCH (t:Tenant) RETURN collect(t.associated_turn) AS turns")
    assert progress["turns"] == [0, 0]
    with pytest.raises(EmbedderMismatch, match="projected"):
        await migrate(world.graph, world.old.model, world.old.dimension)
    await migrate(world.graph, "projected", DIMENSION)


async def test_merges_are_searched_by_vectors_of_the_model_in_use_only(switched: Switched) -> None:
    world, searched = switched.world, switched.searched
    assert searched > 1
    with pytest.raises(EmbedderChanged):
        await MergeStore(world.graph).propose_near(world.tenants[0], None, [], [])
    after = ProposeMerges(MergeStore(world.graph.at(1)), world.new)
    found = [(await after.run(cycle_of(world))).counts["searched"] for _ in range(2)]
    assert found == [searched, 0]


async def test_a_model_that_cannot_be_used_is_refused_at_once(switched: Switched) -> None:
    world = switched.world
    world.new.failures = [Misconfigured("projected gives vectors of 3 numbers")]
    with pytest.raises(InvalidInput, match="3 numbers"):
        await world.service.start(CHOICE)
    world.new.failures = [EncoderUnavailable("Nobody there.")]
    with pytest.raises(EncoderUnavailable):
        await world.service.start(CHOICE)
    same = ReembeddingService(world.graph, world.new, world.open)
    with pytest.raises(Conflict, match="already"):
        await same.start(CHOICE)


async def test_a_service_with_the_old_encoder_can_write_nothing_after_the_switch(
    switched: Switched,
) -> None:
    world = switched.world
    before = await vectors(world, "embedding_1")
    with pytest.raises(EmbedderChanged):
        await world.ingest().append(world.tenants[0], NewEpisode(text="Too late."))
    assert await vectors(world) == {}
    assert await vectors(world, "embedding_1") == before
    await world.ingest(1).append(world.tenants[0], NewEpisode(text="In time."))
    assert len(await vectors(world, "embedding_1")) == len(before) + 1


async def test_a_copy_names_its_model_and_fits_a_store_of_that_model(
    switched: Switched, tmp_path: Path
) -> None:
    world, new = switched.world, tmp_path / "new.gz"
    copies, tenant = copies_of(world), world.tenants[0]
    before = await vectors(world, "embedding_1")
    await copies.export(f"t-{tenant}", new, silent)
    await Tenants(world.graph).erase(tenant)
    with pytest.raises(Exception, match="vectors of"):
        await copies.take_in(switched.copy, silent)
    await copies.take_in(new, silent)
    assert await vectors(world, "embedding_1") == before


PLACES = (
    "reembed: indexes",
    "embedding.count_vectors",
    "reembed: save",
    "embedding.save_vectors",
    "reembed: switch",
    "embedding.hold_store",
    "embedding.update_generation",
    "reembed: switched",
    "reembed: drop old",
    "embedding.drop_index",
    "embedding.remove_vectors",
)


async def test_a_kill_at_any_step_loses_nothing(world: World) -> None:
    wanted = await expected(world)
    await world.service.start(CHOICE)
    for place in PLACES:

        def kill(reached: str, _: float = 0.0, *, at: str = place) -> None:
            if reached == at:
                raise Killed

        async with Graph.connect(world.options, on_query=kill) as graph:
            mortal = Reembedder(graph, world.open, OPTIONS, kill)
            with suppress(Killed):
                async with asyncio.timeout(120):
                    while True:
                        await mortal.run_one()
                        await asyncio.sleep(0.05)
        (row,) = await world.cypher("MATCH (s:Store) RETURN coalesce(s.generation, 0) AS g")
        after = PLACES.index(place) > PLACES.index("embedding.update_generation")
        assert row["g"] == int(after), place
        if not after:  # a recall sees the old vectors, all of them
            assert len(await vectors(world)) == len(wanted), place
        else:
            require_same(await vectors(world, "embedding_1"), wanted)
    assert await world.finished() == "done"
    await require_switched(world, wanted)


async def test_what_is_written_meanwhile_is_caught_up_with(world: World) -> None:
    tenant = world.tenants[0]
    items = ItemService(store=ItemStore(world.graph), embedder=world.old, clock=WallClock())
    (gone,) = await world.cypher(
        "MATCH (e:Episode {tenant: $t}) WHERE e.text STARTS WITH 'Nobody' RETURN e.id AS id",
        t=tenant,
    )

    async def write() -> None:
        for turn in range(2):
            await world.ingest().append(tenant, NewEpisode(text=f"Late turn {turn}."))
        await items.write(
            tenant,
            [ItemWrite(namespace=("users",), key="car", value={"n": 3}, text="a blue bike")],
        )
        await world.ingest().delete(tenant, EpisodeId(gone["id"]))

    await world.service.start(CHOICE)
    inner = world.new.embed
    calls = itertools.count()

    async def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        made = await inner(texts)
        if not next(calls):  # the later calls are those of the switch, and a write waits for it
            await write()  # between the reading of the texts and the writing of their vectors
        return made

    world.new.embed = embed  # type: ignore[method-assign]  # a fake of the test's own
    assert await world.finished() == "done"
    rows = await world.cypher(
        "MATCH (n) WHERE n.tenant = $t AND (n.text STARTS WITH 'Late' OR n.key = 'car') "
        "RETURN n.text AS text, n.embedding_1 AS vector ORDER BY text",
        t=tenant,
    )
    assert [row["text"] for row in rows] == ["Late turn 0.", "Late turn 1.", "a blue bike"]
    made = await inner([row["text"] for row in rows])
    np.testing.assert_allclose([read_vector(row["vector"]) for row in rows], made, atol=2e-3)
    assert await vectors(world) == {}


async def test_a_change_that_is_cancelled_or_fails_leaves_the_store_as_it_was_and_begins_anew(
    world: World,
) -> None:
    before, wanted = await vectors(world), await expected(world)
    await cancelled(world, before)
    await failing(world, before)
    await world.service.start(CHOICE)  # the same again goes on
    assert await world.finished() == "done"
    await require_switched(world, wanted)
    with pytest.raises(Conflict, match="done"):
        await world.service.cancel()


async def cancelled(world: World, before: Vectors) -> None:
    """Cancel a change that has made all vectors."""
    await world.service.start(CHOICE)

    def stop(place: str) -> None:
        if place == "reembed: switch":
            raise Killed

    with suppress(Killed):
        await world.reembedder(stop).run_one()
    assert await vectors(world, "embedding_1")
    with pytest.raises(Conflict, match="under way"):
        await world.service.start(CHOICE)
    assert (await world.service.cancel()).state == "cancelling"
    assert await world.finished() == "cancelled"
    await require_untouched(world, before)


async def failing(world: World, before: Vectors) -> None:
    """Let the endpoint be down for a while, which is waited for, and then refuse."""
    await world.service.start(CHOICE)
    world.new.failures = [EncoderUnavailable("Down for a while.")]
    worker = world.reembedder()
    assert not await worker.run_one()
    told = await world.service.find()
    assert (told.state, told.code, told.message) == (
        "filling", "encoder-unavailable", "Down for a while.",
    )  # fmt: skip
    assert await vectors(world) == before
    world.new.failures = [Misconfigured("projected gives vectors of 3 numbers")]
    assert await world.finished() == "failed"
    assert (await world.service.find()).code == "misconfigured"
    assert await vectors(world) == before
    with pytest.raises(Conflict, match="cancel"):
        await world.service.start(EmbedderChoice(provider="openai", model="x", dimension=9))


async def test_archived_memories_get_new_vectors_when_they_are_restored(world: World) -> None:
    tenant, wanted = world.tenants[0], await expected(world)
    rows = await world.cypher(
        "MATCH (e:Episode {tenant: $t}) WHERE e.text STARTS WITH 'Nobody' OR e.title IS NOT NULL"
        " RETURN e.id AS id",
        t=tenant,
    )
    ids = [EpisodeId(row["id"]) for row in rows]
    assert len(ids) == 2
    store = DormancyStore(world.graph)
    forgetting = ForgettingService(store, world.archive(), world.ingest().wake, WallClock())
    await forgetting.sleep(tenant, ids)
    await world.cypher("MATCH (e:DormantEpisode) SET e.dormant_at = datetime('2020-01-01')")
    assert await world.archive().archive(tenant, 1) == 2
    await world.service.start(CHOICE)
    assert await world.finished() == "done"
    back = await world.archive(1).restore(tenant, ids)
    assert (set(back.restored), back.damaged) == (set(ids), ())
    require_same(await vectors(world, "embedding_1"), wanted)
    # What is archived now names its model, and comes back byte for byte.
    await world.cypher("MATCH (e:DormantEpisode) SET e.dormant_at = datetime('2020-01-01')")
    before, asked = await vectors(world, "embedding_1"), len(world.new.texts)
    assert await world.archive(1).archive(tenant, 1) == 2
    await world.archive(1).restore(tenant, ids)
    assert await vectors(world, "embedding_1") == before
    assert len(world.new.texts) == asked
