"""Runs: what is asked of the service, what is counted, what is left behind."""

from collections import Counter
from pathlib import Path

import pytest

from ecphoria.errors import InvalidInput, Unavailable, UnknownStrategy
from ecphoria_eval.rows import Arm, ablations, chosen, read_rows, sweeps, unconsolidated, whole
from ecphoria_eval.run import for_each, own_tenant, row_of, run, send
from ecphoria_eval.show import keeping_rows
from tests.unit.evaluation.conftest import KNOWN, memories, plan, small, unwatched
from tests.unit.evaluation.doubles import TinyService


async def test_an_arm_may_have_the_reader_order_its_turns(service: TinyService) -> None:
    arms = chosen(KNOWN, ["ecphoria", "ecphoria:rerank=true,w_words=0.5", "ecphoria:rerank=false"])
    arms += ablations(KNOWN, arms[1:2])
    assert [arm.rerank for arm in arms] == [None, True, False, *[True] * (len(arms) - 3)]
    assert arms[1].options == {"w_words": 0.5}
    await run(small(), service.connect, plan(*arms[:3]), unwatched)
    assert {body.get("rerank") for _, body in service.asked} == {None, True, False}


async def test_every_question_is_asked_of_every_arm(service: TinyService) -> None:
    arms = chosen(KNOWN, [])
    outcome = await run(small(), service.connect, plan(*arms), unwatched)
    assert [arm.name for arm in arms] == ["fusion", "ecphoria"]
    assert [(row.strategy, row.collection, row.question) for row in outcome.rows] == [
        (arm.name, part, question)
        for arm in arms
        for part, question in (
            ("one", "q1"), ("one", "q2"), ("one", "q3"), ("two", "q1"), ("two", "q2"),
        )
    ]  # fmt: skip


async def test_recorded_recalls_come_first_as_the_gate_counts_them(service: TinyService) -> None:
    await run(small(), service.connect, plan(), unwatched)
    parts = small().collections
    assert [cue for _, cue in service.recorded] == [
        question.text for part in parts for question in part.questions
    ]
    assert len({tenant for tenant, _ in service.recorded}) == len(parts)


async def test_hits_come_back_under_the_ids_of_the_data(service: TinyService) -> None:
    outcome = await run(small(), service.connect, plan(), unwatched)
    row = outcome.rows[0]
    assert row.ranked == ("m0", "m3", "m1", "m2")
    assert row.scores[0] == 1.0
    assert (row.latency_ms, row.timings_ms["encode"], row.context_tokens) == (7.0, 2.0, 12)


async def test_collections_never_meet(service: TinyService) -> None:
    outcome = await run(small(), service.connect, plan(), unwatched)
    assert {row.ranked for row in outcome.rows if row.collection == "two"} == {
        ("m1", "m0"),
        ("m0", "m1"),
    }
    assert {tenant for tenant, _ in service.asked} == {"eval-x-1", "eval-x-2"}


async def test_ingest_is_timed_by_the_clock_given(service: TinyService) -> None:
    outcome = await run(small(), service.connect, plan(), unwatched)
    assert (outcome.episodes, outcome.seconds) == (6, 2.0)


async def test_questions_under_way_together_give_the_same_rows(service: TinyService) -> None:
    one = await run(small(), service.connect, plan(), unwatched)
    three = await run(small(), service.connect, plan(concurrency=3), unwatched)
    assert one.rows == three.rows


async def test_a_question_that_is_refused_scores_nothing_and_is_counted() -> None:
    service = TinyService(
        refuse={"blue": (422, "invalid-input"), "who broke it": (504, "timeout")}
    )
    outcome = await run(small(), service.connect, plan(), unwatched)
    failed = [row for row in outcome.rows if row.error]
    assert [(row.question, row.error) for row in failed] == [
        ("q2", "invalid-input"),
        ("q3", "timeout"),
    ]
    assert all(row.ranked == () and row.confidence == 0.0 for row in failed)
    assert outcome.findings == {
        "recalls that failed: invalid-input": 1,
        "recalls that failed: timeout": 1,
    }
    assert service.tenants == {}


async def test_a_memory_that_is_refused_is_counted() -> None:
    service = TinyService(refuse={"blue wheel": (413, "too-large")})
    outcome = await run(small(), service.connect, plan(), unwatched)
    assert outcome.findings == {"memories refused: too large": 1}
    assert outcome.rows[0].ranked == ("m0", "m3", "m2")


