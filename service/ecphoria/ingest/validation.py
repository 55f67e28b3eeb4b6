"""Validate episodes before they are stored."""

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import sha256
from math import isfinite
from typing import Any, Final

from ecphoria.errors import InvalidInput, TooLarge
from ecphoria.records.episode import (
    CENTURY,
    EARLIEST,
    LARGEST_METADATA,
    LONGEST_DESCRIPTION,
    LONGEST_KEY,
    LONGEST_NAME,
    LONGEST_SOURCE,
    Extracted,
    MetadataValue,
    NewEpisode,
    StatedName,
    Statement,
)
from ecphoria.records.forms import composed
from ecphoria.text.tokens import check_readable

_PARTS = ("subject", "predicate", "object")
_LONGEST: Final = {"source": LONGEST_SOURCE, "idempotency_key": LONGEST_KEY}


def check_episode(new: NewEpisode) -> None:
    """Refuse an episode that cannot be stored as it is.

    Raises:
        InvalidInput: A field is empty, unreadable or out of range; names it and the remedy.
        TooLarge: A field is over its bound.
    """
    check_readable("text", new.text)
    if not new.text.strip():
        raise InvalidInput("`text` is empty; send what is to be remembered", field="text")
    for field in ("title", "speaker", "role", "session", "source", "idempotency_key"):
        value: str | None = getattr(new, field)
        if value is not None:
            check_readable(field, value, _LONGEST.get(field, LONGEST_NAME))
            # A variable that is not set gives a blank key; all appends would have the same one.
            if not value.strip():
                raise InvalidInput(f"`{field}` is blank; leave it out instead", field=field)
    check_metadata(new.metadata)
    if new.extraction is not None:
        check_extraction(new.extraction)


def with_one_form(new: NewEpisode) -> NewEpisode:
    """Normalise the fields that find an episode to one Unicode form; its text stays."""
    found_by = ("title", "speaker", "session", "idempotency_key")
    given: dict[str, Any] = {field: _composed(getattr(new, field)) for field in found_by}
    return replace(new, metadata=_composed(new.metadata), **given)


def checked_time(occurred_at: datetime | None, recorded_at: datetime) -> datetime:
    """Bring an instant to UTC, or take the moment of recording.

    Raises:
        InvalidInput: It lies before the year 1000 or over a century ahead.
    """
    if occurred_at is None:
        return recorded_at
    latest = recorded_at + CENTURY
    if not EARLIEST <= occurred_at <= latest:
        raise InvalidInput(
            f"`occurred_at` must lie between {EARLIEST:%Y} and {latest:%Y}; "
            "leave it out if it is not known",
            field="occurred_at",
        )
    return occurred_at.astimezone(UTC)


def checked_expiry(expires_at: datetime | None, now: datetime) -> datetime | None:
    """Bring the end of a life to UTC; None for no end.

    Raises:
        InvalidInput: It lies in the past, or over a century ahead.
    """
    if expires_at is None:
        return None
    if not now < expires_at <= now + CENTURY:
        raise InvalidInput(
            "`expires_at` must lie ahead, by a century at most; to remove an episode now, erase "
            "it",
            field="expires_at",
        )
    return expires_at.astimezone(UTC)


def checked_claims(given: Extracted | None, occurred_at: datetime) -> None:
    """Refuse facts that end before they begin.

    Raises:
        InvalidInput: A fact has an impossible time; the message tells the remedy.
    """
    for fact in given.facts if given else ():
        if fact.valid_to is not None and fact.valid_to <= (fact.valid_from or occurred_at):
            raise InvalidInput(
                "`valid_to` of a fact must lie after its `valid_from`, which is the moment of the "
                "episode unless you send it",
                field="extraction",
            )


def body_hash(new: NewEpisode) -> str:
    """Hash everything a caller said of an episode, to tell a repeat from another body.

    The end of its life is left out, because a caller may compute it again for a retry.
    """
    return _hash(_body(new) | _extraction(new.extraction))


