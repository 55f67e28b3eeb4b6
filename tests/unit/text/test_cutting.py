"""Long texts are cut where their structure lets them, completely and in linear time."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.text.cutting import LIMIT, WHOLE, Span, cut
from tests.unit.text.pieces import estimated_pieces

FRAGMENTS = (
    "\n", "\n\n", "```\n", "~~~\n", "# A heading\n", "- an item\n", "12. another\n", "word ",
    "unbreakable" * 30, " ", "。", "你好世界", "Really! ", "Why? ", "It is so. ", "\t", "1234567",
    "https://example.org/a/b?c=d ", "\u2028", "\x1c", "שלום עולם ", "\r\n", "| a | b |\n", "…",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(FRAGMENTS), min_size=1, max_size=400).map("".join)
LONG = 350_000


def told(text: str) -> list[str]:
    return [text[span.start : span.end] for span in cut(text)]


@given(TEXTS | st.text(max_size=3_000))
def test_spans_are_in_order_within_the_limit_and_lose_nothing(text: str) -> None:
    spans = cut(text)
    assert bool(spans) is (estimated_pieces(text) > WHOLE)
    ends = [0, *(span.end for span in spans)]
    assert all(end <= span.start < span.end for end, span in zip(ends, spans, strict=False))
    assert all(estimated_pieces(part) <= LIMIT for part in told(text))
    if spans:
        between = "".join(
            text[end : span.start]
            for end, span in zip(ends, [*spans, Span(len(text), len(text))], strict=True)
        )
        assert not between.strip()
        assert all(part.strip() for part in told(text))


def test_a_text_that_an_encoder_reads_whole_is_not_cut() -> None:
    assert cut("") == ()
    assert cut("word " * WHOLE) == ()
    assert cut("." * WHOLE) == ()
    assert len(cut("word " * (WHOLE + 1))) == 2


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("accented", 1),
        ("ge\u00f6ffnet", 1),
        ("o\u0308ffnet", 1),
        ("\u043a\u043b\u044e\u0447 \u043a\u043b\u044e\u0447\u0438", 3),
        ("\u0645\u0641\u062a\u0627\u062d\u061f", 2),
        ("\u94a5\u5319\u5728\u59d0\u59d0", 5),
        ("\u0661\u0662\u0663\u0664", 2),
    ],
    ids=["Latin", "accent", "apart", "Russian", "Arabic", "Chinese", "digits"],
)
def test_pieces_of_other_scripts_are_about_those_of_a_multilingual_encoder(
    text: str, pieces: int
) -> None:
    assert estimated_pieces(text) == pieces


def test_paragraphs_stay_whole_while_they_fit() -> None:
    paragraph = "A sentence of nine words that says nothing much. " * 9
    text = "\n\n".join([paragraph] * 5)
    assert all(part.strip() == f"{paragraph}\n\n{paragraph}".strip() for part in told(text)[:2])


def test_a_heading_begins_a_passage_rather_than_ends_one() -> None:
    body = "Some words about it. " * 25
    text = f"# One\n\n{body}\n\n# Two\n\n{body}\n\n# Three\n\n{body}\n"
    assert [part.split("\n")[0] for part in told(text)] == ["# One", "# Two", "# Three"]


def test_code_in_a_fence_is_one_block_with_its_blank_lines() -> None:
    code = "```\n" + "x = f(1)\n\n" * 20 + "```\n"
    text = f"{'Before it there are words. ' * 24}\n{code}{'Behind it, too. ' * 30}"
    (held,) = [part for part in told(text) if "```" in part]
    assert code in held


def test_list_items_are_cut_between() -> None:
    text = "".join(f"- item {number} of the list\n" for number in range(100))
    assert all(part.startswith("- item") and part.endswith("\n") for part in told(text))


@pytest.mark.parametrize(
    "text",
    [
        "word " * (LONG // 5),
        "x" * LONG,
        "http://example.org/" + "a/b?c=d&" * (LONG // 8),
        "```\n" + "x = f(1)\n" * (LONG // 9),
        "| a | b | 12 |\n" * (LONG // 15),
        "שלום עולם " * (LONG // 10),
        "你好世界。" * (LONG // 5),
        "- item one\n" * 10_000,
        " " * LONG + "x",
        "\n" * LONG + "x" * 300,
        (". " + " " * 50) * (LONG // 52),
        "." * LONG,
    ],
    ids=[
        "one line", "no break", "a URL", "code", "a table", "Hebrew", "Chinese", "a list",
        "blanks", "line breaks", "far apart", "dots",
    ],
)  # fmt: skip
def test_the_time_is_linear(text: str) -> None:
    """Twice the text takes about twice the time; a quadratic rule would need minutes here."""
    begun = time.process_time()
    assert all(estimated_pieces(part) <= LIMIT for part in told(text))
    assert time.process_time() - begun < 20


def test_four_megabytes_are_cut() -> None:
    text = "Lorem ipsum dolor sit amet. " * 142_500
    assert 2_500 < len(cut(text)) < 7_500
