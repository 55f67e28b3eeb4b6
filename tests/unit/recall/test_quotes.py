"""A quote counts only if it stands in the text."""

import time
import unicodedata
from collections.abc import Callable
from typing import Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ecphoria.text.quotes import QuotableText, carries, find_quote, quoted_tokens

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
        ("Moved to OSLO!", "moved to Oslo"),
        ("It rained 3 days", "It rained 3 days"),
        ("it rained 3 days!?", "It rained 3 days"),
        ("moved Oslo", None),
        ("-3", None),
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


@pytest.mark.parametrize(
    ("quote", "found"),
    [("Ben likes C", None), ("likes C++", "likes C++"), ("C#", "C#"), ("likes F", None),
     ("1+1", "1+1"), ("a+b", "a+b"), ("F#", "F#")],
)  # fmt: skip
def test_signs_that_tell_names_apart_belong_to_a_word(quote: str, found: str | None) -> None:
    text = "Ben likes C++ and C#; Fay likes F#. 1+1 is a+b."
    span = find_quote(quote, text)
    assert (span and text[span[0] : span[1]]) == found


SCRIPTS = st.one_of(
    st.text(),
    st.text(st.sampled_from("aB\u00e9e\u0301 \u00df\u0130i.,!?-'\u2019\"#+$3 05 \t\n")),
    st.text(st.sampled_from("\u53bb\u5e74\u6211\u642c\u5230\ud55c\u304c\u0e01\u0e34 \u3002a")),
    st.text(st.sampled_from("\u0928\u092e\u0938\u094d\u0924\u0947 \u05e9\u05b8 \u200d\u00ad_*`")),
)
CASES: tuple[Callable[[str], str], ...] = (str, str.upper, str.lower, str.title)
FORMS: tuple[Literal["NFC"], Literal["NFD"]] = ("NFC", "NFD")
ENDS = ("", "!", ".", " \u2026", '"', "\u201d", "...", "?!", ")", " - ")


@st.composite
def quoted(draw: st.DrawFn) -> tuple[str, str, str]:
    """Draw a text, some of its words, and these as a model may write them."""
    text = draw(SCRIPTS)
    words = text.split()
    assume(words)
    first = draw(st.integers(0, len(words) - 1))
    plain = " ".join(words[first : draw(st.integers(first, len(words) - 1)) + 1])
    cased = draw(st.sampled_from(CASES))(plain)
    assume(cased.casefold() == plain.casefold())  # some letters have no such pair
    blank = draw(st.sampled_from([" ", "\n\t "]))
    written = unicodedata.normalize(draw(st.sampled_from(FORMS)), blank.join(cased.split()))
    return text, plain, draw(st.sampled_from(ENDS)) + written + draw(st.sampled_from(ENDS))


@given(quoted())
def test_words_of_a_text_are_found_in_it_however_they_are_written(
    drawn: tuple[str, str, str],
) -> None:
    text, plain, written = drawn
    span = find_quote(written, text)
    if span is None:
        assert not any(char.isalnum() for char in plain) or len(written) > 2_000
    else:
        assert quoted_tokens(text[span[0] : span[1]]) == quoted_tokens(plain)


@given(text=st.text("abc 1.,"), quote=st.text("abc 1.,", min_size=1))
def test_a_quote_that_is_found_has_the_words_of_its_place(text: str, quote: str) -> None:
    span = find_quote(quote, text)
    if span is not None:
        assert quoted_tokens(text[span[0] : span[1]]) == quoted_tokens(quote)


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        ("20", "The batch size is 20,000."),
        ("1.5", "It weighs 11.5 kg."),
        ("C", "She writes C# and C++."),
        ("200", "1200 litres"),
        ("car", "A carpet."),
        ("5", "It is 5.5 now."),
    ],
)
def test_a_part_of_a_word_or_number_is_no_quote(quote: str, text: str) -> None:
    found = find_quote(quote, text)
    assert found is None or text[found[1]] in "#+"


@pytest.mark.parametrize(
    ("quote", "text"),
    [
        (
            "\u642c\u5230\u5965\u65af\u9646",
            "\u53bb\u5e74\u6211\u642c\u5230\u5965\u65af\u9646\u3002",
        ),
        ("\u642c\u5230", "\u53bb\u5e74\u6211\u642c\u5230\u5965\u65af\u9646\u3002"),
        ("zu\u0308rich", "Ich wohne in Z\u00fcrich."),
        ("I moved to Oslo", "I **moved** to _Oslo_."),
        ("he said 'go'", "He said \u201cGo\u201d."),
    ],
)
def test_scripts_without_blanks_composed_letters_and_emphasis(quote: str, text: str) -> None:
    assert find_quote(quote, text) is not None


@pytest.mark.parametrize(
    ("quote", "sentence", "is_carried"),
    [
        ("in", "b", False),
        ("the", "The cat.", False),
        ("and it is", "Ana lives there.", False),
        ("Oslo", "Ana lives in Oslo.", True),
        ("Oslo", "Ana is a spy.", False),
        ("moved to Oslo", "Sie lebt dort.", True),
        ("walking", "She walks.", True),
        ("30", "He is 30 years old.", True),
        ("\u5965\u65af\u9646", "\u6211\u4f4f\u5728\u5965\u65af\u9646\u3002", True),
    ],
)
def test_a_quote_carries_a_sentence_only_by_its_words(
    quote: str, sentence: str, is_carried: bool
) -> None:
    assert carries(quote, sentence) is is_carried


def seconds(unit: str, size: int) -> float:
    """Measure the processor time of quotes that nearly stand in a text of this size."""
    text = unit * (size // len(unit))
    begun = time.process_time()
    source = QuotableText(text)
    for quote in (text[:1_900] + "b", f"b {text[:1_900]}", text[1:1_900]):
        source.find(quote)
    return time.process_time() - begun


@pytest.mark.parametrize(
    "unit",
    [
        "a ",
        "a",
        "1,",
        "1.",
        "1",
        "{}",
        '"',
        "...",
        "\u0301",
        "\u200b",
        "\u642c",
        "_",
        " ",
        "e\u0301",
    ],
)
def test_the_time_of_a_search_grows_with_the_text(unit: str) -> None:
    small, large = seconds(unit, 20_000), seconds(unit, 160_000)
    assert large <= 24 * small + 0.1
