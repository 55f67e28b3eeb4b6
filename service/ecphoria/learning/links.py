"""Links between memories that are recalled together, more often than by chance."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from ecphoria.kernels.hebbian import homeostasis, increment, linked
from ecphoria.kernels.hops import edge_decay
from ecphoria.model.ids import EpisodeId
from ecphoria.model.learning import Link

__all__ = ["Part", "rewired"]

_DAY_MS = 86_400_000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The part a memory had in a recall.

    Attributes:
        share: x in [0, 1], its score over the best one times its retrievability before.
        recalls: n, recalls it took part in, this one included.
    """

    share: float
    recalls: int


def rewired(
    links: Sequence[Link], parts: Mapping[EpisodeId, Part], *, total: int, at_ms: int
) -> tuple[Link, ...]:
    """Count every pair once more, and strengthen those together often enough.

    Args:
        links: What is learned at the memories that took part, and counted between them.
        parts: Who took part.
        total: N, the tenant's recalls, this one included.
        at_ms: When.

    Returns:
        The links that changed, those scaled back to the budget of a memory among them.
    """
    before = {(link.one, link.other): link for link in links}
    pairs = [
        before.get((one, other)) or Link(one=one, other=other)
        for one, other in combinations(sorted(parts), 2)
    ]
    if not pairs:
        return ()
    after = before | {
        (link.one, link.other): link
        for link in _strengthened(pairs, parts, total=total, at_ms=at_ms)
    }
    scaled = _within_budget(list(after.values()))
    return tuple(link for link in scaled if link != before.get((link.one, link.other)))


def _strengthened(
    pairs: Sequence[Link], parts: Mapping[EpisodeId, Part], *, total: int, at_ms: int
) -> list[Link]:
    """Count the pairs; those recalled together three times and twice as often as by chance grow.

    A link keeps its value with the instant it held, so one that is only counted fades to now.
    """
    one, other = [parts[link.one] for link in pairs], [parts[link.other] for link in pairs]
    joint = [link.coactivations + 1 for link in pairs]
    age = [0.0 if link.used_ms is None else (at_ms - link.used_ms) / _DAY_MS for link in pairs]
    now = np.array([link.learned for link in pairs]) * edge_decay(age)
    grown = increment([part.share for part in one], [part.share for part in other], now)
    often = linked(
        joint, [part.recalls for part in one], [part.recalls for part in other], total=total
    )
    learned = np.where(often > 0.0, grown, now).tolist()
    return [
        replace(
            link,
            learned=learned[place],
            coactivations=joint[place],
            used_ms=max(at_ms, at_ms if link.used_ms is None else link.used_ms),
        )
        for place, link in enumerate(pairs)
    ]


def _within_budget(links: Sequence[Link]) -> list[Link]:
    """Scale back the links of a memory that has more than its budget.

    Memories at the far ends are seen in part only, but none of theirs grew: they keep within
    theirs.
    """
    index: dict[EpisodeId, int] = {}
    for link in links:
        for end in (link.one, link.other):
            index.setdefault(end, len(index))
    learned = homeostasis(
        [index[link.one] for link in links],
        [index[link.other] for link in links],
        [link.learned for link in links],
        size=len(index),
    )
    return [
        replace(link, learned=value) for link, value in zip(links, learned.tolist(), strict=True)
    ]
