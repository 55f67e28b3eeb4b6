"""Measure the load that a service carries."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import psutil
from numpy.typing import NDArray

from ecphoria.app import Reports, Services, build
from ecphoria.cli.progress import Watch
from ecphoria.engine import Endpoint
from ecphoria.maths.arrays import rounded, unit_vectors
from ecphoria.neo4j_store.session import Graph, GraphOptions, Statement, packed
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.episode import NewEpisode, Receipt
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, Filters, RecallOptions
from ecphoria.runtime import tune_garbage_collection
from ecphoria.settings import ConsolidationSettings, Settings
from ecphoria_eval.load_data import Floats, Probe, Talk, Turn
from ecphoria_eval.load_report import (
    ClientRun,
    ConsolidationRun,
    Latency,
    OwnerRun,
    Paired,
    SizeRun,
    latency,
    measure_consolidation,
    paired,
    ratio,
)

_MEGABYTE = 10**6
_LOOKS, _LOOK_S = 100, 0.1
_RESTING = 0.2
"""Of one core: Neo4j's own housekeeping takes less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Near:
    id: str
    score: float


_FIND_NEAREST = Statement("evaluation.find_nearest", _Near)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stand:
    """A service on a local Neo4j, and the searches that are measured."""

    services: Services
    endpoint: Endpoint
    graph: Graph
    home: Path

    async def nearest(self, tenant: TenantId, vector: Floats) -> Sequence[str]:
        """Ask the vector index alone for the ten nearest."""
        rows = await self.graph.run(_FIND_NEAREST, tenant=tenant, vector=packed(vector))
        return [row.id for row in rows]

    async def seeds(self, tenant: TenantId, vector: Floats) -> Sequence[str]:
        """Ask for the seeds a recall takes from the vector index, best first."""
        reader = EpisodeReader(self.graph)
        await reader.lexicon(tenant, (), ())  # which tells how large the tenant is
        rows = await reader.seeds_by_vector(tenant, vector, 50, Filters())
        return [row.id for row in rows]

    async def quiet(self) -> None:
        """Wait, ten seconds at most, until the server rests from merging its indexes."""
        server = psutil.Process(self.endpoint.pid)
        resting, busy = 0, _busy_s(server)
        for _ in range(_LOOKS):
            await asyncio.sleep(_LOOK_S)
            before, busy = busy, _busy_s(server)
            resting = resting + 1 if busy - before < _RESTING * _LOOK_S else 0
            if resting == 2:
                return

    def service_mb(self) -> float:
        """Read this process's resident memory."""
        return float(psutil.Process().memory_info().rss) / _MEGABYTE

    def server_mb(self) -> float:
        """Read the resident memory of Neo4j."""
        return float(psutil.Process(self.endpoint.pid).memory_info().rss) / _MEGABYTE


@asynccontextmanager
async def open_stand(settings: Settings, reports: Reports | None = None) -> AsyncIterator[Stand]:
    """Bring up the service on a local Neo4j, and take both down afterwards."""
    services = await build(settings, reports)
    tune_garbage_collection()
    try:
        endpoint = services.engine
        assert endpoint is not None, "private settings name no server"
        options = GraphOptions(
            uri=endpoint.bolt_uri, user=endpoint.user, password=endpoint.password
        )
        async with Graph.connect(options) as graph:
            yield Stand(services=services, endpoint=endpoint, graph=graph, home=settings.home)
    finally:
        await services.close()


@asynccontextmanager
async def private_settings(given: Settings) -> AsyncIterator[Settings]:
    """Turn the user's settings to an empty home, a server of its own, and cycles on request."""
    with tempfile.TemporaryDirectory(prefix="ecphoria-load-") as folder:
        yield given.model_copy(
            update={
                "home": Path(folder),
                "consolidation": ConsolidationSettings(light_episodes=0),
                "neo4j": given.neo4j.model_copy(update={"uri": None}),
                "engine": given.engine.model_copy(
                    update={"home": None, "bolt_port": None, "http_port": None}
                ),
            }
        )


def _busy_s(process: psutil.Process) -> float:
    spent = process.cpu_times()
    return float(spent.user + spent.system)


def store_bytes(home: Path, part: str = "") -> int:
    """Sum a stopped store's files with their indexes; the transaction logs lie elsewhere.

    `schema` is the part with the indexes. A running Neo4j writes its pages only now and then, so
    its files tell too little.
    """
    store = home / "engine" / "data" / "databases" / "neo4j" / part
    return sum(file.stat().st_size for file in store.rglob("*") if file.is_file())


