"""Measure one large store: it is loaded once and kept, and each question is a command of its own.

    python -m scripts.measure_scale load --home DIR --tenant big --turns 300000
    python -m scripts.measure_scale load --home DIR --tenant small --turns 10000 --tenants 70
    python -m scripts.measure_scale recall --home DIR --tenant big
    python -m scripts.measure_scale change --home DIR --tenant big
    python -m scripts.measure_scale cycle --home DIR --tenant big
    python -m scripts.measure_scale crowd --home DIR --tenant big --turns 60000

`load` sends generated talk with given vectors as `ecphoria import --bulk` does, two batches at a
time, and tells every 10,000 turns the rate and the processor time of both processes; with
`--tenants` it loads that many tenants, `small-1` to `small-70`, one after another. `recall` asks
cues that were never asked since the service started, further ones, and these again, each followed
by one vector query. `change` appends, deletes and archives new turns, and takes all of them away
again. `crowd` adds one long session; most of its turns have one name, the others are equal lines.
The home is a folder of its own; remove it in the end.
"""

import argparse
import asyncio
import json
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from ecphoria import runtime as loop
from ecphoria.background import LIGHT
from ecphoria.engine.disk import disk_of
from ecphoria.maths.arrays import rounded, unit_vectors
from ecphoria.records.episode import Load, NewEpisode, Receipt
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Cue, RecallOptions
from ecphoria.settings import ConsolidationSettings, Settings, read_settings
from ecphoria.telemetry import configure_logging
from ecphoria_eval.load import BATCH, Stand, open_stand, to_episode
from ecphoria_eval.load_data import DIMENSION, Floats, Probe, Talk, Turn
from ecphoria_eval.load_report import consolidate, latency, paired

_AT_ONCE, _PROBES, _TOLD = 2, 600, 10_000
_NAMES_PER_TURN = 3.0
_NEW, _BATCH = 1_000, 100
_HEAVY = ("prior", "prune", "dormancy")  # steps of a whole cycle, beside those of a light one
_NAME, _LINE = "Qumberqa", "All is well here."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Loaded:
    """A tenant that was loaded: ids in the order of turns, and questions about them."""

    tenant: TenantId
    ids: Sequence[str]
    probes: Sequence[Probe]
    vectors: Floats


