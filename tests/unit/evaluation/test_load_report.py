import io
import json
from dataclasses import asdict, replace

import pytest
from rich.console import Console

from ecphoria.errors import InvalidInput, UnknownStrategy
from ecphoria_eval.load_command import plan_of, tables
from ecphoria_eval.load_report import (
    ClientRun,
    ConsolidationRun,
    CycleRun,
    Latency,
    LoadReport,
    OwnerRun,
    SizeRun,
    latency,
    paired,
    ratio,
)


def test_percentiles() -> None:
    found = latency([float(ms) for ms in range(101)])
    assert found == Latency(p50=50.0, p95=95.0, p99=99.0, max=100.0)
    assert latency([7.0]) == Latency(p50=7.0, p95=7.0, p99=7.0, max=7.0)


def test_ratio_to_nothing_is_nothing() -> None:
    assert ratio(6.0, 2.0) == 3.0
    assert ratio(6.0, 0.0) == 0.0


def test_plan_reads_lists_of_numbers() -> None:
    plan = plan_of("10000, 1000", "4,1,4", tenants=2, recalls=50, new=7, seed=3)
    assert plan.nodes == (1_000, 10_000)
    assert plan.clients == (1, 4)
    assert (plan.tenants, plan.recalls, plan.new, plan.seed) == (2, 50, 7, 3)
    assert plan.strategies == ("ecphoria", "synapse")
    assert plan.first is None
    shared = plan_of("1000", "1", tenants=11, first=0.5, recalls=50, new=7, seed=3)
    assert shared.first == 0.5
    for tenants, first in ((1, 0.5), (11, 1.0), (11, 0.9)):
        with pytest.raises(InvalidInput):
            plan_of("1000", "1", tenants=tenants, first=first, recalls=50, new=7, seed=3)


@pytest.mark.parametrize(
    ("tenants", "first", "least"), [(2, 0.1, 200), (2, 0.9, 200), (3, 0.9, 400), (3, 1 / 3, 60)]
)
def test_the_least_store_gives_the_smallest_tenant_twenty_episodes(
    tenants: int, first: float, least: int
) -> None:
    rest = {"tenants": tenants, "first": first, "recalls": 50, "new": 7, "seed": 3}
    plan = plan_of(str(least), "1", **rest)  # type: ignore[arg-type]  # one value a name
    assert sum(plan.shares) == pytest.approx(1.0)
    with pytest.raises(InvalidInput, match=f"must be at least {least}, so"):
        plan_of(str(least - 1), "1", **rest)  # type: ignore[arg-type]  # one value a name


def test_plan_takes_each_strategy_once_and_refuses_one_that_is_not_there() -> None:
    plan = plan_of("1000", "1", ["cls", "ppr", "cls"], tenants=1, recalls=50, new=7, seed=1)
    assert plan.strategies == ("cls", "ppr")
    with pytest.raises(UnknownStrategy, match="`clss`; there are: dense"):
        plan_of("1000", "1", ["clss"], tenants=1, recalls=50, new=7, seed=1)


@pytest.mark.parametrize(
    ("nodes", "clients", "told"),
    [
        ("many", "1", "--nodes"),
        ("1000,", "1", "--nodes"),
        ("0", "1", "--nodes"),
        ("1000", "0", "--clients"),
        ("1000", "5000", "--clients"),
        ("39", "1", "at least 40, so that each tenant has 20 episodes"),
    ],
)
def test_plan_refuses_what_cannot_be_measured(nodes: str, clients: str, told: str) -> None:
    with pytest.raises(InvalidInput, match=told):
        plan_of(nodes, clients, tenants=2, recalls=50, new=7, seed=1)


def report() -> LoadReport:
    ms = Latency(p50=10.0, p95=30.0, p99=40.0, max=50.0)
    run = ClientRun(
        clients=4,
        recalls=50,
        recalls_per_second=81.5,
        ratio_p50=2.5,
        ratio_p95=3.25,
        phases={"seeds": ms, "total": ms},
    )
    size = SizeRun(
        nodes=10_000,
        ingest_per_second=612.0,
        ingest_encoded_per_second=204.0,
        readable_ms=ms,
        nearest=ms,
        index_recall=0.97,
        service_mb=300.0,
        server_mb=1_500.0,
        seed_recall=0.99,
        strategies={"ecphoria": (run,)},
        owners={
            "first": OwnerRun(
                episodes=9_900,
                cold=paired([60.0, 60.0], [7.5]),
                warm=paired([21.0], [7.5]),
                append=ms,
                seed_recall=0.985,
            )
        },
        consolidation=ConsolidationRun(
            first=CycleRun(episodes=10_000, seconds=1_234.0, steps={"prior": 9.0}),
            next=CycleRun(episodes=777, seconds=17.25, steps={"prior": 3.5}),
            alone=ms,
            beside=ms,
            slower=1.75,
        ),
    )
    return LoadReport(
        version="1.2.3",
        engine={"neo4j": "2026.01.4", "gds": "2.26.0"},
        embedder="a-model",
        seed=1,
        tenants=1,
        cores=2,
        bytes_per_episode=4_321.0,
        disk={"nodes": 15.0, "vector_indexes": 1_577.0, "log": 9_999.0},
        sizes=(size,),
    )


def test_report_is_plain_json() -> None:
    written = json.loads(json.dumps(asdict(report())))
    assert written["suite"] == "load"
    size = written["sizes"][0]
    assert size["strategies"]["ecphoria"][0]["phases"]["total"]["p95"] == 30.0
    assert written["bytes_per_episode"] == 4_321.0


def test_tables_hold_every_figure_in_eighty_columns() -> None:
    text = io.StringIO()
    console = Console(file=text, width=80)
    for table in tables(report()):
        console.print(table)
    shown = text.getvalue()
    for figure in (
        "10,000", "612", "0.970", "4,321", "81.5", "2.5 / 3.2", "10 / 30 / 50",
        "1,577", "9,900", "60/60", "8.0/8.0", "21/21", "2.8/2.8", "0.985",
        "1,234 s", "777", "17.2 s", "3.5 s", "10 / 30", "1.8",
    ):  # fmt: skip
        assert figure in shown
    assert "…" not in shown


def test_a_store_that_was_not_consolidated_has_no_table_of_it() -> None:
    whole = report()
    sizes = tuple(replace(size, consolidation=None) for size in whole.sizes)
    assert len(tables(replace(whole, sizes=sizes))) == len(tables(whole)) - 1
