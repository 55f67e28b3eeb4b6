"""Every function that reads text takes time in proportion to its length."""

import unicodedata
from collections.abc import Callable
from datetime import date
from time import thread_time

import pytest

from ecphoria.mcp.texts import clipped
from ecphoria.recall.answer import context_block, cut_to_tokens, same_words
from ecphoria.recall.seeds import ngrams
from ecphoria.records.forms import composed, lowered
from ecphoria.records.recall import Match, Phrase, Required
from ecphoria.text.asking import asks_openly, leaves_open, only_acknowledges, read_asking
from ecphoria.text.change import wanted
from ecphoria.text.code_blocks import code_blocks, one_line, write_lines
from ecphoria.text.concepts import extract
from ecphoria.text.cue import analyse, introduction, is_of_another, turn_features, without_caption
from ecphoria.text.cutting import cut
from ecphoria.text.dates import resolve_dates, told_times
from ecphoria.text.dating import stated_dates
from ecphoria.text.details import Detail
from ecphoria.text.german import is_german
from ecphoria.text.languages import LANGUAGES
from ecphoria.text.machine_words import without_code
from ecphoria.text.matching import holds, read_match
from ecphoria.text.names import (
    candidate_spans,
    capitalised_words,
    find_names,
    lower_words,
    name_kind,
    normalise,
)
from ecphoria.text.phrasebook import in_english
from ecphoria.text.quotes import carries, find_quote, may_deny
from ecphoria.text.retold import with_its_thing
from ecphoria.text.self_statements import self_statements
from ecphoria.text.statements import read_statements
from ecphoria.text.telling import any_tells
from ecphoria.text.terms import cue_terms, terms
from ecphoria.text.tokens import check_readable, stems, without_terminal_codes
from tests.unit.recall.builders import hit

PATTERNS = (
    *(
        "1,",
        "$1 ",
        "2024 ",
        '"',
        "'",
        "\u201c\u201d",
        "(",
        "[1]",
        "{}",
        '{"a":',
        "<a>",
        "`",
        "```\n",
    ),
    *("gestern vor drei ", "5. de ", "\u4e0a\u5468", "\u4ec0\u4e48", "a_", "a.b/", "aB", "Aaa"),
    *("yesterday May 5 ", "last May ", "5 ", "3 days ago ", "a couple of ", "A ", "a ", "Of the "),
    *("a", "A", "1", ".", "-", "...", "? ", "\n", "\n\n", "\n  x", " ", "\t", "# ", "- ", "can "),
    *(
        "Ana Roe ",
        "Ana. ",
        "ANA",
        "Ana of ",
        "C++ ",
        "+",
        "#",
        "@a ",
        ".N ",
        "n't ",
        "I'm ",
        "you ",
    ),
    *("who is the ", "what ", "hast du ", "je ne suis plus ", "\u6211\u7684", "\u79c1\u306e"),
    *("\u6771\u4eac", "\u3042\u3002", "\u0e44\u0e1b", "\u200b", "\u200d", "\ufeff", "\U0001f642"),
    *(
        "\u0301",
        "\u0301\u0323",
        "e\u0301",
        "\u0130 ",
        "\u0f73",
        "\u2014",
        "\uff21",
        "_",
        "[shares ",
    ),
)

_SAID_ON = date(2026, 5, 2)


def _write_lines(text: str) -> None:
    write_lines(text, 0, len(text), code_blocks(text))


