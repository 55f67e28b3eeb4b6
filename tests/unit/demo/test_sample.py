"""The sample as the demo reads it."""

from ecphoria.demo.sample import sample_conversation, sample_facts, sample_questions, with_facts


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


def test_every_fact_quotes_its_turn_word_by_word() -> None:
    facts, turns = sample_facts(), sample_conversation()
    texts = {turn.idempotency_key: turn.text for turn in turns}
    stated = [(turn, fact) for turn, all_of in facts.extractions.items() for fact in all_of.facts]
    assert len(stated) >= 30
    for turn, fact in stated:
        assert fact.quote in texts[turn], fact
        assert fact.quote
    sent = with_facts(turns, facts.extractions)
    assert sum(turn.extraction is not None for turn in sent) == len(facts.extractions)
    assert [turn.text for turn in sent] == [turn.text for turn in turns]


def test_what_sleeps_answers_nothing_and_states_nothing() -> None:
    facts = sample_facts()
    texts = {turn.idempotency_key: turn.text for turn in sample_conversation()}
    answers = {text for question in sample_questions() for text in question.evidence}
    assert facts.asleep <= texts.keys() - facts.extractions.keys()
    assert answers.isdisjoint(texts[key] for key in facts.asleep)
