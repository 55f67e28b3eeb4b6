"""What a load run reports: percentiles, rates and sizes, as JSON and as they are read."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

__all__ = [
    "ClientRun",
    "ConsolidationRun",
    "CycleRun",
    "Latency",
    "LoadReport",
    "SizeRun",
    "latency",
    "ratio",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """Percentiles of one kind of call, in milliseconds."""

    p50: float
    p95: float
    p99: float
    max: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientRun:
    """Recalls of so many clients at once.

    Attributes:
        phases: By phase of the recall, `total` among them, on the service's own clock.
        ratio_p50, ratio_p95: Of `total` to one vector query on the same store, asked in turn
            with the recalls of one client.
    """

    clients: int
    recalls: int
    recalls_per_second: float
    ratio_p50: float
    ratio_p95: float
    phases: Mapping[str, Latency]


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleRun:
    """One cycle of all steps, from asking for it to its end.

    Attributes:
        episodes: That were new to it.
        steps: Seconds by step; the counts of the graph before and after are in none of them.
    """

    episodes: int
    seconds: float
    steps: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun:
    """Consolidation of one tenant's store.

    Attributes:
        first: Of all that the store has grown by since the size before.
        next: Of what was appended after that, while recalls went on.
        alone, beside: Recalls of the first strategy, one at a time, before and during it.
        slower: p95 beside it to p95 alone.
    """

    first: CycleRun
    next: CycleRun
    alone: Latency
    beside: Latency
    slower: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeRun:
    """One size of the store.

    Attributes:
        nodes: Episodes in the store, over all tenants.
        ingest_per_second: With vectors given; `ingest_encoded_per_second` with encoding.
        readable_ms: From sending an append to holding it in a recall's hits.
        nearest: The yardstick: one vector query, top 10, filtered by tenant.
        index_recall: Share of the exact ten nearest that the yardstick finds.
        seed_recall: The same of the first ten of a recall's seeds, which are fetched in excess
            and scored again.
        service_mb: Resident memory of this process: service, its clients and the made-up talk.
        consolidation: Measured last; what it appends counts for the size after.
    """

    nodes: int
    ingest_per_second: float
    ingest_encoded_per_second: float
    readable_ms: Latency
    nearest: Latency
    index_recall: float
    seed_recall: float
    service_mb: float
    server_mb: float
    strategies: Mapping[str, tuple[ClientRun, ...]]
    consolidation: ConsolidationRun | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadReport:
    """A whole run.

    Attributes:
        bytes_per_episode: On disk at the last size, after the store was stopped: indexes and
            the empty store's own files included, transaction logs left out.
    """

    version: str
    engine: Mapping[str, str]
    embedder: str
    seed: int
    tenants: int
    cores: int
    bytes_per_episode: float
    sizes: tuple[SizeRun, ...]
    suite: str = "load"

    def to_json(self) -> dict[str, object]:
        """Give plain values for a file."""
        return asdict(self)


def latency(milliseconds: Sequence[float]) -> Latency:
    """Take percentiles, linearly interpolated."""
    p50, p95, p99 = np.percentile(milliseconds, (50, 95, 99))
    return Latency(p50=float(p50), p95=float(p95), p99=float(p99), max=max(milliseconds))


def ratio(value: float, yardstick: float) -> float:
    """Divide; nothing measured counts as 0."""
    return value / yardstick if yardstick > 0 else 0.0
