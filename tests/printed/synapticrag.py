"""SynapticRAG in plain loops: equations 1 to 18 with the scaling constants of appendix C.

Where the paper leaves something open: a memory begins at V = I = 0 with one spike at its own
turn, and is judged by the largest potential it reaches without a further stimulus, which is found
by stepping through equations 16 and 17.
"""

import math
from dataclasses import dataclass, field


@dataclass(slots=True, kw_only=True)
class Constants:
    """The nine parameters, as printed in the text; the scales are those of table 4."""

    cos_th: float = 0.262
    v_th: float = 0.099
    stim_th: float = 0.037
    tau_init: float = 43.07
    v_rest: float = 2.903
    i_rest: float = -7.128
    tau_scale: float = 2.704
    t_scale: float = 7.93
    p_scale: float = 0.46


@dataclass(slots=True, kw_only=True)
class Memory:
    """A node: its vector, spike train, time constant and membrane."""

    name: str
    vector: list[float]
    train: list[int]
    tau: float
    v: float = 0.0
    i: float = 0.0
    at: int = field(default=0)


def cosine(a: list[float], b: list[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a)) / math.sqrt(sum(y * y for y in b))


def t_score(a: list[int], b: list[int], tau: float, c: Constants) -> float:
    """Equations 1 to 5."""
    w = [[math.exp(-c.t_scale * abs(x - y) / (c.tau_scale * tau)) for y in b] for x in a]
    best = [[0.0] * len(b) for _ in a]
    for i in range(len(a)):
        best[i][0] = sum(w[k][0] for k in range(i + 1))
    for j in range(len(b)):
        best[0][j] = sum(w[0][k] for k in range(j + 1))
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            best[i][j] = w[i][j] + max(best[i - 1][j], best[i][j - 1], best[i - 1][j - 1])
    return 1.0 / (1.0 + math.exp(-best[-1][-1]))


def p_score(a: Memory, b: Memory, c: Constants) -> float:
    """Equation 6, scaled."""
    t = t_score(a.train, b.train, 0.5 * (a.tau + b.tau), c)
    return c.p_scale * t * cosine(a.vector, b.vector)


def stepped(v: float, i: float, turns: float, tau: float) -> tuple[float, float, float]:
    """Equations 16 and 17 without a stimulus, by Runge and Kutta: V, I and the largest V."""
    top = v
    steps = math.ceil(turns / (tau / 500.0))
    for _ in range(steps):
        h = turns / steps / tau
        v1, i1 = i - v, -i
        v2, i2 = (i + h / 2 * i1) - (v + h / 2 * v1), -(i + h / 2 * i1)
        v3, i3 = (i + h / 2 * i2) - (v + h / 2 * v2), -(i + h / 2 * i2)
        v4, i4 = (i + h * i3) - (v + h * v3), -(i + h * i3)
        v, i = v + h / 6 * (v1 + 2 * v2 + 2 * v3 + v4), i + h / 6 * (i1 + 2 * i2 + 2 * i3 + i4)
        top = max(top, v)
    return v, i, top


def membrane(
    memory: Memory, stimulus: float, turn: int, c: Constants
) -> tuple[float, float, float]:
    """V, I and the largest V to come, just after a stimulus at a turn; a stimulus adds S / tau."""
    tau = c.tau_scale * memory.tau
    v, i, _ = stepped(memory.v, memory.i, c.t_scale * (turn - memory.at), tau)
    i += stimulus / tau
    return v, i, stepped(v, i, 12.0 * tau, tau)[2]


@dataclass(slots=True, kw_only=True)
class Found:
    """What a walk found of one memory."""

    layer: int
    parent: str
    stimulus: float
    peak: float
    fired: bool


def propagate(
    memories: list[Memory], cue: list[float], turn: int, c: Constants
) -> dict[str, Found]:
    """Equations 7 to 15: layer by layer from the cue, until nobody passes anything on."""
    start = Memory(name="cue", vector=cue, train=[turn], tau=c.tau_init)
    held = {"cue": 1.0}
    found: dict[str, Found] = {}
    parents, number = [start], 0
    while parents:
        number += 1
        layer: dict[str, Found] = {}
        for child in memories:
            if child.name in held:
                continue
            best, chosen = -1.0, None
            for parent in parents:
                if cosine(parent.vector, child.vector) > c.cos_th:
                    passed = held[parent.name] * p_score(parent, child, c)
                    if passed > best:
                        best, chosen = passed, parent
            if chosen is not None:
                _, _, peak = membrane(child, best, turn, c)
                layer[child.name] = Found(
                    layer=number, parent=chosen.name, stimulus=best, peak=peak,
                    fired=peak >= c.v_th,
                )  # fmt: skip
        found |= layer
        held |= {name: one.stimulus for name, one in layer.items()}
        parents = [
            memory
            for memory in memories
            if memory.name in layer
            and layer[memory.name].stimulus > c.stim_th
            and not layer[memory.name].fired
        ]
    return found


def learn(memories: list[Memory], found: dict[str, Found], turn: int, c: Constants) -> None:
    """Store what a recall left behind: charge or reset, a spike, and equation 18."""
    for memory in memories:
        if memory.name not in found:
            continue
        one = found[memory.name]
        v, i, _ = membrane(memory, one.stimulus, turn, c)
        gap = c.t_scale * (turn - memory.train[-1])
        memory.v, memory.i = (c.v_rest, c.i_rest) if one.fired else (v, i)
        memory.tau += (1.0 - math.exp(-gap)) / (1.0 + math.exp(-gap))
        memory.at = turn
        if memory.train[-1] != turn:
            memory.train.append(turn)
