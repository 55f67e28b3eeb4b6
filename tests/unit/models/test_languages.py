# ruff: noqa: RUF001 (scripts of many languages)
"""Warnings of texts that the embedding model does not read."""

import pytest

from ecphoria.errors import install
from ecphoria.models.languages import Unread, languages_read, remedy

GERMAN = "Wir haben die Schlüssel bei meiner Schwester gelassen."
ENGLISH = "We left the keys of the boat with my sister."
GREEK = "Τα κλειδιά είναι εδώ."
MANY = "use-multilingual-v3"


def warned(model: str, *texts: str) -> str | None:
    unread = Unread(model)
    unread.take(texts)
    return unread.warning()


def test_the_languages_of_the_local_models_are_known_and_those_of_others_are_not() -> None:
    assert languages_read("all-MiniLM-L6-v2") == frozenset({"English"})
    assert {"English", "German", "Chinese", "Thai"} < (languages_read(MANY) or frozenset())
    assert languages_read("text-embedding-3-small") is None


def test_texts_mostly_in_another_language_are_told_with_the_remedy() -> None:
    told = warned("all-MiniLM-L6-v2", *[GERMAN] * 6, *[ENGLISH] * 5, *["HTTP 404"] * 50) or ""
    assert told.startswith("6 of 11 texts are in languages that the embedding model all-MiniLM")
    assert "(German)" in told
    assert install("multilingual") in told
    assert "ecphoria reembed --provider local --model use-multilingual-v3" in told


@pytest.mark.parametrize(
    ("model", "texts"),
    [
        ("all-MiniLM-L6-v2", [GERMAN] * 5 + [ENGLISH] * 6),
        ("all-MiniLM-L6-v2", [GERMAN] * 4),
        ("all-MiniLM-L6-v2", ["aGVsbG8gd29ybGQ="] * 100),
        ("all-MiniLM-L6-v2", []),
        (MANY, [GERMAN] * 100),
        ("text-embedding-3-small", [GREEK] * 100),
    ],
    ids=["fewer", "few", "base64", "none", "read", "unknown"],
)
def test_no_warning(model: str, texts: list[str]) -> None:
    assert warned(model, *texts) is None


def test_another_remedy_where_no_local_model_reads_a_language() -> None:
    told = warned(MANY, *[GREEK] * 5) or ""
    assert "(Greek)" in told
    assert "sentence-transformers" in told
    assert "sentence-transformers" in remedy(["German", "Greek"])
