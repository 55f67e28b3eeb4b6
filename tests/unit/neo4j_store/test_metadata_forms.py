"""Texts by which a query finds the metadata that may meet conditions."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ecphoria.neo4j_store.filters import forms_of, metadata_text
from ecphoria.records.conditions import OPERATORS, meets

NAMES = st.sampled_from(["a", '"a', "a b", "$gt", "", "\\", "{", "größe", "\n"]) | st.text(
    max_size=3
)
VALUES = (
    st.booleans()
    | st.sampled_from([0, 1, -0.0, 1e16, 10**16, 2**53 + 1, 0.1, -(2**63), 2**63 - 1])
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=4)
)
CONDITIONS = VALUES | st.dictionaries(st.sampled_from(OPERATORS), VALUES, min_size=1, max_size=2)


def _could_meet(text: str, wanted: dict[str, Any]) -> bool:
    return all(any(form in text for form in forms) for forms in forms_of(wanted))


@given(st.dictionaries(NAMES, VALUES, max_size=4), st.data())
def test_what_meets_conditions_has_a_form_of_each(
    stored: dict[str, Any], data: st.DataObject
) -> None:
    names = st.sampled_from([*stored, "a"])
    wanted = data.draw(st.dictionaries(names, CONDITIONS, max_size=2))
    if meets(stored, wanted):
        assert _could_meet(metadata_text(stored), wanted)


@given(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), st.data())
def test_an_entry_is_found_by_each_number_that_equals_it(
    stored: dict[str, Any], data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from([*stored]))
    value = stored[name]
    same = [value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        same += [each for each in (float(value), int(value)) if each == value]
    for each in same:
        assert meets(stored, {name: each})
        assert _could_meet(metadata_text(stored), {name: each})


def test_numbers_that_json_cannot_write_meet_nothing() -> None:
    for odd in (float("nan"), float("inf"), 10**400):
        assert not meets({"a": 1}, {"a": odd})
        assert not _could_meet(metadata_text({"a": 1}), {"a": odd})
