"""What the process itself remembers of an episode that was erased."""

import gc
import types
from collections.abc import Iterator
from dataclasses import replace

from ecphoria.app import STRATEGIES
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.ports import Embedder
from ecphoria.recall.service import RecallService
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions
from tests.conftest import WallClock
from tests.integration.memory.talks import turns

MARK = "zqvortane"
_NO_DATA = (type, types.ModuleType, types.FunctionType, types.FrameType, types.CodeType)


def held(*roots: object) -> Iterator[str]:
    """List the strings that can be reached from objects without going through code."""
    seen: set[int] = set()
    waiting = list(roots)
    while waiting:
        one = waiting.pop()
        if id(one) in seen or isinstance(one, _NO_DATA):
            continue
        seen.add(id(one))
        if isinstance(one, str):
            yield one
        elif isinstance(one, types.MethodType):
            waiting.append(one.__self__)
        else:
            waiting.extend(gc.get_referents(one))


def remembered(*roots: object) -> list[str]:
    return [text[:60] for text in held(*roots) if MARK in text.lower()]


async def test_no_cache_holds_an_erased_episode(
    graph: Graph, embedder: Embedder, tenant: TenantId
) -> None:
    reader = EpisodeReader(graph)
    recalls = RecallService(
        store=reader, strategies=STRATEGIES, traces=TraceStore(graph, keep=9),
        embedder=embedder, clock=WallClock(), caches=(reader.forget,),
    )  # fmt: skip
    ingest = IngestService(
        store=IngestStore(graph), embedder=embedder, clock=WallClock(), erased=recalls.forget
    )
    said, *others = turns()
    name = MARK.capitalize()
    first = replace(
        said, text=f"{name} keeps bees. I met {name} of {name} Hill.", speaker=name, title=name
    )
    # Long texts are remembered as passages too.
    long = replace(said, text=f"{name} Hill has bees. " * 400, position=7)
    receipts = [await ingest.append(tenant, one) for one in (first, long, *others)]
    for strategy in STRATEGIES:
        await recalls.recall(tenant, Cue(text="Who keeps bees?"), RecallOptions(strategy=strategy))
    await recalls.close()
    assert remembered(recalls, ingest)
    for receipt in receipts[:2]:
        await ingest.delete(tenant, receipt.id)
    assert remembered(recalls, ingest) == []
