"""Questions that a store makes of its own memories, and the gate fitted on them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from ecphoria.calibration.questions import question_of
from ecphoria.calibration.service import CalibrationService
from ecphoria.client import AsyncClient
from ecphoria.errors import InvalidInput
from ecphoria.records.calibration import Calibration, CalibrationOptions
from ecphoria.records.episode import Episode
from ecphoria.records.ids import EpisodeId, JobId, TenantId
from ecphoria.records.job import Claimed, Job, JobKind, JobState, Lease, Progress, Trigger
from ecphoria.records.recall import Cue, RecallOptions, RecallResult
from ecphoria.runtime import SystemClock
from ecphoria.text.english import STOP_WORDS
from tests.unit.evaluation.doubles import MOMENT, TinyService

COPY = "f" * 32
BEES = "I keep twelve noisy bees behind my old mill near Lisbon."


def told(text: str, ident: str = "e1", **fields: Any) -> Episode:
    whole = {
        "id": ident, "turn": 1, "text": text, "occurred_at": MOMENT, "recorded_at": MOMENT,
        "importance": 0.5, "kind": "episodic", "state": "live", **fields,
    }  # fmt: skip
    return TypeAdapter(Episode).validate_python(whole)


def asked(text: str, seed: int = 1, **fields: Any) -> str:
    found = question_of(told(text, **fields), seed)
    assert found is not None
    return found.text


@pytest.mark.parametrize(
    ("fields", "begins", "holds"),
    [
        ({"role": "user"}, "What did I keep", " my "),
        ({"speaker": "user"}, "What did I keep", " my "),
        ({"role": "assistant"}, "What did you keep", " your "),
        ({"speaker": "Ada"}, "What did Ada keep", " Ada's "),
        ({}, "What did I keep", " my "),
    ],
)
def test_it_is_asked_from_the_side_of_the_user(
    fields: dict[str, str], begins: str, holds: str
) -> None:
    for seed in range(30):
        question = asked(BEES, seed, **fields)
        if "keep" in question:
            assert question.startswith(begins)
        if " old" in question:
            assert holds in question


def test_you_in_an_answer_is_the_one_who_asks() -> None:
    text = "Your blue kayak leaks near the rudder, and my advice helps you."
    questions = {asked(text, seed, role="assistant") for seed in range(20)}
    assert all(one.startswith("What did you ") for one in questions)
    assert any("my blue" in one for one in questions)
    assert all("my advice" not in one for one in questions)
    turned = {asked(f"You described how {text}", seed, role="assistant") for seed in range(20)}
    for question in turned:
        if "described" in question:
            assert question.startswith("What did I described")


def test_a_document_is_asked_for_as_a_thing() -> None:
    text = "The old mill near Lisbon holds twelve noisy hives of black bees."
    assert asked(text).startswith("What is The ")


def test_half_of_the_words_are_dropped_and_the_seed_says_which() -> None:
    content = {"keep", "twelve", "noisy", "bees", "behind", "old", "mill", "near", "lisbon"}
    found = {asked(BEES, seed, role="user") for seed in range(20)}
    assert len(found) > 1
    assert asked(BEES, 7, role="user") == asked(BEES, 7, role="user")
    for question in found:
        assert len(content & set(question.lower().rstrip("?").split())) == 4


def test_a_long_statement_makes_a_short_question() -> None:
    text = "I " + " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz") + "."
    question = asked(text, role="user")
    assert len(question.split()) <= len(["What", "did", "I"]) + 6


def test_numbers_are_dropped_first() -> None:
    text = "My sister paid 340 euros for twelve old wooden boats in 2019."
    for seed in range(20):
        question = asked(text, seed, role="user")
        assert not any(map(str.isdigit, question))


@pytest.mark.parametrize(
    "text",
    [
        "Thanks so much, that is great!",
        "Where do my noisy old bees live now, behind the mill?",
        "Hi there. How are you?",
        "ok",
        "   ",
        "\u6771\u4eac\u306e\u65e7\u5e02\u8857",
    ],
)
def test_what_says_little_or_asks_makes_no_question(text: str) -> None:
    assert question_of(told(text, role="user"), 1) is None


@pytest.mark.parametrize("role", ["tool", "system", "Tool"])
def test_nobody_asks_for_what_a_tool_said(role: str) -> None:
    assert question_of(told(BEES, role=role), 1) is None


def test_the_sentence_that_says_most_is_taken() -> None:
    text = f"Hello again. {BEES} Do you like old noisy bees near my yellow mill pond? Fine."
    assert "bees" in asked(text, 3, role="user") or "mill" in asked(text, 3, role="user")
    assert "yellow" not in asked(text, 3, role="user")


@given(st.text(max_size=300), st.integers(0, 5))
def test_any_text_gives_a_question_or_none(text: str, seed: int) -> None:
    found = question_of(told(text, role="assistant"), seed)
    if found is not None:
        assert found.text.startswith("What did ")
        assert found.text.endswith("?")
        last = found.text.rstrip("?").split()[-1].lower()
        assert last not in STOP_WORDS


def filled(count: int) -> TinyService:
    names = [
        "kayak",
        "rudder",
        "lantern",
        "orchard",
        "chimney",
        "marble",
        "violin",
        "ferry",
        "cactus",
        "helmet",
    ]
    texts = [
        f"My cousin {names[n % 10]}{n} repaired wooden {names[-n % 10]}{n} beside pond{n}."
        for n in range(count)
    ]
    stored = [{"id": f"{n:032x}", "text": text, "role": "user"} for n, text in enumerate(texts)]
    return TinyService(tenants={"mine": stored})


@dataclass
class OverClient:
    """What a calibration asks, answered through the client of the tenant."""

    client: AsyncClient
    copies: Mapping[str, tuple[EpisodeId, ...]]

    async def recall(
        self, tenant: TenantId, cue: Cue, options: RecallOptions, *, record: bool = True
    ) -> RecallResult:
        assert (tenant, cue.vector) == ("mine", None)
        exclude = sorted(options.filters.exclude)
        found = await self.client.recall(
            cue.text or "", k=options.k, record=record, exclude=exclude
        )
        hits = (replace(hit, copies=self.copies.get(hit.episode.id, ())) for hit in found.hits)
        return replace(found, hits=tuple(hits))

    async def list_episodes(
        self, tenant: TenantId, *, limit: int, cursor: int = 0
    ) -> Sequence[Episode]:
        assert tenant == "mine"
        every = [one async for one in self.client.list()]
        return [one for one in every if one.turn > cursor][:limit]


async def own(
    service: TinyService,
    told: list[Progress] | None = None,
    count: int = 200,
    seed: int = 1,
    copies: Mapping[str, tuple[EpisodeId, ...]] | None = None,
) -> Calibration:
    async def watch(progress: Progress) -> None:
        (told if told is not None else []).append(progress)

    claimed = a_claimed(CalibrationOptions(memories=count, seed=seed, judged=True))
    async with service.connect("mine") as client:
        asked = OverClient(client, copies or {})
        return await CalibrationService(asked, asked, SystemClock()).run(claimed, watch)


def a_claimed(options: CalibrationOptions) -> Claimed:
    moment = datetime(2026, 1, 1, tzinfo=UTC)
    job = Job(
        id=JobId("j"), tenant=TenantId("mine"), kind=JobKind.CALIBRATION, state=JobState.RUNNING,
        trigger=Trigger.REQUEST, steps=(), attempts=1, created_at=moment, run_after=None,
        started_at=moment, finished_at=None, cancelling=False, progress=Progress(), ended=(),
        before=None, report=None, fault=None, calibration_options=options,
    )  # fmt: skip
    return Claimed(job=job, lease=Lease(job="j", token=1))


async def test_each_memory_is_asked_for_with_it_and_without_it() -> None:
    service = filled(14)
    service.tenants["mine"].append({"id": COPY, "text": "Where is my old wooden kayak helmet?"})
    before = [dict(one) for one in service.tenants["mine"]]
    seen: list[Progress] = []
    found = await own(service, seen)
    assert [one.answerable for one in found.judged] == [True, False] * 14
    assert found.gate.fit is not None
    assert len(found.gate.fit.data_sha256) == 64
    assert [(one.done, one.total) for one in seen] == [(0, 14), (10, 14)]
    assert service.tenants["mine"] == before
    bodies = [body for _, body in service.asked]
    assert all(body["record"] is False for body in bodies)
    for near, present, absent in zip(bodies[0::3], bodies[1::3], bodies[2::3], strict=True):
        assert present["cue"] == absent["cue"] != near["cue"]
        (left_out,) = absent["filters"]["exclude"]
        assert near["cue"] == next(one["text"] for one in before if one["id"] == left_out)
        assert not present.get("filters", {}).get("exclude")


async def test_near_copies_are_left_out_with_the_memory() -> None:
    service = filled(12)
    copy = service.tenants["mine"][3]["text"].upper()
    service.tenants["mine"].append({"id": COPY, "text": copy, "role": "user"})
    await own(service)
    left_out = [sorted(body["filters"]["exclude"]) for _, body in service.asked[2::3]]
    assert left_out.count([f"{3:032x}", COPY]) == 2


async def test_copies_that_a_recall_joins_are_left_out_too() -> None:
    """The tenth memory is a copy of the third in other words, such as a reply that repeats it."""
    service = filled(12)
    third, tenth = EpisodeId(f"{3:032x}"), EpisodeId(f"{10:032x}")
    await own(service, copies={third: (tenth, EpisodeId(COPY))})
    left_out = [sorted(body["filters"]["exclude"]) for _, body in service.asked[2::3]]
    assert left_out.count([third, tenth, COPY]) == 2


async def test_a_sample_is_the_same_for_the_same_seed() -> None:
    gates = [(await own(filled(40), count=12, seed=seed)).gate for seed in (1, 1, 2)]
    digests = [gate.fit.data_sha256 for gate in gates if gate.fit is not None]
    assert digests[0] == digests[1] != digests[2]


async def test_too_few_memories_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"Only 9 memories .* labelled"):
        await own(filled(9))
