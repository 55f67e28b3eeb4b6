"""Bodies of the episode calls: append, batch, get, list."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

from pydantic import (
    ConfigDict,
    Field,
    Json,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)
from pydantic.config import JsonDict
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import CoreSchema
from pydantic_core.core_schema import is_instance_schema

from ecphoria.records.episode import (
    Episode,
    EpisodeUpdate,
    Extracted,
    NewEpisode,
    Outcome,
    Statement,
)
from ecphoria.wire.base import (
    Answer,
    Condition,
    FewFaults,
    FieldProblem,
    Flat,
    Instant,
    Key,
    Listing,
    LocalInstant,
    Name,
    Numbers,
    Parameters,
    Problem,
    Request,
    Role,
    StrictFloat,
    StrictInt,
    TurnCursor,
    first_problems,
)
from ecphoria.wire.recall import FilterRequest

_TURN: JsonDict = {
    "text": "I moved to Lisbon in March, and the flat has a balcony over the river.",
    "speaker": "Ana",
    "role": "user",
    "session": "ana-2026-03",
    "occurred_at": "2026-03-14T09:30:00Z",
}
_DOCUMENT: JsonDict = {
    "title": "Opening hours",
    "text": "The workshop is open from Tuesday to Saturday, 10:00 to 18:00.",
    "source": "https://example.org/hours",
    "metadata": {"language": "en", "page": 3},
    "importance": 0.8,
}
_EXTRACTION: JsonDict = {
    "names": ["Quill Workshop", "Lisbon", "Marta Reis"],
    "facts": [
        {"subject": "Quill Workshop", "predicate": "is in", "object": "Lisbon"},
        {"subject": "Marta Reis", "predicate": "founded", "object": "Quill Workshop"},
    ],
}
_EXTRACTED: JsonDict = {
    "title": "Quill Workshop",
    "text": "The Quill Workshop in Lisbon was founded by Marta Reis.",
    "extraction": _EXTRACTION,
}


class ExtractedFact(Request):
    """A statement in three parts, each as written."""

    subject: str
    """The person or thing it is about."""
    predicate: str
    """The relation."""
    object: str
    """The other end: a name or a value."""
    qualifier: str = ""
    """Qualifier, if a subject has several: `work` of a phone."""
    polarity: Literal["positive", "negative"] = "positive"
    """`negative` says that it is not so, or no longer."""
    valid_from: Instant | None = None
    """From when on it is so; the episode's `occurred_at` if absent."""
    valid_to: Instant | None = None
    """Until when, exclusive; open if absent."""
    reliability: StrictFloat | None = None
    """Trust, 0 to 1; if absent .9 from a user, .8 from a tool, else .7."""

    def to_model(self) -> Statement:
        """Hand over to the domain."""
        return Statement(
            subject=self.subject,
            predicate=self.predicate,
            object=self.object,
            qualifier=self.qualifier,
            negated=self.polarity == "negative",
            valid_from=self.valid_from,
            valid_to=self.valid_to,
            reliability=self.reliability,
        )


class Extraction(Request):
    """Names and facts that you or a language model found; added to those of the rules."""

    model_config = ConfigDict(json_schema_extra={"examples": [_EXTRACTION]})

    names: Annotated[tuple[str, ...], FewFaults] = Field(default=(), max_length=1_000)
    """People, places, things and topics it speaks of; each becomes a concept."""
    facts: Annotated[tuple[ExtractedFact, ...], FewFaults] = Field(default=(), max_length=1_000)
    """Statements of the text; subjects and objects that are names become concepts, too."""

    def to_model(self) -> Extracted:
        """Hand over to the domain."""
        return Extracted(names=self.names, facts=tuple(one.to_model() for one in self.facts))


