"""Draw what a gate is worth from the questions that `ecphoria calibrate --judged FILE` wrote.

`python -m scripts.draw_gate JUDGED.jsonl docs/images/gate.svg` writes two panels: the share of
unanswerable questions refused over the share of answerable ones refused with them, and how often
a confidence was right. Prints the figures by kind of question. Every question was judged by a fit
that had not seen its conversation.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

from ecphoria.calibration.separation import auroc, refusal_at
from ecphoria.records.calibration import Judged

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOUR, _PALE = "#2a8c82", "#9fb8b5"
_BINS = 8


def main(source: Path, target: Path) -> None:
    """Read the judged questions, print figures, draw."""
    lines = source.read_text(encoding="utf-8").splitlines()
    judged = [Judged(**json.loads(line)) for line in lines]
    tell(judged)
    with rc_context({"svg.hashsalt": "ecphoria", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9.0, 3.9), layout="constrained")
        left, right = figure.subplots(1, 2)
        draw_refusals(left, judged)
        draw_reliability(right, judged)
        figure.savefig(target, metadata={"Date": None})


def tell(judged: Sequence[Judged]) -> None:
    """Print AUROC and refusals of all questions, and of harder kinds of them."""
    kinds = {
        "all": list(judged),
        "naming exactly one": [one for one in judged if one.evidence["names_one"]],
        "and not asking when": [
            one for one in judged if one.evidence["names_one"] and not one.evidence["asks_when"]
        ],
        **{name: [one for one in judged if one.group == name] for name in groups(judged)},
    }
    for name, some in kinds.items():
        yes, no = split(some)
        counts = f"{name}: {len(yes)} + {len(no)}"
        if not (yes and no):
            print(f"{counts}, so nothing to tell apart")
            continue
        refused = [refusal_at(yes, no, rate) for rate in (0.021, 0.05, 0.10)]
        print(
            f"{counts}, AUROC {auroc(yes, no):.3f}, refused at 2.1, 5, 10 %:"
            f" {', '.join(f'{one:.1%}' for one in refused)}"
        )


def draw_refusals(axes: "Axes", judged: Sequence[Judged]) -> None:
    """Draw refused against falsely refused, whole and for each conversation."""
    rates = np.linspace(0, 0.3, 121)
    each = [[one for one in judged if one.group == name] for name in groups(judged)]
    looks = [(some, _PALE, 1.0) for some in each] + [(judged, _COLOUR, 2.5)]
    for some, colour, width in looks:
        yes, no = split(some)
        if yes and no:
            curve = [100 * refusal_at(yes, no, rate) for rate in rates]
            axes.plot(100 * rates, curve, color=colour, linewidth=width)
    axes.plot([0, 30], [0, 30], color="black", linewidth=0.6, linestyle=":")
    axes.set_xlabel("answerable questions refused, %")
    axes.set_ylabel("unanswerable questions refused, %")
    axes.set_xlim(0, 30)
    axes.set_ylim(0, 100)
    axes.grid(alpha=0.25)
    axes.set_title("all conversations, and each (pale)", fontsize=10)


def draw_reliability(axes: "Axes", judged: Sequence[Judged]) -> None:
    """Draw the share that was answerable over the confidence, both kinds weighing the same."""
    sure = np.array([one.confidence for one in judged])
    right = np.array([one.answerable for one in judged])
    weight = np.where(right, 0.5 / right.sum(), 0.5 / (~right).sum())
    order = np.argsort(sure, kind="stable")
    # Bins of equal weight, so that each point rests on as much.
    place = np.minimum((np.cumsum(weight[order]) * _BINS).astype(int), _BINS - 1)
    points = []
    for number in range(_BINS):
        rows = order[place == number]
        if not rows.size:  # a single question can weigh more than a bin
            continue
        mass = weight[rows].sum()
        points.append((weight[rows] @ sure[rows] / mass, weight[rows] @ right[rows] / mass))
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.6, linestyle=":")
    axes.plot(*zip(*points, strict=True), color=_COLOUR, marker="o", linewidth=2)
    axes.set_xlabel("confidence")
    axes.set_ylabel("share answerable, both kinds weighing alike")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.25)
    axes.set_title(f"reliability, {_BINS} bins", fontsize=10)


def groups(judged: Sequence[Judged]) -> list[str]:
    """Name the conversations."""
    return sorted({one.group for one in judged})


def split(judged: Sequence[Judged]) -> tuple[list[float], list[float]]:
    """Part the confidences of answerable and unanswerable questions."""
    yes = [one.confidence for one in judged if one.answerable]
    return yes, [one.confidence for one in judged if not one.answerable]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