async def test_a_memory_whose_append_takes_too_long_costs_no_other() -> None:
    service = TinyService(slow=frozenset({"green glaze"}))
    outcome = await run(small(), service.connect, plan(), unwatched)
    assert outcome.findings["memories whose append took too long"] == 1
    assert outcome.episodes == 5
    assert len(outcome.rows) == 5


async def test_each_collection_is_consolidated_once_before_its_questions(
    service: TinyService,
) -> None:
    outcome = await run(small(), service.connect, plan(), unwatched)
    # One question of each collection is asked unmeasured.
    assert service.consolidated == [("eval-x-1", 0), ("eval-x-2", 4)]
    assert outcome.consolidation_s == 2.0


async def test_the_default_may_be_asked_before_consolidation(service: TinyService) -> None:
    first = unconsolidated(Arm(name="ecphoria", strategy="ecphoria"), "ecphoria")
    outcome = await run(small(), service.connect, plan(unconsolidated=[first]), unwatched)
    assert service.consolidated == [("eval-x-1", 4), ("eval-x-2", 11)]
    assert [row.strategy for row in outcome.rows] == ["ecphoria"] * 5 + [first.name] * 5


async def test_consolidation_may_be_of_some_steps_or_left_out(service: TinyService) -> None:
    await run(small(), service.connect, plan(steps=("prior", "associate")), unwatched)
    assert service.steps == [["prior", "associate"]] * 2
    left_out = await run(small(), service.connect, plan(steps=None), unwatched)
    assert (len(service.steps), left_out.consolidation_s) == (2, 0.0)


async def test_a_step_that_there_is_not_is_refused_before_anything_is_stored(
    service: TinyService,
) -> None:
    with pytest.raises(InvalidInput):
        await run(small(), service.connect, plan(steps=("misspelt",)), unwatched)
    assert service.kept == {"eval-x-1": []}


async def test_a_step_that_is_skipped_is_counted_with_its_reason() -> None:
    service = TinyService(skipped="no library")
    outcome = await run(small(), service.connect, plan(), unwatched)
    assert outcome.findings == {"consolidations without prior: no library": 2}


async def test_a_service_that_is_gone_ends_the_run_and_leaves_nothing() -> None:
    service = TinyService(refuse={"blue": (503, "unavailable")})
    with pytest.raises(Unavailable):
        await run(small(), service.connect, plan(concurrency=2), unwatched)
    assert service.tenants == {}


async def test_rows_of_a_run_that_ends_early_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wanted = plan()
    with pytest.raises(Unavailable), keeping_rows(wanted.rows, tmp_path / "r.json", None):
        await run(small(), TinyService(recalls=4).connect, wanted, unwatched)
    kept = tmp_path / "r.rows.jsonl.partial"
    assert [row.question for row in read_rows(kept)] == ["q1", "q2"]
    assert str(kept) in capsys.readouterr().err.replace("\n", "")


async def test_what_is_kept_is_named() -> None:
    service = TinyService()
    outcome = await run(small(), service.connect, plan(keep=True), unwatched)
    assert outcome.tenants == ("eval-x-1", "eval-x-2") == tuple(service.tenants)


async def test_progress_reaches_the_end(service: TinyService) -> None:
    seen: dict[str, tuple[int, int]] = {}

    def watch(stage: str, done: int, total: int) -> None:
        assert done > seen.get(stage, (0, 0))[0]
        seen[stage] = (done, total)

    await run(small(), service.connect, plan(*chosen(KNOWN, [])), watch)
    assert seen == {"remembering": (6, 6), "asking": (10, 10)}


def test_each_mechanism_of_the_default_that_is_on_is_switched_off() -> None:
    found = ablations(KNOWN, chosen(KNOWN, ["ecphoria"]))
    assert {arm.name: arm.options for arm in found} == {
        "without:words": {"w_words": 0.0},
        "without:spreading": {"next_spreading": False},
        "without:both": {"w_off": 0.0, "next_spreading": False},
        "fusion": {},
    }


