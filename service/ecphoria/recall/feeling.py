"""The feeling of knowing: is the answer here at all, and if not, what is missing, in words.

Min-max makes the best candidate look perfect whatever it is worth; so confidence looks at
absolute evidence, told apart by who said it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ecphoria.kernels.fusion import PARTS, bounds_of, recipe_score
from ecphoria.kernels.gate import FEATURES, Evidence, attribution, confidence, evidence_features
from ecphoria.language.tokens import stems, words
from ecphoria.model.gate import Gate
from ecphoria.model.recall import Verdict
from ecphoria.recall.candidates import Candidates
from ecphoria.recall.seeding import Seeding

__all__ = ["Feeling", "feel"]

_SPEAKER, _LENGTH = PARTS.index("spk"), PARTS.index("len")


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeling:
    """A verdict with its reasons.

    Attributes:
        evidence: What the gate may weigh, by name.
    """

    verdict: Verdict
    confidence: float
    evidence: Mapping[str, float]
    reasons: tuple[str, ...]

    @property
    def answerable(self) -> bool:
        """Whether the hits should be used to answer."""
        return self.verdict in {Verdict.ANSWER, Verdict.VERIFY}


def feel(cue: str, seeding: Seeding, candidates: Candidates, gate: Gate) -> Feeling:
    """Judge the evidence.

    A store in which nobody speaks gives the gate nothing to attribute: there it refuses only
    what it has no memory for at all.
    """
    found = _Found(seeding, candidates)
    evidence = found.evidence()
    if not candidates.inside.any():
        return Feeling(
            verdict=Verdict.EMPTY,
            confidence=0.0,
            evidence=evidence,
            reasons=("no memory matches this cue",),
        )
    sure = confidence(
        [evidence[name] for name in gate.weights],
        bias=gate.bias,
        weights=list(gate.weights.values()),
    )
    if not seeding.profile.participants:
        verdict = Verdict.ANSWER
        reasons: tuple[str, ...] = ("nobody speaks in this store, so who said it was not judged",)
    else:
        verdict = _verdict(sure, gate)
        reasons = found.reasons(cue, verdict)
    return Feeling(verdict=verdict, confidence=sure, evidence=evidence, reasons=reasons)


def _verdict(sure: float, gate: Gate) -> Verdict:
    if sure < gate.threshold:
        return Verdict.REFUSE
    return Verdict.VERIFY if sure < gate.verify_below else Verdict.ANSWER


class _Found:
    """The candidates of one cue, as the gate sees them."""

    def __init__(self, seeding: Seeding, candidates: Candidates) -> None:
        self._analysis = seeding.analysis
        self._candidates = candidates
        self._rows = candidates.inside
        speakers = candidates.columns.speaker
        named = frozenset(seeding.analysis.names)
        self._own = np.array([one in named for one in speakers], dtype=np.bool_)
        scored = recipe_score(
            candidates.signals, bounds=bounds_of(candidates.signals, candidates.inside)
        )
        # Who said it is what is to be found out; and a short reply seldom holds an answer.
        self._match = scored.score - scored.parts[:, _SPEAKER] + scored.parts[:, _LENGTH]

    def evidence(self) -> dict[str, float]:
        """Measure everything a gate may weigh."""
        columns, rows = self._candidates.columns, self._rows
        about = attribution(self._own, columns.first_person, columns.second_person)
        features = evidence_features(
            Evidence(
                match=self._match[rows],
                said=self._said[rows],
                rarity=self._candidates.rarity,
                similarity=columns.cosine[rows],
                is_question=columns.is_question[rows],
                own=self._own[rows],
                attribution=about[rows],
            ),
            names_someone=bool(self._analysis.names),
        )
        return {
            **dict(zip(FEATURES, features.tolist(), strict=True)),
            "names_one": float(self._analysis.subject is not None),
            "asks_when": float(self._analysis.is_when),
        }

    def reasons(self, cue: str, verdict: Verdict) -> tuple[str, ...]:
        """Say what the evidence has or lacks: the words of the cue, and who said them."""
        subject, said = self._analysis.subject, self._said
        rows = self._rows & self._own if subject else self._rows
        lacking = [
            stem
            for column, stem in enumerate(self._candidates.stems)
            if not said[rows, column].any()
        ]
        who = f" by {subject}" if subject else ""
        reasons = [f"no memory{who} about {word}" for word in _spelled(cue, lacking)]
        other = self._best_speaker()
        if verdict is not Verdict.ANSWER and subject and other not in {None, subject}:
            reasons.append(f"what matches best was said by {other}, not by {subject}")
        if reasons:
            return tuple(reasons)
        if verdict is Verdict.ANSWER:
            return (f"memories{who} cover every word of the cue",)
        return (f"the words of the cue never meet in one memory{who}",)

    @property
    def _said(self) -> NDArray[np.bool_]:
        return self._candidates.counts > 0.0

    def _best_speaker(self) -> str | None:
        best = int(np.flatnonzero(self._rows)[np.argmax(self._match[self._rows])])
        return self._candidates.columns.speaker[best]


def _spelled(cue: str, wanted: list[str]) -> list[str]:
    """Give stems back as the cue writes them, in its order."""
    found: dict[str, str] = {}
    for word in words(cue):
        for stem in stems(word):
            found.setdefault(stem, word)
    return [found[stem] for stem in found if stem in wanted]
