"""Filters of memories as parameters of queries."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from ecphoria.neo4j_store.locks import no_tenant
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.records.episode import MetadataValue
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Filters

# Ranges that leave nothing out, so that one query text serves every filter.
_FIRST_TEXT, _LAST_TEXT = "", "\U0010ffff"
_FIRST_INSTANT = datetime(1, 1, 1, tzinfo=UTC)
_LAST_INSTANT = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
_SHOWN = 10
"""Names that a remark about an unknown one gives."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    speakers: list[str]
    sessions: list[str]
    known_speakers: list[str]
    known_sessions: list[str]


_FIND_NAMED = Statement("recall.find_named", _Named)


async def named(
    graph: Graph, tenant: TenantId, filters: Filters
) -> tuple[Filters, tuple[str, ...]]:
    """Find the spellings of the wanted speaker, and tell which wanted names do not exist.

    A speaker is found in any case, "ana" as "Ana" and as "ANA": the few names that a tenant has
    are compared, so that no stored name has to change.

    Raises:
        NotFound: There is no such tenant.
    """
    wanted = {*filters.sessions, *(() if filters.session is None else (filters.session,))}
    if filters.speaker is None and not wanted:
        return filters, ()
    row = await graph.run_one(
        _FIND_NAMED, tenant=tenant, speaker=filters.speaker, sessions=sorted(wanted), limit=_SHOWN
    )
    if row is None:
        raise no_tenant(tenant)
    unknown = []
    if filters.speaker is not None and not row.speakers:
        unknown.append(_unknown("speaker", [filters.speaker], row.known_speakers))
    if missing := sorted(wanted.difference(row.sessions)):
        unknown.append(_unknown("session", missing, row.known_sessions))
    return replace(filters, spoken_by=tuple(row.speakers)), tuple(unknown)


def _unknown(kind: str, names: Sequence[str], known: Sequence[str]) -> str:
    more = ", ..." if len(known) == _SHOWN else ""
    listed = f"; known: {', '.join(known)}{more}" if known else "; none is stored"
    return f"unknown {kind}: {', '.join(names[:_SHOWN])}{listed}"


def within(filters: Filters) -> dict[str, str | datetime]:
    """Write filters as the ranges that a vector index takes."""
    speaker = filters.speakers[0] if filters.speakers else None
    return {
        "session_from": filters.session or _FIRST_TEXT,
        "session_to": filters.session or _LAST_TEXT,
        "speaker_from": speaker or _FIRST_TEXT,
        "speaker_to": speaker or _LAST_TEXT,
        "occurred_from": filters.occurred_from or _FIRST_INSTANT,
        "occurred_before": filters.occurred_before or _LAST_INSTANT,
    }


def by_filter(filters: Filters) -> dict[str, str | datetime | list[str] | None]:
    """Write filters as parameters that are null or empty where nothing is asked."""
    return {
        "session": filters.session,
        "speakers": list(filters.speakers) or None,
        "occurred_from": filters.occurred_from,
        "occurred_before": filters.occurred_before,
        "sessions": list(filters.sessions) or None,
        "role": filters.role,
        "metadata": entries_of(filters.metadata),
    }


def metadata_text(metadata: Mapping[str, MetadataValue]) -> str:
    """Write metadata as they are stored; filters look for entries in this form."""
    return json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True)


def entries_of(metadata: Iterable[tuple[str, MetadataValue]]) -> list[str]:
    """Write wanted entries of metadata as they stand in the stored JSON.

    A quote inside of a JSON text is escaped, so no text can pretend to be such an entry.
    """
    return [metadata_text({name: value})[1:-1] for name, value in metadata]
