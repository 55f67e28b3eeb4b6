"""Stability that grows by a tenth with each use, whatever the pause (NeuromemoryAI, Eq. 9)."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from ecphoria.mechanisms.history import Uses
from ecphoria.records.history import DAY_MS, FIRST_STABILITY, Use

USED = Use.fresh(0)


@pytest.mark.parametrize("uses", [0, 1, 10, 10_000])
def test_each_use_counts_the_same(uses: int) -> None:
    days = 20
    told = replace(USED, count=1 + uses, stability=999.0)
    now = datetime.fromtimestamp(days * DAY_MS / 1e3, tz=UTC)
    stability = min(3650.0, FIRST_STABILITY * 1.1 ** min(uses, 100))
    found = Uses.told([told], now, 0.5, evenly=True)
    assert found.recalled[0] == pytest.approx(np.exp(-days / stability))
    spaced = Uses.told([told], now, 0.5)
    assert spaced.recalled[0] == pytest.approx(np.exp(-days / 999.0))
