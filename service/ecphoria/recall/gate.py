"""The gate: judge whether the answer is among the hits.

Min-max scaling makes any best candidate look perfect. So the confidence uses absolute evidence:
how much of the cue one passage covers, how near it is in meaning, how far the first hit stands
out, and who said it if the cue names a speaker.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ecphoria.maths.fusion import PARTS, Bounds, TextWeights, bounds_of, recipe_score
from ecphoria.maths.gate import Evidence, attribution, count_best, evidence_features, fact_contrast
from ecphoria.maths.lexical import share_held
from ecphoria.recall.echoes import ABOUT_QUESTIONS
from ecphoria.recall.frame import Frame
from ecphoria.recall.pipeline import ActivationGate
from ecphoria.recall.seeds import Seeding
from ecphoria.records.recall import Verdict
from ecphoria.records.tenant import (
    CONFIDENCE_DIGITS,
    EVIDENCE,
    READ,
    SCALED,
    Gate,
    shipped_confidence,
    shipped_gate,
    with_odds,
)
from ecphoria.records.traced import GateKind, Limits
from ecphoria.text.asking import asks_nothing, asks_openly
from ecphoria.text.cue import LIGHT_STEMS, introduction, is_of_another, only_names
from ecphoria.text.languages import QUESTION_MARKS
from ecphoria.text.names import normalise
from ecphoria.text.phrasebook import in_english
from ecphoria.text.telling import any_tells
from ecphoria.text.tokens import as_written, stems_of, words

_SPEAKER, _LENGTH = PARTS.index("spk"), PARTS.index("len")
# The shipped gates were fitted on scores of this scale and these weights.
_FITTED = TextWeights(lex=0.28, sem=0.17, ctx=0.13, spk=0.20, len=0.10)

_SHORT_REQUEST = 12
"""Number of stems below which a user's question to an assistant states nothing."""

_FAR = 0.2
"""Cosine below which a memory without a word of the cue holds no answer."""

_NEAR = 0.35
"""Cosine below which a memory without a word of the cue gives at most the verdict `verify`."""

# A small store is a candidate as a whole, so a word that no candidate has is nowhere in it. The
# limits were chosen on single sessions (docs/evaluation/gate.md).
_SMALL = 50
"""Number of candidates below which unseen words limit the confidence."""

_SAME = 0.6
"""Cosine from which a memory may say the same in other words."""

_NEARER = 0.05
"""Cosine by which a memory with fewer words of the cue is the nearer one."""

_WELL_KNOWN = 100
"""Memories of a topic above which some are taken to tell any detail: reading more takes long."""

_ABOUT_THEN = 1.2
"""Signal of a time asked for alone, at most 2, from which a memory is of about that time: up to
the day before or after. Beside other words the signal is half of that."""

_OF_TALK = ("share", "coverage", "unsaid", "unheard")
"""Figures of who said which word."""

_LEAST_WORDS = 2
"""Content words of a cue that asks nothing, from which a tenant's scale learns."""

_LEAST_MATCHES = 2
"""Memories needed to measure a recall without its best hits."""

