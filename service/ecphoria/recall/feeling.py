"""The feeling of knowing: is the answer here at all, and if not, what is missing, in words.

Min-max makes the best candidate look perfect whatever it is worth; so confidence looks at
absolute evidence, told apart by who said it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.kernels.fusion import bounds_of, recipe_score
from ecphoria.kernels.gate import Evidence, attribution, confidence, evidence_features
from ecphoria.language.tokens import stems, words
from ecphoria.model.recall import Verdict
from ecphoria.recall.candidates import Candidates
from ecphoria.recall.seeding import Seeding

__all__ = ["DEFAULT_THRESHOLD", "Feeling", "feel"]

DEFAULT_THRESHOLD = 0.17
"""Refuses 43 % of questions without an answer at 2.1 % false refusals (development data)."""

_VERIFY = 0.37
"""Below this an answer should quote its evidence: 10 % false refusals."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeling:
    """A verdict with its reasons."""

    verdict: Verdict
    confidence: float
    reasons: tuple[str, ...]

    @property
    def answerable(self) -> bool:
        """Whether the hits should be used to answer."""
        return self.verdict in {Verdict.ANSWER, Verdict.VERIFY}


def feel(cue: str, seeding: Seeding, candidates: Candidates, threshold: float) -> Feeling:
    """Judge the evidence.

    A store in which nobody speaks gives the gate nothing to attribute: there it refuses only
    what it has no memory for at all.
    """
    if not candidates.inside.any():
        return Feeling(
            verdict=Verdict.EMPTY, confidence=0.0, reasons=("no memory matches this cue",)
        )
    sure = _confidence(seeding, candidates)
    if not seeding.profile.participants:
        reasons = ("nobody speaks in this store, so who said it was not judged",)
        return Feeling(verdict=Verdict.ANSWER, confidence=sure, reasons=reasons)
    if sure < threshold:
        verdict = Verdict.REFUSE
    else:
        verdict = Verdict.VERIFY if sure < _VERIFY else Verdict.ANSWER
    return Feeling(
        verdict=verdict, confidence=sure, reasons=_reasons(cue, seeding, candidates, verdict)
    )


def _confidence(seeding: Seeding, candidates: Candidates) -> float:
    inside, columns = candidates.inside, candidates.columns
    scored = recipe_score(
        candidates.signals, bounds=bounds_of(candidates.signals, candidates.inside)
    )
    mass = float(candidates.rarity.sum())
    covered = (candidates.counts > 0.0) @ candidates.rarity
    own = _own(seeding, candidates)
    evidence = Evidence(
        score=scored.score[inside],
        coverage=(covered / mass if mass else np.zeros_like(covered))[inside],
        similarity=columns.cosine[inside],
        bm25=candidates.single[inside],
        is_question=columns.is_question[inside],
        own=own[inside],
        attribution=attribution(own, columns.first_person, columns.second_person)[inside],
        order=columns.turn[inside],
    )
    return confidence(evidence_features(evidence, has_subject=bool(seeding.analysis.names)))


def _own(seeding: Seeding, candidates: Candidates) -> NDArray[np.bool_]:
    names = seeding.analysis.names
    first = names[0] if names else None
    return np.array(
        [first is not None and speaker == first for speaker in candidates.columns.speaker],
        dtype=np.bool_,
    )


def _reasons(
    cue: str, seeding: Seeding, candidates: Candidates, verdict: Verdict
) -> tuple[str, ...]:
    """Say what the evidence has or lacks, word by word of the cue."""
    subject = seeding.analysis.subject
    by_subject = candidates.inside & (
        _own(seeding, candidates) if subject else np.ones_like(candidates.inside)
    )
    lacking = [
        stem
        for column, stem in enumerate(candidates.stems)
        if not (candidates.counts[by_subject, column] > 0.0).any()
    ]
    spelled = _spelled(cue, lacking)
    who = f" by {subject}" if subject else ""
    if spelled:
        return tuple(f"no memory{who} about {word}" for word in spelled)
    if verdict is Verdict.ANSWER:
        return (f"memories{who} cover every word of the cue",)
    return (f"the words of the cue never meet in one memory{who}",)


def _spelled(cue: str, wanted: list[str]) -> list[str]:
    """Give stems back as the cue writes them, in its order."""
    found: dict[str, str] = {}
    for word in words(cue):
        for stem in stems(word):
            found.setdefault(stem, word)
    return [found[stem] for stem in found if stem in wanted]
