from ecphoria_eval.datasets.changing import make_stream, plain


def test_the_stream_is_the_same_for_a_seed_and_another_for_another() -> None:
    assert make_stream(12, 3) == make_stream(12, 3)
    assert list(make_stream(12, 3).episodes) != list(make_stream(12, 4).episodes)


def test_every_question_has_a_value_that_holds_and_others_that_are_over() -> None:
    stream = make_stream(200)
    assert len(stream.questions) == len({one.cue for one in stream.questions}) == 200
    assert not stream.ended & stream.standing
    for one in stream.questions:
        assert 2 <= len(one.changes) <= 4
        assert [change.at for change in one.changes] == sorted(c.at for c in one.changes)
        assert set(one.claims) == {change.value for change in one.changes}
        assert all(told <= stream.episodes.keys() for told in one.claims.values())
        if one.then is not None:
            told = min(stream.episodes[e].occurred_at for e in one.claims[one.held(one.then)])  # type: ignore[type-var]  # every episode of the stream is dated
            assert told is not None
            assert told <= one.then < one.changes[-1].at


def test_distractors_are_many_and_words_stay_when_facts_go() -> None:
    stream = make_stream(40)
    claiming = sum(len(told) for asked in stream.questions for told in asked.claims.values())
    assert len(stream.episodes) - claiming >= 3 * 40
    bare = dict(plain(stream))
    assert all(one.extraction is None for one in bare.values())
    assert [one.text for one in bare.values()] == [one.text for one in stream.episodes.values()]