# The gates know nothing of the reader, so its logit adds to theirs. A larger share finds more
# questions whose evidence is missing, and fewer that ask the wrong speaker (decision 0119).
_READER_SHARE = 0.15


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A verdict with its reasons.

    Attributes:
        evidence: The figures that a gate may weigh, by name.
        without: Those that a tenant's scale needs, without the best hits; empty if fewer than two
            memories match, or if the recall is not recorded.
    """

    verdict: Verdict
    confidence: float
    judged_by: Limits
    evidence: Mapping[str, float]
    reasons: tuple[str, ...]
    without: Mapping[str, float] = field(default_factory=dict)


def judge(
    cue: str, seeding: Seeding, frame: Frame, *, record: bool, logit: float | None = None
) -> Judgement:
    """Judge the evidence by the tenant's own gate, or by the shipped ones.

    With `record`, the tenant's scale learns from this recall. `logit` is the reader's, of the best
    of the first hits, if they were read.
    """
    found, own = _Found(cue, seeding, frame), seeding.profile.gate
    scale = None if own else seeding.profile.scale
    evidence = {**found.evidence(), "unread": float(seeding.unread), READ: logit or 0.0}
    # A tenant's own gate replaces the shipped gates (decision 0030).
    gate = own or shipped_gate(evidence, scale)
    shipped = GateKind.SHIPPED if scale is None else GateKind.SCALED
    limits = _limits(gate, shipped if own is None else GateKind.OWN)
    if not frame.inside.any():
        return Judgement(
            verdict=Verdict.EMPTY,
            confidence=0.0,
            judged_by=limits,
            evidence=evidence,
            reasons=("no memory matches this cue",),
        )
    # A cue such as "thanks!" has no content word, so nothing can answer it (decision 0030).
    if cue and found.asks_nothing:
        return Judgement(
            verdict=Verdict.REFUSE,
            confidence=0.0,
            judged_by=limits,
            evidence=evidence,
            reasons=(_NOTHING_ASKED,),
        )
    sure = shipped_confidence(evidence, scale) if own is None else own.sure(evidence)
    if READ not in gate.weights:
        sure = surer(sure, logit)
    sure = round(min(sure, found.most_sure(gate)), CONFIDENCE_DIGITS)
    if found.of_the_time or found.introductions:
        # The cue has no word to compare: it asks for what was told then, or for a name.
        sure = max(sure, _just_below(limits.verify_below))
    if found.has_all_words:  # an agent can look at it, however far it is in meaning
        sure = max(sure, limits.threshold)
    verdict = _verdict(sure, limits)
    return Judgement(
        verdict=verdict, confidence=sure, judged_by=limits, evidence=evidence,
        reasons=found.reasons(cue, verdict),
        without=found.without_best() if record and found.is_telling else {},
    )  # fmt: skip


def surer(confidence: float, logit: float | None) -> float:
    """Join the gate's confidence and the reader's logit; without one the confidence stays.

    >>> round(surer(0.5, 3.0), 2)
    0.61
    """
    if logit is None:
        return confidence
    return with_odds(confidence, _READER_SHARE * logit)


def judge_activation(judgement: Judgement, gate: ActivationGate | None) -> Judgement:
    """Let a strategy's own gate decide (SYNAPSE 3.4) if the cue asks and something matches."""
    if gate is None or judgement.verdict is Verdict.EMPTY:
        return judgement
    limits = _limits(gate, GateKind.STRATEGY)
    verdict = _verdict(gate.activation, limits)
    side = "below" if verdict is Verdict.REFUSE else "not below"
    reason = (
        f"the first memory's activation {gate.activation:.3f} is {side} the gate"
        f" {gate.threshold:g}"
    )
    return replace(
        judgement,
        verdict=verdict,
        confidence=round(min(1.0, gate.activation), CONFIDENCE_DIGITS),
        judged_by=limits,
        reasons=(reason, *(judgement.reasons if verdict is Verdict.REFUSE else ())),
    )


def _limits(gate: Gate | ActivationGate, kind: GateKind) -> Limits:
    return Limits(gate=kind, threshold=gate.threshold, verify_below=gate.verify_below)


def _just_below(limit: float) -> float:
    return max(0.0, limit - 10.0**-CONFIDENCE_DIGITS)


def _verdict(sure: float, limits: Limits) -> Verdict:
    if sure < limits.threshold:
        return Verdict.REFUSE
    return Verdict.VERIFY if sure < limits.verify_below else Verdict.ANSWER


_NOTHING_ASKED: Final = (
    "the cue has no content word, so no memory can answer it; ask with words of the matter, as in"
    " `Where does Ana live?`"
)


