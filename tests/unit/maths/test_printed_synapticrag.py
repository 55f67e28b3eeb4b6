"""The kernels against the printed equations of SynapticRAG in plain loops."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ecphoria.maths.spiking import alignment, leak, peak, printed_tau, transmission
from tests.printed.synapticrag import Constants, Memory, p_score, stepped, t_score

C = Constants()
TRAIN = st.lists(st.integers(0, 120), min_size=1, max_size=6, unique=True).map(sorted)


def test_the_printed_example() -> None:
    """Cosine .8, 400 turns apart: what passes is .46 times .5 times .8."""
    old = Memory(name="old", vector=[1.0, 0.0], train=[0], tau=C.tau_init)
    new = Memory(name="new", vector=[0.8, 0.6], train=[400], tau=C.tau_init)
    assert p_score(old, new, C) == pytest.approx(0.184, abs=1e-9)
    tau = C.tau_init * C.tau_scale / C.t_scale
    t = alignment([[0]], [[400]], [tau], printed=True)
    found = C.p_scale * transmission([0.8], t, floor=0.0, most=1.0)[0]
    assert found == pytest.approx(0.184, abs=1e-9)


@given(TRAIN, TRAIN, st.floats(1, 200))
def test_the_alignment(a: list[int], b: list[int], tau: float) -> None:
    found = alignment([a], [b], [tau * C.tau_scale / C.t_scale], printed=True)[0]
    assert found == pytest.approx(t_score(a, b, tau, C), abs=1e-12)


@example(-1.0, 2.2e-313, 0.0, 20.0)
@given(st.floats(-3, 3), st.floats(-8, 1), st.floats(0, 400), st.floats(20, 200))
def test_the_membrane(v: float, i: float, turns: float, tau: float) -> None:
    level, drive = leak([v], [i], [turns], [tau])
    slow_v, slow_i, _ = stepped(v, i, turns, tau)
    assert (level[0], drive[0]) == pytest.approx((slow_v, slow_i), abs=1e-7)
    ahead = stepped(v, i, 12 * tau, tau)[2]
    assert max(0.0, peak(np.array([v]), np.array([i]))[0]) == pytest.approx(
        max(0.0, ahead), abs=1e-4
    )


@pytest.mark.parametrize(("gap", "step"), [(0.0, 0.0), (7.93, 0.999281), (39.65, 1.0)])
def test_the_time_constant_counts_stimuli(gap: float, step: float) -> None:
    assert printed_tau([43.07], [gap])[0] == pytest.approx(43.07 + step, abs=1e-6)
