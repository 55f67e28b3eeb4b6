"""Bodies of recall and of its trace."""

import re
from dataclasses import fields
from typing import Annotated, Self

from pydantic import AfterValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from ecphoria.records.ids import EpisodeId
from ecphoria.records.recall import DEFAULT_HITS, Cue, Filters, Match, RecallOptions
from ecphoria.records.start_context import START_BUDGET, StartOptions
from ecphoria.records.strategy import StrategyInfo
from ecphoria.wire.base import (
    Condition,
    FewFaults,
    Flat,
    Instant,
    Key,
    Listing,
    Name,
    Numbers,
    Parameters,
    Request,
    Role,
    StrictFloat,
    StrictInt,
    faults_at,
)

_ID = re.compile("[0-9a-f]{32}")


def _check_id(value: str) -> str:
    if _ID.fullmatch(value) is None:
        raise ValueError(
            "An episode's id is 32 lower-case hexadecimal digits; take it from a hit."
        )
    return value


_EpisodeId = Annotated[
    str, AfterValidator(_check_id), Field(json_schema_extra={"pattern": f"^{_ID.pattern}$"})
]


class FilterRequest(Request):
    """Filters of memories."""

    session: Name | None = None
    """Only this session. Notes without a session have none to ask for."""
    speaker: Name | None = None
    """Only what this speaker said, named in any case."""
    occurred_from: Instant | None = None
    """Earliest `occurred_at`, inclusive."""
    occurred_before: Instant | None = None
    """Latest `occurred_at`, exclusive."""
    exclude: Annotated[tuple[_EpisodeId, ...], FewFaults] = Field(default=(), max_length=1_000)
    """Ids of episodes to leave out, as if they were not stored; at most 1,000."""
    sessions: Annotated[tuple[Name, ...], FewFaults] = Field(default=(), max_length=100)
    """Only these sessions; any if empty."""
    role: Role | None = None
    """Only what speakers of this role said."""
    metadata: dict[Key, Condition] = Field(default={}, max_length=20)
    """Only episodes whose metadata meet these conditions: for each name a value to equal, or
    comparisons by `$eq`, `$ne`, `$gt`, `$gte`, `$lt` and `$lte`. 1 equals 1.0, but neither `"1"`
    nor true."""

    def to_model(self) -> Filters:
        """Hand over to the domain."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        return Filters(
            **given
            | {
                "exclude": frozenset(map(EpisodeId, self.exclude)),
                "metadata": tuple(self.metadata.items()),
            }
        )


def _one_value(body: Request, name: str, other: str) -> None:
    """Refuse two values of one field that has two names."""
    values = [getattr(body, each) for each in (name, other) if each in body.model_fields_set]
    if None not in values and len(set(values)) > 1:
        saying = f"`{name}` and `{other}` are names of one field; send one of them."
        raise faults_at([((other,), PydanticCustomError("two_values", saying))])


class QuestionRequest(Request):
    """The fields that a recall and a question have in common."""

    strategy: str | None = None
    """A name listed by `GET /v1/strategies`; the service's default if absent."""
    k: StrictInt = Field(default=DEFAULT_HITS, ge=1, le=200)
    """Number of memories to recall, 1 to 200."""
    limit: StrictInt | None = Field(default=None, ge=1, le=200)
    """Another name of `k`."""
    filters: FilterRequest = Field(default_factory=FilterRequest)
    """Filters of memories."""
    token_budget: StrictInt = Field(default=2_000, ge=1, le=1_000_000)
    """Greatest size of the context: of the memories that a model reads, in tokens."""
    min_confidence: StrictFloat | None = Field(default=None, ge=0, le=1)
    """Refuse an answer with a lower confidence, 0 to 1; `ask` then asks no model."""
    as_of: Instant | None = None
    """Recall as of then: only what had happened, and facts as they stood."""
    known_at: Instant | None = None
    """Only what had been recorded by then."""
    asker: Key | None = Field(default=None, max_length=200)
    """Who says "I": a speaker's name in any case, or a role (`user`, `assistant`, `tool`,
    `system`); the role `user` if absent."""
    newest_first: bool = Field(default=True, strict=True)
    """Rank a memory above the one that it makes outdated, and mark the latter; if false the order
    is that of the scores."""
    record: bool = Field(default=True, strict=True)
    """Leave a trace; if false nothing is learned or compared, and `trace_id` leads nowhere."""

    @model_validator(mode="after")
    def _one_number(self) -> Self:
        _one_value(self, "k", "limit")
        return self

    def to_options(self) -> RecallOptions:
        """Hand over how to recall."""
        named = (each.name for each in fields(RecallOptions))
        given = {name: getattr(self, name) for name in named if name in type(self).model_fields}
        k = self.k if self.limit is None else self.limit
        return RecallOptions(**given | {"filters": self.filters.to_model(), "k": k})


