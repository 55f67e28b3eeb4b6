"""Measure what passages cost: turns of a made-up chat, short ones and long answers.

    python -m scripts.measure_passages --turns 400

Each chat is appended in batches of 20 to a store of its own. Bytes are those of the store's files
once it was stopped, the indexes among them.
"""

import argparse
import random
import time
from datetime import UTC, datetime, timedelta

from rich.console import Console
from rich.table import Table

from ecphoria import runtime as loop
from ecphoria.records.episode import NewEpisode
from ecphoria.settings import Settings, read_settings
from ecphoria.telemetry import configure_logging
from ecphoria_eval.load import Stand, open_stand, private_settings, store_bytes

_BATCH, _SHORT, _LONG = 20, 120, 4_000
_START = datetime(2026, 1, 1, tzinfo=UTC)


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=400)
    given = parser.parse_args()
    settings = read_settings(log={"level": "warning"})
    configure_logging(settings.log.level, settings.log.format)
    loop.run(_measure(settings, given.turns))


async def _measure(settings: Settings, turns: int) -> None:
    table = Table("every", "turns", "passages", "seconds", "turns a second", "bytes a turn")
    for every in (0, 2):
        async with private_settings(settings) as private:
            async with open_stand(private) as stand:
                await _fill(stand, "warm-up", _BATCH, every=0)
            empty = store_bytes(private.home)
            async with open_stand(private) as stand:
                begun = time.perf_counter()
                passages = await _fill(stand, "measured", turns, every=every)
                seconds = time.perf_counter() - begun
            more = store_bytes(private.home) - empty
            table.add_row(
                f"{every}th is long" if every else "short",
                f"{turns:,}",
                f"{passages:,}",
                f"{seconds:.1f}",
                f"{turns / seconds:.1f}",
                f"{more / turns:,.0f}",
            )
    Console().print(table)


async def _fill(stand: Stand, name: str, turns: int, *, every: int) -> int:
    tenant = (await stand.services.tenancy.create_tenant(name)).id
    words, rng = _vocabulary(), random.Random(7)  # noqa: S311 (no secret)
    for first in range(0, turns, _BATCH):
        batch = [
            NewEpisode(
                text=_text(words, rng, _LONG if every and number % every == 1 else _SHORT),
                speaker=("Ana", "assistant")[number % 2],
                session="chat",
                occurred_at=_START + timedelta(minutes=number),
            )
            for number in range(first, first + _BATCH)
        ]
        await stand.services.ingest.append_batch(tenant, batch)
    return (await stand.services.archive.stats(tenant)).passages


def _vocabulary() -> list[str]:
    rng = random.Random(3)  # noqa: S311 (no secret)
    letters = "etaoinshrdlu"
    return ["".join(rng.choices(letters, k=rng.randint(2, 9))) for _ in range(5_000)]


def _text(words: list[str], rng: random.Random, length: int) -> str:
    told: list[str] = []
    while sum(map(len, told)) + len(told) < length:
        sentence = " ".join(rng.choices(words, k=12)).capitalize() + "."
        told.append(sentence + "\n\n" if rng.random() < 0.2 else sentence)
    return " ".join(told)[:length]


if __name__ == "__main__":
    main()