class AppendRequest(Request):
    """One thing to remember: a turn (has a session), a document (has a title) or a note."""

    model_config = ConfigDict(json_schema_extra={"examples": [_TURN, _DOCUMENT, _EXTRACTED]})

    text: str
    """The words that were said or written, of any length; without speaker or date in front."""
    title: str | None = None
    """Title of a document."""
    speaker: str | None = None
    """Speaker."""
    role: Role | None = None
    """The speaker's role for an agent: user, assistant, tool, system."""
    session: str | None = None
    """The stream of turns it belongs to."""
    position: StrictInt | None = None
    """Order among turns of one session with the same `occurred_at`."""
    occurred_at: LocalInstant | None = None
    """Time of the event; the moment of recording if absent. Its offset is kept, and decides which
    calendar day it was."""
    source: str | None = None
    """Source: a file, an address, a tool."""
    metadata: dict[str, Flat] = Field(default_factory=dict)
    """Your own flat values, stored and returned."""
    importance: StrictFloat = 0.5
    """0 to 1."""
    expires_at: Instant | None = None
    """End of its life: from then on it is never shown, and is erased. By the tenant's default
    life if absent. A repeat of an append does not change it."""
    idempotency_key: str | None = None
    """Sending the same key and body again changes nothing; another body is a conflict. The key of
    an episode that was erased is refused for some weeks."""
    vector: Numbers | None = None
    """Embedding of the text by the store's own model, if you have it already."""
    extraction: Extraction | None = None
    """Names and facts the text holds, if you have extracted them already."""

    def to_model(self) -> NewEpisode:
        """Hand over to the domain, which checks lengths and bounds."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        extraction = self.extraction and self.extraction.to_model()
        return NewEpisode(**given | {"extraction": extraction})


class UpdateRequest(Request):
    """A change of what stands beside an episode's text; what is not sent stays."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"metadata": {"reviewed": True, "draft": None}}]}
    )

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


def _read_item(value: Any, _: ValidatorFunctionWrapHandler) -> AppendRequest | UnreadableItem:
    if isinstance(value, AppendRequest):
        return value
    try:
        return AppendRequest.model_validate(value)
    except ValidationError as invalid:
        return UnreadableItem(errors=first_problems(invalid, "#"))


class BatchRequest(Request):
    """Up to 1,000 things to remember; one that cannot be used does not sink the others."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"episodes": [_TURN, _DOCUMENT]}]})

    episodes: tuple[
        Annotated[AppendRequest | SkipJsonSchema[UnreadableItem], WrapValidator(_read_item)], ...
    ] = Field(max_length=1_000)
    """The items, stored together."""


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


class EraseRequest(Request):
    """Episodes to erase."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"filters": {"session": "2026-03-14"}, "dry_run": True}]}
    )

    filters: FilterRequest
    """Filter of the episodes; at least one condition besides `exclude`."""
    dry_run: bool = Field(default=False, strict=True)
    """Only count them."""
    limit: StrictInt = Field(default=100, ge=1, le=1_000)
    """Most to erase by this call."""


class EraseAnswer(Answer):
    """Episodes that were to erase."""

    matched: int
    """Episodes that passed the filters before this call, live or not."""
    erased: int
    """Episodes erased by this call. If they are fewer than `matched`, send the same again."""


class EpisodeQuery(Parameters):
    """Filter and page of episodes."""

    session: Name | None = None
    """Only this session. Notes without a session have none to ask for."""
    concept: str | None = None
    """Only what mentions this concept, in any spelling of its name."""
    speaker: Name | None = None
    """Only what this speaker said, named in any case."""
    role: Role | None = None
    """Only what a speaker of this role said."""
    metadata: Json[dict[Key, Condition]] | None = None
    """Only episodes whose metadata meet these conditions, as a JSON object: for each name a value
    to equal, or comparisons such as `{"$gte": 4}`."""
    order: Literal["oldest", "newest"] = "oldest"
    """By when they were recorded: the oldest first, or the newest."""
    occurred_from: Instant | None = None
    """Earliest `occurred_at`, inclusive."""
    occurred_before: Instant | None = None
    """Latest `occurred_at`, exclusive."""
    cursor: TurnCursor | None = None
    """`next_cursor` of the page before."""
    limit: int = Field(default=100, ge=1, le=1_000)
    """Size of the page."""


class EpisodePage(Listing[Episode]):
    """Episodes in the order that was asked for."""
