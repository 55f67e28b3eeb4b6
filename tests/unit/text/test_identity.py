"""Names and words are the same in every form of Unicode, and signs tell names apart."""

import unicodedata
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.facts.timelines import relation
from ecphoria.ingest.validation import body_hash, content_key, with_one_form
from ecphoria.records.asked import read_as
from ecphoria.records.episode import NewEpisode
from ecphoria.records.recall import Filters, Match, RecallRequest
from ecphoria.text.concepts import extract
from ecphoria.text.cue import analyse
from ecphoria.text.matching import holds, read_match
from ecphoria.text.names import normalise, normalised_words
from ecphoria.text.tokens import stems, words

_LETTERS = "abcIiozXéÉüÜñçãőŁłİ\u0131şŞžŽÅøßảḍйЁέΣςहकि한글がパﬁ\uff21\u0304\u0323\u0301"
_WORDS = st.text(st.sampled_from(_LETTERS), min_size=1, max_size=12)
_TEXTS = st.lists(_WORDS, min_size=1, max_size=6).map(" ".join)
_SIGNED = ("C", "C++", "C#", "F", "F#", "A", "A+", "A-", "A*", "A++", "AB+", "AB-", ".NET", "NET",
           "@ana", "Ana", "#ana", "Notepad", "Notepad++", "Disney", "Disney+")  # fmt: skip


def _decomposed(text: str) -> str:
    return unicodedata.normalize("NFD", text)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


@given(_TEXTS)
def test_both_forms_have_the_same_keys(text: str) -> None:
    one, other = _composed(text), _decomposed(text)

    assert normalise(one) == normalise(other) == normalise(normalise(one))
    assert stems(one) == stems(other)
    assert normalised_words(one) == normalised_words(other)
    assert relation(one) == relation(other)
    assert extract(one, one, speaker=one) == extract(other, other, speaker=other)


@given(_TEXTS, _WORDS)
def test_both_forms_are_one_append_and_one_filter(text: str, name: str) -> None:
    new = [
        NewEpisode(
            text=form(text),
            title=form(name),
            speaker=form(name),
            session=form(name),
            metadata={form(name): form(name)},
        )
        for form in (_composed, _decomposed)
    ]
    wanted = [
        read_as(
            Filters,
            {
                "speaker": form(name),
                "session": form(name),
                "sessions": [form(name)],
                "metadata": {form(name): form(name)},
            },
        )
        for form in (_composed, _decomposed)
    ]
    stored = [with_one_form(one) for one in new]

    assert stored[0].speaker == stored[1].speaker == wanted[0].speaker
    assert stored[1].session == wanted[1].session
    assert stored[0].metadata == stored[1].metadata == wanted[1].metadata
    assert stored[1].text == _decomposed(text)
    assert wanted[0] == wanted[1]
    assert body_hash(new[0]) == body_hash(new[1])
    assert content_key(new[0], body_hash(new[0])) == content_key(new[1], body_hash(new[1]))


@given(_TEXTS, _WORDS)
def test_both_forms_of_a_cue_are_read_alike(text: str, name: str) -> None:
    cues = [
        read_as(RecallRequest, {"cue": form(f"{name} {text}")}).cue or ""
        for form in (_composed, _decomposed)
    ]

    assert analyse(cues[0], (_composed(name),)) == analyse(cues[1], (_composed(name),))


@given(_TEXTS)
def test_a_text_has_all_the_words_that_it_has_in_the_other_form(text: str) -> None:
    cue = _decomposed(text)
    if not stems(cue):
        return
    _, required = read_match(cue, Match.ALL)

    assert holds(required, words=" ".join(normalised_words(text)), terms=" ".join(stems(text)))


@pytest.mark.parametrize(
    ("one", "other"),
    [("Müller", "Muller"), ("İpek", "ipek"), ("café", "CAFE"), ("naïve", "naive"),
     ("Straße", "STRASSE"), ("Łódź", "Lodz"), ("ﬁne", "fine"), ("\uff2eet", "net")],
)  # fmt: skip
def test_accents_do_not_part_words(one: str, other: str) -> None:
    assert words(one) == words(other)
    assert len(words(_decomposed(one))) == 1
    assert len(normalised_words(one)) == 1


@given(st.text(st.characters(max_codepoint=127)))
def test_plain_english_has_the_words_it_had(text: str) -> None:
    assert words(f"{text} \u4e00")[:-1] == words(text)


def test_a_named_speaker_with_a_dotted_capital_is_found_in_any_case() -> None:
    for cue in ("Where is ipek?", "Where is İPEK?", _decomposed("Where is İpek?")):
        assert analyse(cue, ("İpek",)).names == ("İpek",)


@pytest.mark.parametrize(("one", "other"), list(combinations(_SIGNED, 2)))
def test_signs_tell_names_apart(one: str, other: str) -> None:
    assert normalise(one) != normalise(other)
    assert normalise(normalise(one)) == normalise(one)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("C#", ["Cem writes C#."]), ("C++", ["Ana writes C++, mostly."]), ("C", ["Bo writes C."]),
     ("F#", ["Eva likes F#!"]), (".NET", ["Ida uses .NET here"])],
)  # fmt: skip
def test_required_words_keep_their_signs(wanted: str, found: list[str]) -> None:
    texts = ["Cem writes C#.", "Ana writes C++, mostly.", "Bo writes C.", "Eva likes F#!",
             "Ida uses .NET here", "Net gains"]  # fmt: skip
    _, required = read_match(wanted, Match.ALL)

    assert [
        text
        for text in texts
        if holds(required, words=" ".join(normalised_words(text)), terms=" ".join(stems(text)))
    ] == found
