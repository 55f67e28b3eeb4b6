import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecphoria.maths.retention import retention_score

share = st.floats(0, 1)


def test_the_worked_example() -> None:
    np.testing.assert_allclose(retention_score([0.2], [0.5], [0.7], [0.4]), [0.54], atol=1e-12)


@given(share, share, share, share, share)
def test_more_of_anything_is_never_worth_less(
    recalled: float, held: float, prior: float, importance: float, more: float
) -> None:
    low = [recalled, held, prior, importance]
    base = retention_score(*([one] for one in low))[0]
    assert 0 <= base <= 1
    for place in range(4):
        high = [*low[:place], max(low[place], more), *low[place + 1 :]]
        assert retention_score(*([one] for one in high))[0] >= base - 1e-12
