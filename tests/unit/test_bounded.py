"""A bounded map keeps the entries that were written last, and measures each when it is written."""

from hypothesis import given
from hypothesis import strategies as st

from ecphoria.runtime import Bounded


@given(st.lists(st.tuples(st.sampled_from("wpt"), st.integers(0, 5), st.integers(0, 4))))
def test_the_newest_entries_within_the_bound_are_kept(steps: list[tuple[str, int, int]]) -> None:
    kept, wanted = Bounded[int, list[int]](7, len), dict[int, list[int]]()
    for step, key, size in steps:
        known = wanted.pop(key, None)
        if step == "w":
            kept[key] = wanted[key] = [0] * size
        elif step == "p":
            assert kept.pop(key, None) == known
        elif known is not None:
            known.append(1)
            wanted[key] = known
        if step == "t":
            kept.touch(key)
        while sum(map(len, wanted.values())) > 7:
            del wanted[next(iter(wanted))]
        assert list(kept.items()) == list(wanted.items())


def test_a_write_measures_one_entry() -> None:
    measured = list[int]()

    def size(value: int) -> int:
        measured.append(value)
        return 1

    kept = Bounded[int, int](100, size)
    kept.update({number: number for number in range(50)})
    measured.clear()
    kept.touch(3)
    assert measured == [3]
    kept.clear()
    assert not kept
