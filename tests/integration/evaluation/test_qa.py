"""`eval qa`, with a scripted model that answers from the gold if the evidence is in the prompt.

The command's own oracle asks no model, and must find the same.
"""

import json
from collections.abc import AsyncIterator, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from ecphoria.cli.main import app
from ecphoria.client import AsyncClient
from ecphoria.errors import InvalidInput, ModelMissing, UnknownStrategy
from ecphoria.models.chat import StructuredChat
from ecphoria.settings import JobsSettings, LlmSettings
from ecphoria_eval.datasets.locomo import load_locomo
from ecphoria_eval.judge import INSTRUCTION, Judge, open_chat, open_judge
from ecphoria_eval.prices import Price
from ecphoria_eval.qa import ORACLE, AnswerReport, measure_answers, show_answers
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
    home, jobs = tmp_path_factory.mktemp("home"), JobsSettings(workers=1)
    with running(settings_for(neo4j_server, home, llm=llm, jobs=jobs)) as made:
        yield made


def says_yes(text: str) -> str:
    """Judge as a model does that knows only of Oslo."""
    is_right = "Answer: Oslo" in text.splitlines()
    return json.dumps({"correct": is_right, "score": 900 if is_right else 40})


@pytest.fixture
def judging() -> Iterator[ChatEndpoint]:
    with chat_endpoint() as endpoint:
        endpoint.says = says_yes
        yield endpoint


@pytest.fixture
async def judge(judging: ChatEndpoint) -> AsyncIterator[Judge]:
    async with open_judge(LlmSettings(base_url=judging.url, retries=0), "strict") as made:
        assert made is not None
        yield made


def talk_file(folder: Path) -> Path:
    talk = {
        "speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:00 pm on 8 May, 2023",
        "session_1": [{"dia_id": ident, "speaker": speaker, "text": text}
                      for ident, (speaker, text) in TURNS.items()],
    }  # fmt: skip
    file = folder / "talk.json"
    file.write_text(json.dumps([{"sample_id": "t", "conversation": talk, "qa": QUESTIONS}]))
    return file


async def measured(
    service: RunningService,
    folder: Path,
    model: str | None,
    judge: Judge | None = None,
    strategy: str | None = None,
    *,
    steps: Sequence[str] | None = None,
    price: Price | None = None,
    names: StructuredChat | None = None,
) -> AnswerReport:
    def connect(tenant: str | None) -> AsyncClient:
        return AsyncClient(service.url, service.key, tenant=tenant, timeout=120)

    return await measure_answers(
        load_locomo(talk_file(folder)), connect, lambda *_: None,
        name=f"qa-{folder.name}", model=model, judge=judge, strategy=strategy, steps=steps,
        price=price, names=names,
    )  # fmt: skip