def _body(new: NewEpisode) -> dict[str, object]:
    body: dict[str, object] = {
        "text": new.text,
        "title": new.title,
        "speaker": new.speaker,
        "role": new.role,
        "session": new.session,
        "position": new.position,
        # The offset is not hashed: the same instant with another offset is the same memory.
        "occurred_at": new.occurred_at and new.occurred_at.astimezone(UTC).isoformat(),
        "source": new.source,
        "metadata": dict(new.metadata),
        "importance": new.importance,
    }
    return body if new.kind is None else body | {"kind": new.kind}


def _extraction(given: Extracted | None) -> dict[str, object]:
    """Omit the extraction when absent, so that existing hashes do not change."""
    if given is None:
        return {}
    return {"extraction": asdict(given) | {"facts": [_said(fact) for fact in given.facts]}}


def _said(fact: Statement) -> dict[str, object]:
    """Omit absent fields, so that new fields of a fact do not change existing hashes."""
    unsaid = asdict(Statement(subject="", predicate="", object=""))
    return {
        name: value.isoformat() if isinstance(value, datetime) else value
        for name, value in asdict(fact).items()
        if name in _PARTS or value != unsaid[name]
    }


def _hash(body: Mapping[str, object]) -> str:
    return sha256(json.dumps(_composed(body), sort_keys=True).encode()).hexdigest()


def _composed(value: Any) -> Any:
    """Normalise every text in a value: another Unicode form must give the same hash."""
    if isinstance(value, str):
        return composed(value)
    if isinstance(value, Mapping):
        return {composed(name): _composed(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_composed(part) for part in value]
    return value


# "ok" said twice without a time are two memories, so content alone is no key (decision 0002).
def content_key(new: NewEpisode, body: str) -> str | None:
    """Build the key that recognises a repeat of an episode without a key; None if there is none.

    A document is recognised by its title and text, a dated turn by its time and text. An undated
    turn or note may be said twice, so each append is a new memory. Names and facts are not part of
    the key. `body` is the body's hash.
    """
    if new.idempotency_key is not None:
        return f"key:{new.idempotency_key}"
    if new.occurred_at is None and new.title is None:
        return None
    return f"body:{body if new.extraction is None else _hash(_body(new))}"


def check_extraction(given: Extracted) -> None:
    """Refuse names and facts that cannot be stored; InvalidInput or TooLarge."""
    for fact in given.facts:
        check_readable("extraction", fact.qualifier, LONGEST_NAME)
    parts = (getattr(fact, part) for fact in given.facts for part in _PARTS)
    names = []
    for named in given.names:
        names.append(named if isinstance(named, str) else named.name)
        if isinstance(named, StatedName):
            check_readable("extraction", named.description, LONGEST_DESCRIPTION)
    for part in (*names, *parts):
        check_readable("extraction", part, LONGEST_NAME)
        if not part.strip():
            raise InvalidInput(
                "`extraction` holds a blank name or part of a fact; leave it out",
                field="extraction",
            )


def check_metadata(metadata: Mapping[str, MetadataValue]) -> None:
    """Refuse metadata that cannot be stored; InvalidInput or TooLarge."""
    size = 0
    for name, value in metadata.items():
        check_readable("metadata", name, LONGEST_NAME)
        if isinstance(value, str):
            check_readable("metadata", value, LARGEST_METADATA)
        if isinstance(value, float) and not isfinite(value):
            raise InvalidInput(
                f"`metadata.{name}` is no finite number; leave it out", field="metadata"
            )
        if isinstance(value, int) and not -(2**63) <= value < 2**63:
            raise InvalidInput(
                f"`metadata.{name}` does not fit 64 bits; send it as text", field="metadata"
            )
        size += len(name) + len(str(value))
    if size > LARGEST_METADATA:
        raise TooLarge(
            f"`metadata` has {size:,} characters; at most {LARGEST_METADATA:,} are stored",
            field="metadata",
        )
