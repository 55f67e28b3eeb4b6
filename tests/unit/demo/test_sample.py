"""The sample as the demo reads it."""

from ecphoria.demo.sample import sample_conversation, sample_questions


def test_every_turn_can_be_appended_again() -> None:
    turns = sample_conversation()
    assert len(turns) >= 300
    assert len({turn.idempotency_key for turn in turns}) == len(turns)
    assert all(turn.session and turn.speaker and turn.occurred_at for turn in turns)


def test_the_questions_ask_for_turns_that_are_there() -> None:
    texts = {turn.text for turn in sample_conversation()}
    questions = sample_questions()
    assert len(questions) == 5
    assert all(question.evidence <= texts for question in questions)
    assert sum(not question.evidence for question in questions) == 1
