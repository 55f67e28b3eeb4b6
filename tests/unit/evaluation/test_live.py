"""Live runs: when each question is asked, and what is stored of it."""

from datetime import UTC, datetime, timedelta

import pytest

from ecphoria.errors import UnknownStrategy
from ecphoria.records.episode import NewEpisode
from ecphoria_eval.datasets.dataset import Collection, Dataset, Question, Suite
from ecphoria_eval.evaluate import evaluate_live
from ecphoria_eval.live import Asking, in_time, run_live, schedule
from ecphoria_eval.rows import Arm, Row
from tests.unit.evaluation.conftest import plan, unwatched
from tests.unit.evaluation.doubles import TinyService

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def memory(text: str, session: str | None = None, day: int | None = None) -> NewEpisode:
    when = None if day is None else DAY + timedelta(days=day)
    return NewEpisode(text=text, session=session, occurred_at=when)


def question(ident: str, text: str, *gold: str, answer: str = "") -> Question:
    answers = (answer,) if answer else ()
    return Question(id=ident, text=text, category="1", gold=gold, answers=answers)


def garden() -> Collection:
    """Two sessions of ten and three memories; the kiln is spoken of in the second only."""
    first = {f"a{n}": memory(f"row {n} of beans", "spring", n) for n in range(10)}
    second = {
        "b0": memory("the kiln is red", "summer", 20),
        "b1": memory("the kiln cracked", "summer", 21),
        "b2": memory("rain all week", "summer", 22),
    }
    return Collection(
        name="garden",
        memories={**first, **second},
        questions=(
            question("kiln", "is the kiln red", "b0", answer="yes"),
            question("beans", "which row has beans", "a3"),
            question("boat", "who sold the boat"),
        ),
    )


def test_a_question_is_asked_after_the_session_of_its_evidence_and_before_it() -> None:
    kiln, beans, boat = garden().questions
    assert schedule(garden()) == [
        Asking(stored=10, question=kiln, early=True),
        Asking(stored=10, question=beans),
        Asking(stored=13, question=kiln),
        Asking(stored=13, question=boat),
    ]


def test_a_near_copy_of_the_evidence_is_evidence() -> None:
    part = garden()
    copied = {**part.memories, "b1": memory("the kiln is red!", "summer", 19)}
    early = [one for one in schedule(in_time(Collection(
        name="garden", memories=copied, questions=part.questions[:1],
    ))) if one.early]  # fmt: skip
    assert [one.stored for one in early] == [10]


def test_memories_are_sorted_by_time_only_if_each_has_one() -> None:
    part = Collection(
        name="x", memories={"late": memory("b", day=2), "soon": memory("a", day=1)}, questions=()
    )
    assert list(in_time(part).memories) == ["soon", "late"]
    undated = Collection(name="x", memories={**part.memories, "none": memory("c")}, questions=())
    assert list(in_time(undated).memories) == ["late", "soon", "none"]


def data() -> Dataset:
    return Dataset(
        suite=Suite.CHATS, source="garden", sha256="", collections=(garden(),), findings={}
    )


async def test_questions_and_replies_are_stored_in_the_second_replay_only(
    service: TinyService,
) -> None:
    arm = Arm(name="ecphoria", strategy="ecphoria")
    outcome = await run_live(data(), service.connect, plan(arm), unwatched)
    plain, live = (service.kept[f"eval-x-1-{name}"] for name in ("plain", "live"))
    assert len(plain) == 13
    said = [(one["speaker"], one["text"]) for one in live if one["session"] == "questions"]
    assert said == [
        ("user", "is the kiln red"),
        ("assistant", "I don't know."),
        ("user", "which row has beans"),
        ("assistant", "row 3 of beans"),
        ("user", "is the kiln red"),
        ("assistant", "yes"),
        ("user", "who sold the boat"),
        ("assistant", "I don't know."),
    ]
    # Equal words at one time would be one turn to the service.
    times = [one["occurred_at"] for one in live if one["session"] == "questions"]
    assert times[0::2] == times[1::2] == sorted(set(times))
    assert [(row.strategy, row.question, row.taken_out) for row in outcome.rows] == [
        (strategy, name, early)
        for strategy in ("ecphoria", "live")
        for name, early in (("kiln", True), ("beans", False), ("kiln", False), ("boat", False))
    ]
    again = outcome.rows[6]
    # The question asked before stands first here, and takes a place.
    assert again.ranked[:2] == ("asked 5, user", "b0")
    assert service.tenants == {}


async def test_the_report_tells_what_stored_questions_cost(service: TinyService) -> None:
    rows: list[Row] = []
    report, outcome = await evaluate_live(
        data(), None, service.connect, unwatched, name="y", monotonic=lambda: 0.0, rows=rows
    )
    assert sorted(map(repr, rows)) == sorted(map(repr, outcome.rows))
    assert list(report.strategies) == ["ecphoria"]
    assert list(report.ablations) == ["live"]
    assert report.ablations["live"].difference["mrr"].mean < 0.0
    judged = report.strategies["ecphoria"].abstention
    assert judged is not None
    assert judged.taken_out is not None
    assert judged.taken_out.n == 1


async def test_an_unknown_strategy_is_refused(service: TinyService) -> None:
    with pytest.raises(UnknownStrategy):
        await evaluate_live(
            data(), "psychic", service.connect, unwatched, name="z", monotonic=lambda: 0.0, rows=[]
        )
