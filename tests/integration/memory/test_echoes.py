"""Questions that an agent stores never answer themselves, on the real graph and encoder."""

from dataclasses import replace

import pytest

from ecphoria.ingest.service import IngestService
from ecphoria.recall.service import RecallService
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions, RecallResult, Verdict
from tests.integration.memory.stories import CASES, Case, echoes, life, store, turns

RANK = {Verdict.EMPTY: 0, Verdict.REFUSE: 0, Verdict.VERIFY: 1, Verdict.ANSWER: 2}


async def ask(recalls: RecallService, tenant: TenantId, cue: str) -> RecallResult:
    # Recorded recalls change the scale of the confidence (decision 0070).
    return await recalls.recall(tenant, Cue(text=cue), RecallOptions(k=50), record=False)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.language}-{case.role}-{case.seed}"
)
async def test_no_question_answers_itself(
    case: Case, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    told = life(case)
    await store(ingest, tenant, [("user", fact) for fact in told.facts], case, "s")
    for number, question in enumerate(told.questions):
        before = await ask(recalls, tenant, question.cue)
        stored = echoes(question, case)
        # Every other question is asked in the session of the facts.
        session = "s" if number % 2 else f"s{number}"
        await store(ingest, tenant, stored, case, session)
        after = await ask(recalls, tenant, question.cue)
        assert after.confidence <= before.confidence + 1e-6, (question, before, after)
        assert RANK[after.verdict] <= RANK[before.verdict], question
        echoed = {text for _, text in stored}
        places = [hit.rank for hit in after.hits if hit.episode.text in echoed]
        same = {question.cue, *question.replies} & echoed
        assert all(hit.echo for hit in after.hits if hit.episode.text in same)
        evidence = [hit.rank for hit in after.hits if not hit.echo]
        assert evidence == list(range(1, len(evidence) + 1))
        assert not any(hit.echo for hit in after.hits if hit.episode.text in told.facts)
        if question.fact is not None:
            answers = [hit.rank for hit in after.hits if hit.episode.text == question.fact]
            assert answers[0] < min(places, default=99), question
        assert not any(text in after.context for text in same)


@pytest.mark.parametrize("role", ["roles", "none", "speakers"])
async def test_a_turn_that_states_and_asks_stays_evidence(
    role: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    case = Case(seed=1, language="en", role=role)
    stated = [
        ("user", "My dog Pixel is ill, what should I do?"),
        ("user", "Meine Katze Minka frisst nichts, was soll ich tun?"),
    ]
    await store(ingest, tenant, stated, case, "s")
    for cue, text in zip(
        ("What is my dog called?", "Wie heißt meine Katze?"), stated, strict=True
    ):
        found = await ask(recalls, tenant, cue)
        assert found.hits[0].episode.text == text[1]
        assert not any(hit.echo for hit in found.hits)


async def test_the_reply_to_a_question_of_another_keeps_its_words(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    case = Case(seed=1, language="en", role="roles")
    said = [("assistant", "Which book do you like most?"), ("user", "Middlemarch, since school.")]
    await store(ingest, tenant, said, case, "s")
    found = await ask(recalls, tenant, "Which book do I like most?")
    assert [(hit.episode.text, hit.echo) for hit in found.hits] == [
        (said[1][1], False), (said[0][1], True),
    ]  # fmt: skip
    assert found.hits[0].parts["lex"] > 0


@pytest.mark.parametrize(
    "cue",
    [
        "When is the 18th birthday of Ada?",
        "Our build is red. How did we mend it last time?",
        "What Next.js feature renders the first page?",
        "导致人们想要将SR99提升到州际标准的是哪些因素?",
    ],
)
async def test_the_same_question_is_an_echo_whatever_its_form(
    cue: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    case = Case(seed=1, language="en", role="roles")
    said = [("user", "I keep bees."), ("user", cue), ("assistant", "I do not know.")]
    await store(ingest, tenant, said, case, "s")
    found = await ask(recalls, tenant, cue)
    assert [hit.echo for hit in found.hits if hit.episode.text == cue] == [True]


LONG_REPLY = "A firm from Jena. " + "It took the motor apart and cleaned each part. " * 14


BELOW = {
    "en": (
        "The telescope has a mirror of two metres.",
        "Who mended the telescope of the old observatory for Anna Meyer?",
        "A firm from Jena.",
        "How large is the mirror of the telescope on the hill of the old observatory?",
    ),
    "de": (
        "Das Fernrohr hat einen Spiegel von zwei Metern.",
        "Wer hat das Fernrohr der alten Sternwarte mit neuen Rädern aus Messing repariert?",
        "Eine Firma aus Jena.",
        "Wie groß ist der Spiegel im Fernrohr auf dem Hügel der alten Sternwarte?",
    ),
}


@pytest.mark.parametrize("language", BELOW)
async def test_a_question_stands_below_its_short_reply(
    language: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    told, asked, reply, cue = BELOW[language]
    case = Case(seed=1, language=language, role="roles")
    said = [("user", told), ("assistant", "OK."), ("user", asked), ("assistant", reply)]
    await store(ingest, tenant, said, case, "s")
    found = await ask(recalls, tenant, cue)
    score = {hit.episode.text: hit.score for hit in found.hits}
    assert score[asked] <= score[reply] - 1.0 + 1e-9
    assert not any(hit.echo for hit in found.hits if hit.episode.text == asked)


async def test_a_question_stands_hardly_above_its_reply(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    """Its words are those of many later cues; the answer to them is elsewhere."""
    case = Case(seed=1, language="en", role="roles")
    said = [
        ("user", "The telescope has a mirror of two metres."),
        ("assistant", "Noted."),
        ("user", "Who mended the telescope of the old observatory for Anna Meyer?"),
        ("assistant", LONG_REPLY),
    ]
    keyed = enumerate(turns(said, case, "s"))
    await ingest.append_batch(
        tenant, [replace(one, idempotency_key=str(place)) for place, one in keyed]
    )
    cue = "How large is the mirror of the telescope on the hill of the old observatory?"
    plain = await recalls.recall(
        tenant, Cue(text=cue), RecallOptions(k=4, options={"replied": False})
    )
    found = await ask(recalls, tenant, cue)
    question, reply = said[2][1], said[3][1]
    before = {hit.episode.text: hit.score for hit in plain.hits}
    after = {hit.episode.text: hit.score for hit in found.hits}
    assert before[question] > before[reply] + 0.06
    assert after[question] == pytest.approx(after[reply] + 0.05)
    assert found.hits[0].episode.text == said[0][1]


async def test_a_question_that_stayed_open_is_an_echo_however_long(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    case = Case(seed=1, language="en", role="roles")
    told = "The telescope has a mirror of two metres."
    question = "Which firm repaired the old motor of the copper dome above the telescope?"
    cue = "How large is the mirror of the telescope?"
    said = [("user", told), ("assistant", "Noted."), ("user", question)]
    await store(ingest, tenant, said, case, "s")
    open_ = await ask(recalls, tenant, cue)
    assert [hit.echo for hit in open_.hits if hit.episode.text == question] == [False]
    await store(ingest, tenant, [("assistant", "I don't know.")], case, "s")
    found = await ask(recalls, tenant, cue)
    assert [hit.echo for hit in found.hits if hit.episode.text == question] == [True]
    named = "Which firm repaired the old motor of the copper dome for Anna Meyer?"
    await store(ingest, tenant, [("user", named), ("assistant", "I don't know.")], case, "s")
    after = await ask(recalls, tenant, cue)
    # It may tell something by the name, so it stays a hit, below all others.
    kept = [hit for hit in after.hits if not hit.echo]
    assert [hit.episode.text for hit in kept][-1] == named
    assert [hit.score for hit in kept] == sorted((hit.score for hit in kept), reverse=True)
    # Another memory has the name, so the question tells nothing new.
    await store(ingest, tenant, [("user", "Anna Meyer plays the cello.")], case, "t")
    known = await ask(recalls, tenant, cue)
    assert [hit.echo for hit in known.hits if hit.episode.text == named] == [True]


async def test_a_long_memory_stands_where_it_stood_without_the_echo(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, other_tenant: TenantId
) -> None:
    """Its passages are found by an index too, and tell its place in the session."""
    case = Case(seed=1, language="en", role="roles")
    cue = "Which lens did the observatory order?"
    told = [
        ("user", " ".join(f"On day {day} the weather of the valley was calm." for day in range(60))
         + " The observatory has ordered a lens from Jena."),
        ("assistant", "Noted, the lens is on its way."),
    ]  # fmt: skip
    for whose, said in ((tenant, told), (other_tenant, [("user", cue), *told])):
        keyed = enumerate(turns(said, case, "s"))
        await ingest.append_batch(
            whose, [replace(one, idempotency_key=str(place)) for place, one in keyed]
        )
    plain, echoed = await ask(recalls, tenant, cue), await ask(recalls, other_tenant, cue)
    assert [hit.episode.text for hit in echoed.hits if hit.echo] == [cue]
    kept = [hit for hit in echoed.hits if not hit.echo]
    assert [hit.episode.text for hit in kept] == [hit.episode.text for hit in plain.hits]
    assert [hit.score for hit in kept] == pytest.approx([hit.score for hit in plain.hits])


async def test_a_cue_about_questions_finds_them(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    case = Case(seed=1, language="en", role="roles")
    said = [("user", "I keep bees."), ("user", "What does a hive weigh?")]
    await store(ingest, tenant, said, case, "s")
    found = await ask(recalls, tenant, "What did I ask about the weight of a hive?")
    assert found.hits[0].episode.text == said[1][1]
    assert not found.hits[0].echo


@pytest.mark.parametrize(
    "cue", ["Wer ist mein Zahnarzt?", "我弟弟叫什么?", "Which opera did the senator review?"]
)
async def test_no_answer_without_a_word_and_far_in_meaning(
    cue: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    case = Case(seed=1, language="en", role="roles")
    facts = ["The kitchen tap drips at night.", "I bought two kilos of nails."]
    await store(ingest, tenant, [("user", fact) for fact in facts], case, "s")
    found = await ask(recalls, tenant, cue)
    assert found.evidence["similarity"] < 0.2
    assert found.verdict is Verdict.REFUSE, found
    assert not found.answerable
    assert not found.verify
