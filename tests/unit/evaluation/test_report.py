"""Reports: complete, derived from the rows alone, comparable."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ecphoria.errors import BadFile
from ecphoria_eval.datasets.dataset import Suite
from ecphoria_eval.evaluate import Wanted, evaluate
from ecphoria_eval.measures import (
    by_similarity,
    equal_counts,
    figures,
    recall_curve,
    session_memory,
)
from ecphoria_eval.plots import draw
from ecphoria_eval.report import BASELINES, PLAIN, gains, make_report, write
from ecphoria_eval.rows import UNCONSOLIDATED, Row, ablations, chosen, read_rows
from ecphoria_eval.run import run
from ecphoria_eval.tables import ablation_table, compare, comparison_table, strategy_table
from tests.unit.evaluation.conftest import KNOWN, READY, measured, plan, small, unwatched
from tests.unit.evaluation.doubles import TinyService


async def written(
    folder: Path, name: str = "r.json", suite: Suite = Suite.LOCOMO, *, take_out: bool = False
) -> Path:
    report, outcome = await measured(small(suite), take_out=take_out)
    out = folder / name
    write(report, outcome, out, None)
    return out


def by_strategy(rows: list[Row]) -> dict[str, list[Row]]:
    return {name: [row for row in rows if row.strategy == name] for name in BASELINES} | {
        "ecphoria": [row for row in rows if row.strategy == "ecphoria"]
    }


def loaded(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("take_out", [False, True])
@pytest.mark.parametrize("suite", Suite)
async def test_every_figure_follows_from_the_rows(
    tmp_path: Path, suite: Suite, *, take_out: bool
) -> None:
    report = loaded(await written(tmp_path, suite=suite, take_out=take_out))
    rows = list(read_rows(tmp_path / report["rows"]))
    of = {name: [row for row in rows if row.strategy == name] for name in report["strategies"]}
    assert {name: figures(of[name], suite).entry() for name in of} == report["strategies"]
    searches = [[row for row in rows if row.strategy == name] for name in PLAIN]
    plain = searches if all(searches) else []
    assert report["session_memory"] == {
        name: session_memory(of[name], plain, budget=2_000).model_dump() for name in of
    }
    assert report["equal_count"] == {
        name: one.model_dump() for name, one in equal_counts(of).items()
    }
    assert report["by_similarity"] == {
        name: {
            bound: one.model_dump() for bound, one in by_similarity(of[name], of["dense"]).items()
        }
        for name in of
        if "dense" in of
    }
    own = report["strategies"]["ecphoria"]
    assert ("taken_out" in own.get("abstention", {})) == take_out
    if take_out:
        assert own["abstention"]["taken_out"]["n"] == sum(row.taken_out for row in rows) == 3
    gain = gains(by_strategy(rows), "ecphoria", suite)
    assert gain is not None
    assert gain.model_dump(mode="json") == report["gain"]
    for name, entry in report["ablations"].items():
        entry.pop("difference")
        assert figures([row for row in rows if row.strategy == name], suite).entry() == entry


async def test_the_report_holds_what_the_run_was(tmp_path: Path) -> None:
    report = loaded(await written(tmp_path))
    assert {name: report[name] for name in ("suite", "version", "data_sha256", "embedder")} == {
        "suite": "locomo",
        "version": "1.2.3",
        "data_sha256": "0" * 64,
        "embedder": "minilm",
    }
    assert report["engine"] == {"neo4j": "2026.01.4", "gds": "2.26.0"}
    assert (report["n"], report["n_adversarial"]) == (3, 1)
    assert report["ingest"] == {
        "episodes": 6,
        "seconds": 2.0,
        "episodes_per_second": 3.0,
        "bytes_per_episode": None,
    }
    assert report["findings"] == {"empty sessions": 1}
    assert report["consolidation"] == {"seconds": 2.0, "delta_recall@10": 0.0}
    assert set(report["ablations"]) == {
        "without:words", "without:spreading", "without:both", "without:consolidation", "fusion",
    }  # fmt: skip


async def test_fusion_is_compared_only_with_a_default_that_was_measured() -> None:
    named = ["walk", "fusion", "ecphoria"]
    arms = chosen(KNOWN, named)
    arms += ablations(KNOWN, arms[:1])
    outcome = await run(small(), TinyService().connect, plan(*arms), unwatched)
    for wanted in (named, named[:2]):
        rows = tuple(row for row in outcome.rows if wanted == named or row.strategy != "ecphoria")
        report = make_report(
            small(), replace(outcome, rows=rows), wanted=wanted, default="ecphoria",
            version="1.2.3", service=READY,
        )  # fmt: skip
        assert ("fusion" in report.ablations) == ("ecphoria" in wanted)
        assert ablation_table(report).row_count == len(report.ablations)


async def test_an_arm_that_is_named_and_swept_is_asked_once() -> None:
    wanted = Wanted(strategies=("walk", "walk:fan=0"), sweep=("fan=0,0.5",))
    service = TinyService()
    report, outcome = await evaluate(
        small(), wanted, service.connect, unwatched, name="eval-x", monotonic=lambda: 0.0
    )
    asked = Counter(row.strategy for row in outcome.rows)
    assert set(asked.values()) == {len(small().questions)}
    assert {"walk", "walk:fan=0", "walk:fan=0.5"} <= report.strategies.keys()


async def test_consolidation_is_credited_with_what_it_changed() -> None:
    report, outcome = await measured(small())
    worse = [
        row.model_copy(update={"ranked": ()})
        if row.strategy == UNCONSOLIDATED and row.collection == "one"
        else row
        for row in outcome.rows
    ]
    again = make_report(
        small(),
        replace(outcome, rows=tuple(worse)),
        wanted=["ecphoria"],
        default="ecphoria",
        version="1.2.3",
        service=READY,
    )
    assert report.n == 3
    assert again.consolidation["delta_recall@10"] == pytest.approx(2 / 3)


async def test_figures_are_means_over_scored_questions(tmp_path: Path) -> None:
    found = loaded(await written(tmp_path))["strategies"]["ecphoria"]
    assert found["recall@5"] == 1.0
    assert found["mrr"] == pytest.approx((1 + 1 + 1 / 2) / 3)
    assert found["by_category"] == {
        "1": {"n": 1, "recall@10": 1.0},
        "4": {"n": 2, "recall@10": 1.0},
    }
    # The two questions without evidence score 1 in the measure of LoCoMo's authors.
    assert found["official"] == dict.fromkeys(
        ("recall@5", "recall@10", "recall@25", "recall@50"), 1
    )
    # Confidence of the answerable is .2 .1 .2, of the other .3.
    judged = found["abstention"]
    assert judged["auroc"] == 0.0
    assert judged["refusal_at_frr"] == {"0.021": 0.0, "0.05": 0.0, "0.10": 0.0}
    assert judged["ece"] == pytest.approx(0.9 / 6 + 0.8 / 3 + 0.3 / 2)
    assert [(one["low"], one["n"], one["right"]) for one in judged["reliability"]] == [
        (0.1, 1, 1.0), (0.2, 2, 1.0), (0.3, 1, 0.0),
    ]  # fmt: skip
    assert "taken_out" not in judged
    assert found["latency_ms"]["without_encoding_p50"] == 5.0
    assert found["context_tokens"] == {"mean": 12.0}


async def test_passages_have_their_own_measures(tmp_path: Path) -> None:
    found = loaded(await written(tmp_path, suite=Suite.PASSAGES))["strategies"]["ecphoria"]
    assert {"recall@2", "recall@5", "recall@10", "all@5", "all@10"} <= set(found)
    assert not {"official", "abstention", "by_category", "recall@30"} & set(found)


async def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    first, second = await written(tmp_path, "a.json"), await written(tmp_path, "b.json")
    text = first.read_text(encoding="utf-8").replace("a.rows", "b.rows")
    assert text == second.read_text(encoding="utf-8")
    assert (tmp_path / "a.rows.jsonl").read_bytes() == (tmp_path / "b.rows.jsonl").read_bytes()


async def test_a_failed_question_is_in_every_mean(tmp_path: Path) -> None:
    row = Row(strategy="s", collection="c", question="q", category="1", gold=("a",))
    good = row.model_copy(update={"ranked": ("a",), "question": "p"})
    failed = row.model_copy(update={"error": "timeout"})
    found = figures([good, failed], Suite.LOCOMO)
    assert (found.measures["recall@10"], found.measures["mrr"], found.failed) == (0.5, 0.5, 1)


def test_a_run_without_questions_has_no_figures() -> None:
    found = figures([], Suite.LOCOMO)
    assert set(found.measures.values()) == {None}
    assert json.dumps(found.entry())


async def test_a_report_does_not_differ_from_itself(tmp_path: Path) -> None:
    out = await written(tmp_path)
    found = compare(out, out)
    assert {line.strategy for line in found.lines} >= {"ecphoria", "fusion"}
    assert all(line.gap.mean == 0 and line.gap.questions == (0, 0) for line in found.lines)
    assert (found.alone, found.unpaired) == ((), 0)


async def test_a_comparison_pairs_what_both_have(tmp_path: Path) -> None:
    before, after = await written(tmp_path, "a.json"), await written(tmp_path, "b.json")
    path = tmp_path / "b.rows.jsonl"
    rows = [row for row in read_rows(path) if row.strategy == "ecphoria"]
    worse = [row.model_copy(update={"ranked": ()}) for row in rows if row.collection == "one"]
    path.write_text("".join(f"{row.model_dump_json()}\n" for row in worse), encoding="utf-8")
    found = compare(before, after)
    line = found.lines[0]
    assert (line.strategy, line.measure, line.before, line.after) == (
        "ecphoria", "recall@10", 1.0, 0.0,
    )  # fmt: skip
    assert line.gap.mean == -1.0
    assert found.alone == (
        "fusion", "without:both", "without:consolidation", "without:spreading", "without:words",
    )  # fmt: skip
    assert found.unpaired == 1


async def test_reports_without_a_question_in_common_are_not_compared(tmp_path: Path) -> None:
    before, after = await written(tmp_path, "a.json"), await written(tmp_path, "b.json")
    path = tmp_path / "b.rows.jsonl"
    others = [row.model_copy(update={"strategy": "other"}) for row in read_rows(path)]
    path.write_text("".join(f"{row.model_dump_json()}\n" for row in others), encoding="utf-8")
    with pytest.raises(BadFile, match=r"a\.json and b\.json share no strategy"):
        compare(before, after)


@pytest.mark.parametrize("digest", ["data_sha256", "corpus_sha256"])
async def test_reports_of_other_data_are_not_compared(tmp_path: Path, digest: str) -> None:
    before, after = await written(tmp_path, "a.json"), await written(tmp_path, "b.json")
    changed = loaded(after) | {digest: "1" * 64}
    after.write_text(json.dumps(changed), encoding="utf-8")
    with pytest.raises(BadFile, match="different data"):
        compare(before, after)


@pytest.mark.parametrize(
    ("change", "what"),
    [({"suite": "dynamics"}, "is not a report of recall"), ({"rows": None}, "names no rows")],
)
async def test_what_cannot_be_compared_is_named(
    tmp_path: Path, change: dict[str, object], what: str
) -> None:
    out = await written(tmp_path)
    out.write_text(json.dumps(loaded(out) | change), encoding="utf-8")
    with pytest.raises(BadFile, match=what):
        compare(out, out)


async def test_rows_that_are_none_are_named(tmp_path: Path) -> None:
    out = await written(tmp_path)
    (tmp_path / "r.rows.jsonl").write_text('{"strategy": 1}', encoding="utf-8")
    with pytest.raises(BadFile, match=r"r\.rows\.jsonl, line 1 is not a row"):
        compare(out, out)


async def test_a_report_elsewhere_still_finds_its_rows(tmp_path: Path) -> None:
    report, outcome = await measured(small())
    elsewhere = tmp_path / "rows"
    elsewhere.mkdir()
    (tmp_path / "out").mkdir()
    write(report, outcome, tmp_path / "out" / "r.json", elsewhere / "all.jsonl")
    assert compare(tmp_path / "out" / "r.json", tmp_path / "out" / "r.json").lines


async def test_plots_are_the_same_for_the_same_figures(tmp_path: Path) -> None:
    report, outcome = await measured(small())
    first = draw(report, outcome.rows, tmp_path / "a.json")
    second = draw(report, outcome.rows, tmp_path / "b.json")
    assert [path.name for path in first] == ["a.recall.svg", "a.ablation.svg"]
    for one, other in zip(first, second, strict=True):
        assert b"<svg" in one.read_bytes()
        assert one.read_bytes() == other.read_bytes()


async def test_without_ablations_there_is_one_plot(tmp_path: Path) -> None:
    report, outcome = await measured(small())
    alone = report.model_copy(update={"ablations": {}})
    assert [path.name for path in draw(alone, outcome.rows, tmp_path / "a.json")] == [
        "a.recall.svg"
    ]


def test_recall_grows_with_the_hits_looked_at() -> None:
    row = Row(strategy="s", collection="c", question="q", category="1", gold=("a", "b"))
    found = recall_curve([row.model_copy(update={"ranked": ("a", "x", "b")})], 4)
    assert found == [0.5, 0.5, 1.0, 1.0]


async def test_tables_tell_the_figures_in_points(tmp_path: Path) -> None:
    report, _ = await measured(small())
    out = await written(tmp_path)
    console = Console(width=140)
    with console.capture() as captured:
        console.print(strategy_table(report))
        console.print(ablation_table(report))
        console.print(comparison_table(compare(out, out)))
    said = captured.get()
    for expected in (
        "R@10",
        "AUROC",
        "83.3",
        "without:spreading",
        "+0.0 to +0.0",
        "over questions",
    ):
        assert expected in said
