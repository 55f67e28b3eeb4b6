"""Several data sets in one table: the one with the smallest gain first."""

import json
from pathlib import Path

import pytest
from rich.console import Console

from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.evaluate import domains, write_domains
from ecphoria_eval.report import Report, make_report
from ecphoria_eval.rows import chosen, read_rows
from ecphoria_eval.run import Outcome, run
from ecphoria_eval.tables import domain_table
from tests.unit.evaluation.conftest import KNOWN, READY, plan, small, unwatched
from tests.unit.evaluation.doubles import TinyService

NAMES = ["ecphoria", "fusion"]


async def reported(suite: Suite, *, worse: bool) -> tuple[Report, Outcome]:
    """Measure on a service whose `fusion` finds the evidence last; `worse` swaps the names."""
    arms = chosen(KNOWN, NAMES)
    outcome = await run(
        small(suite), TinyService().connect, plan(*arms, take_out=arms[0]), unwatched
    )
    default = "fusion" if worse else "ecphoria"
    swapped = {"ecphoria": default, "fusion": "ecphoria" if worse else "fusion"}
    rows = tuple(
        row.model_copy(update={"strategy": swapped[row.strategy], "ranked": row.ranked[:1]})
        for row in outcome.rows
    )
    outcome = Outcome(
        rows=rows, episodes=6, seconds=1.0, consolidation_s=0.0, findings={}, tenants=()
    )
    report = make_report(
        small(suite), outcome, wanted=NAMES, default="ecphoria", version="1", service=READY
    )
    return report, outcome


async def test_the_worst_domain_comes_first_and_the_mean_last(tmp_path: Path) -> None:
    measured = {
        "good": await reported(Suite.CHATS, worse=False),
        "bad": await reported(Suite.PASSAGES, worse=True),
    }
    found = domains({name: report for name, (report, _) in measured.items()})
    assert [one.name for one in found] == ["bad", "good"]
    bad, good = found
    assert bad.gain is not None
    assert good.gain is not None
    assert bad.gain == -good.gain < 0
    assert (bad.measure, good.measure) == ("recall@5", "recall@10")
    out = tmp_path / "all.json"
    write_domains(measured, out)
    report = json.loads(out.read_text(encoding="utf-8"))
    assert report["suite"] == "all"
    assert list(report["domains"]) == ["bad", "good"]
    assert report["worst"]["name"] == "bad"
    assert report["mean_gain"] == pytest.approx(0.0)
    assert report["domains"]["good"]["suite"] == "chats"
    rows = list(read_rows(tmp_path / report["domains"]["good"]["rows"]))
    assert len(rows) == len(measured["good"][1].rows)
    assert (
        good.auroc_taken_out
        == (
            report["domains"]["good"]["strategies"]["ecphoria"]["abstention"]["taken_out"]["auroc"]
        )
    )


async def test_the_table_reads_from_the_worst_to_the_mean() -> None:
    console = Console(width=120)
    reports = {
        "good": (await reported(Suite.CHATS, worse=False))[0],
        "bad": (await reported(Suite.PASSAGES, worse=True))[0],
    }
    with console.capture() as captured:
        console.print(domain_table(domains(reports)))
    said = [line for line in captured.get().splitlines() if line.strip()]
    assert [line.split()[0] for line in said] == ["domain", "bad", "good", "mean"]
    assert "R@5" in said[1]
    assert "fusion" in said[1]


async def test_a_domain_without_baselines_has_no_gain_and_comes_last() -> None:
    report, _ = await reported(Suite.CHATS, worse=True)
    alone = report.model_copy(update={"gain": None})
    found = domains({"alone": alone, "bad": report})
    assert [(one.name, one.gain is None) for one in found] == [("bad", False), ("alone", True)]
