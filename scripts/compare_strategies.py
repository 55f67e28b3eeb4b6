"""Set the strategies beside each other, from reports of `ecphoria eval`: tables and a picture.

`python -m scripts.compare_strategies LoCoMo=locomo.json MuSiQue=musique.json` prints the tables of
docs/evaluation/strategies.md and draws docs/images/strategies.svg. Several reports of one data
set may be given: a strategy's figure is the first report's that has it.
"""

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURE = Path(__file__).parent.parent / "docs" / "images" / "strategies.svg"
MECHANISMS = ("synapse", "cls", "actr", "synaptic", "ecphory", "ppr")
GROUPS = {
    "on the default's text score": ("", "cls:w_activation=0,w_bridge=0", "o"),
    "on plain fusion": (":base=fusion", "cls:base=fusion,w_activation=0,w_bridge=0", "s"),
    "preset paper": (":preset=paper", "", "x"),
}
"""What follows a mechanism's name, the arm of its base alone, and the mark in the picture."""
WHOLE = ("ecphoria", "fusion", "lexical", "dense")

Figures = dict[str, dict[str, float]]


def main() -> None:
    """Read, print, draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reports", nargs="+", metavar="NAME=REPORT")
    found: dict[str, Figures] = {}
    for given in parser.parse_args().reports:
        name, equals, path = given.partition("=")
        if not equals:
            parser.error(f"write NAME=REPORT instead of {given}")
        read = json.loads(Path(path).read_text(encoding="utf-8"))["strategies"]
        found[name] = {**read, **found.get(name, {})}
    for title, (suffix, base, _) in GROUPS.items():
        rows = {one: one + suffix for one in MECHANISMS}
        print_table(title, ({"the base alone": base} if base else {}) | rows, found)
    print_table("whole strategies", {one: one for one in WHOLE}, found)
    draw(found)


def print_table(title: str, rows: dict[str, str], found: dict[str, Figures]) -> None:
    """Print R@5 / R@10 of each arm on each data set, in points."""
    print(f"\n| {title} | {' | '.join(found)} |\n|{'---|' * (len(found) + 1)}")
    for label, arm in rows.items():
        cells = [both(figures.get(arm)) for figures in found.values()]
        print(f"| `{label}` | {' | '.join(cells)} |")


def both(figures: dict[str, float] | None) -> str:
    """Write R@5 and R@10."""
    if figures is None:
        return "-"
    return f"{100 * figures['recall@5']:.1f} / {100 * figures['recall@10']:.1f}"


def draw(found: dict[str, Figures]) -> None:
    """Draw a panel for each data set: a line for each mechanism, a mark for each way it runs."""
    from matplotlib import rc_context  # noqa: PLC0415 (extra `eval`)
    from matplotlib.figure import Figure  # noqa: PLC0415

    with rc_context({"svg.hashsalt": "ecphoria", "svg.fonttype": "none"}):
        figure = Figure(figsize=(10.0, 3.4), layout="constrained")
        panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
        for axes, (name, figures) in zip(panels, found.items(), strict=True):
            draw_panel(axes, name, figures)
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=5, frameon=False)
        figure.savefig(PICTURE, metadata={"Date": None})


def draw_panel(axes: "Axes", name: str, figures: Figures) -> None:
    """Draw one data set."""
    for title, (suffix, _, mark) in GROUPS.items():
        points = [
            (100 * figures[arm]["recall@10"], place)
            for place, one in enumerate(MECHANISMS)
            if (arm := one + suffix) in figures
        ]
        # Drawn even without a point: the legend is that of the first panel.
        axes.scatter(
            [at for at, _ in points],
            [place for _, place in points],
            marker=mark,
            s=28,
            label=title,
        )
    for strategy, style in (("ecphoria", "-"), ("fusion", ":")):
        if strategy in figures:
            at = 100 * figures[strategy]["recall@10"]
            axes.axvline(at, linestyle=style, color="black", linewidth=1.0, label=strategy)
    axes.set_yticks(range(len(MECHANISMS)), MECHANISMS)
    axes.set_title(name, fontsize=10)
    axes.set_xlabel("R@10, points")
    axes.grid(axis="x", alpha=0.25)


if __name__ == "__main__":
    main()
