"""Recall on the real graph: what wakes what, how it is explained, and who never sees it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from ecphoria.app import STRATEGIES
from ecphoria.errors import EncoderUnavailable, InvalidInput, NotFound, TooLarge, UnknownStrategy
from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.ports import Embedder, Vectors
from ecphoria.recall.service import RecallService
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.episode import NewEpisode
from ecphoria.records.ids import TenantId, TraceId
from ecphoria.records.recall import Cue, Filters, RecallOptions, RecallResult, Trace, Verdict
from ecphoria.text.tokens import stems
from tests.conftest import COMPARATORS, WallClock
from tests.integration.memory.chats import CHAT, START, ask, chat, fill, passages
from tests.vectors import as_stored


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
async def test_every_strategy_explains_every_hit(
    strategy: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    result = await ask(recalls, tenant, "Who takes the pottery class?", strategy=strategy, k=5)
    assert result.strategy == strategy
    assert result.hits[0].episode.text == CHAT[0][1] or strategy in COMPARATORS
    for hit in result.hits:
        assert sum(hit.parts.values()) == pytest.approx(hit.score, abs=1e-9)
        assert hit.path[-1].node == hit.episode.id
        assert all(step.label for step in hit.path)
    scores = [hit.score for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    assert [hit.rank for hit in result.hits] == list(range(1, len(scores) + 1))


async def test_a_summary_prefers_no_speaker_and_no_length(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    garden = [
        NewEpisode(text=f"My tomatoes {news} this week.", session="s", role="user")
        for news in ("sprouted", "flowered", "ripened")
    ]
    await fill(ingest, tenant, [replace(item, position=at) for at, item in enumerate(garden)])
    one = await ask(recalls, tenant, "When did my tomatoes flower?")
    all_ = await ask(recalls, tenant, "Summarize how my tomatoes grew.")
    assert all(hit.parts["spk"] > 0 and hit.parts["len"] > 0 for hit in one.hits)
    assert all(hit.parts["spk"] == hit.parts["len"] == 0 for hit in all_.hits)


@pytest.mark.parametrize(
    ("cue", "text"),
    [
        ("Wo liegen unsere Wohnungen?", "Die Wohnung ist nicht weit von der Fähre."),
        ("Où sont les journaux ?", "Le journal est sur la table de la cuisine."),
        ("what broke in read_all?", "read_all breaks on empty files"),
        ("what is wrong with main.py", "the tests of docs/app/main.py fail"),
    ],
)
async def test_a_memory_is_found_by_the_forms_of_its_language_and_by_whole_names(
    cue: str, text: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    others = ("We read all the main news.", "Py is a village.", "Der Hund schläft.")
    await fill(ingest, tenant, [NewEpisode(text=one) for one in (*others, text)])
    result = await ask(recalls, tenant, cue, strategy="lexical")
    assert result.hits[0].episode.text == text


async def test_the_answer_to_a_question_is_woken_over_next(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    """The evidence shares no word with the cue; the turn before it does."""
    await fill(ingest, tenant, chat())
    off: dict[str, bool | float] = {"next_spreading": False, "w_ctx": 0.0, "w_sem": 0.0}
    cue = "Why did Ida decide on it?"
    alone = await ask(recalls, tenant, cue, options={**off})
    spread = await ask(recalls, tenant, cue, options={**off, "next_spreading": True})

    def lexical(result: RecallResult) -> float:
        return next(hit.parts["lex"] for hit in result.hits if "Clay" in hit.episode.text)

    assert lexical(alone) == 0.0
    assert lexical(spread) > 0.0
    woken = next(hit for hit in spread.hits if "Clay" in hit.episode.text)
    assert [step.edge for step in woken.path] == ["text", "NEXT"]


async def test_a_bridge_is_crossed_by_concepts_and_only_by_them(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, passages())
    cue = "Where was the designer of Veldrin Lighthouse born, and what museum is there?"
    with_channel = await ask(recalls, tenant, cue, k=3)
    without = await ask(recalls, tenant, cue, k=3, options={"w_concepts": 0.0})
    assert "Orla Tamsin" in {hit.episode.title for hit in with_channel.hits}
    woken = next(hit for hit in with_channel.hits if hit.episode.title == "Orla Tamsin")
    assert woken.parts["concepts"] > 0.0
    assert "Orla Tamsin" in {step.label for step in woken.path if step.kind == "concept"}
    assert all(hit.parts["concepts"] == 0.0 for hit in without.hits)


async def test_without_titles_the_channel_changes_nothing(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    cue = "What did the sister adopt?"
    on = await ask(recalls, tenant, cue)
    off = await ask(recalls, tenant, cue, options={"w_concepts": 0.0})
    assert [hit.episode.id for hit in on.hits] == [hit.episode.id for hit in off.hits]
    assert [hit.score for hit in on.hits] == [hit.score for hit in off.hits]


async def test_the_ranking_does_not_depend_on_the_order_of_writing(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, other_tenant: TenantId
) -> None:
    items = chat() + passages()
    await fill(ingest, tenant, items)
    for item in reversed(items):
        await ingest.append(other_tenant, item)
    for cue in ("What did Bo buy?", "Who designed the lighthouse on the cape?"):
        first = await ask(recalls, tenant, cue, k=8)
        second = await ask(recalls, other_tenant, cue, k=8)
        assert [hit.episode.text for hit in first.hits] == [
            hit.episode.text for hit in second.hits
        ]
        np.testing.assert_allclose(
            [hit.score for hit in first.hits], [hit.score for hit in second.hits], atol=1e-6
        )


async def test_signals_equal_a_second_plain_computation(
    ingest: IngestService, recalls: RecallService, embedder: Embedder, tenant: TenantId
) -> None:
    """BM25 with spreading and both cosines, worked out from the texts alone."""
    # Without the last turn: it only asks, so a recall leaves it out.
    await fill(ingest, tenant, chat()[:-1])
    cue = "Is the pottery teacher patient after work?"
    options: Mapping[str, float | bool] = dict.fromkeys(
        ("w_speaker", "w_length", "w_question", "w_when", "w_date"), 0.0
    )
    result = await ask(recalls, tenant, cue, k=7, options=options)
    expected = await _plain_scores(embedder, cue)
    for hit in result.hits:
        place = int(hit.episode.metadata["n"])
        assert hit.score == pytest.approx(expected[place], abs=1e-5)


@pytest.mark.parametrize(
    ("cue", "share"),
    [
        ("When is the ferry late?", 1.0),
        ("When is the ferry of captain Yusuf to Genoa late?", 0.25),
    ],
)
async def test_words_that_half_of_the_memories_share_count_if_one_has_all_of_the_cue(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, cue: str, share: float
) -> None:
    ferries = [f"The ferry is late on day {number}." for number in range(20)]
    orchard = [f"Row {number} of the orchard was watered." for number in range(20)]
    await ingest.append_batch(tenant, [NewEpisode(text=text) for text in (*ferries, *orchard)])
    now = await ask(recalls, tenant, cue, k=20)
    fixed = await ask(recalls, tenant, cue, k=20, options={"adaptive": False})
    words = {hit.episode.id: hit.parts["lex"] for hit in fixed.hits}
    assert now.hits[0].parts["lex"] > 0.0
    for hit in now.hits:
        assert hit.parts["lex"] == pytest.approx(share * words[hit.episode.id])


@pytest.mark.parametrize(
    ("kind", "gain"), [("documents", 1.5), ("talk", 1.0), ("titled documents", 1.0)]
)
async def test_among_documents_words_count_more_where_all_of_the_cue_stand(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, kind: str, gain: float
) -> None:
    both, *one = ("The ferry left Genoa.", "The ferry left port.", "The train left Genoa.")
    others = [f"Row {number} of the orchard was watered." for number in range(30)]
    items = [
        NewEpisode(
            text=text,
            session=f"s{place}" if kind == "talk" else None,
            title=f"Log {place}" if kind == "titled documents" else None,
        )
        for place, text in enumerate((both, *one, *others))
    ]
    await ingest.append_batch(tenant, items)

    async def ratio(**options: bool) -> float:
        found = await ask(recalls, tenant, "The ferry of Genoa", k=40, options=options)
        words = {hit.episode.text: hit.parts["lex"] for hit in found.hits}
        assert found.hits[0].episode.text == both
        assert words[one[0]] == pytest.approx(words[one[1]])
        return words[both] / words[one[0]]

    # Both words are in two memories, so half of the cue is in one of them.
    assert await ratio() == pytest.approx(gain * await ratio(adaptive=False))


async def test_meaning_counts_little_in_a_language_that_the_encoder_does_not_read(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    texts = [f"Die Fähre war am Tag {number} nicht im Hafen." for number in range(20)]
    await ingest.append_batch(tenant, [NewEpisode(text=text) for text in texts])
    cue = "Wann war die Fähre nicht im Hafen?"
    now = await ask(recalls, tenant, cue, k=20)
    fixed = await ask(recalls, tenant, cue, k=20, options={"adaptive": False})
    meaning = {hit.episode.id: hit.parts["sem"] for hit in fixed.hits}
    assert now.evidence["unread"] == 1.0
    assert any(meaning.values())
    for hit in now.hits:
        assert hit.parts["sem"] == pytest.approx(0.4 * meaning[hit.episode.id])


async def _plain_scores(embedder: Embedder, cue: str) -> list[float]:
    texts = [text for _, text in CHAT[:-1]]
    *told, asked = await embedder.embed([*texts, cue])
    vectors = np.stack([*as_stored(told), asked]).astype(np.float64)
    counts = [Counter(stems(text)) for text in texts]
    shares = {0: 1.0, -1: 0.7, -2: 0.4, -3: 0.2, 1: 0.4, 2: 0.2}
    smooth = {0: 1.0, -1: 0.6, 1: 0.3}

    def beside(place: int, step: int) -> int | None:
        other = place + step
        same = 0 <= other < len(texts) and other // 4 == place // 4
        return other if same else None

    lengths = [len(stems(text)) for text in texts]
    mean = float(np.mean(lengths))

    def frequency(place: int, stem: str) -> float:
        return counts[place][stem] / (0.7 + 0.3 * lengths[place] / mean)

    def level(place: int, stem: str) -> float:
        total = frequency(place, stem)
        for step, share in shares.items():
            other = beside(place, step)
            if step and other is not None:
                lent = min(1.0, 30 / (20 + lengths[other]))
                total += share * lent * frequency(other, stem)
        return total

    lex, ctx = [], []
    for place in range(len(texts)):
        score = 0.0
        for stem, often in Counter(stems(cue)).items():
            df = sum(stem in one for one in counts)
            idf = np.log1p((len(texts) - df + 0.5) / (df + 0.5))
            reached = level(place, stem)
            score += often * idf * reached * 1.9 / (reached + 0.9)
        lex.append(score)
        near = [(beside(place, step), share) for step, share in smooth.items()]
        mixed = sum(share * vectors[other] for other, share in near if other is not None)
        ctx.append(float(mixed @ vectors[-1] / np.linalg.norm(mixed)))
    sem = (vectors[:-1] @ vectors[-1]).tolist()
    scaled = [
        (np.array(values) - min(values)) / (max(values) - min(values))
        for values in (lex, sem, ctx)
    ]
    return (0.25 * scaled[0] + 0.18 * scaled[1] + 0.16 * scaled[2]).tolist()  # type: ignore[no-any-return]


async def test_a_question_about_the_wrong_person_is_refused_in_words(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    known = await ask(recalls, tenant, "Which class did Ida sign up for?")
    swapped = await ask(recalls, tenant, "Which pottery class did Bo sign up for?")
    assert known.answerable
    assert known.confidence > swapped.confidence
    assert "no memory by Bo has the word pottery" in swapped.reasons


async def test_an_empty_store_is_told_apart_from_a_weak_answer(
    recalls: RecallService, tenant: TenantId
) -> None:
    result = await ask(recalls, tenant, "Anything?")
    assert result.verdict is Verdict.EMPTY
    assert not result.answerable
    assert result.hits == ()
    assert result.context == ""


async def test_a_cue_of_stop_words_only_still_answers(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    result = await ask(recalls, tenant, "who was it that they were?")
    assert result.hits


@pytest.mark.parametrize(
    "cue", ['"AND OR NOT', "text:* OR tenant:*", "a~2 b^4 [1 TO 5] {x}", "\\"]
)
async def test_search_syntax_in_a_cue_is_only_text(
    cue: str, ingest: IngestService, recalls: RecallService, tenant: TenantId,
    other_tenant: TenantId,
) -> None:  # fmt: skip
    await fill(ingest, tenant, chat())
    result = await ask(recalls, other_tenant, cue)
    assert result.hits == ()


async def test_a_vector_alone_is_a_cue(
    ingest: IngestService, recalls: RecallService, embedder: Embedder, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    vector = tuple((await embedder.embed(["a bird as a pet"]))[0].tolist())
    result = await recalls.recall(tenant, Cue(vector=vector), RecallOptions(k=1))
    assert "parrot" in result.hits[0].episode.text


async def test_filters_hold_for_seeds_and_for_what_they_wake(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    cases = (
        (Filters(speaker="Bo"), lambda hit: hit.episode.speaker == "Bo"),
        (Filters(session="s1"), lambda hit: hit.episode.session == "s1"),
        (
            Filters(occurred_from=START + timedelta(days=1)),
            lambda hit: hit.episode.occurred_at > START,
        ),
        (Filters(occurred_before=START), lambda _: False),
    )
    for filters, holds in cases:
        for strategy in sorted(STRATEGIES):
            result = await ask(
                recalls, tenant, "pottery parrot rod class", filters=filters, strategy=strategy
            )
            assert all(holds(hit) for hit in result.hits), (filters, strategy)
    found = await ask(recalls, tenant, "parrot", filters=Filters(session="s1"))
    assert "parrot" in found.hits[0].episode.text


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        (RecallOptions(strategy="magic"), UnknownStrategy, "choose from"),
        (RecallOptions(options={"w_lexx": 1.0}), InvalidInput, "it takes"),
        (RecallOptions(options={"w_lex": "high"}), InvalidInput, "float"),
        (RecallOptions(options={"w_lex": -1.0}), InvalidInput, "between"),
        (RecallOptions(options={"w_lex": float("nan")}), InvalidInput, "between"),
        (RecallOptions(options={"preset": "none"}), InvalidInput, "preset"),
    ],
)  # fmt: skip
async def test_bad_options_say_what_to_send(
    options: RecallOptions, error: type[Exception], says: str, recalls: RecallService,
    tenant: TenantId,
) -> None:  # fmt: skip
    with pytest.raises(error, match=says):
        await recalls.recall(tenant, Cue(text="pottery"), options)


@pytest.mark.parametrize(
    "cue",
    [
        Cue(text=" "),
        Cue(),
        Cue(text="x" * 10_001),
        Cue(text="a\ud800"),
        Cue(text="a", vector=(1.0,) * 3),
        Cue(text="a", vector=(0.0,) * 384),
        Cue(vector=(float("inf"),) * 384),
    ],
)
async def test_bad_cues_are_refused(cue: Cue, recalls: RecallService, tenant: TenantId) -> None:
    with pytest.raises((InvalidInput, TooLarge), match=r"cue|vector|Unicode"):
        await recalls.recall(tenant, cue, RecallOptions())


async def test_who_began_to_speak_since_the_last_recall_is_known(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    cue = Cue(text="What did Odile paint?")
    said = NewEpisode(text="I painted the fence green.", speaker="Ann", session="s1")
    await ingest.append(tenant, said)
    (before,) = (await recalls.recall(tenant, cue, RecallOptions())).hits
    assert before.parts["spk"] == 0
    await ingest.append(tenant, replace(said, text="I painted a boat.", speaker="Odile"))
    after = await recalls.recall(tenant, cue, RecallOptions())
    assert {hit.episode.speaker: hit.parts["spk"] > 0 for hit in after.hits} == {
        "Ann": False,
        "Odile": True,
    }


async def test_tenants_never_meet(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, other_tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    for strategy in sorted(STRATEGIES):
        result = await ask(recalls, other_tenant, "pottery Veldrin Lighthouse", strategy=strategy)
        assert result.hits == ()
    mine = await ask(recalls, tenant, "pottery")
    with pytest.raises(NotFound):
        await recalls.trace(other_tenant, mine.trace_id)
    with pytest.raises(NotFound):
        await ask(recalls, TenantId("0" * 32), "pottery")


async def test_a_trace_is_kept_and_says_what_the_answer_said(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat() + passages())
    result = await ask(recalls, tenant, "Who takes the pottery class?", strategy="synapse")
    at_once = await recalls.trace(tenant, result.trace_id)
    await recalls.close()
    stored = await recalls.trace(tenant, result.trace_id)
    assert stored == at_once
    assert [hit.episode for hit in stored.hits] == [hit.episode.id for hit in result.hits]
    assert sum(seed.energy for seed in stored.seeds) == pytest.approx(1.0)
    assert [wave.number for wave in stored.waves] == [1, 2, 3]
    with pytest.raises(NotFound):
        await recalls.trace(tenant, TraceId("0" * 32))


async def test_the_context_block_is_in_order_and_within_its_budget(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    whole = await ask(recalls, tenant, "pottery class", k=7)
    first, *lines, last = whole.context.splitlines()
    assert first.startswith("<memories ")
    assert last == f"</{first[1:]}"
    assert lines == sorted(lines, key=lambda line: line.split()[1])
    # A turn that only asks what the cue asks is a hit, but no line.
    assert len(lines) == sum(not hit.echo for hit in whole.hits) == 6
    short = await ask(recalls, tenant, "pottery class", k=7, token_budget=60)
    assert 0 < short.context_tokens <= 60
    assert whole.hits[0].episode.text in short.context


async def test_a_trace_that_cannot_be_written_is_said_and_stops_nothing(
    graph: Graph, embedder: Embedder, ingest: IngestService, tenant: TenantId
) -> None:
    class Broken(TraceStore):
        faults = 1

        async def save(self, tenant: TenantId, traces: Sequence[Trace]) -> None:
            if self.faults:
                self.faults -= 1
                raise RuntimeError("cannot schedule new futures after shutdown")
            await super().save(tenant, traces)

    service = RecallService(
        store=EpisodeReader(graph),
        strategies=STRATEGIES,
        traces=Broken(graph, keep=9),
        embedder=embedder,
        clock=WallClock(),
    )
    await fill(ingest, tenant, chat())
    lost = await service.recall(tenant, Cue(text="parrot"), RecallOptions())
    await service.close()
    kept = await service.recall(tenant, Cue(text="parrot"), RecallOptions())
    await service.close()
    with pytest.raises(NotFound):
        await service.trace(tenant, lost.trace_id)
    assert (await service.trace(tenant, kept.trace_id)).id == kept.trace_id


class Silent:
    """An embedder whose encoder does not answer."""

    def __init__(self, embedder: Embedder) -> None:
        self.model, self.dimension = embedder.model, embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Vectors:  # noqa: ARG002 (never encoded)
        raise EncoderUnavailable

    async def close(self) -> None:
        """Hold nothing."""


async def test_without_the_encoder_memories_are_found_by_their_words(
    graph: Graph, embedder: Embedder, ingest: IngestService, tenant: TenantId
) -> None:
    await fill(ingest, tenant, chat())
    recalls = RecallService(
        store=EpisodeReader(graph),
        strategies=STRATEGIES,
        traces=TraceStore(graph, keep=100),
        embedder=Silent(embedder),
        clock=WallClock(),
    )
    result = await ask(recalls, tenant, "Who takes the pottery class?")
    assert result.hits[0].episode.text == CHAT[0][1]
    assert result.hits[0].parts["sem"] == 0.0
    assert result.degraded == (
        "the encoder does not answer: memories were searched by their words only",
    )
    by_vector = await recalls.recall(
        tenant, Cue(vector=(await embedder.embed(["pottery"]))[0]), RecallOptions()
    )
    assert by_vector.degraded == ()
    await recalls.close()
