from ecphoria.text import english


def test_the_lists_have_the_measured_sizes() -> None:
    assert len(english.STOP_WORDS) == 135
    assert len(english.CONNECTORS) == len(set(english.CONNECTORS)) == 26
