"""A cue in another language than the memories that it found."""

import pytest

from ecphoria.recall.cue_reading import other_languages, without_function_words
from ecphoria.recall.ports import TermCount
from ecphoria.records.recall import Hit
from ecphoria.text.cue import analyse
from tests.unit.recall.builders import hit

LOCAL, MANY = "all-MiniLM-L6-v2", "use-multilingual-v3"
ENGLISH = [hit(rank, "We left the keys of the boat with my sister.") for rank in (1, 2, 3)]
GERMAN = hit(2, "Wir haben die Schlüssel bei meiner Schwester gelassen.")
CUE = "Wo haben wir den Schlüssel gelassen?"


def test_a_model_that_does_not_read_the_cue_gives_the_remedy() -> None:
    (told,) = other_languages(CUE, ENGLISH, LOCAL)
    assert told.startswith("the cue is in German and the memories found are in English, and the")
    assert "only names and numbers can match" in told
    assert "ecphoria reembed --provider local --model use-multilingual-v3" in told


@pytest.mark.parametrize("model", [MANY, "text-embedding-3-small"])
def test_a_model_that_may_read_both_finds_by_meaning(model: str) -> None:
    (told,) = other_languages(CUE, ENGLISH, model)
    assert told.endswith("are in English: only meaning, names and numbers can match")


def test_an_english_cue_is_told_in_a_german_store() -> None:
    (told,) = other_languages("Where did we leave the keys?", [GERMAN], LOCAL)
    assert told.startswith("the cue is in English and the memories found are in German")


@pytest.mark.parametrize(
    ("cue", "hits"),
    [
        (CUE, [ENGLISH[0], GERMAN]),
        ("Where did we leave the keys?", ENGLISH),
        ("Leipzig 2024", ENGLISH),
        ("", ENGLISH),
        (CUE, []),
        (CUE, [ENGLISH[0], hit(2, "HTTP 404"), hit(3, "aGVsbG8gd29ybGQ=")]),
    ],
    ids=["one hit", "the same", "no words", "a vector", "no hits", "few tell"],
)
def test_nothing_is_told_where_the_languages_may_agree(cue: str, hits: list[Hit]) -> None:
    assert other_languages(cue, hits, LOCAL) == ()


@pytest.mark.parametrize(
    ("cue", "stored", "stems"),
    [
        ("Wann war die Reise nach Bergen?", ["die", "war"], ("reis", "bergen")),
        ("Wann war die Reise nach Bergen?", ["@reis"], ("war", "die", "reis", "nach", "bergen")),
        ("Wann war das?", ["war"], ("war", "da")),
        ("When was the trip to Bergen?", [], ("trip", "bergen")),
    ],
    ids=["another store", "its own store", "nothing else", "English"],
)
def test_function_words_leave_a_cue_whose_language_the_store_does_not_have(
    cue: str, stored: list[str], stems: tuple[str, ...]
) -> None:
    terms = {stem: TermCount(stem=stem, items=1) for stem in stored}
    assert without_function_words(analyse(cue, ()), terms).stems == stems