async def test_an_oracle_scores_what_recall_brought_it(
    service: RunningService, tmp_path: Path
) -> None:
    report = await measured(service, tmp_path, "oracle")
    assert (report.model, report.unscored) == ("oracle", 1)
    assert {name: row.questions for name, row in report.categories.items()} == {
        "1": 1, "4": 1, "unanswerable": 1, "all with an answer": 2, "all": 3,
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
        report = await measured(service, tmp_path, "oracle")
    finally:
        model.says = oracle
    row = report.categories["4"]
    assert (row.failed, row.exact, row.f1, row.answered) == (1, 0.0, 0.0, 0.0)
    assert "the model gave none of the wanted form" in (report.first_failure or "")


async def test_the_oracle_asks_no_model_and_is_named_as_a_bound(
    service: RunningService, model: ChatEndpoint, tmp_path: Path
) -> None:
    asked = len(model.requests)
    report = await measured(service, tmp_path, None)
    assert len(model.requests) == asked
    assert report.model == ORACLE
    assert report.categories["all"].tokens == 0
    told = await measured(service, tmp_path, "oracle")
    for name, row in told.categories.items():
        own = report.categories[name]
        assert (own.answered, own.exact, own.f1) == (row.answered, row.exact, row.f1)
    console = Console(file=StringIO(), width=120)
    show_answers(report, console, tmp_path / "report.json")
    shown = console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO, as made above
    assert "answered by oracle (upper bound)" in shown
    assert "are no quality" in shown
    assert json.loads((tmp_path / "report.json").read_text())["model"] == ORACLE


async def test_the_oracle_knows_nothing_whose_evidence_is_not_recalled(
    service: RunningService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    far = {
        **TURNS,
        **{f"D1:{n}": ("Ben", f"Oslo in May is fine, part {n}.") for n in range(5, 60)},
    }
    far["D1:1"] = ("Ana", "We packed the boxes.")
    monkeypatch.setattr(f"{__name__}.TURNS", far)
    report = await measured(service, tmp_path, None)
    assert report.categories["4"].answered == 0.0
    assert report.categories["4"].exact == 0.0
    assert report.categories["1"].exact == 1.0


@pytest.mark.parametrize("model_name", ["oracle", None])
async def test_the_strategy_decides_what_is_recalled(
    service: RunningService, tmp_path: Path, model_name: str | None
) -> None:
    """All four turns are older than a retention of 1 lasts, and two keep a retention of .7."""
    found = {
        theta: (
            await measured(service, tmp_path, model_name, strategy=f"memorybank:theta={theta}")
        )
        for theta in (1.0, 0.7, 0.0)
    }
    assert found[0.7].strategy == "memorybank:theta=0.7"
    right = {theta: report.categories["all with an answer"].exact
             for theta, report in found.items()}  # fmt: skip
    assert right[1.0] == 0.0
    assert right == {1.0: 0.0, 0.7: 0.5, 0.0: 1.0}, "the sister's turn is the latest"
    with pytest.raises(UnknownStrategy, match="has no strategy `memory`"):
        await measured(service, tmp_path, model_name, strategy="memory")


async def test_a_judge_is_asked_about_each_answer_and_named(
    service: RunningService, judge: Judge, judging: ChatEndpoint, tmp_path: Path
) -> None:
    report = await measured(service, tmp_path, "oracle", judge)
    assert (report.judge, report.judge_prompt) == ("strict", INSTRUCTION)
    judged = {name: row.judged for name, row in report.categories.items()}
    assert judged == {
        "1": 0.0, "4": 1.0, "unanswerable": 1.0, "all with an answer": 0.5,
        "all": pytest.approx(2 / 3),
    }  # fmt: skip
    scores = {name: row.score for name, row in report.categories.items()}
    assert scores == {
        "1": 40.0, "4": 100.0, "unanswerable": 100.0, "all with an answer": 70.0, "all": 80.0,
    }, "a score over 100 counts as 100"  # fmt: skip
    console = Console(file=StringIO(), width=140)
    show_answers(report, console, None)
    assert "80.0" in console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO
    requests: list[Any] = judging.requests
    assert len(requests) == 2, "no answer needs no judge"
    assert "Right answer: Oslo\nAnswer: Oslo" in requests[0]["messages"][-1]["content"]


async def test_a_judge_that_fails_judges_nothing(
    service: RunningService, judge: Judge, judging: ChatEndpoint, tmp_path: Path
) -> None:
    judging.says = lambda text: "Yes." if "Oslo" in text else says_yes(text)
    report = await measured(service, tmp_path, "oracle", judge)
    assert (report.categories["4"].judged, report.categories["4"].unjudged) == (None, 1)
    assert report.categories["all"].judged == 0.5
    assert (report.categories["all"].exact, report.categories["all"].unjudged) == (1.0, 1)


async def test_without_a_judge_nothing_is_judged(
    service: RunningService, judge: Judge, tmp_path: Path
) -> None:
    report = await measured(service, tmp_path, "oracle")
    assert (report.judge, report.judge_prompt, report.categories["all"].judged) == (None,) * 3
    with pytest.raises(InvalidInput, match="leave out the judge"):
        await measured(service, tmp_path, None, judge)


async def test_a_recorded_evaluation_is_repeated_without_the_endpoint(
    neo4j_server: Server, model: ChatEndpoint, tmp_path: Path
) -> None:
    file = tmp_path / "answers.jsonl"
    reports = []
    for number, llm in enumerate((
        LlmSettings(model="oracle", base_url=model.url, retries=0, record=file),
        LlmSettings(model="oracle", base_url="http://127.0.0.1:9/v1", replay=file),
    )):  # fmt: skip
        with running(settings_for(neo4j_server, tmp_path / str(number), llm=llm)) as service:
            reports.append(await measured(service, tmp_path, "oracle"))
    assert reports[0] == reports[1]
    assert reports[0].categories["4"].exact == 1.0


@pytest.mark.parametrize("given", [[], ["--model", "m", "--oracle"]])
def test_the_command_wants_a_model_or_the_oracle(given: list[str], tmp_path: Path) -> None:
    told = CliRunner().invoke(app, ["eval", "qa", "--data", str(talk_file(tmp_path)), *given])
    assert isinstance(told.exception, InvalidInput)
    assert "either --model NAME or --oracle" in told.exception.message


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


async def test_the_cost_of_indexing_is_told(service: RunningService, tmp_path: Path) -> None:
    report = await measured(service, tmp_path, "oracle", steps=("extract",))
    assert report.indexing is not None
    assert report.indexing.tokens > 0
    assert report.indexing.seconds > 0.0
    console = Console(file=StringIO(), width=200)
    show_answers(report, console, None)
    assert isinstance(console.file, StringIO)
    assert f"indexing: {report.indexing.tokens:,} tokens" in console.file.getvalue()


async def test_the_price_follows_the_tokens_of_each_question_and_of_indexing(
    service: RunningService, tmp_path: Path
) -> None:
    """The endpoint counts 70 tokens read and 7 written for each answer."""
    price = Price(input=1_000.0, output=10_000.0)
    report = await measured(service, tmp_path, "oracle", steps=("extract",), price=price)
    assert report.categories["4"].price == pytest.approx(0.14)
    assert report.indexing is not None
    assert report.indexing.price == pytest.approx(report.indexing.tokens / 77 * 0.14)
    console = Console(file=StringIO(), width=200)
    show_answers(report, console, tmp_path / "report.json")
    assert isinstance(console.file, StringIO)
    mean = report.categories["all"].price
    assert mean is not None
    assert f"price of 1,000 questions: {1000 * mean:,.2f}" in console.file.getvalue()
    written = json.loads((tmp_path / "report.json").read_text())
    assert written["prices"] == {"input": 1_000.0, "output": 10_000.0}


def names_oslo(text: str) -> str:
    """Answer as a model does that takes any place it reads of."""
    return json.dumps({"answer": "Oslo" if "- Oslo" in text else ""})


async def test_a_model_may_answer_from_the_names_alone(
    service: RunningService, judging: ChatEndpoint, tmp_path: Path
) -> None:
    judging.says = names_oslo
    async with open_chat(LlmSettings(base_url=judging.url, retries=0), "reader") as names:
        report = await measured(
            service, tmp_path, "reader", strategy="ecphory:preset=paper", names=names,
            steps=("embed",),
        )  # fmt: skip
    assert (report.read, report.categories["4"].exact) == ("names", 1.0)
    assert report.categories["4"].tokens == 77
    requests: list[Any] = judging.requests
    shown = [request["messages"][-1]["content"] for request in requests]
    assert len(shown) == 3
    assert all(text.splitlines()[-1].startswith("Question: ") for text in shown)
    assert not any(turn in text for _, turn in TURNS.values() for text in shown)
    console = Console(file=StringIO(), width=200)
    show_answers(report, console, None)
    assert "with ecphory:preset=paper, from names alone" in console.file.getvalue()  # type: ignore[attr-defined]  # a StringIO


async def test_a_model_that_fails_at_names_is_counted(
    service: RunningService, judging: ChatEndpoint, tmp_path: Path
) -> None:
    judging.says = lambda _: "I will not."
    async with open_chat(LlmSettings(base_url=judging.url, retries=0), "reader") as names:
        report = await measured(service, tmp_path, "reader", names=names)
    row = report.categories["4"]
    assert (row.failed, row.exact, row.answered) == (1, 0.0, 0.0)
    assert "nothing of the wanted form" in (report.first_failure or "")
