"""A quote counts only if it stands in the text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.text.quotes import find_quote

TEXT = "In May we moved to Oslo, didn\u2019t we \u2013 with two cats.\nIt rained 3 days."


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        ("moved to Oslo", "moved to Oslo"),
        ("  moved \n to Oslo ", "moved to Oslo"),
        ('"moved to Oslo"', "moved to Oslo"),
        ("...moved to Oslo...", "moved to Oslo"),
        ("didn't we - with", "didn\u2019t we \u2013 with"),
        ("two cats. It rained", "two cats.\nIt rained"),
        ("3", "3"),
        ("Moved to Oslo", None),
        ("moved to Bergen", None),
        ("oved to Osl", None),
        ("", None),
        ("...", None),
        (".", None),
        ("x" * 3_000, None),
    ],
)
def test_a_quote_is_found_as_it_stands(quote: str, found: str | None) -> None:
    span = find_quote(quote, TEXT)
    assert (span and TEXT[span[0] : span[1]]) == found


@given(text=st.text(), data=st.data())
def test_whole_words_of_a_text_are_found_in_it(text: str, data: st.DataObject) -> None:
    words = text.split()
    if not words:
        return
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    quote = " ".join(words[first : last + 1])
    span = find_quote(quote, text)
    if span is not None:
        assert 0 <= span[0] < span[1] <= len(text)
    elif quote.isalnum() and quote.isascii():
        raise AssertionError((quote, text))
