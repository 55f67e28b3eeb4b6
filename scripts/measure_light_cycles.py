"""Measure how much a light cycle of consolidation slows down the recalls beside it.

    python -m scripts.measure_light_cycles --server http://localhost:8765 --key KEY
    python -m scripts.measure_light_cycles --server ... --key KEY --turns 2000 --rounds 40

A tenant of its own gets generated talk. Then each round recalls ten times, appends as many turns
as start a light cycle, and recalls again until the cycle has ended. So both kinds of recall see
the same machine, in turn. The last line has p95 beside the cycles over p95 without them.
"""

import argparse
import asyncio
import secrets
import time
from collections.abc import Iterator
from itertools import cycle

from ecphoria.background import LIGHT
from ecphoria.client import AsyncClient
from ecphoria.records.episode import NewEpisode
from ecphoria.settings import ConsolidationSettings
from ecphoria_eval.load_data import Talk
from ecphoria_eval.load_report import Latency, latency, ratio
from ecphoria_eval.run import own_tenant

_STEPS = ("expire", *LIGHT)
_BATCH, _QUIET, _WARM, _PAUSE_S = 200, 10, 60, 0.1


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server", required=True, help="address of a running service")
    parser.add_argument("--key", required=True, help="an operator's key")
    parser.add_argument("--turns", type=int, default=2_000, help="turns in the store")
    parser.add_argument("--rounds", type=int, default=40, help="light cycles")
    asyncio.run(_measure(parser.parse_args()))


async def _measure(given: argparse.Namespace) -> None:
    def connect(tenant: str | None) -> AsyncClient:
        return AsyncClient(given.server, given.key, tenant=tenant, timeout=300)

    quiet: list[float] = []
    beside: list[float] = []
    cycles: list[float] = []
    talk = Talk(1)
    async with own_tenant(connect, f"light-{secrets.token_hex(4)}") as client:
        await _append(client, talk, given.turns)
        await client.consolidate(steps=_STEPS, timeout_s=3_600)
        cues = cycle([probe.text for probe in talk.probes(500)])
        for _ in range(_WARM):
            await _recall_ms(client, cues)
        for _ in range(given.rounds):
            quiet += [await _recall_ms(client, cues) for _ in range(_QUIET)]
            await _append(client, talk, ConsolidationSettings().light_episodes)
            begun = time.perf_counter()
            running = asyncio.create_task(client.consolidate(steps=_STEPS, timeout_s=600))
            while not running.done():
                beside.append(await _recall_ms(client, cues))
            await running
            cycles.append(1e3 * (time.perf_counter() - begun))
    _print(given.turns, latency(quiet), latency(beside), latency(cycles), len(beside))


async def _append(client: AsyncClient, talk: Talk, count: int) -> None:
    for turns in talk.batches(count, _BATCH):
        await client.append_batch([
            NewEpisode(text=turn.text, speaker=turn.speaker, session=turn.session,
                       occurred_at=turn.occurred_at)
            for turn in turns
        ])  # fmt: skip


async def _recall_ms(client: AsyncClient, cues: Iterator[str]) -> float:
    begun = time.perf_counter()
    await client.recall(next(cues), record=False)
    milliseconds = 1e3 * (time.perf_counter() - begun)
    await asyncio.sleep(_PAUSE_S)
    return milliseconds


def _print(turns: int, quiet: Latency, beside: Latency, cycles: Latency, recalls: int) -> None:
    print(
        f"{turns:,} turns, light cycles of {cycles.p50:,.0f} ms (p50), {recalls:,} recalls beside"
    )
    for name, one in (("without", quiet), ("beside", beside)):
        print(f"{name:8} p50 {one.p50:6.0f} ms  p95 {one.p95:6.0f} ms")
    print(f"p95 to p95 {ratio(beside.p95, quiet.p95):.2f}")


if __name__ == "__main__":
    main()
