"""NeuromemoryAI in plain loops: equations 7 and 8."""

import math
from collections.abc import Mapping, Sequence


def activation(
    ages_s: list[float],
    context: Sequence[str],
    links: Mapping[tuple[str, str], float],
    memory: str,
    importance: float,
    *,
    d: float = 0.5,
    gamma: float = 0.5,
) -> tuple[float, float, float]:
    """Equation 7: base level, spreading and importance; a use less than a second ago is of 1 s.

    The paper leaves W_j open; as in ACT-R all of the context share a sum of 1. It prints no gamma
    either; .5 is that of its published code.
    """
    base = 0.0
    for age in ages_s:
        base += max(1.0, age) ** -d
    spreading = 0.0
    for j in context:
        spreading += links.get((j, memory), 0.0) / len(context)
    return math.log(base), spreading, gamma * importance


def retrieved(activations: list[float], tau: float) -> list[float]:
    """Equation 8."""
    odds = [math.exp(a / tau) for a in activations]
    return [one / sum(odds) for one in odds]
