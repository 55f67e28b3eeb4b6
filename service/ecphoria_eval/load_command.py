"""`ecphoria eval load`: run the load benchmark, print it and write the report."""

import os
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from math import ceil
from pathlib import Path
from typing import Literal

from rich.box import SIMPLE_HEAD
from rich.table import Table

from ecphoria import runtime as loop
from ecphoria.cli.progress import Watch, watching
from ecphoria.cli.terminal import stdout
from ecphoria.engine.disk import disk_of
from ecphoria.errors import InvalidInput, UnknownStrategy
from ecphoria.settings import Settings, read_settings
from ecphoria.telemetry import configure_logging
from ecphoria_eval.load import Load, LoadPlan, open_stand, private_settings
from ecphoria_eval.load_report import LoadReport, SizeRun
from ecphoria_eval.options import QUIET
from ecphoria_eval.rows import NAMES, write_json

_LARGEST, _MOST_CLIENTS = 1_000_000, 256
_LEAST = 20
"""Episodes of a tenant."""


def run_load(plan: LoadPlan, out: Path | None) -> None:
    """Measure, show the tables, and write the report where asked."""
    settings = read_settings(log=QUIET)
    configure_logging(settings.log.level, settings.log.format)
    with watching() as watch:
        report = loop.run(measure_load(settings, plan, watch))
    console = stdout()
    for table in tables(report):
        console.print(table)
    if out is not None:
        write_json(out, asdict(report))


def plan_of(
    nodes: str,
    clients: str,
    strategies: Sequence[str] = (),
    *,
    tenants: int,
    recalls: int,
    new: int,
    seed: int,
    first: float | None = None,
) -> LoadPlan:
    """Read the lists of numbers, and the strategies if any is named.

    Raises:
        InvalidInput: One is no number in its bounds, or there are fewer episodes than tenants.
        UnknownStrategy: There is none of this name.
    """
    for name in strategies:
        if name not in NAMES:
            raise UnknownStrategy(f"There is no strategy `{name}`; there are: {', '.join(NAMES)}.")
    sizes = _numbers("--nodes", nodes, _LARGEST)
    if first is not None and (tenants == 1 or not 0 < first < 1):
        raise InvalidInput("--first is a share between 0 and 1, and needs --tenants")
    plan = LoadPlan(
        nodes=sizes,
        clients=_numbers("--clients", clients, _MOST_CLIENTS),
        strategies=tuple(dict.fromkeys(strategies)) or LoadPlan().strategies,
        tenants=tenants,
        first=first,
        recalls=recalls,
        new=new,
        seed=seed,
    )
    least = ceil(_LEAST / min(plan.shares) - 1e-6)
    if sizes[0] < least:
        raise InvalidInput(
            f"--nodes must be at least {least:,}, so that each tenant has {_LEAST} episodes"
        )
    return plan


async def measure_load(settings: Settings, plan: LoadPlan, watch: Watch) -> LoadReport:
    """Bring up a service and a server of their own, measure, and remove them."""
    async with private_settings(settings) as private:
        async with open_stand(private) as stand:
            run = Load(stand, plan, watch)
            sizes = await run.measure()
            health = await stand.services.health()
            model = stand.services.embedder.model
        found = disk_of(private.home / "engine").bytes
        assert found is not None, "the store is of this run"
        disk = {kind: size / run.stored for kind, size in asdict(found).items()}
        return LoadReport(
            version=version("ecphoria"),
            engine={"neo4j": health.neo4j, "gds": health.gds or ""},
            embedder=model,
            seed=plan.seed,
            tenants=plan.tenants,
            cores=os.cpu_count() or 1,
            bytes_per_episode=sum(disk.values()) - disk["log"],
            disk=disk,
            sizes=sizes,
        )


def tables(report: LoadReport) -> tuple[Table, ...]:
    """Lay the report out to read: stores, recalls, then cycles of consolidation."""
    measured = [run for run in report.sizes if run.consolidation]
    cycles = (_consolidations(measured),) if measured else ()
    return _stores(report), _disk(report), _owners(report.sizes), _recalls(report.sizes), *cycles