def _held(text: str) -> None:
    words = text.split() or ["a"]
    wanted = Phrase(words=(*words[: len(words) // 2], "no"))
    near = Phrase(words=(*words[: len(words) // 2], "no"), between=50)
    holds(Required(phrases=(wanted, near)), words=" ".join(words), terms="")


def _required(text: str) -> None:
    read_match(f'"{text.replace(chr(34), "")} x"', Match.PHRASE)


def _tells(detail: Detail) -> Callable[[str], object]:
    return lambda text: any_tells(detail, text, about=[text], behind=())


READERS: dict[str, Callable[[str], object]] = {
    **{f"any_tells a {one}": _tells(one) for one in Detail},
    "asks_openly": asks_openly,
    "analyse": lambda text: analyse(text, ("Ana", "Zo\u00eb")),
    "candidate_spans": lambda text: list(candidate_spans(text)),
    "capitalised_words": capitalised_words,
    "carries": lambda text: carries(text, text),
    "check_readable": lambda text: check_readable("text", text),
    "composed": composed,
    "cue_terms": cue_terms,
    "terms": terms,
    "clipped": lambda text: clipped(text, 400),
    "context_block": lambda text: context_block([hit(1, text)], 2_000),
    "cut": cut,
    "cut_to_tokens": lambda text: cut_to_tokens(text, 500),
    "extract": lambda text: extract(None, text),
    "find_quote": lambda text: find_quote(text[:2_000], text),
    "holds": _held,
    "introduction": introduction,
    "is_german": is_german,
    "is_of_another": lambda text: is_of_another(text, "a", "Ana"),
    "write_lines": _write_lines,
    "leaves_open": leaves_open,
    "lower_words": lower_words,
    "lowered": lowered,
    "may_deny": lambda text: may_deny(text, len(text) // 2, len(text) // 2 + 9),
    "name_kind": name_kind,
    "find_names": lambda text: find_names(text, ()),
    "find_german_names": lambda text: find_names(text, (LANGUAGES["de"],)),
    "ngrams": ngrams,
    "normalise": normalise,
    "one_line": one_line,
    "in_english": in_english,
    "only_acknowledges": only_acknowledges,
    "stated_dates": stated_dates,
    "read_asking": read_asking,
    "read_match": _required,
    "read_statements": read_statements,
    "resolve_dates": lambda text: resolve_dates(text, _SAID_ON),
    "same_words": same_words,
    "self_statements": lambda text: list(self_statements(text)),
    "stems": stems,
    "told_times": lambda text: told_times(text, _SAID_ON),
    "turn_features": turn_features,
    "wanted": lambda text: wanted(text, 2026),
    "without_caption": without_caption,
    "without_code": without_code,
    "with_its_thing": with_its_thing,
    "without_terminal_codes": lambda text: without_terminal_codes(text.replace("a", "\x1b[")),
}
"""The functions by name; a further one needs one line here."""

_SIZE, _TIMES, _ALLOWED, _FLOOR_S = 3_000, 4, 10.0, 0.03
"""Characters of the short text, how much longer the long one is, and its share of time."""


def _once(read: Callable[[str], object], text: str) -> float:
    begun = thread_time()
    read(text)
    return thread_time() - begun


def _cost(read: Callable[[str], object], text: str) -> float:
    best = float("inf")
    for _ in range(3):
        best = min(best, _once(read, text))
        if best < _FLOOR_S:
            break
    return best


@pytest.mark.parametrize("name", READERS)
def test_reading_takes_linear_time(name: str) -> None:
    read, slow = READERS[name], []
    for pattern in PATTERNS:
        short = (pattern * _SIZE)[:_SIZE]
        long = (pattern * _SIZE * _TIMES)[: _SIZE * _TIMES]
        # Endings that fail after the longest match show what a pattern tries again.
        for tail in ("", " x", "!"):
            took_s = _once(read, long + tail)
            if took_s <= _FLOOR_S:
                continue
            allowed_s = _ALLOWED * _cost(read, short + tail) + _FLOOR_S
            # One reading in time proves it; more are needed only if something held it up.
            if took_s > allowed_s and _cost(read, long + tail) > allowed_s:
                slow.append((pattern, tail, allowed_s))

    assert not slow


def test_the_measure_finds_quadratic_time() -> None:
    def quadratic(text: str) -> int:
        return sum(text.find("\x00", 0, place) for place in range(0, len(text), 1))

    text = "1," * 40_000
    assert _cost(quadratic, text) > _ALLOWED * _cost(quadratic, text[: len(text) // 16])


def test_marks_out_of_order_are_composed_in_linear_time() -> None:
    marks = "a" + "\u0301\u0323" * 20_000
    assert composed(marks) == "\u1ea1" + "\u0323" * 19_999 + "\u0301" * 20_000
    assert _cost(composed, marks) < 1.0
    assert unicodedata.is_normalized("NFC", composed(marks[:2_000]))