class _Found:
    """The candidates of one cue, as the gate sees them."""

    def __init__(self, cue: str, seeding: Seeding, candidates: Frame) -> None:
        self._cue = cue
        self._analysis = seeding.analysis
        self._unread = seeding.unread
        self._candidates = candidates
        self._rows = candidates.inside
        named = frozenset(seeding.analysis.names)
        self._own = np.array([speaker in named for speaker in candidates.speaker], dtype=np.bool_)
        self._beside = self._rows & _in_talk_of(self._own, candidates)
        # "now", "name" and function words carry too little to be evidence (decision 0030).
        light = LIGHT_STEMS | seeding.analysis.silent
        content = np.array([one not in light for one in candidates.stems], dtype=np.bool_)
        self._light = not content.any()
        self._content = ~content if self._light else content
        self._asks_for_time = seeding.analysis.asks_of_time
        self.asks_nothing = (
            not self._asks_for_time
            and not (
                seeding.analysis.first_person
                or seeding.analysis.names
                or (seeding.analysis.dates and not seeding.analysis.told)
            )
            and (self._light or asks_nothing(cue))
        )
        # Users state their case and then ask, so their longer messages to an assistant are
        # evidence (decision 0030).
        stated = candidates.by_user & (candidates.length >= _SHORT_REQUEST)
        self._void = candidates.is_question & ~stated
        # "How about Bruges?" is what the listener suggested.
        self._void &= ~(candidates.subject_rows & self._analysis.only_listener)
        if ABOUT_QUESTIONS.search(cue):
            self._void[:] = False
        bounds = bounds_of(candidates.signals, self._rows, measure=Bounds.of)
        parts = recipe_score(candidates.signals, weights=_FITTED, bounds=bounds)
        self._score = parts.sum(axis=1)
        # Without the bonus for the speaker, which is the question; with length twice, because a
        # short reply seldom holds an answer.
        self._match = self._score - parts[:, _SPEAKER] + parts[:, _LENGTH]
        self._rarity = candidates.rarity * self._content
        units = candidates.units
        requested = self._requested()
        self._said = (candidates.counts > 0.0) | requested
        covered = share_held((units.counts > 0.0) | requested[units.row], self._rarity)
        self._covered = units.best(covered)
        self._joint = units.best(covered * np.maximum(0.0, units.cosine))
        self._attribution = attribution(
            self._own, candidates.first_person, candidates.second_person
        )

    def _requested(self) -> NDArray[np.bool_]:
        """Flag the words of requests in the replies to them, if the cue asks what a reply said.

        "What did you suggest for our trip?": the reply need not name the trip.
        """
        there = self._candidates
        if not self._analysis.only_listener:
            return np.zeros(there.counts.shape, np.bool_)
        replies = there.subject_rows & (there.previous >= 0)
        replies &= ~there.subject_rows[there.previous]
        return (there.counts[there.previous] > 0.0) & replies[:, None]

    @property
    def of_the_time(self) -> int:
        """The number of memories of the time for which the cue asks without any other word."""
        near = self._candidates.signals.date >= _ABOUT_THEN
        return int(self._asks_for_time and np.count_nonzero(self._answering & near))

    @property
    def has_all_words(self) -> bool:
        """Tell whether one memory has all content words of a cue that names no speaker."""
        most = self._covered[self._answering].max(initial=0.0)
        return bool(most > 1.0 - 1e-9) and not (self._light or self._analysis.names)

    @property
    def is_telling(self) -> bool:
        """Tell whether the tenant's scale may learn from the cue: a question, or several words.

        Hooks of agents also recall "go on" and "ok, thanks", for which no store has evidence. They
        would lower the scale, and questions without an answer would pass.
        """
        asks = self._cue.rstrip().endswith(QUESTION_MARKS) or asks_openly(self._cue)
        return not (self._light or self.asks_nothing) and (
            asks or int(self._content.sum()) >= _LEAST_WORDS
        )

    @cached_property
    def introductions(self) -> frozenset[str]:
        """The kinds of introductions in the memories, if the cue asks for the asker's name."""
        if not self._analysis.asks_name:
            return frozenset()
        told = self._spoken(self._answering)
        return frozenset(introduction(in_english(text)) for text in told) - {""}

    def evidence(self) -> dict[str, float]:
        """Measure everything a gate may weigh."""
        return {
            **self._measured(self._rows),
            "fact_contrast": self._contrast(),
            "names_one": float(self._analysis.subject is not None),
            "asks_when": float(self._analysis.is_when),
        }

    def without_best(self) -> dict[str, float]:
        """Measure what a tenant's scale needs as if the best hits were not stored."""
        rows = np.flatnonzero(self._rows)
        if rows.size < _LEAST_MATCHES:
            return {}
        ordered = rows[np.argsort(-self._score[rows], kind="stable")]
        others = self._rows.copy()
        others[ordered[: count_best(self._score[ordered])]] = False
        measured = self._measured(others)
        return {name: measured[name] for name in SCALED}

    def _measured(self, rows: NDArray[np.bool_]) -> dict[str, float]:
        """Measure some rows; who said which word, in the talk of those named."""
        found = self._features(rows)
        beside = rows & self._beside
        if beside.any() and (beside != rows).any():
            among = self._features(beside)
            found |= {name: among[name] for name in _OF_TALK}
        return found

    def _features(self, rows: NDArray[np.bool_]) -> dict[str, float]:
        features = evidence_features(
            Evidence(
                match=self._match[rows],
                score=self._score[rows],
                said=self._said[rows],
                rarity=self._rarity,
                covered=self._covered[rows],
                joint=self._joint[rows],
                similarity=self._candidates.cosine[rows],
                answers_nothing=self._void[rows],
                own=self._own[rows],
                about=self._may_answer[rows],
                attribution=self._attribution[rows],
            ),
            names_someone=bool(self._analysis.names),
        )
        return dict(zip(EVIDENCE, features.tolist(), strict=True))

    def _contrast(self) -> float:
        """Compare what facts about the named speakers say of the cue with what others say."""
        told = self._candidates.told
        if told is None or not self._analysis.names:
            return 0.0
        named = {normalise(one) for one in self._analysis.names}
        joint = share_held(told.counts, self._rarity) * np.maximum(0.0, told.cosine)
        return fact_contrast(joint, [subject in named for subject in told.subject])

    def most_sure(self, gate: Gate) -> float:
        """Limit the confidence if no memory has a content word of the cue, in any language.

        Then only the meaning supports an answer, and far memories hold none. The confidence is
        also limited if a small store lacks half of these words.
        """
        rows = self._answering
        if not self._content.any() or not rows.any():
            return 1.0
        nearest = float(self._candidates.cosine[rows].max())
        # In the development conversations no question with an answer is so far from all memories.
        # "Name" is in "named korbwerk-cold" too, and tells nothing of whose name is asked for.
        without_a_word = (self._light and not self.introductions) or not (
            self._covered[rows] > 0.0
        ).any()
        if without_a_word and nearest < _FAR:
            return _just_below(gate.threshold)
        is_far = without_a_word and nearest < _NEAR
        is_other = nearest < _SAME or self._unread
        lacks_words = (nearest < _SAME and self._half_unseen()) or (
            is_other and self._lacks_role()
        )
        apart = (
            self._names_apart() or self._lacks_detail or self._only_names()
            or self._is_of_another_time or self._is_of_others or len(self._tellers) > 1
            or self.introductions == {"maybe"}
        )  # fmt: skip
        if is_far or lacks_words or apart:
            return _just_below(gate.verify_below)
        return 1.0

    @cached_property
    def _is_of_another_time(self) -> bool:
        """Tell whether the cue tells a time, and no memory of about then has a word of it.

        "What did I eat yesterday?" is near to a memory of another meal.
        """
        if not self._analysis.told or self._asks_for_time:
            return False
        then = self._answering & (self._candidates.signals.date >= _ABOUT_THEN / 2.0)
        return not (self._covered[then] > 0.0).any()

    def _names_apart(self) -> bool:
        """Tell whether a name of the cue is in no memory that has another of its words.

        "When is Leo's birthday?" is near to the birthday of somebody else. The parts of a name of
        code are no other words. What may be a name counts if both it and the words are known.
        """
        stems, written = self._candidates.stems, self._analysis.written_names
        names = written | self._analysis.likely_names
        said = self._said[self._answering]
        if self._candidates.told is not None:
            said = np.vstack((said, self._candidates.told.counts > 0.0))
        for column in np.flatnonzero(self._content).tolist():
            name = stems[column]
            if name not in names:
                continue
            own = {name, *stems_of(words(name))}
            if not name.isascii() and name in self._analysis.likely_names:
                # Without blanks, a name is several pairs of characters.
                own |= self._analysis.likely_names
            rest = self._content & [one not in own for one in stems]
            others, named = said[:, rest].any(axis=1), said[:, column]
            known = name in written or (named.any() and others.any())
            if rest.any() and known and not (others & named).any():
                return True
        return False

    def _lacks_role(self) -> bool:
        """Tell whether no memory has the role of the person for whom the cue asks.

        "Who is the CEO of Acme?" is near to whatever else is known of Acme.
        """
        role = np.array([one in self._analysis.roles for one in self._candidates.stems], np.bool_)
        role &= self._content
        if not role.any() or role.sum() == self._content.sum():
            return False
        told = self._candidates.told
        told_it = told is not None and (told.counts > 0.0)[:, role].any()
        return not (told_it or self._said[self._answering][:, role].any())

    @cached_property
    def _lacks_detail(self) -> bool:
        """Tell whether the cue asks for a kind of detail, and no memory of its topic tells one.

        Memories that are nearer to the cue, or speak on of the same, may tell it in other words.
        """
        there, rows, detail = self._candidates, self._answering, self._analysis.detail
        most = self._covered[rows].max(initial=0.0)
        if detail is None or most == 0.0 or there.told is not None:
            return False
        about = rows & (self._covered > 0.99 * most)
        behind = self._rows & np.isin(there.previous, np.flatnonzero(about))
        about |= rows & (there.cosine > there.cosine[about].max() + _NEARER)
        if about.sum() > _WELL_KNOWN:
            return False
        told, further = self._spoken(about), self._spoken(behind)
        return not any_tells(detail, self._cue, about=told, behind=further)

    def _spoken(self, rows: NDArray[np.bool_]) -> Iterator[str]:
        return (self._candidates.spoken[row].text for row in np.flatnonzero(rows))

    def _only_names(self) -> bool:
        """Tell whether the first hit names whom the cue asks about, and tells nothing of them.

        "I'm Ana." is near to "Where does Ana live?"; to "Is Ana in?" it may be an answer.
        """
        rows = np.flatnonzero(self._rows)
        first = int(rows[np.argmax(self._score[rows])])
        spoken = self._candidates.spoken[first].text
        return asks_openly(self._cue) and only_names(spoken, self._cue)

    @cached_property
    def _is_of_others(self) -> bool:
        """Tell whether somebody else's is nearest to what the cue asks of the asker.

        "My sister's birthday" is near to "When is my birthday?".
        """
        if not self._analysis.own:
            return False
        there, subject, rows = self._candidates, self._candidates.subject, self._answering
        nearest = there.cosine[rows & (self._covered > 0.0)].max(initial=-1.0)
        nearer = np.flatnonzero(rows & (there.cosine > nearest)).tolist()
        asker = (subject and subject.speaker) or ""
        return any(
            stem in there.terms[row].split()
            and is_of_another(in_english(there.spoken[row].text), meant, asker)
            for row in nearer
            for stem, meant in self._analysis.own.items()
        )

    @cached_property
    def _tellers(self) -> list[str]:
        """List the speakers who name what the cue calls the asker's, if the asker is not known.

        An assistant who repeats its user's words is none of them.
        """
        subject, speakers = self._candidates.subject, self._candidates.speaker
        if not (self._analysis.own or self.introductions) or (subject and subject.speaker):
            return []
        own = np.array([one in self._analysis.own for one in self._candidates.stems], np.bool_)
        told = self._said[:, own if own.any() else self._content].any(axis=1)
        users = np.array([role in {None, "user"} for role in self._candidates.role], np.bool_)
        tellers = np.flatnonzero(self._answering & told & users)
        return sorted({name for row in tellers if (name := speakers[row])})

    def _half_unseen(self) -> bool:
        """Tell whether a small store lacks half or more of the content words of the cue.

        "What is my cat called?" is near to a memory of a dog. Words of dates do not count here:
        memories have dates of their own.
        """
        if self._analysis.dates or np.count_nonzero(self._rows) >= _SMALL:
            return False
        seen = self._said[self._rows].any(axis=0)
        told = self._candidates.told
        if told is not None:
            seen |= (told.counts > 0.0).any(axis=0)
        unseen = int(np.count_nonzero(self._content & ~seen))
        return 2 * unseen >= int(np.count_nonzero(self._content))

    def reasons(self, cue: str, verdict: Verdict) -> tuple[str, ...]:
        """Explain the verdict: content words found or missing, and their speakers."""
        subject = self._candidates.subject
        who = f" by {subject.name}" if subject else ""
        rows = self._answering
        if self._asks_for_time:
            count = self.of_the_time or "no"
            return (f"the cue asks for a time only; {count} memories{who} are of about that time",)
        if "name" in self.introductions and len(self._tellers) <= 1:
            return (f"one memory{who} tells a name",)
        wanted = np.flatnonzero(self._content)
        if verdict is Verdict.ANSWER:
            return (self._support(rows, wanted, who),)
        said = set(np.flatnonzero(self._said[rows].any(axis=0)).tolist())
        lacking = [self._candidates.stems[column] for column in wanted if column not in said]
        reasons = [f"no memory{who} has the word {word}" for word in as_written(cue, lacking)]
        other, meant = self._best_speaker(), subject and subject.speaker
        tellers = " and ".join(self._tellers)
        told = {
            "what is nearest tells of somebody else's": self._is_of_others,
            f"{tellers} said it; send `asker` to tell who asks": len(self._tellers) > 1,
            f"no memory{who} of about that time has a word of the cue": self._is_of_another_time,
            f"what matches best was said by {other}, not by {meant}": (
                meant and other not in {None, meant}
            ),
            f"what matches tells no {self._analysis.detail}": self._lacks_detail,
        }
        reasons += [reason for reason, holds in told.items() if holds]
        if not reasons and self.has_all_words:
            reasons = [self._support(rows, wanted, who)]
        return tuple(reasons) or (f"the words of the cue never meet in one memory{who}",)

    def _support(self, rows: NDArray[np.bool_], wanted: NDArray[np.int64], who: str) -> str:
        """Describe the memory that covers most of the cue."""
        if not rows.any() or not wanted.size:
            return "the nearest memory is close in meaning"
        cosine = self._candidates.cosine
        # If no memory has a word of the cue, the nearest in meaning is the support.
        best = int(np.flatnonzero(rows)[np.lexsort((cosine[rows], self._joint[rows]))[-1]])
        has = int(self._said[best][wanted].sum())
        near = float(cosine[best])
        if not has:
            return (
                f"no memory{who} has one of the {wanted.size} content words of the cue; "
                f"the nearest is {near:.2f} near in meaning (1 is the same)"
            )
        return (
            f"one memory{who} has {has} of the {wanted.size} content words of the cue; "
            f"its meaning is {near:.2f} near (1 is the same)"
        )

    @cached_property
    def _answering(self) -> NDArray[np.bool_]:
        """Rows that may hold the answer and do not only ask."""
        return self._rows & self._may_answer & ~self._void

    @cached_property
    def _may_answer(self) -> NDArray[np.bool_]:
        """Rows of the subject; all rows if the cue has no subject, or several."""
        mine = self._candidates.subject_rows
        return mine if mine.any() else np.ones(mine.size, np.bool_)

    def _best_speaker(self) -> str | None:
        best = int(np.flatnonzero(self._rows)[np.argmax(self._match[self._rows])])
        return self._candidates.speaker[best]


def _in_talk_of(own: NDArray[np.bool_], candidates: Frame) -> NDArray[np.bool_]:
    """Flag what is said in a session of those named, or of somebody who talks with them.

    Documents, notes and other people's talk tell nothing of who said what there.
    """
    if not own.any():
        return own
    said = list(zip(candidates.speaker, candidates.session, strict=True))
    talk = {session for (_, session), mine in zip(said, own, strict=True) if mine}
    people = {speaker for speaker, session in said if speaker and session in talk}
    talk = {session for speaker, session in said if speaker in people}
    return np.array([bool(speaker) and session in talk for speaker, session in said], np.bool_)