def test_mechanisms_of_other_strategies_bear_their_name() -> None:
    arms = chosen(KNOWN, ["walk", "walk:preset=paper", "walk:bend=on"])
    found = ablations(KNOWN, arms)
    assert {arm.name: arm.options for arm in found} == {
        "walk:without:fan effect": {"fan": 0.0},
        "walk:preset=paper:without:fan effect": {"preset": "paper", "fan": 0.0},
        "walk:preset=paper:without:bend": {"preset": "paper", "bend": "off"},
        "walk:bend=on:without:fan effect": {"bend": "on", "fan": 0.0},
        "walk:bend=on:without:bend": {"bend": "off"},
    }
    assert {arm.strategy for arm in found} == {"walk"}
    for arm in found:
        assert whole(arm.name, "ecphoria") in {one.name for one in arms}


def test_an_option_takes_each_value_beside_the_options_that_are_named() -> None:
    arms = chosen(KNOWN, ["ecphoria", "walk", "walk:preset=paper"])
    found = sweeps(KNOWN, arms, ["fan=0,0.5", "bend=on"])
    assert {arm.name: arm.options for arm in found} == {
        "walk:fan=0": {"fan": 0.0},
        "walk:fan=0.5": {"fan": 0.5},
        "walk:preset=paper,fan=0": {"preset": "paper", "fan": 0.0},
        "walk:preset=paper,fan=0.5": {"preset": "paper", "fan": 0.5},
        "walk:bend=on": {"bend": "on"},
        "walk:preset=paper,bend=on": {"preset": "paper", "bend": "on"},
    }


@pytest.mark.parametrize("wanted", ["fan=", "fan=x", "fan", "fan=nan", "pull=1", "="])
def test_a_sweep_takes_only_options_and_values_that_there_are(wanted: str) -> None:
    with pytest.raises(InvalidInput):
        sweeps(KNOWN, chosen(KNOWN, ["walk"]), [wanted])


def test_an_unknown_strategy_is_named() -> None:
    with pytest.raises(UnknownStrategy, match="no strategy `magic`; it has: ecphoria, fusion"):
        chosen(KNOWN, ["magic"])


def test_a_strategy_may_come_with_options_of_their_types() -> None:
    (arm,) = chosen(KNOWN, ["ecphoria:preset=default,w_words=0.5,next_spreading=false,steps=2"])
    assert arm.name == "ecphoria:preset=default,w_words=0.5,next_spreading=false,steps=2"
    assert arm.strategy == "ecphoria"
    assert arm.options == {
        "preset": "default", "w_words": 0.5, "next_spreading": False, "steps": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("wanted", "told"),
    [
        ("walk:pull=1", "walk has no option `pull`; it has: preset, rerank, fan, bend"),
        ("walk:preset=papr", "`preset` of walk does not take `papr`"),
        ("walk:fan=-1", "`fan` of walk does not take `-1`"),
        ("walk:rerank=2", "`rerank` of walk does not take `2`"),
        ("walk:fan=x", "`fan` of walk does not take `x`"),
        ("fusion:fan=1", "fusion has no option `fan`; it has: preset, rerank"),
    ],
)
def test_options_that_a_strategy_does_not_take_are_refused_before_anything_is_asked(
    wanted: str, told: str
) -> None:
    # Else each question would fail, and the report would have zeros.
    with pytest.raises(InvalidInput, match=told):
        chosen(KNOWN, [wanted])


def test_what_is_no_option_is_refused_with_the_way_to_write_one() -> None:
    with pytest.raises(InvalidInput, match="ecphoria:OPTION=VALUE"):
        chosen(KNOWN, ["ecphoria:paper"])


async def test_the_first_error_of_several_at_a_time_is_raised_as_it_is() -> None:
    async def work(number: int) -> None:
        if number == 3:
            raise InvalidInput("three")

    with pytest.raises(InvalidInput, match="three"):
        await for_each(range(10), work, at_once=4)


async def test_a_hit_whose_append_was_given_up_keeps_its_own_id() -> None:
    service = TinyService()
    async with own_tenant(service.connect, "t") as client:
        known = await send(client, list(memories("a", "b").items()), Counter())
        answer = await client.recall("a", k=2, record=False)
    lost = next(iter(known))
    del known[lost]
    (arm,) = plan().arms
    row = row_of("c", small().questions[0], arm, answer, known)
    assert set(row.ranked) == {lost, "m1"}
