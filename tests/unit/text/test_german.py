import pytest

from ecphoria.text.german import is_german, stems


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ich bin in Oslo.", True),
        ("Was war das so?", True),
        ("Katzen schlafen nicht.", True),
        ("I was in the house so long.", False),
        ("His name is Hans, and he lives in Zürich.", False),
        ("Ann said: Die Katze schläft. I do not know what that is.", False),
        ("Oslo 2024", False),
        ("", False),
    ],
)
def test_german_is_told_by_its_function_words(text: str, expected: bool) -> None:
    assert is_german(text) is expected


def test_cases_and_numbers_share_a_stem() -> None:
    for forms in ("Haus Hauses Häuser Häusern", "Katze Katzen", "Kind Kinder Kindern", "Hof Höfe"):
        assert len(set(stems(forms))) == 1, forms
    assert stems("Die Straße und der Hof") == ("strass", "hof")
