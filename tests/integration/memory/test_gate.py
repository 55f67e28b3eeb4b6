"""The gate on the real graph: hard cues, and a tenant's own gate from one recall to the next."""

import pytest

from ecphoria.ingest.service import IngestService
from ecphoria.neo4j_store.session import Graph
from ecphoria.recall.service import RecallService
from ecphoria.records.episode import NewEpisode
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, RecallOptions, RecallResult, Verdict
from ecphoria.records.tenant import EVIDENCE, EVIDENCE_NAMES, SHIPPED, Gate
from ecphoria.records.traced import GateKind, Limits
from tests.contract.tenants import gate_values, set_settings
from tests.integration.memory.three_people import CHAT, fill


async def ask(recalls: RecallService, tenant: TenantId, cue: str) -> RecallResult:
    return await recalls.recall(tenant, Cue(text=cue), RecallOptions())


def test_the_shipped_gate_weighs_all_the_evidence() -> None:
    assert set(SHIPPED.weights) == set(EVIDENCE)


async def test_who_is_right_and_who_is_not(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant)
    right = await ask(recalls, tenant, "Which pottery class did Ida sign up for?")
    wrong = await ask(recalls, tenant, "Which pottery class did Bo sign up for?")
    assert tuple(right.evidence) == EVIDENCE_NAMES
    assert right.verdict is Verdict.ANSWER
    assert wrong.verdict is Verdict.REFUSE
    assert right.evidence["share"] > 0 > wrong.evidence["share"]
    assert "no memory by Bo has the word pottery" in wrong.reasons
    assert wrong.reasons[-1] == "what matches best was said by Ida, not by Bo"
    again = await ask(recalls, tenant, "Which pottery class did Bo sign up for?")
    assert again.evidence == wrong.evidence