class AskRequest(QuestionRequest):
    """A question to answer in words."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"question": "Where does Ana live now?"}]}
    )

    question: Key
    """The question, as the user put it."""
    brief: bool = Field(default=False, strict=True)
    """Give only the words that answer the question, instead of sentences."""

    def to_cue(self) -> Cue:
        """Convert to the record."""
        return Cue(text=self.question)


class RecallRequest(QuestionRequest):
    """A cue: words, a vector, or both."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"cue": "Where does Ana live now?"},
                {
                    "cue": "When is the workshop open?",
                    "strategy": "fusion",
                    "k": 5,
                    "filters": {"occurred_before": "2026-06-01T00:00:00Z"},
                    "token_budget": 500,
                },
            ]
        }
    )

    cue: Key | None = None
    """The question, as the user put it."""
    query: Key | None = None
    """Another name of `cue`."""
    vector: Numbers | None = None
    """Embedding of the cue by the store's own model, if you have it already."""
    options: dict[str, Flat] = Field(default_factory=dict)
    """The strategy's own parameters."""
    collapse: bool = Field(default=True, strict=True)
    """Join memories in which the same speaker says the same words into one hit; if false each
    is a hit of its own."""
    min_score: StrictFloat | None = Field(default=None, ge=0, le=1_000)
    """Leave out hits with a lower score, 0 to 1,000. Scores of two strategies do not compare."""
    explain: bool = Field(default=False, strict=True)
    """List the arcs of each wave in the trace, not only their number."""
    include_dormant: bool = Field(default=False, strict=True)
    """Search dormant memories too, one by one: slower."""
    wake: bool = Field(default=False, strict=True)
    """Make dormant memories live again that are among the first five hits of an answer; needs
    the scope write."""
    read_cue: bool = Field(default=False, strict=True)
    """Have the language model read the cue for names and expansions; the service needs one."""
    match: Match = Match.ANY
    """Words that each hit must have: `all` of the cue's, or its `phrase`s. Both read
    `"a phrase"`, `"near words"~5` and `+word`; `any` reads no marks."""
    engrams: StrictInt = Field(default=0, ge=0, le=50)
    """Number of engrams to recall beside the hits, 0 to 50: summaries with their evidence."""

    @model_validator(mode="after")
    def _one_cue(self) -> Self:
        _one_value(self, "cue", "query")
        return self

    def to_cue(self) -> Cue:
        """Convert to the record."""
        return Cue(text=self.query if self.cue is None else self.cue, vector=self.vector)


class StartQuery(Parameters):
    """What a session starts with."""

    token_budget: int = Field(default=START_BUDGET, ge=1, le=1_000_000)
    """Greatest size of the context, in tokens."""
    session: Name | None = None
    """The session whose latest turns are shown; the last one if absent."""
    speaker: Name | None = None
    """Only sessions in which this speaker, in any case, took part lately, and facts and statements
    of this speaker."""

    def to_model(self) -> StartOptions:
        """Hand over to the domain."""
        return StartOptions(
            token_budget=self.token_budget, session=self.session, speaker=self.speaker
        )


class StrategyList(Listing[StrategyInfo]):
    """Strategies, the default first."""