def main() -> None:
    """Do one command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", choices=tuple(_COMMANDS))
    parser.add_argument("--home", type=Path, required=True, help="folder of the store")
    parser.add_argument("--tenant", default="big", help="its name")
    parser.add_argument("--turns", type=int, default=300_000, help="turns to load")
    parser.add_argument(
        "--tenants", type=int, default=1, help="tenants to load, so many turns each"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the generated talk")
    parser.add_argument("--cues", type=int, default=100, help="cues of each kind")
    parser.add_argument("--heap", type=int, default=3_072, help="heap of Neo4j in MB")
    parser.add_argument("--page-cache", type=int, default=3_072, help="its page cache in MB")
    given = parser.parse_args()
    loop.run(_run(given))


async def _run(given: argparse.Namespace) -> None:
    given.home.mkdir(parents=True, exist_ok=True)
    begun = time.perf_counter()
    async with open_stand(_settings(given)) as stand:
        _tell("service is up", seconds=time.perf_counter() - begun)
        await _COMMANDS[given.command](stand, given)
        _tell("memory", service_mb=stand.service_mb(), neo4j_mb=stand.server_mb())


def _settings(given: argparse.Namespace) -> Settings:
    read = read_settings(log={"level": "warning"})
    configure_logging(read.log.level, read.log.format)
    engine = read.engine.model_copy(
        update={
            "home": None,
            "bolt_port": None,
            "http_port": None,
            "heap_mb": given.heap,
            "page_cache_mb": given.page_cache,
        }
    )
    return read.model_copy(
        update={
            "home": given.home,
            "consolidation": ConsolidationSettings(light_episodes=0),
            "neo4j": read.neo4j.model_copy(update={"uri": None}),
            "engine": engine,
        }
    )


def _tell(what: str, **figures: object) -> None:
    numbers = {
        name: round(value, 4) if isinstance(value, float) else value
        for name, value in figures.items()
    }
    print(json.dumps({"what": what, **numbers}), flush=True)


async def _load(stand: Stand, given: argparse.Namespace) -> None:
    """Load a tenant or several, and tell the size of the store."""
    if given.tenants == 1:
        await _load_tenant(stand, given.home / given.tenant, given.seed, given.turns)
    else:
        for number in range(1, given.tenants + 1):
            name = f"{given.tenant}-{number}"
            await _load_tenant(stand, given.home / name, given.seed + number, given.turns)
            _tell("loaded", tenant=name, of=given.tenants)
    found = disk_of(given.home / "engine").bytes
    _tell("disk of the store, bytes", sizes=found and asdict(found))


async def _load_tenant(stand: Stand, beside: Path, seed: int, count: int) -> None:
    """Load a tenant named as the files that keep its ids, vectors and questions."""
    tenant = (await stand.services.tenancy.create_tenant(beside.name)).id
    ids: list[EpisodeId] = []
    told = _Rate(stand)
    with beside.with_suffix(".vectors").open("wb") as vectors:
        running: list[asyncio.Task[list[EpisodeId]]] = []
        async with _talk(seed, count) as (batches, probes):
            async for turns in batches:
                vectors.write(unit_vectors(rounded([turn.vector for turn in turns])).tobytes())
                start = len(ids) + BATCH * len(running)
                place = Load(id="load", start=start, end=start + len(turns))
                running.append(asyncio.create_task(_append(stand, tenant, turns, place)))
                if len(running) == _AT_ONCE:
                    ids += await running.pop(0)
                    told.count(len(ids))
            for one in running:
                ids += await one
            told.count(len(ids))
            asked = [[probe.text, probe.vector.tolist()] for probe in await probes()]
    known = {"tenant": tenant, "ids": ids, "probes": asked}
    beside.with_suffix(".json").write_text(json.dumps(known), encoding="utf-8")


async def _append(
    stand: Stand, tenant: TenantId, turns: Sequence[Turn], place: Load | None = None
) -> list[EpisodeId]:
    return await _store(stand, tenant, [to_episode(turn) for turn in turns], place)


async def _store(
    stand: Stand, tenant: TenantId, new: Sequence[NewEpisode], place: Load | None = None
) -> list[EpisodeId]:
    results = await stand.services.ingest.append_batch(tenant, new, place)
    return [one.id for one in results if isinstance(one, Receipt)]


@asynccontextmanager
async def _talk(
    seed: int, count: int
) -> AsyncIterator[tuple[AsyncIterator[list[Turn]], Callable[[], Awaitable[list[Probe]]]]]:
    """Generate turns in another process, so that the service has its own to itself."""
    context = get_context("spawn")
    queue = context.Queue(2 * _AT_ONCE)
    process = context.Process(target=_generate, args=(queue, seed, count), daemon=True)
    process.start()

    async def batches() -> AsyncIterator[list[Turn]]:
        for _ in range(0, count, BATCH):
            yield await asyncio.to_thread(queue.get)

    async def probes() -> list[Probe]:
        found: list[Probe] = await asyncio.to_thread(queue.get)
        return found

    try:
        yield batches(), probes
    finally:
        process.kill()


def _generate(queue: "Queue[Any]", seed: int, count: int) -> None:
    talk = Talk(seed, names_per_turn=_NAMES_PER_TURN)
    for turns in talk.batches(count, BATCH):
        queue.put(turns)
    queue.put(talk.probes(_PROBES))


class _Rate:
    """Tells how fast a load goes, and what it costs."""

    def __init__(self, stand: Stand) -> None:
        self._stand, self._last = stand, self._now(stand, 0)

    def count(self, done: int) -> None:
        """Tell every 10,000 turns."""
        if done // _TOLD == self._last[0] // _TOLD:
            return
        now = self._now(self._stand, done)
        new, seconds, neo4j, service = (
            one - other for one, other in zip(now, self._last, strict=True)
        )
        _tell(
            "loaded",
            turns=done,
            per_second=new / seconds,
            neo4j_cpu_ms=1e3 * neo4j / new,
            service_cpu_ms=1e3 * service / new,
            neo4j_mb=self._stand.server_mb(),
            service_mb=self._stand.service_mb(),
        )
        self._last = now

    @staticmethod
    def _now(stand: Stand, done: int) -> tuple[float, float, float, float]:
        processes = psutil.Process(stand.endpoint.pid), psutil.Process()
        spent = [process.cpu_times() for process in processes]
        neo4j, service = (one.user + one.system for one in spent)
        return done, time.perf_counter(), neo4j, service


def _read(given: argparse.Namespace) -> _Loaded:
    known = json.loads((given.home / f"{given.tenant}.json").read_text(encoding="utf-8"))
    vectors = np.memmap(given.home / f"{given.tenant}.vectors", np.float32, "r")
    return _Loaded(
        tenant=TenantId(known["tenant"]),
        ids=known["ids"],
        probes=[
            Probe(text=text, vector=np.array(vector, np.float32))
            for text, vector in known["probes"]
        ],
        vectors=vectors.reshape(-1, DIMENSION),
    )


async def _recall(stand: Stand, given: argparse.Namespace) -> None:
    """Compare recalls with vector queries, and the seeds of the index with the exact nearest."""
    loaded, count = _read(given), given.cues
    first, further = loaded.probes[:count], loaded.probes[count : 2 * count]
    for stage, probes in (("first", first), ("further", further), ("the same again", further)):
        await _ask(stand, loaded.tenant, probes, stage)
    for wanted in (10, 50):
        shares = []
        for probe in further:
            best = np.argsort(-(loaded.vectors @ probe.vector))[:wanted]
            exact = {loaded.ids[place] for place in best}
            found = (await stand.seeds(loaded.tenant, probe.vector))[:wanted]
            shares.append(len(exact & set(found)) / wanted)
        _tell("seeds found of the exact", nearest=wanted, share=float(np.mean(shares)))


async def _ask(stand: Stand, tenant: TenantId, probes: Sequence[Probe], stage: str) -> None:
    took, nearest = [], []
    laps = defaultdict[str, list[float]](list)
    for probe in probes:
        cue = Cue(text=probe.text, vector=tuple(probe.vector.tolist()))
        answer = await stand.services.recall.recall(tenant, cue, RecallOptions(collapse=False))
        took.append(answer.timings_ms["total"])
        for lap, milliseconds in answer.timings_ms.items():
            laps[lap].append(milliseconds)
        begun = time.perf_counter()
        await stand.nearest(tenant, probe.vector)
        nearest.append(1e3 * (time.perf_counter() - begun))
    both = paired(took, nearest)
    _tell(
        f"recalls, {stage}",
        the_very_first_ms=took[0],
        recall_p50_ms=both.recall.p50,
        recall_p95_ms=both.recall.p95,
        query_p50_ms=both.nearest.p50,
        query_p95_ms=both.nearest.p95,
        ratio_p50=both.ratio_p50,
        ratio_p95=both.ratio_p95,
        laps_p50_ms={lap: round(float(np.median(each))) for lap, each in laps.items()},
    )


async def _change(stand: Stand, given: argparse.Namespace) -> None:
    """Append turns one by one and in batches; delete one half, archive and delete the rest."""
    tenant, services = _read(given).tenant, stand.services
    talk = Talk(given.seed + 1_000, names_per_turn=_NAMES_PER_TURN)
    new: list[EpisodeId] = []
    for size, count in ((1, _BATCH), (_BATCH, 2 * _NEW - _BATCH)):
        took = []
        for turns in talk.batches(count, size):
            begun = time.perf_counter()
            new += await _append(stand, tenant, turns)
            took.append(1e3 * (time.perf_counter() - begun))
        told = latency(took)
        _tell("append", turns=size, p50_ms=told.p50, p95_ms=told.p95)
    gone, asleep = new[:_NEW], new[_NEW:]
    begun = time.perf_counter()
    for ident in gone:
        await services.ingest.delete(tenant, ident)
    _tell("delete", memories=len(gone), seconds=time.perf_counter() - begun)
    begun = time.perf_counter()
    for first in range(0, len(asleep), _BATCH):
        await services.forgetting.sleep(tenant, asleep[first : first + _BATCH])
    _tell("put to sleep", memories=len(asleep), seconds=time.perf_counter() - begun)
    begun = time.perf_counter()
    archived = await services.cold.archive(tenant, 0)
    _tell("archive", memories=archived, seconds=time.perf_counter() - begun)
    begun = time.perf_counter()
    for ident in asleep:
        await services.ingest.delete(tenant, ident)
    _tell("delete archived", memories=len(asleep), seconds=time.perf_counter() - begun)


async def _cycle(stand: Stand, given: argparse.Namespace) -> None:
    """Run steps of a cycle over all there is, then over new turns, each step apart."""
    tenant = _read(given).tenant
    talk = Talk(given.seed + 2_000, names_per_turn=_NAMES_PER_TURN)
    for stage in ("first cycle", "cycle of new turns"):
        for step in (*LIGHT, *_HEAVY):
            cycle = await consolidate(stand.services.jobs, tenant, 0, steps=[step])
            _tell(stage, step=step, seconds=cycle.seconds)
        for turns in talk.batches(_NEW, BATCH):
            await _append(stand, tenant, turns)


async def _crowd(stand: Stand, given: argparse.Namespace) -> None:
    """Add one long session: five of six turns have the same name, the others are one line."""
    loaded, cues = _read(given), given.cues
    probes = loaded.probes[-cues:]
    await _ask(stand, loaded.tenant, probes, "before")
    talk = Talk(given.seed + 3_000, names_per_turn=0.0)
    told = _Rate(stand)
    for start, turns in enumerate(talk.batches(given.turns, BATCH)):
        new = [
            replace(
                to_episode(turn),
                session="endless",
                text=f"{turn.text} {_NAME} agrees." if place % 6 else _LINE,
                vector=tuple((turn if place % 6 else turns[0]).vector.tolist()),
            )
            for place, turn in enumerate(turns)
        ]
        await _store(stand, loaded.tenant, new)
        told.count((start + 1) * BATCH)
    await _ask(stand, loaded.tenant, probes, "the same after")
    asks = (f"What does {_NAME} think about it?", _LINE, f"Is all well with {_NAME}?")
    for text in asks:
        named = [Probe(text=text, vector=probe.vector) for probe in probes]
        await _ask(stand, loaded.tenant, named, text)


_COMMANDS: dict[str, Callable[[Stand, argparse.Namespace], Awaitable[None]]] = {
    "load": _load,
    "recall": _recall,
    "change": _change,
    "cycle": _cycle,
    "crowd": _crowd,
}


if __name__ == "__main__":
    main()
