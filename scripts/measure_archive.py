"""Measure what an archive saves: a made-up talk, most of it archived, recalled before and after.

    python -m scripts.measure_archive --episodes 50000

The talk is associated first, as what sleeps in a real store has been. Each figure is taken after
a start of the service, on cues that were asked once before.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from ecphoria import runtime as loop
from ecphoria.records.episode import Receipt
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import Cue, RecallOptions
from ecphoria.settings import Settings, read_settings
from ecphoria.telemetry import configure_logging
from ecphoria_eval.load import Stand, open_stand, private_settings, store_bytes, to_episode
from ecphoria_eval.load_data import Probe, Talk
from ecphoria_eval.load_report import Latency, consolidate, latency

_BATCH, _SLEEPERS = 1_000, 500
_MEGABYTE = 10**6


@dataclass(frozen=True, slots=True, kw_only=True)
class _Figures:
    """One state of the store; sizes in bytes."""

    recall: Latency
    store: int
    indexes: int


def main() -> None:
    """Measure, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=10_000)
    parser.add_argument("--share", type=float, default=0.9, help="of them that are archived")
    parser.add_argument("--cues", type=int, default=100)
    given = parser.parse_args()
    settings = read_settings(log={"level": "warning"})
    configure_logging(settings.log.level, settings.log.format)
    loop.run(_measure(settings, given.episodes, given.share, given.cues))


async def _measure(settings: Settings, count: int, share: float, cues: int) -> None:
    say, talk = Console(stderr=True).print, Talk(seed=3)
    async with private_settings(settings) as private:
        async with open_stand(private) as stand:
            tenant = (await stand.services.tenancy.create_tenant("measured")).id
            ids = await _fill(stand, tenant, talk, count)
            say(f"{count:,} appended")
            cycle = await consolidate(stand.services.jobs, tenant, count, steps=["associate"])
            say(f"associated in {cycle.seconds:,.0f} s")
        probes = talk.probes(cues)
        before = await _figures(private, tenant, probes)
        say("recalled; some go to sleep")
        async with open_stand(private) as stand:
            gone = ids[: int(share * len(ids))]
            begun = time.perf_counter()
            for first in range(0, len(gone), _SLEEPERS):
                await stand.services.forgetting.sleep(tenant, gone[first : first + _SLEEPERS])
            slept_s = time.perf_counter() - begun
            begun = time.perf_counter()
            archived = await stand.services.cold.archive(tenant, 0)
            archived_s = time.perf_counter() - begun
            folder = private.archive.dir or private.home / "archive"
            files = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
        after = await _figures(private, tenant, probes)
    Console().print(_table(before, after))
    print(f"{archived:,} put to sleep in {slept_s:,.0f} s, archived in {archived_s:,.0f} s")
    print(f"{files / _MEGABYTE:,.0f} MB of archive files")


async def _fill(stand: Stand, tenant: TenantId, talk: Talk, count: int) -> list[EpisodeId]:
    ids: list[EpisodeId] = []
    for turns in talk.batches(count, _BATCH):
        episodes = [to_episode(turn) for turn in turns]
        results = await stand.services.ingest.append_batch(tenant, episodes)
        ids += [one.id for one in results if isinstance(one, Receipt)]
    return ids


async def _figures(private: Settings, tenant: TenantId, probes: Sequence[Probe]) -> _Figures:
    """Recall on a service just started, then stop it and weigh its store."""
    async with open_stand(private) as stand:
        for _ in range(2):
            took: list[float] = []
            for probe in probes:
                cue = Cue(text=probe.text, vector=tuple(probe.vector.tolist()))
                answer = await stand.services.recall.recall(tenant, cue, RecallOptions())
                took.append(answer.timings_ms["total"])
    return _Figures(
        recall=latency(took),
        store=store_bytes(private.home),
        indexes=store_bytes(private.home, "schema"),
    )


def _table(before: _Figures, after: _Figures) -> Table:
    table = Table("", "all live", "after the archive")
    for name, row in (
        (
            "recall p50 / p95, ms",
            [f"{one.recall.p50:.0f} / {one.recall.p95:.0f}" for one in (before, after)],
        ),
        ("indexes, MB", [f"{one.indexes / _MEGABYTE:,.0f}" for one in (before, after)]),
        ("store with them, MB", [f"{one.store / _MEGABYTE:,.0f}" for one in (before, after)]),
    ):
        table.add_row(name, *row)
    return table


if __name__ == "__main__":
    main()
