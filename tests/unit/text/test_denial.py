"""A fact is denied only where the text around its quote can deny."""

import pytest

from ecphoria.text.quotes import may_deny


@pytest.mark.parametrize(
    ("before", "quote", "after", "denies"),
    [
        ("", "Ana lives in Lisbon", ".", False),
        ("", "Ana no longer lives in Lisbon", ".", True),
        ("", "Ana doesn\u2019t live in Lisbon", ".", True),
        ("It is not so that ", "Ana lives in Lisbon", ".", True),
        ("I do not smoke. ", "Ana lives in Lisbon", ". She never did.", False),
        ("", "Ben quit the choir", "!", True),
        ("", "Wir sind aus Graz weggezogen", ".", True),
        ("", "Ich wohne in Graz", ".", False),
        ("", "Ich trinke keinen Kaffee", ".", True),
        ("", "Ana habite \u00e0 Lisbonne", ".", True),
        ("x " * 10_000, "I like tea", " y" * 10_000, False),
    ],
)
def test_words_around_a_quote_deny(before: str, quote: str, after: str, denies: bool) -> None:
    start = len(before)
    assert may_deny(before + quote + after, start, start + len(quote)) is denies
