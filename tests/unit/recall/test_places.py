"""A cache of places gives what the store would, whatever was read before."""

from hypothesis import given
from hypothesis import strategies as st

from ecphoria.recall.cache import Place, PositionCache
from ecphoria.recall.ports import Window

LENGTHS = {"a": 30, "b": 4, "c": 0}
STORED = [
    *(
        Place(session, ordinal, 100 * number + ordinal, f"{session}{ordinal}")
        for number, (session, length) in enumerate(LENGTHS.items())
        for ordinal in range(length)
    ),
    Place("", -1, 900, "note"),
]
windows = st.builds(
    lambda session, first, size: Window(session=session, first=first, last=first + size),
    st.sampled_from(sorted(LENGTHS)),
    st.integers(0, 28),
    st.integers(0, 12),
)
asked = st.tuples(
    st.lists(st.sampled_from(["note", "a3", "b1", "gone"]), max_size=3, unique=True),
    st.lists(windows, max_size=5),
)


def stored(ids: list[str], asked_windows: list[Window]) -> list[Place]:
    """Answer as the store does: each once, in order."""
    return sorted(
        place
        for place in STORED
        if place.id in ids
        or any(
            window.session == place.session and window.first <= place.ordinal <= window.last
            for window in asked_windows
        )
    )


@given(st.lists(asked, max_size=6))
def test_every_answer_is_the_stores(questions: list[tuple[list[str], list[Window]]]) -> None:
    cache = PositionCache()
    for ids, around in questions:
        new_ids, new_windows = cache.unknown(ids, around)
        cache.learn(new_ids, new_windows, stored(new_ids, new_windows))
        assert cache.unknown(ids, around) == ([], [])
        assert cache.read(ids, around) == stored(ids, around)


def test_only_what_is_not_known_is_read() -> None:
    cache = PositionCache()
    first = [Window(session="a", first=2, last=5)]
    cache.learn([], first, stored([], first))
    assert len(cache) == 4
    wider = [Window(session="a", first=0, last=8)]
    assert cache.unknown(["a3"], wider) == (
        ["a3"],
        [Window(session="a", first=0, last=1), Window(session="a", first=6, last=8)],
    )


def test_where_nobody_stands_is_remembered_too() -> None:
    cache = PositionCache()
    beyond = [Window(session="b", first=3, last=9)]
    cache.learn(["gone"], beyond, stored(["gone"], beyond))
    assert cache.unknown(["gone"], beyond) == ([], [])
    assert [place.ordinal for place in cache.read(["gone"], beyond)] == [3]
