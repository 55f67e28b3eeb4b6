"""The longest names of a cue win, and an ordinary word needs its capital."""

from ecphoria.recall.ports import FoundConcept
from ecphoria.recall.seeds import link_concepts, ngrams


def concept(name: str, *, lower: bool = False) -> FoundConcept:
    return FoundConcept(
        id=name, name=name, normalised=name, kind="topic", mentions=1, abouts=0, lower=lower
    )


def names(cue: str, *found: FoundConcept) -> list[str]:
    return [one.normalised for one in link_concepts(cue, found)]


def test_runs_cover_every_stretch_but_stop_words() -> None:
    assert ngrams("The Harbour Fair") == ("fair", "harbour", "harbour fair", "the harbour",
                                       "the harbour fair")  # fmt: skip
    assert ngrams("") == ()


def test_names_of_a_long_cue_are_looked_up_at_both_ends_only() -> None:
    words = [f"word{number}" for number in range(3_000)]
    found = ngrams(" ".join(words))
    assert len(found) <= 16 * 256
    assert "word0 word1" in found
    assert "word2998 word2999" in found
    assert "word1500" not in found


def test_the_leftmost_then_the_longest_name_is_taken() -> None:
    found = [concept("new york"), concept("new york times"), concept("times square")]
    assert names("Is the New York Times Square edition out?", *found) == ["new york times"]


def test_a_name_counts_once() -> None:
    assert names("Marlowe saw Marlowe's boat", concept("marlowe")) == ["marlowe"]


def test_an_everyday_word_needs_its_capital() -> None:
    rose = concept("rose", lower=True)
    assert names("Did Rose come?", rose) == ["rose"]
    assert names("a rose garden", rose) == []
    assert names("rose garden", concept("rose garden", lower=True)) == ["rose garden"]
