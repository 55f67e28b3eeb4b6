"""SYNAPSE through the store: the worked example, the triple score, and what switches do."""

from math import exp

import numpy as np
import pytest

from ecphoria.consolidation.knn_store import Association, AssociationStore
from ecphoria.consolidation.steps import Prior
from ecphoria.ingest.service import IngestService
from ecphoria.maths.spreading import SpreadOptions, spread
from ecphoria.mechanisms.subgraph import GAINS, Subgraph, WalkLimits, fetch
from ecphoria.neo4j_store.gds import PriorStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.service import RecallService
from ecphoria.recall.store import EpisodeReader
from ecphoria.recall.walk import episode_seed
from ecphoria.records.episode import NewEpisode
from ecphoria.records.ids import EpisodeId, TenantId
from ecphoria.records.recall import OptionValue, RecallResult
from ecphoria.records.traced import Stream
from tests.conftest import Server
from tests.contract.memories import START, concept_id, episode_id, write
from tests.contract.priors import a_cycle, the_worked_example
from tests.integration.memory.chats import ask, chat, fill, passages

CUE = "Who takes the pottery class?"
BRIDGE = "Where was the designer of Veldrin Lighthouse born, and what museum is there?"


async def example(graph: Graph, tenant: TenantId) -> tuple[Subgraph, list[int]]:
    """Fetch the worked example from its two seeds; nodes 0, 1, 2, 3 are turns 1, 2, 3's places."""
    seeds = [
        episode_seed(episode_id(tenant, "1"), Stream.TEXT, 0.75),
        episode_seed(episode_id(tenant, "2"), Stream.TEXT, 0.25),
    ]
    found = await fetch(EpisodeReader(graph), tenant, seeds, WalkLimits(), START)
    nodes = ("1", "2", None, "3")
    names = [concept_id(tenant, "bridge") if n is None else episode_id(tenant, n) for n in nodes]
    return found, [found.index[name] for name in names]


@pytest.mark.parametrize(
    ("firing", "expected"),
    [
        ("linear", (0.419785, 0.376444, 0.406515, 0.110268)),
        ("rebased", (0.875067, 0.813909, 0.835252, 0.115157)),
    ],
)
async def test_the_worked_example_comes_out_of_the_store(
    firing: str, expected: tuple[float, ...], graph: Graph, tenant: TenantId
) -> None:
    await write(graph, tenant, the_worked_example(tenant))
    found, places = await example(graph, tenant)
    energy = np.zeros(len(found.ids))
    energy[:2] = 0.75, 0.25
    options = SpreadOptions(firing=firing, inhibition_mode="off")  # type: ignore[arg-type]
    run = spread(found.adjacency(GAINS, 1.0, guard=True), energy, options=options)
    np.testing.assert_allclose(run.activation[places], expected, atol=5e-6)
    # The fourth turn has no edge, so nothing can find it.
    assert len(found.ids) == 4


@pytest.mark.parametrize("decay", [0.0, 0.01, 0.1])
async def test_next_fades_with_the_days_between(
    decay: float, graph: Graph, tenant: TenantId
) -> None:
    await write(graph, tenant, the_worked_example(tenant))
    found, (first, second, bridge, _) = await example(graph, tenant)
    arcs = found.adjacency(GAINS, 0.0, guard=False, decay=decay)
    weight = {
        (tail, head): value
        for tail, head, value in zip(
            arcs.tails().tolist(), arcs.indices.tolist(), arcs.weights.tolist(), strict=True
        )
    }
    assert weight[first, second] == pytest.approx(exp(-30 * decay))
    assert weight[first, bridge] == pytest.approx(0.64)


@pytest.fixture(scope="module")
def prior(graph: Graph, neo4j_server: Server) -> Prior:
    options = neo4j_server.options()
    return Prior(PriorStore(graph, options))


async def synapse(
    recalls: RecallService, tenant: TenantId, cue: str, **options: OptionValue
) -> RecallResult:
    return await ask(recalls, tenant, cue, strategy="synapse", k=8, options=options)


async def test_the_score_is_text_activation_and_prior(
    graph: Graph, ingest: IngestService, recalls: RecallService, tenant: TenantId, prior: Prior
) -> None:
    await fill(ingest, tenant, chat() + passages())
    before = await synapse(recalls, tenant, CUE, w_prior=0.2)
    assert all(hit.parts["prior"] == 0.0 for hit in before.hits)
    await prior.run(a_cycle(tenant))
    after = await synapse(recalls, tenant, CUE, w_prior=0.2)
    stored = await EpisodeReader(graph).priors(
        tenant, [EpisodeId(hit.episode.id) for hit in after.hits]
    )
    assert max(stored.values()) > 0.0
    for hit in after.hits:
        assert hit.parts["prior"] == pytest.approx(0.2 * stored.get(hit.episode.id, 0.0))
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)
    unweighted = await synapse(recalls, tenant, CUE)
    assert all(hit.parts["prior"] == 0.0 for hit in unweighted.hits)


