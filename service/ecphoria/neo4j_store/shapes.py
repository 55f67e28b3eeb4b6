"""The kinds of nodes and edges that a tenant's graph may hold, with their properties.

Files of copies and of the archive may have been edited, so their content is compared with this
list before it is stored. `docs/reference/graph.md` explains each name.
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from neo4j.time import DateTime

from ecphoria.records.ids import ID
from ecphoria.records.upkeep import COLD_FILE, StoredInstant

_DIGEST: Final = re.compile(f"(?:{ID.pattern}){{1,2}}")
_INSTANT: Final = re.compile(
    r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]00:00)", re.ASCII
)
_KEY_BYTES: Final = 7_000
"""Longest text in an index of the store, which refuses longer keys."""
_LEAST, _MOST = -(2**63), 2**63 - 1


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= sign <= "\udfff" for sign in value)


def _is_key(value: Any) -> bool:
    return isinstance(value, str) and len(value.encode(errors="surrogatepass")) <= _KEY_BYTES


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and _LEAST <= value <= _MOST


def _is_number(value: Any) -> bool:
    return math.isfinite(value) if isinstance(value, float) else _is_whole(value)


def _is_json(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True


def _is_instant(value: Any) -> bool:
    if not isinstance(value, StoredInstant) or not isinstance(value.text, str):
        return False
    if not _INSTANT.fullmatch(value.text):
        return False
    try:
        DateTime.from_iso_format(value.text)
    except ValueError:
        return False
    return True


def vector_length(value: Any) -> int | None:
    """Count the dimensions of a vector: a byte each, or a list of finite numbers.

    Returns:
        None if it is no vector.
    """
    if isinstance(value, bytes):
        return len(value)
    if isinstance(value, list) and set(map(type, value)) == {float}:
        return len(value) if all(map(math.isfinite, value)) else None
    return None


def _matching(form: re.Pattern[str]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and form.fullmatch(value) is not None


def _list_of(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(test, value))


_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "text": _is_text,
    "key": lambda value: _is_text(value) and _is_key(value),
    "id": _matching(ID),
    "digest": _matching(_DIGEST),
    "cold file": _matching(COLD_FILE),
    "flag": lambda value: isinstance(value, bool),
    "mark": lambda value: isinstance(value, bool) or _is_text(value),
    "whole number": _is_whole,
    "number": _is_number,
    "instant": _is_instant,
    "vector": lambda value: vector_length(value) is not None,
    "JSON": _is_json,
    "list of texts": _list_of(_is_text),
    "list of JSON": _list_of(_is_json),
    "list of numbers": _list_of(_is_number),
    "list of instants": _list_of(_is_instant),
}

Properties = Mapping[str, str]
"""Types by the names of properties."""


def _typed(**names: str) -> dict[str, str]:
    """Build the types by property from names of properties, separated by blanks, for each type."""
    return {
        name: told.replace("_", " ") if told != "JSON" else told
        for told, listed in names.items()
        for name in listed.split()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeShape:
    """The shape of a kind of node.

    Attributes:
        properties: That it may have.
        needed: Of these, those it must have.
        marks: Sets of further labels that are allowed.
        unique: Properties with unique values in the whole store.
        key: Properties whose combination is unique in a tenant.
        late: It gives access to the tenant or starts work, so an import creates it last (decision
            0031).
    """

    properties: Properties
    needed: frozenset[str]
    marks: tuple[frozenset[str], ...] = (frozenset(),)
    unique: tuple[str, ...] = ()
    key: tuple[str, ...] = ()
    late: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeShape:
    """The shape of a kind of edge: the kinds of nodes at both ends, and its properties."""

    tails: frozenset[str]
    heads: frozenset[str]
    properties: Properties


def _node(
    properties: Properties,
    *,
    needed: str = "",
    marks: tuple[str, ...] = ("",),
    unique: str = "id",
    key: str = "",
    late: bool = False,
) -> NodeShape:
    owned = {"tenant": "id", **properties}
    return NodeShape(
        properties=owned,
        needed=frozenset(("tenant", *unique.split(), *key.split(), *needed.split())),
        marks=tuple(frozenset(each.split()) for each in marks),
        unique=tuple(unique.split()),
        key=tuple(key.split()),
        late=late,
    )


_TENANT: Final = _typed(
    id="id",
    key="name",
    text="engram_formula load",
    instant="created_at recorded_at locked_at expires_from learning_since due_at",
    whole_number="turn change names_kept items titles length stated passages"
    " associated_turn associated_total recall_total feedback_total scheduled_turn light_turn"
    " loaded",
    flag="timed",
    list_of_numbers="scale",
    JSON="extraction settings classes",
)
_EPISODE: Final = _typed(
    id="id",
    key="session speaker",
    text="text title role kind source body_hash idempotency_key extracted_by terms words"
    " state_reason summary",
    JSON="metadata",
    whole_number="turn ordinal position length archive_offset crowd crowd_turn access_count"
    " recall_count lif_turn utc_offset",
    number="importance prior crowd_cosine first_access_at"
    " stability stability_at r1 r2 chain_at reward_pos reward_neg reliability_0 salience tau"
    " lif_v lif_i",
    list_of_numbers="access_recent spike_turns spike_strengths",
    instant="occurred_at recorded_at expires_at archived_at dormant_at",
    flag="is_question time_expression first_person second_person pinned",
    vector="embedding",
    digest="archive_digest",
    cold_file="archive_file",
) | {"touched": "mark"}
_PASSAGE: Final = _typed(
    id="id episode",
    key="session speaker",
    text="terms",
    whole_number="ordinal start end length turn",
    instant="occurred_at",
    vector="embedding",
)
_NAME: Final = _typed(
    id="id",
    key="normalised",
    text="name kind",
    whole_number="titles candidates stated mentions abouts searched",
    number="prior",
    instant="recorded_at",
    vector="embedding",
) | {"touched": "mark"}
_FACT: Final = _typed(
    id="id superseded_by contested_by",
    key="subject relation qualifier",
    text="predicate object statement standing",
    instant="recorded_at valid_from valid_to",
    list_of_instants="held_from held_until",
    flag="negated",
    vector="embedding",
) | {"touched": "mark"}
_DECISION: Final = _typed(
    id="id fact other",
    text="undoes ruling relation predicate_class decided_by why",
    whole_number="number",
    instant="recorded_at valid_from valid_to",
)
_ENGRAM: Final = _typed(
    id="id",
    text="kind summary method terms topic",
    list_of_texts="decisions decided_in open_questions asked_in",
    number="valence novelty",
    whole_number="members formula",
    instant="recorded_at",
    vector="embedding",
)
_TRACE: Final = _typed(
    id="id",
    text="cue strategy verdict",
    number="confidence",
    JSON="payload",
    flag="refused effects_applied",
    instant="created_at recorded_at pending_since",
)
_JOB: Final = _typed(
    id="id",
    key="slot",
    text="kind state trigger place code message",
    whole_number="token attempts done total",
    instant="lease_until run_after recorded_at started_at finished_at held_at",
    flag="cancelling",
    list_of_texts="steps",
    list_of_JSON="ended",
    JSON="before report",
)
_ITEM: Final = _typed(
    key="path key",
    text="text",
    JSON="value",
    list_of_texts="namespace",
    number="ttl_s",
    instant="created_at updated_at expires_at",
    vector="embedding",
)
_API_KEY: Final = _typed(
    id="id",
    digest="hash",
    text="name prefix",
    list_of_texts="scopes",
    instant="created_at recorded_at expires_at revoked_at",
)

NODES: Final[Mapping[str, NodeShape]] = {
    "Tenant": NodeShape(
        properties=_TENANT,
        needed=frozenset(("id", "name", "created_at", "turn", "change", "items", "titles")),
        unique=("id", "name"),
        late=True,
    ),
    "ApiKey": _node(
        _API_KEY, needed="name prefix scopes created_at", unique="id hash", late=True
    ),
    "Job": _node(
        _JOB, needed="kind state trigger steps token attempts recorded_at", late=True
    ),
    "Episode": _node(
        _EPISODE,
        needed="turn session speaker occurred_at recorded_at importance",
        marks=("LiveEpisode", "DormantEpisode", "ArchivedEpisode"),
    ),
    "Passage": _node(_PASSAGE, needed="episode ordinal start end turn", marks=("", "LivePassage")),
    "Name": _node(_NAME, unique="", key="normalised", marks=("", "Concept LiveConcept")),
    "Fact": _node(
        _FACT, needed="subject predicate object statement recorded_at", marks=("", "LiveFact")
    ),
    "Decision": _node(_DECISION, needed="number recorded_at ruling"),
    "Engram": _node(_ENGRAM, needed="kind summary recorded_at"),
    "Trace": _node(_TRACE, needed="created_at payload"),
    "Tombstone": _node(_typed(id="id", instant="erased_at")),
    "Session": _node(
        _typed(id="id", key="name", instant="recorded_at") | {"touched": "mark"},
        unique="", key="name",
    ),
    "Speaker": _node(
        _typed(id="id", key="name", whole_number="episodes", instant="recorded_at"),
        unique="", key="name",
    ),
    "Term": _node(_typed(key="stem", whole_number="items"), unique="", key="stem"),
    "Word": _node(_typed(key="word", whole_number="items"), unique="", key="word"),
    "Item": _node(
        _ITEM, needed="namespace value created_at updated_at", unique="", key="path key"
    ),
}  # fmt: skip
"""Kinds of nodes by their main label."""

_EDGE: Final = _typed(text="family", number="weight", instant="created_at")
_LEARNED: Final = _typed(
    number="w_sim w_lift w_learned", whole_number="coactivations formula", instant="last_used"
)


def _edge(tails: str, heads: str, properties: Properties | None = None) -> EdgeShape:
    return EdgeShape(
        tails=frozenset(tails.split()),
        heads=frozenset(heads.split()),
        properties={**_EDGE, **(properties or {})},
    )


EDGES: Final[Mapping[str, EdgeShape]] = {
    "NEXT": _edge("Episode", "Episode", _typed(number="gap_days")),
    "IN_SESSION": _edge("Episode", "Session"),
    "SPOKEN_BY": _edge("Episode", "Speaker"),
    "HAS_PASSAGE": _edge("Episode", "Passage"),
    "MENTIONS": _edge(
        "Episode", "Name",
        _typed(
            flag="stated", text="by cognitive description", whole_number="importance"
        ),
    ),
    "ABOUT": _edge("Name", "Episode"),
    "SUBJECT": _edge("Fact", "Name"),
    "OBJECT": _edge("Fact", "Name"),
    "EVIDENCE": _edge(
        "Fact Engram", "Episode",
        _typed(
            instant="valid_from valid_to", number="reliability", text="by",
            whole_number="start end",
        ),
    ),
    "DECIDES": _edge("Decision", "Fact"),
    "SUMMARISES": _edge("Engram", "Session Episode"),
    "RELATED": _edge("Name", "Name", _typed(text="predicate", id="fact")),
    "SIMILAR": _edge("Episode", "Episode", _LEARNED),
    "ASSOCIATED": _edge("Name", "Name", _LEARNED),
    "SYNONYM": _edge("Name", "Name", _typed(number="cosine")),
    "SAME_AS": _edge(
        "Name", "Name", _typed(text="status reason", number="cosine", instant="decided_at")
    ),
    "SEEDED": _edge(
        "Trace", "Episode Name Fact Engram", _typed(number="energy", text="stream")
    ),
    "WOKE": _edge(
        "Trace", "Episode", _typed(whole_number="rank", number="score", flag="useful")
    ),
}  # fmt: skip
"""Kinds of edges by type."""


def has_type(told: str, value: Any) -> bool:
    """Tell whether a value from a file has the type of its property."""
    return _TYPES[told](value)


def kind_of(labels: frozenset[str]) -> str | None:
    """Name the kind of a node with these labels; None if there is no such kind."""
    for name, kind in NODES.items():
        if name in labels:
            return name if labels - {name} in kind.marks else None
    return None


def wrong_property(known: Properties, properties: Mapping[str, Any]) -> str | None:
    """Describe the first property that is unknown or of a wrong type; None if all are right."""
    for name, value in properties.items():
        told = known.get(name)
        if told is None:
            return f"an unknown property, {name[:60]!r}"
        if not has_type(told, value):
            return f"a `{name}` that is no {told}"
    return None
