"""Questions asked while their evidence is gone: what is erased, and what is there afterwards."""

from dataclasses import replace

import pytest

from ecphoria.calibration.questions import jaccard
from ecphoria.errors import Unavailable
from ecphoria.records.episode import NewEpisode
from ecphoria_eval.datasets.dataset import Collection, Dataset, Suite
from ecphoria_eval.rows import chosen
from ecphoria_eval.run import NearCopies, run
from tests.unit.evaluation.conftest import KNOWN, asked, memories, plan, small, unwatched
from tests.unit.evaluation.doubles import TinyService

(DEFAULT,) = chosen(KNOWN, ["ecphoria"])


def texts(stored: list[dict[str, object]]) -> list[str]:
    return sorted(str(one["text"]) for one in stored)


async def test_each_question_with_evidence_is_asked_once_more_without_it(
    service: TinyService,
) -> None:
    outcome = await run(small(), service.connect, plan(take_out=DEFAULT), unwatched)
    without = [row for row in outcome.rows if row.taken_out]
    assert [(row.collection, row.question) for row in without] == [
        ("one", "q1"), ("one", "q2"), ("two", "q1"),
    ]  # fmt: skip
    for row in without:
        assert row.ranked
        assert not set(row.ranked) & set(row.gold)
    assert sorted(service.present[4]) == ["blue wheel", "green glaze"]
    assert sorted(service.present[5]) == ["green glaze", "red glaze", "red kiln"]


async def test_everything_is_back_before_the_tenant_is_left(service: TinyService) -> None:
    await run(small(), service.connect, plan(take_out=DEFAULT), unwatched)
    assert texts(service.kept["eval-x-1"]) == [
        "blue wheel", "green glaze", "red glaze", "red kiln",
    ]  # fmt: skip
    assert texts(service.kept["eval-x-2"]) == ["a loaf", "an oven"]


async def test_what_is_appended_again_has_the_same_fields(service: TinyService) -> None:
    turn = NewEpisode(text="kiln", speaker="user", role="user", session="s", position=3)
    part = Collection(
        name="one",
        memories={"m0": turn, "m1": NewEpisode(text="wheel")},
        questions=(asked("q", "kiln", "1", "m0"),),
    )
    dataset = Dataset(
        suite=Suite.CHATS, source="x", sha256="0" * 64, collections=(part,), findings={}
    )
    await run(dataset, service.connect, plan(take_out=DEFAULT), unwatched)
    (back,) = [one for one in service.kept["eval-x-1"] if one["text"] == "kiln"]
    assert {name: back[name] for name in ("speaker", "role", "session", "position")} == {
        "speaker": "user", "role": "user", "session": "s", "position": 3,
    }  # fmt: skip
    assert back["id"] == "e002"


async def test_near_copies_of_the_evidence_go_too(service: TinyService) -> None:
    part = Collection(
        name="one",
        memories=memories("The red kiln!", "the red  kiln", "the red kiln broke today"),
        questions=(asked("q", "kiln", "1", "m0"),),
    )
    dataset = replace(small(), collections=(part,))
    outcome = await run(dataset, service.connect, plan(take_out=DEFAULT), unwatched)
    assert [row.ranked for row in outcome.rows if row.taken_out] == [("m2",)]


async def test_questions_with_the_same_evidence_share_one_erasure(service: TinyService) -> None:
    part = replace(
        small().collections[0],
        questions=(
            asked("q1", "red kiln", "1", "m0"),
            asked("q2", "blue", "4", "m1"),
            asked("q3", "red", "4", "m0"),
        ),
    )
    dataset = replace(small(), collections=(part,))
    outcome = await run(dataset, service.connect, plan(take_out=DEFAULT), unwatched)
    assert [row.question for row in outcome.rows if row.taken_out] == ["q1", "q2", "q3"]
    # Four appended at first, then each piece of evidence once.
    assert service.made == 6


async def test_evidence_that_was_refused_cannot_be_taken_out() -> None:
    service = TinyService(refuse={"blue wheel": (413, "too-large")})
    outcome = await run(small(), service.connect, plan(take_out=DEFAULT), unwatched)
    assert [row.question for row in outcome.rows if row.taken_out] == ["q1", "q1"]
    assert outcome.findings["questions whose evidence was never stored"] == 1


async def test_an_interruption_puts_the_evidence_back() -> None:
    service = TinyService(recalls=6)
    with pytest.raises(Unavailable):
        await run(small(), service.connect, plan(take_out=DEFAULT, keep=True), unwatched)
    assert len(service.present[-1]) < 4
    assert texts(service.tenants["eval-x-1"]) == [
        "blue wheel", "green glaze", "red glaze", "red kiln",
    ]  # fmt: skip


async def test_progress_counts_the_questions_without_evidence(service: TinyService) -> None:
    seen: list[tuple[str, int, int]] = []
    await run(small(), service.connect, plan(take_out=DEFAULT), lambda *told: seen.append(told))
    stage = "asking without the evidence"
    assert [one for one in seen if one[0] == stage] == [(stage, done, 3) for done in (1, 2, 3)]


def test_overlap_counts_distinct_words() -> None:
    assert jaccard({"a", "b"}, {"b", "c"}) == pytest.approx(1 / 3)
    assert jaccard(set(), set()) == 0.0
    texts_of = {"x": "one two three four five six seven eight nine ten", "z": "one two"}
    near = NearCopies({**texts_of, "y": texts_of["x"].replace("ten", "ten TEN")})
    assert near.of(["x"]) == {"x", "y"}
    assert near.of(["z"]) == {"z"}
    assert near.of(["x", "absent"]) == {"x", "y", "absent"}
