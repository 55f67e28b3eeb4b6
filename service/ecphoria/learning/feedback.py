"""What feedback makes of the memories a recall returned."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ecphoria.errors import Conflict, InvalidInput
from ecphoria.graph.learning import Judgement, LearningTransaction, Woken
from ecphoria.kernels.trust import reliability, salience
from ecphoria.learning.effects import COUNTED, used
from ecphoria.model.ids import EpisodeId, TraceId
from ecphoria.model.learning import Regard, Use

__all__ = ["Feedback", "taken"]

_RELIABLE: Mapping[str | None, float] = {"user": 0.9, "tool": 0.8}
_OTHERS_RELIABLE = 0.7
"""Reliability of what anybody else stated, before any judgement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Whether each of some hits was useful."""

    useful: Mapping[EpisodeId, bool]

    @classmethod
    def of(cls, useful: Collection[EpisodeId], not_useful: Collection[EpisodeId]) -> "Feedback":
        """Join both sides.

        Raises:
            InvalidInput: Both are empty, or a hit is on both.
        """
        if not (useful or not_useful):
            raise InvalidInput("name at least one hit, as useful or not", field="useful")
        if both := sorted(set(useful) & set(not_useful)):
            raise InvalidInput(f"{both[0]} cannot be both useful and not", field="not_useful")
        return cls(useful={**dict.fromkeys(useful, True), **dict.fromkeys(not_useful, False)})


async def taken(
    transaction: LearningTransaction, trace: TraceId, feedback: Feedback, at_ms: int
) -> Sequence[Regard]:
    """Judge hits once; those whose memories are gone are left out.

    Where the tenant learns, a useful hit that the recall did not count as used is used now.
    """
    returned = await transaction.hits(trace)
    if strange := sorted(feedback.useful.keys() - returned):
        raise InvalidInput(f"the recall did not return {strange[0]}", field="useful")
    woken = [one for one in await transaction.woken(trace) if one.id in feedback.useful]
    fresh = [one for one in woken if one.useful is None]
    for one in woken:
        if one.useful is not None and one.useful is not feedback.useful[one.id]:
            raise Conflict(f"the hit {one.id} of this recall was judged otherwise before")
    judgements = {one.id: _judged(one, useful=feedback.useful[one.id]) for one in fresh}
    if judgements:
        used_now = [one.id for one in fresh if feedback.useful[one.id] and _newly_used(one)]
        await transaction.judge(
            trace, list(judgements.values()), await _uses(transaction, used_now, at_ms)
        )
    return [_regard(one, judgements.get(one.id)) for one in woken]


def _newly_used(one: Woken) -> bool:
    return one.on and not (one.counted and one.rank <= COUNTED)


async def _uses(
    transaction: LearningTransaction, ids: Sequence[EpisodeId], at_ms: int
) -> Mapping[EpisodeId, Use]:
    known = await transaction.uses(ids)
    return dict(zip(known, used(list(known.values()), at_ms), strict=True)) if known else {}


def _judged(one: Woken, *, useful: bool) -> Judgement:
    return Judgement(
        id=one.id,
        useful=useful,
        first=_RELIABLE.get(one.role, _OTHERS_RELIABLE),
        rewards=one.rewards + useful,
        penalties=one.penalties + (not useful),
        salience=float(salience([one.salience], [useful])[0]),
    )


def _regard(one: Woken, judged: Judgement | None) -> Regard:
    now = judged or one
    first = _RELIABLE.get(one.role, _OTHERS_RELIABLE)
    assert now.useful is not None, "judged now or before"
    return Regard(
        episode=one.id,
        useful=now.useful,
        reliability=float(reliability([first], [now.rewards], [now.penalties])[0]),
        salience=now.salience,
    )
