"""Places of turns, as if some were never stored."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.recall.scope import Scope, first_after
from ecphoria.records.fact import UNENDING

AT = datetime(2024, 5, 2, tzinfo=UTC)
TICK = timedelta(microseconds=1)


@given(gone=st.sets(st.integers(0, 40)), ordinal=st.integers(0, 60))
def test_a_place_leads_back_to_the_ordinal(gone: set[int], ordinal: int) -> None:
    scope = Scope(gone={"s": sorted(gone)})
    if ordinal not in gone:
        assert scope.ordinal("s", scope.place("s", ordinal)) == ordinal
    assert scope.ordinal("other", ordinal) == scope.ordinal(None, ordinal) == ordinal


@pytest.mark.parametrize(
    ("at", "before", "wanted"),
    [
        (None, None, None),
        (None, AT, AT),
        (AT, None, AT + TICK),
        (AT, AT, AT),
        (AT, AT + 2 * TICK, AT + TICK),
        (UNENDING, None, None),
        (UNENDING, AT, AT),
    ],
)
def test_a_scope_ends_after_its_instant(
    at: datetime | None, before: datetime | None, wanted: datetime | None
) -> None:
    assert first_after(at, before) == wanted