BATCH = 1_000
_NAMES_PER_TURN = 3.0
"""With NEXT this makes four edges an episode: an average degree of 8."""
_NEAREST, _APPENDS = 10, 30


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """The sizes and clients to measure.

    Attributes:
        nodes: Sizes of the store, episodes over all tenants; the store grows from one to the next.
        clients: Numbers of recalls under way at a time.
        recalls: Of each strategy and number of clients.
        encoded: Turns appended without vectors at each size.
        first: Share of the episodes that the first tenant has; None for the same as the others.
        new: Turns that are consolidated while recalls go on, at each size; 0 consolidates nothing.
        seconds: Longest that one strategy and number of clients is measured.
    """

    nodes: tuple[int, ...] = (1_000, 10_000)
    clients: tuple[int, ...] = (1, 4, 16)
    tenants: int = 1
    first: float | None = None
    strategies: tuple[str, ...] = ("ecphoria", "synapse")
    recalls: int = 200
    encoded: int = 200
    new: int = 1_000
    seconds: float = 30.0
    seed: int = 1

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of the episodes that each tenant has.

        >>> LoadPlan(tenants=3, first=0.5).shares
        (0.5, 0.25, 0.25)
        """
        first, others = self.first or 1 / self.tenants, self.tenants - 1
        return first, *((1 - first) / others for _ in range(others))


@dataclass(slots=True, kw_only=True)
class _Owner:
    """A tenant with its episodes.

    Attributes:
        ids, vectors: Of the turns appended with a vector, in step; the vectors as stored.
        stored: All its episodes.
        consolidated: Those that a cycle has seen.
    """

    tenant: TenantId
    talk: Talk
    stored: int = 0
    consolidated: int = 0
    ids: list[str] = field(default_factory=list)
    vectors: list[NDArray[np.int8]] = field(default_factory=list)


class Load:
    """A run on one stand."""

    def __init__(self, stand: Stand, plan: LoadPlan, watch: Watch) -> None:
        self._stand = stand
        self._plan = plan
        self._watch = watch
        self._owners: list[_Owner] = []

    @property
    def stored(self) -> int:
        """Count the episodes in the store."""
        return sum(owner.stored for owner in self._owners)

    async def measure(self) -> tuple[SizeRun, ...]:
        """Grow the store from size to size and measure each."""
        for number in range(self._plan.tenants):
            made = await self._stand.services.tenancy.create_tenant(f"load-{number}")
            talk = Talk(self._plan.seed + number, names_per_turn=_NAMES_PER_TURN)
            self._owners.append(_Owner(tenant=made.id, talk=talk))
        return tuple([await self._size(nodes) for nodes in sorted(self._plan.nodes)])

    async def _size(self, nodes: int) -> SizeRun:
        rate = await self._grow(nodes)
        encoded = await self._append_encoded()
        readable = await self._readable()
        await self._stand.quiet()
        owners = {
            name: await self._meet(group, f"{name}, {nodes:,}") for name, group in self._groups()
        }
        await self._warm(self._probes(), nodes)
        probes = self._probes()
        nearest, strategies = await self._recalls(probes, nodes)
        return SizeRun(
            nodes=nodes,
            ingest_per_second=rate,
            ingest_encoded_per_second=encoded,
            readable_ms=readable,
            nearest=nearest,
            index_recall=await self._share_found(probes, self._stand.nearest),
            seed_recall=await self._share_found(probes, self._stand.seeds),
            service_mb=self._stand.service_mb(),
            server_mb=self._stand.server_mb(),
            strategies=strategies,
            owners=owners,
            consolidation=await self._consolidation(probes, nodes) if self._plan.new else None,
        )

    async def _grow(self, nodes: int) -> float:
        begun = self.stored
        seconds, done = 0.0, 0
        for owner, share in zip(self._owners, self._plan.shares, strict=True):
            wanted = max(0, int(nodes * share + 1e-6) - owner.stored)
            for turns in owner.talk.batches(wanted, BATCH):
                seconds += await self._append(owner, turns, with_vectors=True)
                done += len(turns)
                self._watch(f"ingest to {nodes:,}", begun + done, max(nodes, begun + done))
        return ratio(done, seconds)

    async def _append(self, owner: _Owner, turns: Sequence[Turn], *, with_vectors: bool) -> float:
        episodes = [to_episode(turn, with_vector=with_vectors) for turn in turns]
        start = time.perf_counter()
        answers = await self._stand.services.ingest.append_batch(owner.tenant, episodes)
        seconds = time.perf_counter() - start
        for answer, turn in zip(answers, turns, strict=True):
            assert isinstance(answer, Receipt), "made-up talk is always accepted"
            if with_vectors:
                owner.ids.append(answer.id)
                owner.vectors.append(rounded(turn.vector))
        owner.stored += len(turns)
        return seconds

    def _groups(self) -> Iterator[tuple[str, list[_Owner]]]:
        """Set the first tenant apart, which may be larger."""
        yield "first", self._owners[:1]
        if len(self._owners) > 1:
            yield "others", self._owners[1:]

    async def _meet(self, owners: Sequence[_Owner], stage: str) -> OwnerRun:
        """Measure what these tenants meet: recalls of cues never asked before, then appends."""
        episodes = owners[0].stored
        cold = await self._paired(owners, f"first recalls, {stage}")
        warm = await self._paired(owners, f"warm recalls, {stage}")
        appends = []
        for owner in islice(cycle(owners), _APPENDS):
            (turns,) = owner.talk.batches(1, 1)
            appends.append(1e3 * await self._append(owner, turns, with_vectors=True))
        found = await self._share_found(self._probes(owners), self._stand.seeds)
        return OwnerRun(
            episodes=episodes, cold=cold, warm=warm, append=latency(appends), seed_recall=found
        )

    async def _paired(self, owners: Sequence[_Owner], stage: str) -> Paired:
        recalls, nearest = [], []
        for owner, probe in self._probes(owners)[: self._plan.recalls]:
            timings = await self._recall(owner, probe, self._plan.strategies[0])
            recalls.append(timings["total"])
            nearest.append(await self._nearest_ms(owner, probe))
            self._watch(stage, len(recalls), self._plan.recalls)
        return paired(recalls, nearest)

    async def _append_encoded(self) -> float:
        owner = self._owners[0]
        seconds = 0.0
        for turns in owner.talk.batches(self._plan.encoded, BATCH):
            seconds += await self._append(owner, turns, with_vectors=False)
        return ratio(self._plan.encoded, seconds)

    async def _readable(self) -> Latency:
        owner = self._owners[0]
        lags = []
        (turns,) = owner.talk.batches(11, 11)
        for turn in turns:
            start = time.perf_counter()
            await self._append(owner, [turn], with_vectors=True)
            # By words, a turn that asks would be an echo of itself, and stand below all hits.
            cue = Cue(vector=tuple(turn.vector.tolist()))
            while True:
                found = await self._stand.services.recall.recall(
                    owner.tenant, cue, RecallOptions(strategy="dense", collapse=False)
                )
                if owner.ids[-1] in {hit.episode.id for hit in found.hits}:
                    break
            lags.append(1e3 * (time.perf_counter() - start))
        return latency(lags[1:])  # Neo4j plans the queries for the first one

    def _probes(self, owners: Sequence[_Owner] = ()) -> list[tuple[_Owner, Probe]]:
        """Make cues, in turns for each of these owners, or of all."""
        asks = owners or self._owners
        each = -(-self._plan.recalls // len(asks))
        asked = [[(owner, probe) for probe in owner.talk.probes(each)] for owner in asks]
        return [pair for round_ in zip(*asked, strict=True) for pair in round_]

    async def _warm(self, probes: Sequence[tuple[_Owner, Probe]], nodes: int) -> None:
        """Ask as many other cues as are measured, to fill the caches of the service."""
        for place, (owner, probe) in enumerate(probes, 1):
            await self._stand.nearest(owner.tenant, probe.vector)
            for strategy in self._plan.strategies:
                await self._recall(owner, probe, strategy)
            self._watch(f"warming, {nodes:,}", place, len(probes))

    async def _recalls(
        self, probes: Sequence[tuple[_Owner, Probe]], nodes: int
    ) -> tuple[Latency, dict[str, tuple[ClientRun, ...]]]:
        yardstick: list[float] = []
        raw: dict[str, list[tuple[int, float, list[dict[str, float]]]]] = {}
        for strategy in self._plan.strategies:
            for clients in self._plan.clients:
                stage = f"{strategy}, {clients} at a time, {nodes:,}"
                seconds, timings = await self._together(
                    probes, strategy, clients, stage, yardstick if clients == 1 else None
                )
                raw.setdefault(strategy, []).append((clients, seconds, timings))
        if not yardstick:
            yardstick = [await self._nearest_ms(*pair) for pair in probes]
        nearest = latency(yardstick)
        return nearest, {
            strategy: tuple(_client_run(*run, nearest) for run in runs)
            for strategy, runs in raw.items()
        }

    async def _together(
        self,
        probes: Sequence[tuple[_Owner, Probe]],
        strategy: str,
        clients: int,
        stage: str,
        yardstick: list[float] | None,
    ) -> tuple[float, list[dict[str, float]]]:
        """Recall from so many tasks until the probes or the seconds are used up.

        Alone, each recall is followed by the yardstick, so that both see the same machine.
        """
        waiting: Iterator[tuple[_Owner, Probe]] = iter(probes)
        timings: list[dict[str, float]] = []
        start = time.perf_counter()
        aside = 0.0

        async def client() -> None:
            nonlocal aside
            for owner, probe in waiting:
                timings.append(await self._recall(owner, probe, strategy))
                if yardstick is not None:
                    begun = time.perf_counter()
                    yardstick.append(await self._nearest_ms(owner, probe))
                    aside += time.perf_counter() - begun
                self._watch(stage, len(timings), len(probes))
                if time.perf_counter() - start > self._plan.seconds:
                    return

        await asyncio.gather(*(client() for _ in range(clients)))
        return time.perf_counter() - start - aside, timings

    async def _consolidation(
        self, probes: Sequence[tuple[_Owner, Probe]], nodes: int
    ) -> ConsolidationRun:
        """Consolidate the first tenant while its probes are asked."""
        owner = self._owners[0]
        own = cycle([probe for other, probe in probes if other is owner])

        async def append() -> int:
            for turns in owner.talk.batches(self._plan.new, BATCH):
                await self._append(owner, turns, with_vectors=True)
            return self._plan.new

        async def ask() -> float:
            return (await self._recall(owner, next(own), self._plan.strategies[0]))["total"]

        run = await measure_consolidation(
            self._stand.services.jobs,
            owner.tenant,
            grown=owner.stored - owner.consolidated,
            append=append,
            ask=ask,
            asked=self._plan.recalls,
            watch=lambda what, done, steps: self._watch(f"{what}, {nodes:,}", done, steps),
        )
        owner.consolidated = owner.stored
        return run

    async def _recall(self, owner: _Owner, probe: Probe, strategy: str) -> dict[str, float]:
        cue = Cue(text=probe.text, vector=tuple(probe.vector.tolist()))
        answer = await self._stand.services.recall.recall(
            owner.tenant, cue, RecallOptions(strategy=strategy, collapse=False)
        )
        return dict(answer.timings_ms)

    async def _nearest_ms(self, owner: _Owner, probe: Probe) -> float:
        start = time.perf_counter()
        await self._stand.nearest(owner.tenant, probe.vector)
        return 1e3 * (time.perf_counter() - start)

    async def _share_found(
        self,
        probes: Iterable[tuple[_Owner, Probe]],
        search: Callable[[TenantId, Floats], Awaitable[Sequence[str]]],
    ) -> float:
        """Compare a search's first ten with the exact ten among the stored vectors."""
        shares = []
        known: dict[TenantId, Floats] = {}
        for owner, probe in islice(cycle(probes), 50):
            if owner.tenant not in known:
                known[owner.tenant] = unit_vectors(np.stack(owner.vectors))
            scores = known[owner.tenant] @ probe.vector
            best = np.argsort(-scores, kind="stable")[:_NEAREST]
            exact = {owner.ids[int(place)] for place in best}
            found = set((await search(owner.tenant, probe.vector))[:_NEAREST])
            shares.append(len(exact & found) / len(exact))
        return float(np.mean(shares))


def to_episode(turn: Turn, *, with_vector: bool = True) -> NewEpisode:
    """Say a made-up turn as a caller would append it."""
    return NewEpisode(
        text=turn.text,
        speaker=turn.speaker,
        session=turn.session,
        occurred_at=turn.occurred_at,
        vector=tuple(turn.vector.tolist()) if with_vector else None,
    )


def _client_run(
    clients: int, seconds: float, timings: Sequence[dict[str, float]], nearest: Latency
) -> ClientRun:
    phases = {phase: latency([one[phase] for one in timings]) for phase in timings[0]}
    total = phases["total"]
    return ClientRun(
        clients=clients,
        recalls=len(timings),
        recalls_per_second=len(timings) / seconds,
        ratio_p50=ratio(total.p50, nearest.p50),
        ratio_p95=ratio(total.p95, nearest.p95),
        phases=phases,
    )
