"""`eval qa` with an oracle: it answers from the gold if the evidence is in the prompt, else not.

Its figures bound those of any model from above; they say nothing of a model.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ecphoria.client import AsyncClient
from ecphoria.errors import InvalidInput, ModelMissing
from ecphoria.evaluation.datasets.locomo import load_locomo
from ecphoria.evaluation.qa import AnswerReport, measure_answers
from ecphoria.settings import LlmSettings
from tests.acceptance.conftest import RunningService, running, settings_for
from tests.chat_endpoint import ChatEndpoint, chat_endpoint, fenced
from tests.conftest import Server

TURNS = {
    "D1:1": ("Ana", "I moved to Oslo in May, into a flat by the harbour."),
    "D1:2": ("Ben", "How are your cats and the parrot doing?"),
    "D1:3": ("Ana", "The parrot learned to whistle on the ferry to Oslo."),
    "D1:4": ("Ben", "My sister works as a pilot in Trieste now."),
}
QUESTIONS: list[dict[str, Any]] = [
    {"question": "Where did Ana move in May?", "answer": "Oslo", "evidence": ["D1:1"],
     "category": 4},
    {"question": "What does the sister of Ben work as?", "answer": "a pilot",
     "evidence": ["D1:4"], "category": 1},
    {"question": "Which instrument does the parrot of Ana play?", "evidence": ["D1:3"],
     "category": 5, "adversarial_answer": "the flute"},
    {"question": "What did the parrot learn?", "evidence": ["D1:3"], "category": 4},
]  # fmt: skip
ANSWERS = {"Oslo": ("D1:1", "moved to Oslo"), "a pilot": ("D1:4", "works as a pilot")}


def oracle(text: str) -> str:
    shown = fenced(text)
    for question in QUESTIONS:
        answer = question.get("answer")
        if answer and question["question"] in text:
            turn, quote = ANSWERS[answer]
            for number, line in shown.items():
                if TURNS[turn][1] in line:
                    cited = [{"memory": number, "quote": quote}]
                    return json.dumps({"sentences": [{"text": answer, "citations": cited}]})
    return json.dumps({"sentences": []})


@pytest.fixture(scope="module")
def model() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        endpoint.says = oracle
        yield endpoint


@pytest.fixture(scope="module")
def service(
    neo4j_server: Server, model: ChatEndpoint, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RunningService]:
    llm = LlmSettings(model="oracle", base_url=model.url, retries=0)
    with running(settings_for(neo4j_server, tmp_path_factory.mktemp("home"), llm=llm)) as made:
        yield made


async def measured(service: RunningService, folder: Path, model: str) -> AnswerReport:
    talk = {
        "speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:00 pm on 8 May, 2023",
        "session_1": [{"dia_id": ident, "speaker": speaker, "text": text}
                      for ident, (speaker, text) in TURNS.items()],
    }  # fmt: skip
    file = folder / "talk.json"
    file.write_text(json.dumps([{"sample_id": "t", "conversation": talk, "qa": QUESTIONS}]))

    def connect(tenant: str | None) -> AsyncClient:
        return AsyncClient(service.url, service.key, tenant=tenant, timeout=120)

    return await measure_answers(
        load_locomo(file), connect, lambda *_: None, name=f"qa-{folder.name}", model=model
    )


async def test_an_oracle_scores_what_recall_brought_it(
    service: RunningService, tmp_path: Path
) -> None:
    report = await measured(service, tmp_path, "oracle")
    assert (report.model, report.unscored) == ("oracle", 1)
    assert {name: row.questions for name, row in report.categories.items()} == {
        "1": 1, "4": 1, "unanswerable": 1, "all": 3,
    }  # fmt: skip
    for row in report.categories.values():
        shares = (row.exact, row.f1, row.locomo_f1, row.bleu_1)
        assert shares == (1.0, 1.0, 1.0, 1.0)
    assert report.categories["4"].answered == 1.0
    assert report.categories["unanswerable"].answered == 0.0
    assert report.categories["4"].tokens == 77


async def test_a_model_that_fails_scores_nothing_and_is_counted(
    service: RunningService, model: ChatEndpoint, tmp_path: Path
) -> None:
    model.says = lambda _: "I will not."
    try:
        row = (await measured(service, tmp_path, "oracle")).categories["4"]
    finally:
        model.says = oracle
    assert (row.failed, row.exact, row.f1, row.answered) == (1, 0.0, 0.0, 0.0)


async def test_the_model_must_be_the_one_that_answers(
    service: RunningService, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="The service asks oracle, not gpt"):
        await measured(service, tmp_path, "gpt")


async def test_without_a_model_nothing_is_measured(neo4j_server: Server, tmp_path: Path) -> None:
    with (
        running(settings_for(neo4j_server, tmp_path / "home")) as service,
        pytest.raises(ModelMissing),
    ):
        await measured(service, tmp_path, "oracle")
