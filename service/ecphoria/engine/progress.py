"""What the engine tells its caller while it works, without knowing who draws it."""

import enum
import threading
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Meter", "Progress", "Report", "Stage", "silent"]


class Stage(enum.StrEnum):
    """One step of bringing the server up, in the order in which they happen."""

    WAIT = "waiting for another process that is starting the engine"
    FETCH = "fetching Neo4j and GDS"
    PREPARE = "preparing the data directory"
    START = "starting Neo4j"
    READY = "ready"


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """One report. `done` and `total` are bytes in FETCH and zero elsewhere; `eta` is seconds."""

    stage: Stage
    done: int = 0
    total: int = 0
    eta: float | None = None


Report = Callable[[Progress], None]


def silent(_: Progress) -> None:
    """Ignore every report."""


class Meter:
    """Counts bytes from several threads and reports at most every `interval` seconds."""

    def __init__(
        self, total: int, report: Report, clock: Callable[[], float], interval: float = 0.2
    ) -> None:
        self._total = total
        self._report = report
        self._clock = clock
        self._interval = interval
        self._guard = threading.Lock()
        self._began = self._last = clock()
        self._found = self._received = 0

    def found(self, size: int) -> None:
        """Count bytes that were in the cache already: done, but no measure of the speed."""
        with self._guard:
            self._found += size
            self._tell()

    def received(self, size: int) -> None:
        """Count bytes as they arrive from the network."""
        with self._guard:
            self._received += size
            self._tell()

    def _tell(self) -> None:
        now = self._clock()
        if now - self._last < self._interval:
            return
        self._last = now
        done = min(self._found + self._received, self._total)
        speed = self._received / (now - self._began)
        eta = (self._total - done) / speed if speed > 0 else None
        self._report(Progress(stage=Stage.FETCH, done=done, total=self._total, eta=eta))