def _stores(report: LoadReport) -> Table:
    table = _table(f"Stores; {report.bytes_per_episode:,.0f} bytes on disk an episode at the last")
    for heading in (
        "episodes", "ingest/s", "encoding", "readable", "vector query", "index",
        "seeds", "memory MB",
    ):  # fmt: skip
        table.add_column(heading, justify="right", no_wrap=True)
    for run in report.sizes:
        table.add_row(
            f"{run.nodes:,}",
            f"{run.ingest_per_second:,.0f}",
            f"{run.ingest_encoded_per_second:,.0f}",
            f"{run.readable_ms.p95:.0f} ms",
            f"{run.nearest.p50:.1f}/{run.nearest.p95:.1f} ms",
            f"{run.index_recall:.3f}",
            f"{run.seed_recall:.3f}",
            f"{run.service_mb:,.0f}/{run.server_mb:,.0f}",
        )
    return table


def _disk(report: LoadReport) -> Table:
    table = _table("Disk, bytes an episode")
    for kind in report.disk:
        table.add_column(kind.replace("_", "\n"), justify="right", no_wrap=True)
    table.add_row(*(f"{size:,.0f}" for size in report.disk.values()))
    return table


def _owners(sizes: tuple[SizeRun, ...]) -> Table:
    table = _table("The first tenant and others, p50/p95; x: to one vector query")
    for heading in ("store", "tenant", "cold ms", "x", "warm ms", "x", "append ms", "seeds"):
        table.add_column(heading, justify="right", no_wrap=True)
    for size in sizes:
        for run in size.owners.values():
            table.add_row(
                f"{size.nodes:,}",
                f"{run.episodes:,}",
                *(
                    told
                    for one in (run.cold, run.warm)
                    for told in (
                        f"{one.recall.p50:.0f}/{one.recall.p95:.0f}",
                        f"{one.ratio_p50:.1f}/{one.ratio_p95:.1f}",
                    )
                ),
                f"{run.append.p50:.0f}/{run.append.p95:.0f}",
                f"{run.seed_recall:.3f}",
            )
    return table


def _recalls(sizes: tuple[SizeRun, ...]) -> Table:
    table = _table("Recalls without encoding; x: to one vector query")
    for heading in ("episodes", "strategy", "clients", "recalls/s", "ms p50/p95/max", "x p50/p95"):
        side: Literal["left", "right"] = "left" if heading == "strategy" else "right"
        table.add_column(heading, justify=side, no_wrap=True)
    for size in sizes:
        for strategy, runs in size.strategies.items():
            for run in runs:
                total = run.phases["total"]
                table.add_row(
                    f"{size.nodes:,}",
                    strategy,
                    str(run.clients),
                    f"{run.recalls_per_second:.1f}",
                    f"{total.p50:.0f} / {total.p95:.0f} / {total.max:.0f}",
                    f"{run.ratio_p50:.1f} / {run.ratio_p95:.1f}",
                )
    return table


def _consolidations(sizes: Sequence[SizeRun]) -> Table:
    table = _table("Consolidation: all there was, then what came since, recalls going on")
    for heading in (
        "episodes", "first", "new", "cycle", "PageRank", "recall ms p50/p95", "beside it", "x p95",
    ):  # fmt: skip
        table.add_column(heading, justify="right", no_wrap=True)
    for size in sizes:
        run = size.consolidation
        assert run is not None, "asked for above"
        table.add_row(
            f"{size.nodes:,}",
            f"{run.first.seconds:,.0f} s",
            f"{run.next.episodes:,}",
            f"{run.next.seconds:,.1f} s",
            f"{run.next.steps.get('prior', 0.0):.1f} s",
            f"{run.alone.p50:.0f} / {run.alone.p95:.0f}",
            f"{run.beside.p50:.0f} / {run.beside.p95:.0f}",
            f"{run.slower:.1f}",
        )
    return table


def _table(title: str) -> Table:
    return Table(
        title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False
    )


def _numbers(option: str, text: str, most: int) -> tuple[int, ...]:
    try:
        found = tuple(sorted({int(part) for part in text.split(",")}))
    except ValueError as error:
        raise InvalidInput(f"{option} takes numbers joined by commas, as 1,4,16") from error
    if found[0] < 1 or found[-1] > most:
        raise InvalidInput(f"{option} takes numbers from 1 to {most:,}")
    return found
