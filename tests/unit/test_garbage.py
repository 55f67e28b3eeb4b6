"""The collector of a serving process looks seldom, and no longer at what start-up made."""

import gc
from collections.abc import Iterator

import pytest

from ecphoria.runtime import tune_garbage_collection


@pytest.fixture(autouse=True)
def as_it_was() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_it_looks_after_many_objects_and_leaves_old_ones_alone() -> None:
    tune_garbage_collection()
    assert gc.get_threshold()[0] >= 50_000
    assert gc.get_freeze_count() > 0


def test_a_cycle_is_still_found() -> None:
    tune_garbage_collection()
    knot: list[object] = []
    knot.append(knot)
    del knot
    assert gc.collect() >= 1
