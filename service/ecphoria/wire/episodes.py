"""Bodies of the episode calls, and of what a session starts with."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import (
    Field,
    Json,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import CoreSchema
from pydantic_core.core_schema import is_instance_schema

from ecphoria.records.asked import (
    Condition,
    FewFaults,
    Flat,
    Instant,
    Key,
    Name,
    Role,
    StrictInt,
    read_as,
)
from ecphoria.records.episode import (
    DOCUMENT,
    EPOCH,
    MOST_IDS,
    TICK,
    TURN,
    Episode,
    EpisodeUpdate,
    ErasureCounts,
    Load,
    MemoryKind,
    NewEpisode,
    Outcome,
    State,
)
from ecphoria.records.recall import Filters
from ecphoria.records.start_context import START_BUDGET
from ecphoria.records.strategy import StrategyInfo
from ecphoria.wire.base import (
    Answer,
    FieldProblem,
    IdCursor,
    Listing,
    PageSize,
    Parameters,
    Patch,
    Problem,
    Request,
    TurnCursor,
    first_problems,
)


class UpdateRequest(
    Patch, json_schema_extra={"examples": [{"metadata": {"reviewed": True, "draft": None}}]}
):
    """A change of what stands beside an episode's text; what is not sent stays."""

    metadata: dict[Key, Flat | None] = Field(default_factory=dict)
    """Entries to set, and with null to remove; others stay."""
    expires_at: Instant | None = None
    """New end of its life; null for no end."""

    @model_validator(mode="after")
    def _has_a_change(self) -> Self:
        if not self.model_fields_set:
            raise ValueError("Send `metadata`, `expires_at` or both")
        return self

    def to_model(self) -> EpisodeUpdate:
        """Hand over to the domain, which checks lengths and bounds."""
        return EpisodeUpdate(
            metadata=self.metadata,
            sets_expiry="expires_at" in self.model_fields_set,
            expires_at=self.expires_at,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class UnreadableItem:
    """An item of a batch that is not an append request, and why."""

    errors: tuple[FieldProblem, ...]

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        """Let pydantic carry it, and no caller send it."""
        return is_instance_schema(cls)


def _read_item(value: Any, _: ValidatorFunctionWrapHandler) -> NewEpisode | UnreadableItem:
    if isinstance(value, NewEpisode):
        return value
    try:
        return read_as(NewEpisode, value)
    except ValidationError as invalid:
        return UnreadableItem(errors=first_problems(invalid, "#"))


class BatchRequest(Request, json_schema_extra={"examples": [{"episodes": [TURN, DOCUMENT]}]}):
    """Up to 1,000 episodes to append; one that cannot be used does not hinder the others."""

    episodes: tuple[
        Annotated[NewEpisode | SkipJsonSchema[UnreadableItem], WrapValidator(_read_item)], ...
    ] = Field(max_length=1_000)
    """The items, stored together."""
    load: Load | None = None
    """Its place in the first load of an empty tenant."""


class BatchItemAnswer(Answer):
    """The result of one item: an id with an outcome, or a problem."""

    index: int
    """The item's place in the request, from 0."""
    id: str | None = None
    """The episode's id, if the item was stored."""
    outcome: Outcome | None = None
    """`created` or `existed`, if the item was stored."""
    problem: Problem | None = None
    """Why the item was not stored."""


class BatchAnswer(Answer):
    """A result for every item, in the order sent."""

    created: int
    """Items stored by this call."""
    existed: int
    """Items that had been stored before."""
    refused: int
    """Items that were not stored."""
    results: tuple[BatchItemAnswer, ...]
    """One result an item."""


class EraseRequest(
    Request,
    json_schema_extra={"examples": [{"filters": {"session": "2026-03-14"}, "dry_run": True}]},
):
    """Episodes to erase."""

    ids: Annotated[tuple[str, ...], FewFaults] = Field(default=(), max_length=MOST_IDS)
    """Only these, at most 1,000."""
    filters: Filters = Field(default_factory=Filters)
    """Filter of the episodes; without `ids` at least one condition besides `exclude`."""
    dry_run: bool = Field(default=False, strict=True)
    """Only count them, and what goes with them."""
    limit: StrictInt = Field(default=100, ge=1, le=1_000)
    """Most to erase by this call."""


class EraseAnswer(Answer):
    """The counts of an erasure."""

    matched: int
    """Episodes that passed the filters before this call, live or not."""
    erased: int
    """Episodes erased by this call. If they are fewer than `matched`, send the same again."""
    removes: ErasureCounts | None = None
    """Numbers of other records that the erasure would remove; only in the answer to a dry run."""


class EpisodeQuery(Parameters):
    """Filter and page of episodes."""

    ids: Annotated[tuple[str, ...], Field(max_length=100)] = ()
    """Only these, at most 100."""
    state: State | None = None
    """Only `live`, `dormant` or `archived` ones."""
    pinned: bool | None = None
    """Only pinned ones, or with `false` only others."""
    session: Name | None = None
    """Only this session. Notes without a session cannot be asked for by it."""
    concept: str | None = None
    """Only what mentions this concept, in any spelling of its name."""
    speaker: Name | None = None
    """Only what this speaker said, named in any case."""
    role: Role | None = None
    """Only what a speaker of this role said."""
    kind: MemoryKind | None = None
    """Only memories of this kind: `episodic`, `semantic` or `procedural`."""
    metadata: Json[dict[Key, Condition]] | None = None
    """Only episodes whose metadata meet these conditions, as a JSON object: for each name a value
    to equal, or comparisons such as `{"$gte": 4}`."""
    order: Literal["oldest", "newest"] = "oldest"
    """By when they were recorded: the oldest first, or the newest."""
    occurred_from: Instant | None = None
    """Earliest `occurred_at`, inclusive."""
    occurred_before: Instant | None = None
    """Latest `occurred_at`, exclusive."""
    as_of: Instant | None = None
    """Only what had occurred by then."""
    cursor: TurnCursor | None = None
    """`next_cursor` of the page before."""
    limit: PageSize = 100
    """Size of the page."""


class ExpiringQuery(Parameters):
    """Page of episodes whose life has an end."""

    cursor: IdCursor | None = None
    """`next_cursor` of the page before."""
    limit: PageSize = 100
    """Size of the page."""


def end_of(last: Episode) -> str:
    """Make the cursor of the episodes that expire after this one."""
    assert last.expires_at is not None, "its life has an end"
    return f"{(last.expires_at - EPOCH) // TICK}.{last.id}"


class EpisodePage(Listing[Episode]):
    """Episodes in the order that was asked for."""


class StartQuery(Parameters):
    """Options of the context that a session gets at its start."""

    token_budget: int = Field(default=START_BUDGET, ge=1, le=1_000_000)
    """Greatest size of the context, in tokens."""
    session: Name | None = None
    """The session whose latest turns are shown; the last one if absent."""
    speaker: Name | None = None
    """Only sessions in which this speaker, in any case, took part lately, and facts and statements
    of this speaker."""


class StrategyList(Listing[StrategyInfo]):
    """Strategies, the default first."""
