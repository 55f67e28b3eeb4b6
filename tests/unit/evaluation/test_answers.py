"""Scores of answers, against worked examples of the published rules."""

from dataclasses import replace
from math import exp

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import BadFile
from ecphoria_eval.answering import Said
from ecphoria_eval.answers import bleu_1, exact_match, f1, locomo_f1
from ecphoria_eval.datasets.dataset import ADVERSARIAL, Question
from ecphoria_eval.qa import measure_answers, score_answer
from tests.unit.evaluation.conftest import small, unwatched
from tests.unit.evaluation.doubles import TinyService

TEXTS = st.text(alphabet="ab Theand,.;- 1", max_size=40)


@pytest.mark.parametrize(
    ("said", "answers", "expected"),
    [
        ("The Eiffel Tower!", ["eiffel tower"], 1.0),
        ("Eiffel", ["Eiffel Tower", "Eiffel"], 1.0),
        ("an apple", ["the apple"], 1.0),
        ("apples", ["apple"], 0.0),
        ("", ["apple"], 0.0),
    ],
)
def test_exact_match(said: str, answers: list[str], expected: float) -> None:
    assert exact_match(said, answers) == expected


@pytest.mark.parametrize(
    ("said", "answers", "expected"),
    [
        ("7 May 2023", ["7 May 2023"], 1.0),
        ("on 7 May", ["7 May 2023"], 2 / 3),  # 2 of 3 words, both ways
        ("Paris in France", ["London", "Paris"], 0.5),  # precision 1/3, recall 1
        ("yes it is", ["yes"], 0.0),  # yes and no count only as a whole
        ("yes", ["yes"], 1.0),
        ("a a a", ["a b"], 0.0),  # articles are no words
        ("", ["b"], 0.0),
    ],
)
def test_f1_by_the_rules_of_hotpotqa(said: str, answers: list[str], expected: float) -> None:
    assert f1(said, answers) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("said", "answer", "category", "expected"),
    [
        ("She was running", "she runs", "4", 0.8),  # she, run of she, was, run
        ("cats, dogs", "dogs, cats", "1", 1.0),
        ("cats", "dogs, cats", "1", 0.5),
        ("cats and dogs", "dogs, cats", "4", 1.0),
        ("Likely yes; she likes it", "Likely yes; because", "3", 4 / 7),
        ("7 May", "7 May", "2", 1.0),
        ("", "7 May", "2", 0.0),
        ("", "a, b", "1", 0.0),
    ],
)
def test_f1_by_the_rules_of_locomo(said: str, answer: str, category: str, expected: float) -> None:
    assert locomo_f1(said, [answer], category) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("said", "answers", "expected"),
    [
        ("seven may 2023", ["seven may 2023"], 1.0),
        ("seven may", ["seven may 2023"], exp(1 - 3 / 2)),
        ("seven seven", ["seven may"], 0.5),  # a word counts as often as the answer has it
        ("on seven may 2023", ["seven may 2023"], 0.75),
        ("", ["seven"], 0.0),
    ],
)
def test_bleu_1(said: str, answers: list[str], expected: float) -> None:
    assert bleu_1(said, answers) == pytest.approx(expected)


@given(
    said=TEXTS, answers=st.lists(TEXTS, min_size=1, max_size=3), category=st.sampled_from("1234")
)
def test_scores_are_shares_and_another_answer_never_lowers_them(
    said: str, answers: list[str], category: str
) -> None:
    for score in (exact_match, f1, bleu_1):
        one, all_of_them = score(said, answers[:1]), score(said, answers)
        assert 0.0 <= one <= all_of_them <= 1.0
    assert 0.0 <= locomo_f1(said, answers, category) <= 1.0


@pytest.mark.parametrize(
    ("category", "said", "right"),
    [
        ("4", Said(), 0.0),
        ("4", Said(text="whatever", answered=True, by_oracle=True), 1.0),
        ("5", Said(), 1.0),
        ("5", Said(text="a", answered=True), 0.0),
    ],
)
async def test_no_answer_is_right_only_where_there_is_none(
    category: str, said: Said, right: float
) -> None:
    # "a" has no word that counts, no more than a missing answer has.
    asked = Question(id="q", text="Which?", category=category, gold=("m",), answers=("a",))
    found = await score_answer(asked, said, None)
    assert (found.right, found.f1, found.locomo_f1, found.bleu_1) == (right,) * 4


async def test_a_set_without_answers_is_refused_before_it_is_appended() -> None:
    service = TinyService()
    part = replace(small().collections[1], questions=small().collections[1].questions[:1])
    dataset = replace(small(), collections=(part,))
    with pytest.raises(BadFile, match=r"small\.json has no question with an answer"):
        await measure_answers(dataset, service.connect, unwatched, name="qa", model="reader")
    assert service.made == 0


@pytest.mark.parametrize("category", ["4", ADVERSARIAL])
async def test_a_question_that_takes_too_long_scores_nothing_and_ends_nothing(
    category: str,
) -> None:
    part = small().collections[0]
    slow, other = (replace(one, answers=("a kiln",)) for one in part.questions[:2])
    slow = replace(slow, category=category)
    dataset = replace(small(), collections=(replace(part, questions=(slow, other)),))
    service = TinyService(refuse={slow.text: (504, "timeout")})
    # The service refuses to store this text too, so it is none of the memories asked for.
    report = await measure_answers(dataset, service.connect, unwatched, name="qa", model=None)
    found = report.categories["all"]
    assert (found.questions, found.failed, found.exact) == (2, 1, 0.0)
    assert report.first_failure is not None
