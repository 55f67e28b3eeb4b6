"""Keyword arguments of the client's calls: filters of episodes, options of a recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, TypeVar

from ecphoria import records, wire
from ecphoria.client.exchange import body_of
from ecphoria.errors import InvalidInput


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
    """Filters of a list of episodes, with four of its own.

    Attributes:
        ids: Only these episodes; at most 100.
        state: Only `live`, `dormant` or `archived` ones.
        pinned: Only pinned ones, or with false only others.
        as_of: Only what had occurred by then; with a time zone.
    """

    ids: Sequence[str]
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
        rerank: Have the reader order the first five turns and inform the gate.
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
    rerank: bool
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


_Body = TypeVar("_Body")


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
    options: dict[str, Any] = {name: given[name] for name in given if name not in filters}
    if options.get("options") is not None:
        options["options"] = dict(options["options"])
    if options.get("vector") is not None:
        options["vector"] = tuple(map(float, options["vector"]))
    for name in ("min_score", "min_confidence"):
        if options.get(name) is not None:
            options[name] = float(options[name])
    return body_of(model, **cue, **options, filters=body_of(records.recall.Filters, **filters))


def erasure_of(
    ids: Sequence[str], filters: RecallFilters, *, dry_run: bool = False
) -> wire.episodes.EraseRequest:
    """Make the body of an erasure."""
    only = body_of(records.recall.Filters, **filters)
    return body_of(wire.episodes.EraseRequest, ids=ids, filters=only, dry_run=dry_run)
