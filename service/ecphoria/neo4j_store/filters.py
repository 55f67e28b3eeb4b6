"""Filters of memories as parameters of queries."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from sys import float_info

from ecphoria.neo4j_store.locks import no_tenant
from ecphoria.neo4j_store.session import Graph, Statement
from ecphoria.records.conditions import meets
from ecphoria.records.episode import MetadataCondition, MetadataValue
from ecphoria.records.fact import UNENDING
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Filters
from ecphoria.runtime import run_off_loop

# Ranges that contain every value, so that one query text serves every filter.
_FIRST_TEXT, _LAST_TEXT = "", "\U0010ffff"
_FIRST_INSTANT = datetime(1, 1, 1, tzinfo=UTC)
_RANGES = (
    "session_from", "session_to", "speaker_from", "speaker_to", "occurred_from", "occurred_before",
)  # fmt: skip
_SHOWN = 10
"""Number of known names that a message about an unknown name lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Named:
    speakers: list[str]
    sessions: list[str]
    known_speakers: list[str]
    known_sessions: list[str]
    metadata: list[str]


_FIND_NAMED = Statement("recall.find_named", _Named)


async def named(
    graph: Graph, tenant: TenantId, filters: Filters
) -> tuple[Filters, tuple[str, ...]]:
    """Find the stored values that pass the filters; report wanted names that do not exist.

    Case and blanks around a speaker do not matter ("ana" finds "Ana" and " ANA"): a tenant has few
    speakers, so all are compared, and stored names need no change. For conditions on metadata, the
    stored metadata texts that pass are listed; the queries of a recall compare these texts.

    Raises:
        NotFound: There is no such tenant.
    """
    conditions = dict(filters.metadata)
    wanted = {*filters.sessions, *(() if filters.session is None else (filters.session,))}
    if filters.speaker is None and not wanted and not conditions:
        return filters, ()
    row = await graph.run_one(
        _FIND_NAMED,
        tenant=tenant,
        speaker=filters.speaker,
        sessions=sorted(wanted),
        metadata=forms_of(conditions),
        limit=_SHOWN,
    )
    if row is None:
        raise no_tenant(tenant)
    unknown = []
    if filters.speaker is not None and not row.speakers:
        unknown.append(_unknown("speaker", [filters.speaker], row.known_speakers))
    if missing := sorted(wanted.difference(row.sessions)):
        unknown.append(_unknown("session", missing, row.known_sessions))
    passing = await _passing(row.metadata, conditions)
    found = replace(filters, spoken_by=tuple(row.speakers), metadata_texts=passing)
    return found, tuple(unknown)


async def _passing(
    found: Sequence[str], wanted: Mapping[str, MetadataCondition]
) -> tuple[str, ...]:
    """Choose the texts of metadata that meet conditions."""
    return await run_off_loop(
        lambda: tuple(text for text in found if meets(json.loads(text), wanted)),
        sum(map(len, found)),
    )


def _unknown(kind: str, names: Sequence[str], known: Sequence[str]) -> str:
    more = ", ..." if len(known) == _SHOWN else ""
    listed = f"; known: {', '.join(known)}{more}" if known else "; none is stored"
    return f"unknown {kind}: {', '.join(names[:_SHOWN])}{listed}"


def within(filters: Filters) -> dict[str, str | datetime | None]:
    """Convert filters to the ranges that a vector index accepts; to nulls if there is none."""
    if filters == Filters():
        return dict.fromkeys(_RANGES)
    speaker = filters.speakers[0] if filters.speakers else None
    return {
        "session_from": filters.session or _FIRST_TEXT,
        "session_to": filters.session or _LAST_TEXT,
        "speaker_from": speaker or _FIRST_TEXT,
        "speaker_to": speaker or _LAST_TEXT,
        "occurred_from": filters.occurred_from or _FIRST_INSTANT,
        "occurred_before": filters.occurred_before or UNENDING,
    }


def by_filter(filters: Filters) -> dict[str, str | datetime | list[str] | None]:
    """Convert filters to parameters; a filter that is not set is null or empty."""
    return {
        "session": filters.session,
        "speakers": list(filters.speakers) or None,
        "occurred_from": filters.occurred_from,
        "occurred_before": filters.occurred_before,
        "sessions": list(filters.sessions) or None,
        "role": filters.role,
        "kind": filters.kind,
        "metadata": list(filters.metadata_texts) if filters.metadata else None,
    }


def metadata_text(metadata: Mapping[str, MetadataValue]) -> str:
    """Convert metadata to the stored text; `forms_of` searches in this form."""
    return json.dumps(dict(metadata), ensure_ascii=False, sort_keys=True)


def forms_of(wanted: Mapping[str, MetadataCondition]) -> list[list[str]]:
    """List the texts of which matching stored metadata contain one for each condition.

    Other metadata may contain them too, for instance in a value, so `meets` decides.
    """
    return [list(_forms(name, condition)) for name, condition in wanted.items()]


def _forms(name: str, condition: MetadataCondition) -> Iterator[str]:
    entry = metadata_text({name: 0})[1:-2]
    if not isinstance(condition, Mapping):
        yield from (entry + value for value in _spellings(condition))
    elif set(condition) == {"$ne"}:
        yield "{"  # an absent entry is different too
    else:
        yield entry


def _spellings(value: MetadataValue) -> Iterable[str]:
    """Write a value as JSON; a whole number in each form in which callers may have sent it."""
    if isinstance(value, str | bool) or not abs(value) <= float_info.max or value != int(value):
        return [json.dumps(value, ensure_ascii=False)]
    whole = int(value)
    same = [number for number in (float(whole), -float(whole)) if number == whole]
    return map(json.dumps, [whole, *same])
