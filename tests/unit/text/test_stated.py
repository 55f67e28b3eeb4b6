from hypothesis import given
from hypothesis import strategies as st

from ecphoria.records.episode import Extracted, Statement
from ecphoria.text.concepts import Triple, extract, read_stated


def test_names_are_known_by_one_spelling() -> None:
    found = read_stated(Extracted(names=("Oak Street", "oak  street (road)", "Riverton's")), "")
    assert [(one.name, one.surface) for one in found.names] == [
        ("oak street", "Oak Street"),
        ("riverton", "Riverton's"),
    ]


def test_what_can_name_no_concept_is_only_the_end_of_a_fact() -> None:
    opened = Statement(subject="Oak Street", predicate=" opened\n in ", object="May 1963")
    found = read_stated(Extracted(names=("12", "July", "?!"), facts=(opened, opened)), "")
    assert [one.name for one in found.names] == ["oak street"]
    assert [claim.fact for claim in found.claims] == [
        Triple(subject="oak street", predicate="opened in", object="may 1963")
    ]
    assert found.claims[0].fact.statement == "oak street opened in may 1963"


def test_a_fact_needs_two_ends_and_one_name() -> None:
    facts = (
        Statement(subject="5", predicate="is under", object="12"),
        Statement(subject="!", predicate="marks", object="Oak Street"),
    )
    assert read_stated(Extracted(facts=facts), "").claims == ()


def test_the_own_title_is_no_name_an_item_states() -> None:
    given = Extracted(facts=(Statement(subject="Oak Street", predicate="is", object="Wide Way"),))
    found = extract("Oak Street", "It is wide.", given=given)
    assert [one.name for one in found.stated] == ["wide way"]
    assert [one.fact.subject for one in found.claims] == ["oak street"]


@given(st.lists(st.text(max_size=20)), st.lists(st.tuples(st.text(), st.text(), st.text())))
def test_whatever_is_given_the_rules_find_the_same(
    names: list[str], facts: list[tuple[str, str, str]]
) -> None:
    statements = tuple(Statement(subject=a, predicate=b, object=c) for a, b, c in facts)
    with_given = extract(
        "Tall Ships", "Ada met Ben at Oak Street.",
        given=Extracted(names=tuple(names), facts=statements),
    )  # fmt: skip
    alone = extract("Tall Ships", "Ada met Ben at Oak Street.")
    assert with_given.candidates == alone.candidates
    assert with_given.words == alone.words
    assert len({one.name for one in with_given.stated}) == len(with_given.stated)
