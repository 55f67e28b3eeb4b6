import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.text.tokens import LONGEST_WORD, as_written, stems, words


def test_stems_keep_order_and_repeats_and_drop_stop_words() -> None:
    assert stems("The dogs were running; a dog runs, and I'll run!") == (
        "dog",
        "run",
        "dog",
        "run",
        "run",
    )


def test_the_stemmer_is_the_original_porter() -> None:
    assert stems("Generously skies dying") == ("gener", "ski", "dy")  # Porter 2 says otherwise


def test_words_with_accents_stay_whole() -> None:
    assert words("Café №5, naïve") == ["cafe", "5", "naive"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Привет, мир", ["привет", "мир"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("שלום עולם", ["שלום", "עולם"]),
        ("東京都 is big", ["東京", "京都", "is", "big"]),
        ("山", ["山"]),
        ("ไปไหน", ["ไป", "ปไ", "ไห", "หน"]),
        ("한국어", ["한국", "국어"]),
        ("。、!", []),
    ],
)
def test_other_scripts_give_words_or_pairs(text: str, expected: list[str]) -> None:
    assert words(text) == expected


@pytest.mark.parametrize("text", ["", " \n", "the of and", "\x00\udcff", "🙂"])
def test_text_without_terms_has_none(text: str) -> None:
    assert stems(text) == ()


@pytest.mark.parametrize("letter", ["x", "ж", "ש", "𐐨"])
def test_a_word_too_long_for_an_index_counts_by_its_beginning(letter: str) -> None:
    (found,) = stems(letter * 350_000)
    assert len(found) == LONGEST_WORD
    assert len(found.encode()) < 8_000
    assert stems(letter * LONGEST_WORD) == (found,)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Which cafés did Müller paint?", ["cafés", "Müller", "paint"]),
        ("RUNNING runs, Running!", ["RUNNING"]),
        ("O'Neil's naïve-ly foo_bar", ["O", "Neil", "naïve", "ly", "foo", "bar"]),
        ("İpek in Łódź, Ångström", ["İpek", "Łódź", "Ångström"]),
        ("हिन्दी भाषा Привет", ["हिन्दी", "भाषा", "Привет"]),
        ("東京都", ["東京", "京都"]),
    ],
)
def test_stems_are_told_as_the_text_writes_them(text: str, told: list[str]) -> None:
    assert as_written(text, stems(text)) == told
    assert as_written(unicodedata.normalize("NFD", text), stems(text)) == told
    assert as_written(text, stems("none of these")) == []


@given(st.text(max_size=30))
def test_every_stem_of_a_text_is_told(text: str) -> None:
    told = as_written(text, stems(text))
    assert {stem for word in told for stem in stems(word)} == set(stems(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("квартиры", "в квартире"),
        ("работала", "работать"),
        ("المدرسة", "مدرسة"),
        ("किताबें", "किताब"),
        ("σπίτια", "σπίτι"),
    ],
)
def test_forms_of_a_word_meet_in_the_scripts_of_one_language(one: str, other: str) -> None:
    assert set(stems(one)) <= set(stems(other))


def test_latin_words_keep_their_stems_beside_other_scripts() -> None:
    assert set(stems("running servers")) <= set(stems("running servers в квартире"))
