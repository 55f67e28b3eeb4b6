"""Places of turns, as if some were never stored."""

from hypothesis import given
from hypothesis import strategies as st

from ecphoria.recall.scope import Scope


@given(gone=st.sets(st.integers(0, 40)), ordinal=st.integers(0, 60))
def test_a_place_leads_back_to_the_ordinal(gone: set[int], ordinal: int) -> None:
    scope = Scope(gone={"s": sorted(gone)})
    if ordinal not in gone:
        assert scope.ordinal("s", scope.place("s", ordinal)) == ordinal
    assert scope.ordinal("other", ordinal) == scope.ordinal(None, ordinal) == ordinal
