"""What comparisons add up to, in bounded memory."""

from collections import deque
from collections.abc import Sequence

import numpy as np

from ecphoria.maths.fusion import overlap, rank_biased_overlap, rank_difference, same_first
from ecphoria.records.recall import Comparison, RecallResult, ShadowReport

WINDOW = 1_000
"""Comparisons kept of a tenant, the newest."""


class Tally:
    """Counts of one tenant's shadow, and its newest comparisons."""

    def __init__(self) -> None:
        self.compared = self.dropped = self.failed = 0
        self._newest: deque[Comparison] = deque(maxlen=WINDOW)

    def add(self, comparison: Comparison) -> None:
        """Count a comparison, and forget the oldest beyond the window."""
        self.compared += 1
        self._newest.append(comparison)

    def report(self) -> ShadowReport:
        """Add up; O(window)."""
        kept = tuple(self._newest)
        counts = ShadowReport(
            compared=self.compared, dropped=self.dropped, failed=self.failed, window=len(kept)
        )
        return _figures(counts, kept) if kept else counts


def compared(live: RecallResult, shadow: RecallResult) -> Comparison:
    """Set an answer beside that of its shadow."""
    ours = [hit.episode.id for hit in live.hits]
    theirs = [hit.episode.id for hit in shadow.hits]
    return Comparison(
        overlap=overlap(ours, theirs),
        rank_overlap=rank_biased_overlap(ours, theirs),
        same_first=same_first(ours, theirs),
        same_verdict=live.verdict is shadow.verdict,
        rank_difference=rank_difference(ours, theirs),
        live_ms=_own_ms(live),
        shadow_ms=_own_ms(shadow),
        live_tokens=live.context_tokens,
        shadow_tokens=shadow.context_tokens,
    )


def _own_ms(result: RecallResult) -> float:
    """Time without the encoder, which the shadow finds done."""
    return max(0.0, result.timings_ms["total"] - result.timings_ms["encode"])


def _figures(counts: ShadowReport, kept: Sequence[Comparison]) -> ShadowReport:
    moved = [one.rank_difference for one in kept if one.rank_difference is not None]
    live, shadow = (
        np.quantile([getattr(one, side) for one in kept], (0.5, 0.95))
        for side in ("live_ms", "shadow_ms")
    )
    return ShadowReport(
        compared=counts.compared,
        dropped=counts.dropped,
        failed=counts.failed,
        window=len(kept),
        overlap=_mean([one.overlap for one in kept]),
        rank_overlap=_mean([one.rank_overlap for one in kept]),
        rank_difference=_mean(moved) if moved else None,
        same_first=_mean([one.same_first for one in kept]),
        same_verdict=_mean([one.same_verdict for one in kept]),
        live_p50_ms=float(live[0]),
        live_p95_ms=float(live[1]),
        shadow_p50_ms=float(shadow[0]),
        shadow_p95_ms=float(shadow[1]),
        live_tokens=_mean([one.live_tokens for one in kept]),
        shadow_tokens=_mean([one.shadow_tokens for one in kept]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
