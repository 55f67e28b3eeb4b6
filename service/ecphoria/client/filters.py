"""Keyword arguments of the client's calls: fields and filters of episodes, options."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict, TypeVar

from ecphoria import records, wire
from ecphoria.client.exchange import body_of, converted
from ecphoria.errors import InvalidInput


class EpisodeFields(TypedDict, total=False):
    """Fields of an episode beside its text; each of them may be left out.

    Attributes:
        title: Title of a document.
        speaker: Who said it.
        role: The speaker's role for an agent: user, assistant, tool, system.
        session: The stream of turns it belongs to.
        position: Order among turns of one session with the same `occurred_at`.
        occurred_at: When it was so, with a time zone; now if absent.
        source: Where it came from.
        metadata: Your own flat values, stored and returned.
        importance: 0 to 1.
        kind: `episodic`, `semantic` or `procedural`; by its form if absent.
        expires_at: When to erase it, with a time zone; by the tenant's default life if absent.
        idempotency_key: Sending the same key and body again changes nothing.
        vector: Embedding of the text by the store's own model.
        extraction: Names and facts that the text holds.
    """

    title: str | None
    speaker: str | None
    role: str | None
    session: str | None
    position: int | None
    occurred_at: datetime | None
    source: str | None
    metadata: Mapping[str, records.episode.MetadataValue] | None
    importance: float | None
    kind: records.episode.MemoryKind | None
    expires_at: datetime | None
    idempotency_key: str | None
    vector: Sequence[float] | None
    extraction: records.episode.Extracted | None


class ListFilters(TypedDict, total=False):
    """Filters of episodes; each of them may be left out.

    Attributes:
        session: Only this session.
        speaker: Only what this speaker said, named in any case.
        role: Only what speakers of this role said.
        kind: Only memories of this kind: `episodic`, `semantic` or `procedural`.
        metadata: Only episodes whose metadata meet these conditions: values to equal, or
            comparisons such as `{"$gte": 4}`.
        occurred_from: Nothing earlier; with a time zone.
        occurred_before: Nothing at or after this instant; with a time zone.
    """

    session: str | None
    speaker: str | None
    role: str | None
    kind: records.episode.MemoryKind | None
    metadata: Mapping[str, records.episode.MetadataCondition] | None
    occurred_from: datetime | None
    occurred_before: datetime | None


class EpisodeFilters(ListFilters, total=False):
    """Filters and order of a list of episodes.

    Attributes:
        concept: Only what mentions this concept, in any spelling of its name.
        order: The oldest first, or the newest.
        ids: Only these episodes; at most 100.
        state: Only `live`, `dormant` or `archived` ones.
        pinned: Only pinned ones, or with false only others.
        as_of: Only what had occurred by then; with a time zone.
    """

    concept: str | None
    order: Literal["oldest", "newest"]
    ids: Sequence[str] | None
    state: records.episode.State | str | None
    pinned: bool | None
    as_of: datetime | None


class RecallFilters(ListFilters, total=False):
    """Filters of a recall, a question or an erasure: those of episodes, and two more.

    Attributes:
        exclude: Ids of episodes to leave out, as if they were not stored; at most 1,000.
        sessions: Only these sessions; at most 100.
    """

    exclude: Sequence[str]
    sessions: Sequence[str]


class AskOptions(RecallFilters, total=False):
    """Options of a question, beside its filters; each may be left out.

    Attributes:
        strategy: Name of the mechanism; the service's default if absent.
        options: The strategy's own parameters.
        k: Number of hits, 1 to 200; 10 if absent.
        limit: Another name of `k`.
        token_budget: Greatest size of the context, in tokens; 2,000 if absent.
        as_of: Recall as of then: only what had happened, and facts as they stood.
        known_at: Only what had been recorded by then.
        asker: Who says "I" in the cue: a speaker or a role; the role `user` if absent.
        min_confidence: Refuse an answer with a lower confidence, 0 to 1; `ask` asks no model then.
        newest_first: Rank a memory above the one that it makes outdated, and mark the latter; true
            if absent.
        rerank: Have the reader order the first five turns and inform the gate; the service's
            setting if absent.
        lists: Give at least 20 hits if the cue asks for a list, in English or German.
        record: Leave a trace; false only looks, so that nothing is learned or compared.
    """

    strategy: str | None
    options: Mapping[str, records.recall.OptionValue] | None
    k: int | None
    limit: int | None
    token_budget: int | None
    as_of: datetime | None
    known_at: datetime | None
    asker: str | None
    min_confidence: float | None
    newest_first: bool
    rerank: bool | None
    lists: bool
    record: bool


class RecallOptions(AskOptions, total=False):
    """Options of a recall: those of a question, and more.

    Attributes:
        vector: Embedding of the cue by the store's own model, if you have it already.
        explain: Give the `trace` with the answer, also without `record`.
        include_dormant: Search dormant memories too, one by one.
        wake: Make dormant memories live again that are among the first hits of an answer.
        collapse: Join memories that say the same, and replies that only repeat one.
        read_cue: Have the language model read the cue; the service needs one.
        min_score: Leave out hits with a lower score.
        match: Words that each hit must have: `all` of the cue's, or its `phrase`s.
        engrams: Number of summaries to recall too, each with its evidence; at most 50.
    """

    vector: Sequence[float] | None
    explain: bool
    include_dormant: bool
    wake: bool
    collapse: bool
    read_cue: bool
    min_score: float | None
    match: records.recall.Match | str | None
    engrams: int | None


class FitOptions(TypedDict, total=False):
    """Options of fitting a gate.

    Attributes:
        false_refusals: Share of answerable questions that the gate may refuse; 0.021 if absent.
        question_type: Also weigh the type of the question, not only its hits.
        judged: Report the judgement of each question too.
    """

    false_refusals: float
    question_type: bool
    judged: bool


class CalibrationOptions(FitOptions, total=False):
    """Options of a calibration: those of the fit, and the questions.

    Attributes:
        memories: Number of memories to make questions of, 10 to 2,000; 200 if absent.
        seed: Of the sample and of the questions.
    """

    memories: int
    seed: int


_Body = TypeVar("_Body")

_PLAIN: Mapping[str, Callable[[Any], object]] = {
    "metadata": dict,
    "options": dict,
    "vector": lambda value: tuple(map(float, value)),
    "min_score": float,
    "min_confidence": float,
}


def episode_of(text: str, given: EpisodeFields) -> records.episode.NewEpisode:
    """Make an episode of a text and its fields.

    Raises:
        InvalidInput: One is unknown, or has a value that the body refuses.
    """
    return body_of(records.episode.NewEpisode, text=text, **_plain(given))


def _plain(given: Mapping[str, object]) -> dict[str, Any]:
    """Make plain values of mappings, numbers and vectors, which may be of other libraries."""
    return {
        name: converted(_PLAIN[name], value) if name in _PLAIN else value
        for name, value in given.items()
    }


def asked_of(model: type[_Body], given: Mapping[str, object], **cue: object) -> _Body:
    """Make the body of a recall or a question from its options and filters.

    Raises:
        InvalidInput: One is unknown, or has a value that the body refuses.
    """
    if "filters" in given:
        raise InvalidInput(
            "`filters`: Give each filter as an argument of its own, such as `session`.",
            field="#/filters",
        )
    filters = {name: given[name] for name in given if name in RecallFilters.__optional_keys__}
    # An unknown name too: the body knows all fields, so it tells which one was probably meant.
    options = _plain({name: given[name] for name in given if name not in filters})
    return body_of(model, **cue, **options, filters=body_of(records.recall.Filters, **filters))


def erasure_of(
    ids: Sequence[str], filters: RecallFilters, *, dry_run: bool = False
) -> wire.episodes.EraseRequest:
    """Make the body of an erasure."""
    only = body_of(records.recall.Filters, **filters)
    return body_of(wire.episodes.EraseRequest, ids=ids, filters=only, dry_run=dry_run)
