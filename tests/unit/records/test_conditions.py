"""Conditions on values of JSON."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.errors import InvalidInput
from ecphoria.records.conditions import check_condition, matches

LEAF = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
NAMES = st.text(alphabet="abc", min_size=1, max_size=3)
VALUE = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ({}, True),
        ({"age": 4}, True),
        ({"age": 4.0}, True),
        ({"age": {"$gte": 4, "$lt": 9}}, True),
        ({"age": {"$gt": 4}}, False),
        ({"age": {"$gt": "3"}}, False),
        ({"age": True}, False),
        ({"name": {"$gt": "Ann", "$lte": "Ana"}}, False),
        ({"name": {"$gte": "Ana"}}, True),
        ({"alive": 1}, False),
        ({"alive": {"$ne": 1}}, True),
        ({"alive": {"$gte": 0}}, False),
        ({"home": {"city": "Trieste"}}, True),
        ({"home": {"city": {"$ne": "Trieste"}}}, False),
        ({"home": {"street": None}}, True),
        ({"home": "Trieste"}, False),
        ({"name": {"first": "Ana"}}, False),
        ({"likes": ["figs"]}, True),
        ({"likes": "figs"}, False),
        ({"pet": None}, True),
        ({"pet": {"$ne": None}}, False),
    ],
)
def test_a_condition_is_met_or_not(condition: dict[str, object], *, met: bool) -> None:
    value = {
        "age": 4, "name": "Ana", "alive": True, "likes": ["figs"],
        "home": {"city": "Trieste", "floor": 2},
    }  # fmt: skip
    check_condition(condition)
    assert matches(value, condition) is met


@given(st.dictionaries(NAMES, VALUE, max_size=4))
def test_an_object_meets_itself_as_a_condition(value: dict[str, object]) -> None:
    assert matches(value, value)


@given(LEAF, LEAF)
def test_one_of_less_equal_and_greater_holds_of_what_can_be_compared(
    one: object, two: object
) -> None:
    less, equal, more = (matches(one, {sign: two}) for sign in ("$lt", "$eq", "$gt"))
    assert less + equal + more <= 1
    assert matches(one, {"$ne": two}) is not equal
    assert matches(one, {"$gt": two}) == matches(two, {"$lt": one})


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"\$gte"):
        check_condition({"home": {"floor": {"$above": 3}}})


def test_true_is_no_number_at_any_depth() -> None:
    assert not matches({"a": [1, {"b": 1}]}, {"a": [True, {"b": 1}]})
    assert not matches({"a": [1, {"b": 1}]}, {"a": [1, {"b": True}]})
    assert matches({"a": [1, {"b": 1}]}, {"a": [1.0, {"b": 1.0}]})
