"""Tests of the one form of a text."""

import unicodedata
from sys import maxunicode

from hypothesis import given
from hypothesis import strategies as st

from ecphoria.records.forms import composed

_LETTERS_AND_MARKS = st.text(st.sampled_from("aeEoIxй한क\u0301\u0323\u0308\u0307\u0344\u0f73 -—"))


@given(st.one_of(st.text(), _LETTERS_AND_MARKS))
def test_every_spelling_has_one_form(text: str) -> None:
    forms = [unicodedata.normalize(form, text) for form in ("NFC", "NFD")]

    assert composed(text) == forms[0]
    assert composed(forms[1]) == forms[0]
    assert composed(composed(text)) == composed(text)


@given(st.text(st.sampled_from("\u0301\u0323\u0308\u0307\u0344\u0f73\u0f71a"), min_size=40))
def test_long_runs_of_marks_have_the_form_of_the_standard(marks: str) -> None:
    assert composed(f"\u00e9{marks}") == unicodedata.normalize("NFC", f"\u00e9{marks}")


def test_every_mark_counts_towards_a_long_run() -> None:
    marks = [char for char in map(chr, range(maxunicode + 1)) if _is_moved(char)]

    assert len(marks) > 800
    assert not [mark for mark in marks if mark.isalnum() or mark.isspace() or mark < "\u0300"]


def _is_moved(char: str) -> bool:
    return unicodedata.combining(unicodedata.normalize("NFD", char)[0]) > 0