async def test_documents_and_other_talk_are_no_words_of_another_speaker(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    """They have all words of the cue, and nobody of the talk said them."""
    await fill(ingest, tenant)
    told = "Which pottery class did Ida sign up for? A pottery class to sign up for."
    beside = [
        NewEpisode(text=told),
        NewEpisode(text=told, speaker="me", session="notes", position=1),
    ]
    await ingest.append_batch(tenant, beside)
    right = await ask(recalls, tenant, "Which pottery class did Ida sign up for?")
    wrong = await ask(recalls, tenant, "Which pottery class did Bo sign up for?")
    assert right.evidence["coverage"] > 0 > wrong.evidence["coverage"]
    assert right.evidence["unsaid"] == 0 < wrong.evidence["unsaid"]
    assert right.verdict is Verdict.ANSWER


async def test_a_cue_of_stop_words_lacks_no_word(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant)
    result = await ask(recalls, tenant, "who was it that they were?")
    assert result.hits
    assert all(result.evidence[name] == 0 for name in ("coverage", "unsaid", "unheard"))
    assert (result.verdict, result.confidence) == (Verdict.REFUSE, 0.0)
    assert result.reasons[0].startswith("the cue has no content word, so no memory can answer it")


@pytest.mark.parametrize("cue", ["x", "?", "...", "hm", "x y?", "Sounds good!"])
async def test_a_cue_that_asks_nothing_is_refused(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, cue: str
) -> None:
    await fill(ingest, tenant)
    await ingest.append_batch(tenant, [NewEpisode(text="Hm, x is what we sought.", speaker="Ida")])
    result = await ask(recalls, tenant, cue)
    assert (result.verdict, result.confidence) == (Verdict.REFUSE, 0.0)
    assert "ask with words of the matter" in result.reasons[0]


async def test_an_empty_store_has_no_evidence(recalls: RecallService, tenant: TenantId) -> None:
    result = await ask(recalls, tenant, "When did Ida sign up?")
    assert (result.verdict, result.confidence) == (Verdict.EMPTY, 0.0)
    assert not any(result.evidence[name] for name in EVIDENCE)
    assert result.evidence["asks_when"] == 1


async def test_a_cue_that_names_nobody_is_judged_by_its_words_alone(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant)
    known = await ask(recalls, tenant, "Where was the brass telescope repaired?")
    foreign = await ask(recalls, tenant, "Where was the submarine volcano photographed?")
    for result in (known, foreign):
        assert result.evidence["names_one"] == 0
        assert all(result.evidence[name] == 0 for name in ("share", "coverage", "unsaid"))
    assert known.evidence["unheard"] < foreign.evidence["unheard"]
    assert known.confidence > foreign.confidence
    assert "no memory has the word volcano" in foreign.reasons
    accented = await ask(recalls, tenant, "Where was Vesúvio's crème brûlée photographed?")
    for word in ("Vesúvio", "crème", "brûlée", "photographed"):
        assert f"no memory has the word {word}" in accented.reasons


@pytest.mark.parametrize(
    ("cue", "missing"),
    [
        ("What is my cat called?", "cat"),
        ("Where does my brother live?", "brother"),
        ("When do I see the dentist?", "dentist"),
    ],
)
async def test_a_small_store_without_the_thing_asked_for_does_not_answer_with_another(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, cue: str, missing: str
) -> None:
    told = ("My dog is called Rex.", "My sister lives in Hamburg.", "I see my hairdresser at ten.")
    await ingest.append_batch(tenant, [NewEpisode(text=text) for text in told])
    result = await ask(recalls, tenant, cue)
    assert result.verdict in {Verdict.VERIFY, Verdict.REFUSE}
    assert f"no memory has the word {missing}" in result.reasons
    for known in ("What is my dog called?", "Where does my sister live?"):
        assert (await ask(recalls, tenant, known)).verdict is Verdict.ANSWER


_HOUSEHOLD = (
    "The plumber came at last.", "Our landlord wants to raise the rent by 8 percent.",
    "My dentist is Dr. Moore.", "Rex bit the postman again. That dog will be the end of me.",
    "I lost my umbrella on the train.", "I painted the shed dark green.",
    "The gym takes 39 euros a month.", "The tutor of the kids is ill.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("cue", "detail"),
    [
        ("What is the plumber's name?", "name"),
        ("Who is our landlord?", "name"),
        ("What colour is my umbrella?", "colour"),
        ("How much does the tutor of the kids cost?", "amount"),
        ("What is the phone number of the plumber?", "phone number"),
        ("When does the tutor of the kids come?", "time"),
        ("Where is the plumber?", "place"),
        ("Who pays the tutor of the kids?", "person"),
    ],
)
async def test_a_detail_that_no_memory_of_the_topic_tells_is_no_answer(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, cue: str, detail: str
) -> None:
    await ingest.append_batch(tenant, [NewEpisode(text=text) for text in _HOUSEHOLD])
    result = await ask(recalls, tenant, cue)
    assert result.verdict in {Verdict.VERIFY, Verdict.REFUSE}
    assert f"what matches tells no {detail}" in result.reasons


@pytest.mark.parametrize(
    "cue",
    [
        "What is the name of my dentist?", "What is our dog called?", "What colour is the shed?",
        "How much is the gym?", "Where did I lose my umbrella?", "Who bit the postman?",
    ],
)  # fmt: skip
async def test_a_detail_that_a_memory_tells_is_an_answer(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, cue: str
) -> None:
    await ingest.append_batch(tenant, [NewEpisode(text=text) for text in _HOUSEHOLD])
    assert (await ask(recalls, tenant, cue)).verdict is Verdict.ANSWER


async def test_a_memory_with_all_words_of_the_cue_is_not_refused(
    graph: Graph, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    """The model sees no relation between the cue and the memory: their cosine is .17."""
    told = ("My manager Ines said I can work from home on Mondays.", *_HOUSEHOLD)
    await ingest.append_batch(tenant, [NewEpisode(text=text) for text in told])
    strict = Gate(weights={"similarity": 1.0}, bias=-3.0, threshold=0.5, verify_below=0.9)
    await set_settings(graph, tenant, gate=gate_values(strict))
    result = await ask(recalls, tenant, "Who is my manager?")
    assert (result.verdict, result.confidence) == (Verdict.VERIFY, 0.5)
    assert result.reasons[0].startswith("one memory has 1 of the 1 content words of the cue")
    assert (await ask(recalls, tenant, "Who is my barber?")).verdict is Verdict.REFUSE


@pytest.mark.parametrize("told", ["Hi, I'm Ana.", "My name is Ana."])
async def test_a_memory_that_only_names_somebody_answers_nothing_of_them(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, told: str
) -> None:
    for text in (told, "Ben lives in Oslo."):
        await ingest.append(tenant, NewEpisode(text=text))
    for cue in ("where does ana live", "What does Ana do?", "Where does Ana live now?"):
        assert (await ask(recalls, tenant, cue)).verdict is not Verdict.ANSWER, cue
    await ingest.append(tenant, NewEpisode(text="Ana moved to Graz."))
    found = await ask(recalls, tenant, "Where does Ana live?")
    assert found.verdict is Verdict.ANSWER
    assert found.hits[0].episode.text == "Ana moved to Graz."


_EVERYDAY = (
    "I had pasta for lunch.", "My sister Lena lives in Hamburg.", "Our dog has to see the vet.",
    "I am tired.", "My favourite colour is green.", "I'm a baker.", "The train was late again.",
)  # fmt: skip


@pytest.mark.parametrize(
    "pair",
    [
        ("I'm Ana.", "What is my name?"),
        ("Hi, I'm Ana and I live in Graz.", "Do you know my name?"),
        ("Call me Ana.", "What's my name?"),
        ("My name is Ana Roe.", "What is my name?"),
        ("Ich heiße Ana.", "Was ist mein Name?"),
        ("Ich bin Ana.", "Wie heiße ich?"),
        ("Mein Name ist Ana.", "Wie heiße ich?"),
    ],
)
@pytest.mark.parametrize("beside", [(), _EVERYDAY])
async def test_who_tells_a_name_is_asked_for_it(
    ingest: IngestService,
    recalls: RecallService,
    tenant: TenantId,
    pair: tuple[str, str],
    beside: tuple[str, ...],
) -> None:
    told, cue = pair
    texts = [*beside[:4], told, *beside[4:]]
    await ingest.append_batch(tenant, [NewEpisode(text=text, role="user") for text in texts])
    found = await ask(recalls, tenant, cue)
    assert found.hits[0].episode.text == told
    assert found.verdict in {Verdict.ANSWER, Verdict.VERIFY}


async def test_a_store_without_the_name_does_not_tell_one(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    texts = (*_EVERYDAY, "My dog's name is Rex.", "Ich bin Lehrer.")
    await ingest.append_batch(tenant, [NewEpisode(text=text, role="user") for text in texts])
    for cue in ("What is my name?", "Wie heiße ich?"):
        assert (await ask(recalls, tenant, cue)).verdict is not Verdict.ANSWER


@pytest.mark.parametrize(
    "theirs", ["My sister's birthday is on 9 June.", "Ben has his birthday on 9 June."]
)
async def test_what_is_somebody_elses_does_not_answer_for_the_asker(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, theirs: str
) -> None:
    texts = (*_EVERYDAY, theirs, "We baked a birthday cake for Lena.")
    await ingest.append_batch(tenant, [NewEpisode(text=text, role="user") for text in texts])
    without = await ask(recalls, tenant, "When is my birthday?")
    assert without.verdict is not Verdict.ANSWER
    assert "what is nearest tells of somebody else's" in without.reasons
    await ingest.append(tenant, NewEpisode(text="I was born on 4 May.", role="user"))
    born = await ask(recalls, tenant, "When is my birthday?")
    assert born.hits[0].episode.text == "I was born on 4 May."
    await ingest.append(tenant, NewEpisode(text="My birthday is on 4 May.", role="user"))
    found = await ask(recalls, tenant, "When is my birthday?")
    assert found.hits[0].episode.text == "My birthday is on 4 May."
    assert found.verdict is Verdict.ANSWER
    hers = await ask(recalls, tenant, "When is my sister's birthday?")
    assert "somebody else's" not in " ".join(hers.reasons)


_NEIGHBOURS = (
    "My niece Mia has her birthday on 21 August.",
    "I started as an engineer at Acme Labs.",
    "The backup of db-main-01 starts at 2:30.",
    "The copy runs on db-spare-02.",
    "Meine Nichte Lea hat am 21. August Geburtstag.",
    "Mein Bruder Tim arbeitet als Schreiner.",
    "Ich habe heute bei der Firma Nordlicht angefangen.",
)


@pytest.mark.parametrize(
    ("cue", "told"),
    [
        ("When is Mia's birthday?", True),
        ("When is Ben's birthday?", False),
        ("Who is the CEO of Acme Labs?", False),
        ("When does the backup of db-main-01 start?", True),
        ("When does the backup of db-spare-02 start?", False),
        ("Wann hat Lea Geburtstag?", True),
        ("Wann hat Tim Geburtstag?", False),
        ("Was macht Tim beruflich?", True),
        ("Wer ist der Chef der Firma Nordlicht?", False),
    ],
)
async def test_what_is_told_of_another_is_no_sure_answer(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, cue: str, told: bool
) -> None:
    texts = (*_EVERYDAY, *_NEIGHBOURS)
    await ingest.append_batch(tenant, [NewEpisode(text=text, role="user") for text in texts])
    assert ((await ask(recalls, tenant, cue)).verdict is Verdict.ANSWER) is told


async def test_two_speakers_who_may_be_the_asker_are_told(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    for speaker, day in (("Ana", "4 May"), ("Ben", "9 June")):
        text = f"My birthday is on {day}."
        await ingest.append(
            tenant, NewEpisode(text=text, speaker=speaker, role="user", session=speaker)
        )
    unknown = await ask(recalls, tenant, "When is my birthday?")
    assert unknown.verdict is Verdict.VERIFY
    assert "Ana and Ben said it; send `asker` to tell who asks" in unknown.reasons
    for speaker, day in (("Ana", "4 May"), ("Ben", "9 June")):
        cue = Cue(text="When is my birthday?")
        found = await recalls.recall(tenant, cue, RecallOptions(asker=speaker))
        assert found.verdict is Verdict.ANSWER
        assert day in found.hits[0].episode.text


async def test_an_assistant_who_repeats_it_is_not_the_asker(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    said = (
        ("user", "My birthday is on 4 May."),
        ("assistant", "Your birthday on 4 May is noted."),
    )
    for role, text in said:
        await ingest.append(tenant, NewEpisode(text=text, speaker=role, role=role, session="s"))
    found = await ask(recalls, tenant, "When is my birthday?")
    assert found.verdict is Verdict.ANSWER


async def test_what_the_assistant_said_is_sought_in_its_replies(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    talk = (
        ("user", "Can you recommend something for our anniversary?"),
        ("assistant", "How about a weekend in Bruges with a boat tour?"),
        ("user", "My knee hurts after running. Any advice?"),
        ("assistant", "Rest for three days, and then start with short runs."),
        ("user", "We booked the hotel."),
        ("assistant", "Wonderful, enjoy it."),
    )
    await ingest.append_batch(
        tenant,
        [
            NewEpisode(text=text, role=role, session=f"s{place // 2}", position=place)
            for place, (role, text) in enumerate(talk)
        ],
    )
    for cue, reply in (
        ("What did you recommend for our anniversary?", talk[1][1]),
        ("What was your advice for my knee?", talk[3][1]),
    ):
        found = await ask(recalls, tenant, cue)
        assert found.hits[0].episode.text == reply
        assert found.verdict in {Verdict.ANSWER, Verdict.VERIFY}
        assert not any(reason.startswith("no memory") for reason in found.reasons)
    asked = await ask(recalls, tenant, "What did I ask you about my knee?")
    assert asked.verdict in {Verdict.ANSWER, Verdict.VERIFY}


async def test_of_two_names_a_memory_of_either_counts(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    await fill(ingest, tenant)
    theirs = await ask(recalls, tenant, "What did Bo tell Ida about the parrot of his sister?")
    mirrored = await ask(recalls, tenant, "What did Ida tell Bo about the parrot of his sister?")
    foreign = await ask(recalls, tenant, "What did Bo and Ida do with the brass telescope?")
    assert theirs.evidence["share"] == pytest.approx(mirrored.evidence["share"])
    assert theirs.evidence["share"] > 0.1
    assert foreign.evidence["share"] < 0 < foreign.evidence["unsaid"]
    assert foreign.confidence < theirs.confidence


async def test_the_order_of_writing_is_indifferent(
    ingest: IngestService, recalls: RecallService, tenant: TenantId, other_tenant: TenantId
) -> None:
    cue = "Which pottery class did Bo sign up for?"
    documents = tuple(
        NewEpisode(text=text, speaker=speaker, session=f"s{place}")
        for place, (speaker, text) in enumerate(CHAT)
    )
    await ingest.append_batch(tenant, documents)
    await ingest.append_batch(other_tenant, documents[::-1])
    one = await ask(recalls, tenant, cue)
    other = await ask(recalls, other_tenant, cue)
    assert one.evidence == pytest.approx(other.evidence, abs=1e-9)


async def test_a_tenants_own_gate_judges_its_next_recall_and_no_others(
    graph: Graph, ingest: IngestService, recalls: RecallService, tenant: TenantId,
    other_tenant: TenantId,
) -> None:  # fmt: skip
    cue = "Which pottery class did Ida sign up for?"
    for owner in (tenant, other_tenant):
        await fill(ingest, owner)
    strict = Gate(weights={"similarity": 0.0}, bias=-2.0, threshold=0.5, verify_below=0.9)
    await set_settings(graph, tenant, gate=gate_values(strict))
    judged, spared = await ask(recalls, tenant, cue), await ask(recalls, other_tenant, cue)
    assert judged.verdict is Verdict.REFUSE
    assert judged.judged_by == Limits(gate=GateKind.OWN, threshold=0.5, verify_below=0.9)
    assert judged.confidence == 0.1192
    assert (spared.verdict, spared.judged_by.gate) == (Verdict.ANSWER, GateKind.SHIPPED)
    await set_settings(graph, tenant, gate=None)
    assert (await ask(recalls, tenant, cue)).verdict is Verdict.ANSWER
