"""The published mechanisms on the real graph: what each wakes and cuts, in its own terms."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import pytest

from ecphoria.ingest.service import IngestService
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import NewEpisode
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, OptionValue, RecallOptions, RecallResult, Trace
from ecphoria.records.traced import Mark
from tests.integration.memory.chats import START, chat, fill, passages

MECHANISMS = ("actr", "cls", "ecphory", "ppr", "synaptic")
WEIGHTS = {
    "actr": ("w_context", "w_bridge", "w_presence", "w_importance"),
    "cls": ("w_activation", "w_bridge"),
    "ecphory": ("w_activation", "w_bridge"),
    "ppr": ("w_activation", "w_bridge"),
    "synaptic": ("w_activation",),
}
BRIDGE = "Where was the designer of Veldrin Lighthouse born?"


@pytest.fixture(autouse=True)
async def settled(recalls: RecallService, tenant: TenantId) -> AsyncIterator[None]:
    """Let every trace be stored before the tenant is erased."""
    yield
    await recalls.close()


async def ask(
    recalls: RecallService,
    tenant: TenantId,
    cue: str,
    strategy: str,
    k: int = 13,
    **options: OptionValue,
) -> RecallResult:
    return await recalls.recall(
        tenant,
        Cue(text=cue),
        RecallOptions(strategy=strategy, options=options, k=k, explain=True, collapse=False),
    )


async def traced(recalls: RecallService, tenant: TenantId, result: RecallResult) -> Trace:
    return await recalls.trace(tenant, result.trace_id)


def marks(trace: Trace) -> list[Mark]:
    return [mark for wave in trace.waves for mark in wave.marks]


def listed(result: RecallResult) -> list[str]:
    return [hit.episode.text for hit in result.hits]


@pytest.mark.parametrize("strategy", MECHANISMS)
async def test_a_mechanism_without_weight_gives_exactly_the_list_of_its_base(
    strategy: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    off: dict[str, OptionValue] = dict.fromkeys(WEIGHTS[strategy], 0.0)
    for cue in ("Who takes the pottery class?", BRIDGE):
        by_recipe = await ask(recalls, tenant, cue, strategy, 13, **off)
        recipe = await ask(recalls, tenant, cue, "ecphoria", w_concepts=0.0)
        assert listed(by_recipe) == listed(recipe)
        by_fusion = await ask(recalls, tenant, cue, strategy, 13, base="fusion", **off)
        fusion = await ask(recalls, tenant, cue, "fusion")
        assert listed(by_fusion) == listed(fusion)
        assert [hit.score for hit in by_fusion.hits] == pytest.approx(
            [hit.score for hit in fusion.hits], abs=1e-9
        )


@pytest.mark.parametrize("strategy", MECHANISMS)
@pytest.mark.parametrize("preset", ["default", "paper"])
async def test_every_preset_answers_and_its_parts_add_up(
    strategy: str, preset: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    for base in ("recipe", "fusion"):
        result = await ask(recalls, tenant, BRIDGE, strategy, preset=preset, base=base)
        assert result.hits
        for hit in result.hits:
            assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)
            assert hit.path[-1].node == hit.episode.id
        again = await ask(recalls, tenant, BRIDGE, strategy, preset=preset, base=base)
        assert listed(again) == listed(result)
        trace = await traced(recalls, tenant, result)
        await recalls.close()
        assert await traced(recalls, tenant, result) == trace


@pytest.mark.parametrize("strategy", ["cls", "ppr", "actr", "ecphory"])
async def test_a_concept_leads_to_a_passage_that_the_cue_does_not_name(
    strategy: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, passages())
    result = await ask(recalls, tenant, BRIDGE, strategy)
    assert "Orla Tamsin" in [hit.episode.title for hit in result.hits[:2]]
    woken = next(hit for hit in result.hits if hit.episode.title == "Orla Tamsin")
    assert woken.parts["bridge"] > 0.0


@pytest.mark.parametrize("strategy", ["cls", "ppr", "actr", "ecphory"])
async def test_in_a_chat_no_turn_is_about_anything_and_the_bridge_is_shut(
    strategy: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    result = await ask(recalls, tenant, "Who takes the pottery class?", strategy)
    assert all(hit.parts["bridge"] == 0.0 for hit in result.hits)


@pytest.mark.parametrize(
    "strategy",
    # `synaptic` walks to the nearest neighbours only, and this turn is near to none.
    ["ecphoria", "synapse", *(name for name in MECHANISMS if name != "synaptic")],
)
async def test_a_turn_that_only_lent_its_words_is_ranked_once_activation_reaches_it(
    strategy: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    """It is read as a neighbour of the turn the cue finds, too far from it to be a candidate."""
    told = (
        "Nimra learns pottery at the big kiln in Korvald Hall.",
        "Pass me the salt, please.",
        "The bus was late again.",
        "My knee still hurts.",
        "In Korvald Hall a sundial stood before the flood.",
    )
    session = [
        NewEpisode(
            text=text,
            session="hall",
            position=place,
            occurred_at=START,
            title="Korvald Hall" if place == len(told) - 1 else None,
        )
        for place, text in enumerate(told)
    ]
    lessons = [
        NewEpisode(text=f"Lesson {number}: how one learns pottery, with a kiln of size {number}.")
        for number in range(220)
    ]
    await fill(ingest, tenant, session + lessons)
    cue = "Where does Nimra learn pottery with a kiln?"
    plain = await ask(recalls, tenant, cue, "ecphoria", k=200, w_concepts=0.0)
    assert plain.hits[0].episode.text == told[0]
    assert told[-1] not in listed(plain)
    result = await ask(recalls, tenant, cue, strategy, k=200)
    reached = next(hit for hit in result.hits if hit.episode.text == told[-1])
    assert sum(reached.parts.values()) == pytest.approx(reached.score, abs=1e-9)
    assert len(reached.path) > 1
    assert reached.path[-1].node == reached.episode.id


async def test_cls_tells_whom_its_threshold_cut(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    strict = await ask(recalls, tenant, BRIDGE, "cls", threshold=0.3, degree_power=1.0)
    cut = [mark for mark in marks(await traced(recalls, tenant, strict)) if "cut" in mark.says]
    assert cut
    assert all(0.0 < mark.value < 0.3 and "0.3" in mark.says for mark in cut)
    free = await ask(recalls, tenant, BRIDGE, "cls", threshold=0.0)
    assert marks(await traced(recalls, tenant, free)) == []


async def test_ppr_waves_carry_no_more_than_the_walker_has(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, passages())
    result = await ask(recalls, tenant, BRIDGE, "ppr", damping=0.7)
    (wave,) = (await traced(recalls, tenant, result)).waves
    assert 0.0 < wave.energy <= 0.7 + 1e-9
    assert sum(arc.energy for arc in wave.arcs) <= wave.energy + 1e-9
    still = await ask(recalls, tenant, BRIDGE, "ppr", damping=0.0)
    assert all(hit.parts["activation"] == 0.0 for hit in still.hits)


async def test_actr_prefers_the_newer_of_two_equal_memories_and_the_important_one(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    now = datetime.now(UTC)
    await fill(
        ingest,
        tenant,
        [
            NewEpisode(
                text="The boiler was repaired.",
                occurred_at=now - timedelta(days=days),
                importance=importance,
                metadata={"days": days},
            )
            for days, importance in ((300, 0.5), (7, 0.5), (301, 1.0))
        ]
        + passages(),
    )
    result = await ask(recalls, tenant, "Who repaired the boiler?", "actr", w_importance=0.0)
    assert [hit.episode.metadata["days"] for hit in result.hits[:3]] == [7, 300, 301]
    assert result.hits[0].parts["presence"] == pytest.approx(0.5 * 0.02, abs=1e-5)
    flat = await ask(
        recalls, tenant, "Who repaired the boiler?", "actr", w_presence=0.0, w_importance=0.1
    )
    assert flat.hits[0].episode.metadata["days"] == 301
    assert flat.hits[0].parts["importance"] == pytest.approx(0.1)
    chances = marks(await traced(recalls, tenant, result))
    assert sum(mark.value for mark in chances) == pytest.approx(1.0)


async def test_ecphory_hops_bring_traces_that_the_cue_did_not_wake(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, passages())
    at_once = await ask(recalls, tenant, BRIDGE, "ecphory", k_init=1, depth=0)
    hopped = await ask(recalls, tenant, BRIDGE, "ecphory", k_init=1, depth=1, expansion=5)
    first = {mark.node for mark in marks(await traced(recalls, tenant, at_once))}
    drawn = [
        mark
        for mark in marks(await traced(recalls, tenant, hopped))
        if mark.says == "drawn in by hop 1"
    ]
    assert drawn
    assert first.isdisjoint(mark.node for mark in drawn)
    assert max(mark.value for mark in drawn) <= 0.8
    by_hop = [hit for hit in hopped.hits if hit.path[0].edge == "NEAR"]
    assert by_hop
    known = {hit.episode.id for hit in at_once.hits if hit.parts["bridge"] > 0.0}
    assert any(hit.episode.id not in known for hit in by_hop)


async def test_synaptic_fires_by_its_threshold_and_tells_what_stopped_a_stimulus(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    cue = "Who takes the pottery class?"
    easy = await ask(recalls, tenant, cue, "synaptic", v_th=0.02)
    hard = await ask(recalls, tenant, cue, "synaptic", v_th=1.0, stim_th=0.5)

    def says(trace: Trace) -> set[str]:
        return {mark.says for mark in marks(trace)}

    trace = await traced(recalls, tenant, easy)
    assert "fired" in says(trace)
    fired = {mark.node for mark in marks(trace) if mark.says == "fired"}
    assert all(mark.value >= 0.02 for mark in marks(trace) if mark.says == "fired")
    assert easy.hits[0].episode.id in fired
    assert says(await traced(recalls, tenant, hard)) >= {
        "cut: cosine below cos_th",
        "passes nothing on: stimulus below stim_th",
    }
    assert "fired" not in says(await traced(recalls, tenant, hard))
    first = await ask(recalls, tenant, cue, "synaptic", v_th=0.02, fired_only=True)
    order = [hit.episode.id in fired for hit in first.hits]
    assert order == sorted(order, reverse=True)


async def test_synaptic_without_time_is_cosine_over_hops(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    """With all of a stimulus passing at any distance, it is the product of the cosines."""
    await fill(ingest, tenant, chat())
    cue = "Who takes the pottery class?"
    dense = await ask(recalls, tenant, cue, "dense")
    cosine = {str(hit.episode.id): hit.score for hit in dense.hits}
    free = await ask(
        recalls, tenant, cue, "synaptic", temporal_floor=1.0, hops=2, children=1, cos_th=0.0
    )
    trace = await traced(recalls, tenant, free)
    (seed,) = [seed for seed in trace.seeds if seed.energy]
    walked = [hit for hit in free.hits if len(hit.path) == 2]
    assert walked
    for hit in walked:
        first, second = hit.path
        assert first.node == seed.node
        assert first.energy == pytest.approx(cosine[seed.node], abs=1e-5)
        arc = next(arc for arc in trace.waves[1].arcs if arc.head == hit.episode.id)
        assert second.energy == pytest.approx(first.energy * arc.weight, abs=1e-9)
    near = await ask(
        recalls, tenant, cue, "synaptic", temporal_floor=0.0, hops=2, children=1, cos_th=0.0
    )
    timed = {hit.episode.id: hit.path[-1].energy for hit in near.hits if len(hit.path) == 2}
    assert all(timed[hit.episode.id] < hit.path[-1].energy for hit in walked)
