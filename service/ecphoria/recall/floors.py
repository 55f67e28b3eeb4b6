"""Apply the least score and the least confidence that a caller asks for."""

from dataclasses import replace

from ecphoria.errors import InvalidInput
from ecphoria.recall.feeling import Feeling
from ecphoria.recall.pipeline import Ranked
from ecphoria.records.recall import RecallOptions, Verdict

_HIGHEST_SCORE = 1_000.0


def check_floors(options: RecallOptions) -> None:
    """Check the bounds; a value that is not a number fails too.

    Raises:
        InvalidInput: One of them is out of bounds.
    """
    score, confidence = options.min_score, options.min_confidence
    if score is not None and not 0.0 <= score <= _HIGHEST_SCORE:
        raise InvalidInput(
            f"`min_score` must lie between 0 and {_HIGHEST_SCORE:.0f}", field="min_score"
        )
    if confidence is not None and not 0.0 <= confidence <= 1.0:
        raise InvalidInput("`min_confidence` must lie between 0 and 1", field="min_confidence")


def count_above(ranked: Ranked, options: RecallOptions) -> int:
    """Count the first hits, k at most, that reach the least score."""
    scores = ranked.score[: options.k]
    if options.min_score is None:
        return len(scores)
    return int((scores >= options.min_score).sum())


def judge_floors(feeling: Feeling, options: RecallOptions, hits: int) -> Feeling:
    """Refuse an answer that is less sure than asked for, or that has no hit left."""
    if feeling.verdict is Verdict.EMPTY:
        return feeling
    reasons = []
    if options.min_confidence is not None and feeling.confidence < options.min_confidence:
        reasons.append(
            f"the confidence {feeling.confidence:.2f} is below `min_confidence`"
            f" {options.min_confidence:.2f}"
        )
    if options.min_score is not None and not hits:
        reasons.append(f"no memory reaches `min_score` {options.min_score:g}")
    if not reasons:
        return feeling
    return replace(feeling, verdict=Verdict.REFUSE, reasons=(*reasons, *feeling.reasons))
