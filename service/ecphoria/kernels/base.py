"""The base score h: text evidence with speaker, neighbour and Session terms, per node kind."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ecphoria.kernels.arrays import (
    FloatArray,
    IntArray,
    bools,
    floats,
    indices,
    one_size,
    ordered,
    tally,
)
from ecphoria.kernels.fusion import Scored

__all__ = ["BASE_PARTS", "BaseWeights", "base_score"]

BASE_PARTS: Final = ("bm25", "cosine", "speaker", "previous", "following", "session")
"""Names of the columns of the parts."""

BEST = 3  # turns of a Session that speak for it


@dataclass(frozen=True, slots=True, kw_only=True)
class BaseWeights:
    """Weigh the base score's terms; with the last four at 0 it is the plain bar."""

    lexical: float = 0.5
    speaker: float = 0.1
    previous: float = 0.15
    following: float = 0.15
    session: float = 0.3

    def __post_init__(self) -> None:
        others = (self.speaker, self.previous, self.following, self.session)
        if not 0.0 <= self.lexical <= 1.0 or min(others) < 0.0:
            raise ValueError("lexical must lie in [0, 1] and no weight below 0")


def base_score(
    bm25: ArrayLike,
    cosine: ArrayLike,
    kind: ArrayLike,
    *,
    speaker: ArrayLike,
    previous: ArrayLike,
    following: ArrayLike,
    session: ArrayLike,
    weights: BaseWeights | None = None,
) -> Scored:
    """Score candidates of mixed kinds on one scale from 0 to 1; O(n log n).

    ```
    f_i = w_lex mm(bm25)_i + (1 - w_lex) mm(cosine)_i + w_speaker speaker_i
    y_i = f_i + w_prev f_prev(i) + w_next f_next(i) + w_session mean(top 3 f in i's Session)
    h_i = mm(y)_i
    ```

    mm is min-max over the candidates of one kind; if all are equal, 1 where positive, else 0.
    h's parts are y's terms, each scaled by h_i / y_i.

    Args:
        bm25: [n] >= 0, 0 for what the lexical list lacks.
        cosine: [n].
        kind: int [n], any labels.
        speaker: bool [n], spoken by the only speaker the cue names.
        previous: int [n], neighbour inside the Session, -1 for none.
        following: int [n], -1 for none.
        session: int [n] >= 0, -1 for none (all but Episodes).
        weights: None for the defaults.

    Returns:
        h [n] in [0, 1] and parts [n, 6] in the order of `BASE_PARTS`.

    >>> none = np.full(2, -1)
    >>> base_score([0, 6], [0.2, 0.8], [0, 0], speaker=none > 0, previous=none, following=none,
    ...     session=none).score
    array([0., 1.])
    """
    words, meaning = floats("bm25", bm25, low=0.0), floats("cosine", cosine)
    label, named = ordered("kind", kind), bools("speaker", speaker)
    size = words.size
    before = indices("previous", previous, size=size, low=-1)
    after = indices("following", following, size=size, low=-1)
    home = indices("session", session, size=np.iinfo(np.int64).max, low=-1)
    one_size(
        bm25=words, cosine=meaning, kind=label, speaker=named,
        previous=before, following=after, session=home,
    )  # fmt: skip
    share = BaseWeights() if weights is None else weights

    terms = np.zeros((size, len(BASE_PARTS)))
    terms[:, 0] = share.lexical * _by_kind(words, label)
    terms[:, 1] = (1.0 - share.lexical) * _by_kind(meaning, label)
    terms[:, 2] = share.speaker * named
    own = terms[:, :3].sum(axis=1)
    padded = np.append(own, 0.0)
    terms[:, 3] = share.previous * padded[before]
    terms[:, 4] = share.following * padded[after]
    terms[:, 5] = share.session * _session_mean(own, home)
    total = terms.sum(axis=1)
    score = _by_kind(total, label)
    ratio = np.divide(score, total, out=np.zeros_like(total), where=total > 0.0)
    return Scored(score=score, parts=terms * ratio[:, None])


def _by_kind(values: FloatArray, kind: IntArray) -> FloatArray:
    """Min-max within each kind."""
    scaled = np.zeros_like(values)
    for label in np.unique(kind):
        rows = kind == label
        part = values[rows]
        span = part.max() - part.min()
        scaled[rows] = (part - part.min()) / span if span > 0.0 else part > 0.0
    return scaled


def _session_mean(values: FloatArray, session: IntArray) -> FloatArray:
    """Give each item the mean of its Session's three best; 0 without a Session."""
    order = np.lexsort((-values, session))
    labels, start, count = np.unique(session[order], return_index=True, return_counts=True)
    place = np.arange(order.size) - np.repeat(start, count)
    best = place < BEST
    owner = np.repeat(np.arange(labels.size), count)
    total = tally(owner[best], values[order][best], size=labels.size)
    mean = np.where(labels >= 0, total / np.minimum(count, BEST), 0.0)
    return mean[np.searchsorted(labels, session)]
