"""Answers in words, each sentence with its citations."""

from dataclasses import dataclass

from ecphoria.records.answered import answered
from ecphoria.records.ids import EpisodeId, TraceId
from ecphoria.records.recall import NearMiss, Verdict


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """The words of a memory that a sentence rests on."""

    episode: EpisodeId
    """Id of the memory."""
    quote: str
    """Its words, as they stand there."""
    start: int
    """Start of the quote in the memory's text, in characters."""
    end: int
    """End of the quote, exclusive."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class CitedSentence:
    """One sentence of an answer."""

    text: str
    """The sentence, in the words of the language model."""
    citations: tuple[Citation, ...]
    """At least one; every quote was found in its memory."""


@answered()
@dataclass(frozen=True, slots=True, kw_only=True)
class CitedAnswer:
    """The answer of a language model to a question, from recalled memories only."""

    answered: bool
    """Whether there is an answer."""
    text: str
    """The sentences; "I don't know." without an answer."""
    sentences: tuple[CitedSentence, ...]
    """The sentences with their citations; none without an answer."""
    dropped: int
    """Sentences left out because a quote was not in its memory."""
    verdict: Verdict
    """Verdict of the gate on the recall; after `refuse` and `empty` no model is asked."""
    confidence: float
    """Probability that the recalled memories hold the answer, 0 to 1."""
    reasons: tuple[str, ...]
    """Why there is an answer or none, in words."""
    misses: tuple[NearMiss, ...]
    """The nearest memories if there is no answer."""
    model: str
    """Name of the language model."""
    tokens: int
    """Tokens that the model read and wrote; 0 if it was not asked."""
    tokens_written: int
    """Tokens that the model wrote."""
    trace_id: TraceId
    """Ask `GET /v1/traces/{id}` for the replay of the recall."""
    degraded: tuple[str, ...]
    """Missing parts of the service during the recall."""