@pytest.mark.parametrize(("base", "plain"), [("fusion", "fusion"), ("cosine", "dense")])
async def test_without_activation_the_ranking_is_its_base(
    base: str, plain: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    off = {"w_activation": 0.0, "w_about": 0.0}
    bare = await synapse(recalls, tenant, CUE, base=base, **off)
    expected = await ask(recalls, tenant, CUE, strategy=plain, k=8)
    assert [hit.episode.id for hit in bare.hits] == [hit.episode.id for hit in expected.hits]
    recipe = await synapse(recalls, tenant, CUE, **off)
    expected = await ask(recalls, tenant, CUE, k=8, options={"w_concepts": 0.0})
    assert [hit.episode.id for hit in recipe.hits] == [hit.episode.id for hit in expected.hits]
    assert [hit.score for hit in recipe.hits] == pytest.approx([h.score for h in expected.hits])


async def test_what_comes_over_about_crosses_the_bridge_and_counts_nothing_in_a_chat(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, other_tenant: TenantId
) -> None:
    await fill(ingest, tenant, passages())
    await fill(ingest, other_tenant, chat())
    crossed = await synapse(recalls, tenant, BRIDGE)
    woken = next(hit for hit in crossed.hits if hit.episode.title == "Orla Tamsin")
    assert [hit.episode.title for hit in crossed.hits[:3]].count("Orla Tamsin") == 1
    assert woken.parts["activation"] > 0.5
    assert "Orla Tamsin" in {step.label for step in woken.path if step.kind == "concept"}
    with_about = await synapse(recalls, other_tenant, CUE)
    without = await synapse(recalls, other_tenant, CUE, w_about=0.0)
    assert [hit.score for hit in with_about.hits] == [hit.score for hit in without.hits]


async def test_inhibition_widens_gaps_and_keeps_the_order_of_activation(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    plain = await synapse(recalls, tenant, CUE, w_base=0.0)
    pushed = await synapse(recalls, tenant, CUE, w_base=0.0, inhibition=0.3)

    def lit(result: RecallResult) -> dict[str, float]:
        return {hit.episode.id: hit.parts["activation"] for hit in result.hits}

    assert any(lit(pushed)[one] < value for one, value in lit(plain).items())
    assert all(lit(pushed)[one] <= value + 1e-12 for one, value in lit(plain).items())


async def test_the_paper_s_preset_runs_as_printed(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    printed = await synapse(recalls, tenant, CUE, preset="paper")
    best = printed.hits[0].parts
    assert best["base"] <= 0.5
    assert 0.0 < best["activation"] <= 0.3


async def test_a_trace_lists_all_arcs_only_if_asked_to_explain(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    for strategy in ("synapse", "ecphoria"):
        told = await ask(recalls, tenant, BRIDGE, strategy=strategy, explain=True)
        quiet = await ask(recalls, tenant, BRIDGE, strategy=strategy)
        long = await recalls.trace(tenant, told.trace_id)
        short = await recalls.trace(tenant, quiet.trace_id)
        listed = [sum(len(wave.arcs) for wave in trace.waves) for trace in (long, short)]
        assert listed[0] > listed[1]
        for one, other in zip(long.waves, short.waves, strict=True):
            assert set(other.arcs) <= set(one.arcs)
            assert one.arcs_left_out == 0
            assert (other.number, other.active, other.energy) == (
                one.number, one.active, one.energy,
            )  # fmt: skip
        assert [hit.score for hit in told.hits] == [hit.score for hit in quiet.hits]


@pytest.mark.parametrize("strategy", ["synapse", "cls", "ppr"])
async def test_concepts_that_are_mentioned_together_lead_to_each_other(
    strategy: str, graph: Graph, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    """Quentin Ashdown and Sable Mill are associated; no memory that the cue finds names both."""
    await fill(
        ingest,
        tenant,
        [
            NewEpisode(text=text, source="note")
            for text in (
                "Quentin Ashdown sold apples.",
                "The wheel of Sable Mill broke.",
                "A heron stood in the reeds.",
            )
        ],
    )
    ends = sorted(concept_id(tenant, name) for name in ("quentin ashdown", "sable mill"))
    edge = Association(one=ends[0], other=ends[1], part=0.9)
    await AssociationStore(graph).save_associated(tenant, None, now=START, edges=[edge], done={})
    reached = {}
    for gain in (0.0, 1.0):
        answer = await ask(
            recalls, tenant, "What about Quentin Ashdown?", strategy=strategy, k=3, explain=True,
            options={"associated": gain, "seeds": 1, "mention_back": 1.0},
        )  # fmt: skip
        trace = await recalls.trace(tenant, answer.trace_id)
        reached[gain] = {(arc.edge, arc.tail in ends) for wave in trace.waves for arc in wave.arcs}
    assert ("ASSOCIATED", True) in reached[1.0]
    assert not any(edge == "ASSOCIATED" for edge, _ in reached[0.0])
