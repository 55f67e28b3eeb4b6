"""`eval load` end to end on a small store: shape and sanity, no timing."""

from pathlib import Path

import pytest

from ecphoria.settings import Settings
from ecphoria_eval.load import LoadPlan
from ecphoria_eval.load_command import measure_load
from tests.conftest import CACHE, QUICK_JAVA


@pytest.mark.long
@pytest.mark.engine
async def test_load_measures_a_growing_store(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    settings = Settings(
        home=tmp_path / "unused", cache=CACHE,
        engine={"java_options": QUICK_JAVA, "heap_mb": 512, "page_cache_mb": 128},
        log={"level": "warning"},
    )  # fmt: skip
    plan = LoadPlan(
        nodes=(90, 180), clients=(1, 3), tenants=3, first=0.5, recalls=6, encoded=5, new=9
    )

    report = await measure_load(settings, plan, lambda *stage: told.append(stage))

    assert [size.nodes for size in report.sizes] == [90, 180]
    assert 1_000 < report.bytes_per_episode < 200_000
    assert report.disk["properties"] > 0
    assert report.engine["neo4j"].startswith("2026.")
    for size in report.sizes:
        assert size.ingest_per_second > 0
        assert size.ingest_encoded_per_second > 0
        assert 0.3 < size.index_recall <= 1
        assert 0.8 < size.seed_recall <= 1
        assert size.service_mb > 50
        assert size.server_mb > 200
        first, others = size.owners["first"], size.owners["others"]
        assert first.episodes > 1.5 * others.episodes
        for owner in (first, others):
            assert 0 < owner.append.p50 <= owner.append.p95
            assert 0.8 < owner.seed_recall <= 1
            for times in (owner.cold, owner.warm):
                assert times.ratio_p95 == pytest.approx(times.recall.p95 / times.nearest.p95)
        assert set(size.strategies) == {"ecphoria", "synapse"}
        for runs in size.strategies.values():
            assert [run.clients for run in runs] == [1, 3]
            for run in runs:
                assert run.recalls == 6
                assert {"seeds", "subgraph", "spread", "rank", "total"} <= run.phases.keys()
                total = run.phases["total"]
                assert 0 < total.p50 <= total.p95 <= total.p99 <= total.max
                assert run.ratio_p95 == pytest.approx(total.p95 / size.nearest.p95)
        cycles = size.consolidation
        assert cycles is not None
        assert cycles.next.episodes == 9
        assert 0 < cycles.first.episodes <= size.nodes / 2 + 46  # and appends
        assert cycles.next.steps.keys() == cycles.first.steps.keys() >= {"prior", "associate"}
        assert sum(cycles.next.steps.values()) < cycles.next.seconds
        assert cycles.slower == pytest.approx(cycles.beside.p95 / cycles.alone.p95)
    assert list(tmp_path.glob("*")) == [], "the user's own home is left alone"  # noqa: ASYNC240
    assert all(0 < done <= total for _, done, total in told)
