"""Namespaces as they are stored."""

from hypothesis import given
from hypothesis import strategies as st

from ecphoria.items.store import path_of

LABELS = st.lists(st.text(alphabet="ab ./", min_size=1, max_size=3), max_size=3)


@given(LABELS, LABELS)
def test_a_path_begins_with_another_where_its_labels_do(one: list[str], other: list[str]) -> None:
    begins = one[: len(other)] == other
    assert path_of(tuple(one)).startswith(path_of(tuple(other))) is begins
