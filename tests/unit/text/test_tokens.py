import pytest

from ecphoria.text.tokens import LONGEST_WORD, stems, words


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


def test_latin_text_splits_at_all_but_ascii() -> None:
    assert words("Café №5, naïve") == ["caf", "5", "na", "ve"]


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
