"""Spike trains, dynamic time warping and leaky integrate-and-fire nodes (SynapticRAG).

A memory's spike train is the list of turns at which it was stimulated, its append included. Two
trains are aligned in time; well-aligned trains let a stimulus pass. Source: SynapticRAG, equations
3 to 8. The paper maximises where its code minimises, and its score grows with the number of
spikes; here every alignment weighs the same (Sakoe and Chiba's symmetric steps), unless the
printed score is asked for.

Leaky integrate-and-fire nodes are computed in closed form. Source: SynapticRAG, equations 9 to 18.
Three things differ. A stimulus raises the current by its whole size, so that one stimulus can fire
a new memory; the caller may divide it by tau, as printed. Firing is judged by the projected peak,
because the potential is highest tau turns after the stimulus, later than the answer. Rest and
reset are 0 unless the caller gives others.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.maths.adjacency import strongest
from ecphoria.maths.arrays import BoolArray, FloatArray, IntArray, floats, ints

MOST_SPIKES: Final = 16
"""Longest train that is kept: the latest spikes."""
MOST_ALIGNMENT: Final = float(np.tanh(0.5))
"""Alignment of identical trains, 0.462117."""


def alignment(
    one: ArrayLike, other: ArrayLike, tau: ArrayLike, *, printed: bool = False
) -> FloatArray:
    """Align trains pair by pair by dynamic time warping; O(q MOST_SPIKES^2).

    ```
    W(i,j) = exp(-|t_i - t_j| / tau)
    L(i,j) = max(L(i-1,j) + W, L(i,j-1) + W, L(i-1,j-1) + 2 W),   L(1,1) = 2 W
    T      = tanh(L(n,m) / (2 (n + m)))                            in (0, tanh .5]
    ```

    As printed (SynapticRAG, equations 1 to 5) every step adds W once, L(1,1) is W, and
    `T = 1 / (1 + exp(-L(n,m)))` in (.5, 1).

    Args:
        one: int [q, a], turns of the first train of each pair, padded behind with -1; a <= 16.
        other: int [q, b], turns of the second.
        tau: [q] > 0, mean time constant of the pair, in turns.
        printed: whether to score as the paper prints it.

    Returns:
        T [q]; 0 where a train is empty.

    >>> alignment([[1, 5, 9]], [[2, 6, 20]], [43.07]).round(5)
    array([0.43655])
    >>> alignment([[0]], [[400]], [43.07], printed=True).round(5)
    array([0.50002])
    """
    first, second, constant = ints(one), ints(other), floats(tau)
    pairs = len(constant)
    lengths = np.stack(((first >= 0).sum(axis=1), (second >= 0).sum(axis=1)))
    aligned = np.zeros((pairs, first.shape[1], second.shape[1]))
    for i in range(first.shape[1]):
        for j in range(second.shape[1]):
            weight = np.exp(-np.abs(first[:, i] - second[:, j]) / constant)
            aligned[:, i, j] = _best(aligned, weight, i, j, diagonal=1.0 if printed else 2.0)
    both = (lengths > 0).all(axis=0)
    last = np.maximum(lengths - 1, 0)
    reached = aligned[np.arange(pairs), last[0], last[1]] if aligned.size else np.zeros(pairs)
    if printed:
        return np.where(both, 1.0 / (1.0 + np.exp(-reached)), 0.0)
    cells = np.maximum(1, lengths.sum(axis=0))
    return np.where(both, np.tanh(reached / (2.0 * cells)), 0.0)


def transmission(
    cosine: ArrayLike, aligned: ArrayLike, *, floor: float = 0.5, most: float = MOST_ALIGNMENT
) -> FloatArray:
    """Compute the share of a stimulus that passes: `cos+ (omega + (1 - omega) T / most)`; O(q).

    Args:
        cosine: [q] in [-1, 1]; below 0 nothing passes.
        aligned: T [q] in [0, most].
        floor: omega in [0, 1], what passes between memories far apart in time. In the paper T
            never falls below 1/2, the only reason why an old memory can fire.
        most: largest T, of identical trains. With a floor of 0 and a most of 1 this is Eq. 6.

    >>> transmission([0.5, -0.2], [MOST_ALIGNMENT, 0.1])
    array([0.5, 0. ])
    """
    near = np.clip(floats(cosine), 0.0, 1.0)
    return near * (floor + (1.0 - floor) * floats(aligned) / most)


def join(
    turns: ArrayLike, strengths: ArrayLike, *, turn: int, strength: float
) -> tuple[IntArray, FloatArray]:
    """Add a spike to one train: one a turn, the larger strength wins, the latest 16 stay.

    Args:
        turns: int [s], ascending.
        strengths: [s] >= 0.
        turn: >= 0.
        strength: >= 0.

    >>> join([3, 7], [1.0, 0.2], turn=7, strength=0.5)
    (array([3, 7]), array([1. , 0.5]))
    """
    before, size = ints(turns), floats(strengths)
    place = int(np.searchsorted(before, turn))
    if place < before.size and before[place] == turn:
        size = size.copy()
        size[place] = max(size[place], strength)
    else:
        before, size = np.insert(before, place, turn), np.insert(size, place, strength)
    return before[-MOST_SPIKES:], size[-MOST_SPIKES:]


def _best(
    aligned: FloatArray, weight: FloatArray, i: int, j: int, *, diagonal: float
) -> FloatArray:
    """Extend the best alignment into cell (i, j)."""
    if i == 0 and j == 0:
        return diagonal * weight
    ways = []
    if i:
        ways.append(aligned[:, i - 1, j] + weight)
    if j:
        ways.append(aligned[:, i, j - 1] + weight)
    if i and j:
        ways.append(aligned[:, i - 1, j - 1] + diagonal * weight)
    best: FloatArray = np.maximum.reduce(ways)
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """The state of a memory after it fired.

    Attributes:
        potential, current: V and I after firing.
        drives: Whether they also drive a memory that is left alone, as in the code that the
            authors published; the printed equations have no such term.
    """

    potential: float = 0.0
    current: float = 0.0
    drives: bool = False

    @property
    def shift(self) -> float:
        """The potential everything leaks to."""
        return self.potential - self.current if self.drives else 0.0

    @property
    def drive(self) -> float:
        """Extra current of a memory without neighbours."""
        return self.current if self.drives else 0.0


_UNIT: Final = 20.0
"""Turns between two spikes that count as far apart."""
REST = Rest()
"""No drive: what is not stimulated falls silent."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Firing:
    """Memories after a stimulus; n each.

    Attributes:
        potential, current: V and I just after the stimulus, before a reset.
        peak: the largest potential yet to come, without further stimuli.
        fired: whether that reaches the threshold and there was a stimulus.
    """

    potential: FloatArray
    current: FloatArray
    peak: FloatArray
    fired: BoolArray

    def after(self, rest: Rest = REST) -> tuple[FloatArray, FloatArray]:
        """Return V and I after firing: fired memories are reset."""
        return (
            np.where(self.fired, rest.potential, self.potential),
            np.where(self.fired, rest.current, self.current),
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Layer:
    """One layer of a stimulus under way.

    Attributes:
        stimulus: [n], 0 for nodes not in this layer.
        parent: int [n], who stimulated each node most, -1 for none.
    """

    stimulus: FloatArray
    parent: IntArray


def leak(
    potential: ArrayLike,
    current: ArrayLike,
    turns: ArrayLike,
    tau: ArrayLike,
    *,
    rest: Rest = REST,
) -> tuple[FloatArray, FloatArray]:
    """Let turns pass: `V(t) = (V + I t / tau) e^(-t/tau)`, `I(t) = I e^(-t/tau)`; O(n).

    Exact for the paper's two equations. Where a rest drives, V - shift and I + drive stand for V
    and I.

    Args:
        potential: V [n].
        current: I [n].
        turns: [n], turns passed; below 0 counts as 0.
        tau: [n] > 0, time constant in turns.
        rest: none by default.

    >>> v, i = leak([0.0], [0.2], [10.0], [43.07])
    >>> v.round(6), i.round(6)
    (array([0.036815]), array([0.158561]))
    """
    time, span = np.maximum(0.0, floats(turns)), floats(tau)
    level, drive = floats(potential) - rest.shift, floats(current) + rest.drive
    kept = np.exp(-time / span)
    return (level + drive * time / span) * kept + rest.shift, drive * kept - rest.drive


def peak(potential: FloatArray, current: FloatArray, rest: Rest = REST) -> FloatArray:
    """Project the largest potential: `I exp(-(1 - V/I))` if I > V, else V; O(n).

    Where a rest drives a memory upwards by itself, that rise is not counted.

    >>> peak(np.array([0.0, 0.3]), np.array([0.2, 0.1])).round(6)
    array([0.073576, 0.3     ])
    """
    level, drive = potential - rest.shift, current + rest.drive
    rising = (drive > level) & (drive > 0.0)
    safe = np.where(rising, drive, 1.0)
    with np.errstate(over="ignore"):  # a tiny drive on a low level: the power of -inf is 0
        top = safe * np.exp(np.where(rising, level / safe, 1.0) - 1.0)
    return np.where(rising, top, level) + rest.shift


def stimulate(
    potential: ArrayLike,
    current: ArrayLike,
    stimulus: ArrayLike,
    *,
    threshold: float = 0.099,
    rest: Rest = REST,
) -> Firing:
    """Add a stimulus to memories already advanced to this turn, and find those that fire; O(n).

    Args:
        potential: V [n].
        current: I [n].
        stimulus: S [n] >= 0; 0 never fires.
        threshold: V_th > 0.
        rest: none by default.

    >>> stimulate([0.0, 0.0], [0.0, 0.0], [0.2, 0.3]).fired
    array([False,  True])
    """
    v, push = floats(potential), floats(stimulus)
    charged = floats(current) + push
    top = peak(v, charged, rest)
    fired = (push > 0.0) & (top >= threshold - 1e-12)
    return Firing(potential=v, current=charged, peak=top, fired=fired)


def relay(
    parent: ArrayLike, child: ArrayLike, passed: ArrayLike, *, stimulus: ArrayLike, size: int
) -> Layer:
    """Pass a layer's stimulus on: each child takes its best parent's; O(q).

    `S_c = max over parents p of S_p * P(p, c)`; the smaller index of equal parents.

    Args:
        parent: int [q], who sends.
        child: int [q], who receives.
        passed: P [q] in [0, 1], share of the stimulus that passes.
        stimulus: S [n] >= 0 of the layer before.
        size: number of nodes n.

    >>> relay([0, 1], [2, 2], [0.5, 0.9], stimulus=[1.0, 0.5, 0.0], size=3).parent
    array([-1, -1,  0])
    """
    tail = ints(parent)
    sent = floats(stimulus)[tail] * floats(passed)
    best, received = strongest(tail, ints(child), sent, size=size)
    return Layer(stimulus=received, parent=best)


def next_tau(tau: ArrayLike, gap: ArrayLike, *, start: float = 43.07) -> FloatArray:
    """Slow a memory down with each spike: `tau + tanh(gap / 20) (1 - tau / (4 start))`; O(n).

    So tau grows with spacing and stays below 4 start; the paper's step is 1 whatever the gap.

    Args:
        tau: [n] > 0; above 4 start, as a former recall may have left it, it stays.
        gap: [n] >= 0, turns since the last spike.
        start: tau of a new memory, in turns.

    >>> next_tau([43.07, 43.07], [0.1, 10.0]).round(4)
    array([43.0737, 43.4166])
    """
    span = floats(tau)
    room = np.maximum(0.0, 1.0 - span / (4.0 * start))
    slower: FloatArray = span + np.tanh(floats(gap) / _UNIT) * room
    return slower


def printed_tau(tau: ArrayLike, gap: ArrayLike) -> FloatArray:
    """Slow a memory down as printed: `tau + (1 - e^-gap) / (1 + e^-gap)`; O(n).

    Source: SynapticRAG, Eq. 18. A gap of a few turns adds nearly 1, so it counts stimuli.

    Args:
        tau: [n] > 0.
        gap: [n] >= 0, scaled turns since the last spike.

    >>> printed_tau([43.07, 43.07], [1.0, 7.93]).round(4)
    array([43.5321, 44.0693])
    """
    slower: FloatArray = floats(tau) + np.tanh(floats(gap) / 2.0)
    return slower
