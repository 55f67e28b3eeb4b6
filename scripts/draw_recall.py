"""Draw the picture of the README: what `ecphoria demo` prints for its first question.

python -m scripts.draw_recall
"""

import os
import re
import subprocess
from pathlib import Path

from rich.console import Console
from rich.text import Text

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "recall.svg"
WIDTH = 84


def main() -> None:
    """Run the demo and write the picture."""
    done = subprocess.run(
        ["ecphoria", "demo"],  # noqa: S607 (the command of this environment)
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH)},  # noqa: TID251
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True,
        text=True,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    plain = [Text.from_ansi(line).plain for line in lines]
    first, second = (
        next(place for place, line in enumerate(plain) if re.match(rf"{number}  \S", line))
        for number in (1, 2)
    )
    console = Console(record=True, width=WIDTH, file=open(os.devnull, "w"))  # noqa: SIM115, PTH123
    for line in lines[first : second - 1]:
        console.print(Text.from_ansi(line))
    console.save_svg(str(PICTURE), title="ecphoria demo")


if __name__ == "__main__":
    main()
