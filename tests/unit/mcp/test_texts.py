"""Texts are cut at borders, share the space of a form, and are read whole part by part."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.mcp.texts import FORM_BYTES, LEAST, clipped, fitted, name_of

WORDS = st.sampled_from([
    "harbour", "1,234,567.89", "10 000 000", "灯台守は夜に眠らない。", "👩‍👩‍👧", "é",
    "https://example.org/a/very/long?path=1&x=2", "`f(x) -> y`", "well-known", "Ends.", "Why?",
    "\n    return 7\n", "2026-03-14T09:30:00+02:00",
])  # fmt: skip
LONG = st.lists(WORDS, min_size=1, max_size=40).map(lambda words: " ".join(words * 12))
TEXTS = st.lists(st.text(max_size=50) | LONG, max_size=20)


def bytes_of(text: str) -> int:
    return len(text.encode())


@given(TEXTS)
def test_texts_fit_into_a_form_and_show_the_least(texts: list[str]) -> None:
    ends = fitted(texts, [100] * len(texts))
    shown = [text[:end] for text, end in zip(texts, ends, strict=False)]
    assert len(shown) >= min(1, len(texts))
    assert sum(bytes_of(one) + 100 for one in shown) <= FORM_BYTES
    for text, part in zip(texts, shown, strict=False):
        assert len(part) >= min(len(text), LEAST)
    if len(shown) < len(texts):
        last = bytes_of(texts[len(shown)][: 2 * LEAST])
        used = sum(bytes_of(text[: 2 * LEAST]) + 100 for text in texts[: len(shown)])
        assert used + last + 100 > FORM_BYTES, "what fits is not left out"
    if sum(bytes_of(text) + 100 for text in texts) <= FORM_BYTES:
        assert shown == texts


@given(LONG)
def test_a_cut_is_at_a_border_never_inside_a_number_or_an_emoji(text: str) -> None:
    (end,) = fitted([text * 20], [0])
    before, after = (text * 20)[:end], (text * 20)[end:]
    if not after:
        return
    whole = rf"{re.escape(before[-1])}{re.escape(after[0])}"
    assert not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9]|\d[.,:]|[.,:]\d", whole)
    assert not (re.search(r"\d\Z", before) and re.match(r" \d{3}(?!\d)", after))
    assert after[0] not in "\u200d\u0301"
    assert before[-1] != "\u200d"


@given(st.text(max_size=100).map(lambda text: text * 400))
def test_the_parts_of_a_text_join_to_it(text: str) -> None:
    read, offset = "", 0
    while offset < len(text):
        (end,) = fitted([text[offset:]], [0])
        assert end > 0
        read += text[offset : offset + end]
        offset += end
    assert read == text


@given(st.text(), st.integers(1, 20))
def test_a_clipped_text_is_one_line_within_its_bound(text: str, characters: int) -> None:
    short = clipped(text, characters)
    assert len(short) <= characters
    assert "\n" not in short


@pytest.mark.parametrize(
    ("text", "characters", "cut"),
    [
        ("I set it to 1,000 units", 16, "I set it to…"),
        ("It cost 10 000 000 in all", 16, "It cost…"),
        ("灯台守は夜に眠らない", 6, "灯台守は夜…"),
    ],
)
def test_examples_of_cuts(text: str, characters: int, cut: str) -> None:
    assert clipped(text, characters) == cut


def test_a_name_cannot_look_like_the_number_of_a_memory() -> None:
    assert name_of("Ana\n[9] Boss") == "Ana (9) Boss"
    assert name_of("") is None


@pytest.mark.parametrize("sentence", ["灯台守は夜に眠らない。", "यह रसोई की किताब है। "])
def test_a_cut_is_after_a_sentence_in_other_scripts_too(sentence: str) -> None:
    text = sentence * 1_000
    (end,) = fitted([text], [0])
    assert text[:end].strip().endswith(sentence.strip())
