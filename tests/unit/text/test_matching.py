"""Phrases and words that a cue requires: what is read from it, and what a memory must say."""

import re
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import InvalidInput
from ecphoria.neo4j_store.queries import any_of
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Match, Phrase, Required
from ecphoria.text.matching import holds, read_match
from ecphoria.text.names import normalised_words
from ecphoria.text.tokens import stems

TENANT = TenantId("0" * 32)


def required(cue: str, match: Match = Match.PHRASE) -> Required:
    return read_match(cue, match)[1]


def says(text: str, cue: str, match: Match = Match.PHRASE) -> bool:
    return holds(
        required(cue, match), words=" ".join(normalised_words(text)), terms=" ".join(stems(text))
    )


def test_without_a_match_no_syntax_is_read() -> None:
    assert read_match('+a "b c"~5 "', Match.ANY) == ('+a "b c"~5 "', Required())


def test_the_marks_are_taken_from_the_cue() -> None:
    text, found = read_match('Who said "blue kiln" near +glazes, "red wheel"~5?', Match.PHRASE)
    assert text.split() == ["Who", "said", "blue", "kiln", "near", "glazes,", "red", "wheel", "?"]
    assert found == Required(
        stems=("glaze",),
        phrases=(Phrase(words=("blue", "kiln")), Phrase(words=("red", "wheel"), between=5)),
    )


def test_a_cue_without_marks_is_one_phrase() -> None:
    assert required("Blue kilns!") == Required(phrases=(Phrase(words=("blue", "kilns")),))


def test_all_requires_each_word_by_its_stem_without_stop_words() -> None:
    assert required('where are the kilns, "not hot"', Match.ALL) == Required(
        stems=("kiln",), phrases=(Phrase(words=("not", "hot")),)
    )


@pytest.mark.parametrize(
    ("text", "cue", "match", "expected"),
    [
        ("The blue kiln is hot.", '"blue kiln"', Match.PHRASE, True),
        ("The kiln is blue.", '"blue kiln"', Match.PHRASE, False),
        ("Blue, kiln!", '"BLUE KILN"', Match.PHRASE, True),
        ("blue kilns", '"blue kiln"', Match.PHRASE, False),
        ("The kiln is very blue.", '"blue kiln"~2', Match.PHRASE, True),
        ("The kiln is very blue.", '"blue kiln"~1', Match.PHRASE, False),
        ("the the end", '"the the"', Match.PHRASE, True),
        ("the end", '"the the"~9', Match.PHRASE, False),
        ("two kilns", "+kiln", Match.PHRASE, True),
        ("we do not", "+not", Match.PHRASE, True),
        ("we do", "+not", Match.PHRASE, False),
        ("Ana fires two kilns.", "Which kilns did Ana fire?", Match.ALL, True),
        ("Ana has two kilns.", "Which kilns did Ana fire?", Match.ALL, False),
        ("To be or not to be", '"to be or not"', Match.ALL, True),
    ],
)
def test_a_memory_must_say_it(text: str, cue: str, match: Match, *, expected: bool) -> None:
    assert says(text, cue, match) is expected


@pytest.mark.parametrize(
    ("cue", "match", "says_what"),
    [
        ('an "open quote', Match.PHRASE, "not closed"),
        ('empty ""', Match.PHRASE, "no words"),
        ("?!", Match.PHRASE, "no words"),
        ("where is it", Match.ALL, "in quotes"),
        ('"a b"~100', Match.PHRASE, "at most 99"),
        (" ".join(f"word{n}" for n in range(51)), Match.ALL, "more than 50"),
    ],
)
def test_what_cannot_be_required_is_refused(cue: str, match: Match, says_what: str) -> None:
    with pytest.raises(InvalidInput, match=says_what):
        required(cue, match)


@given(st.lists(st.sampled_from("abcd"), min_size=2, max_size=3), st.integers(1, 3), st.data())
def test_words_are_near_in_any_order_with_so_many_others_between(
    words: list[str], between: int, data: st.DataObject
) -> None:
    fill = data.draw(st.integers(0, between + 2))
    order = data.draw(st.sampled_from(sorted(set(permutations(words)))))
    said = " ".join([order[0], *["x"] * fill, *order[1:]])
    phrase = Required(phrases=(Phrase(words=tuple(words), between=between),))
    assert holds(phrase, words=said, terms="") is (fill <= between)


_TOKEN = r"(?:[^\s+\-!(){}\[\]^\"~*?:\\/&|<>=]|\\.)+"
_CLAUSE = re.compile(
    rf"\+tenant:{TENANT}\^0(?: \+\((?:terms:{_TOKEN} ?)+\))?(?: \+terms:{_TOKEN})*"
    rf'(?: \+words:"{_TOKEN}(?: {_TOKEN})*"(?:~\d+)?)*'
)
_SYNTAX = st.text(alphabet=st.sampled_from('ab "~5+-!(){}[]^*?:\\/&|<>=ANDORT'), max_size=40)


@given(st.one_of(_SYNTAX, st.text(max_size=40)), st.sampled_from([Match.ALL, Match.PHRASE]))
def test_no_mark_of_a_cue_becomes_syntax_of_the_search(cue: str, match: Match) -> None:
    try:
        text, found = read_match(cue, match)
    except InvalidInput:
        return
    query = any_of(TENANT, sorted(set(stems(text))), found)
    assert _CLAUSE.fullmatch(query), query
    assert not re.search(r"terms:(AND|OR|NOT)\b", query)
