"""A fault for tests: the process dies, as by `kill -9`, at a place they name."""

import os
import signal
from collections.abc import Callable

__all__ = ["killer"]


def killer(named: str | None) -> Callable[[str], None]:
    """Make what ends this process at the named place, or never without a name."""

    def pass_by(place: str) -> None:
        if place == named:
            os.kill(os.getpid(), signal.SIGKILL)

    return pass_by
