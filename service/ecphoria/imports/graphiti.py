"""Graphiti's memory, read by Bolt from its own Neo4j.

An episode of Graphiti becomes an episode here. The entities it mentions and the facts it supports
become its extraction, so no language model reads it again.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from ecphoria.errors import BadFile, Misconfigured, StoreUnavailable
from ecphoria.imports.exports import Opened
from ecphoria.imports.formats import Format
from ecphoria.imports.streams import Found, Reading, numbered
from ecphoria.imports.values import Fields, as_object, instant
from ecphoria.neo4j_store.session import Graph, GraphOptions, Statement
from ecphoria.records.episode import LONGEST_NAME
from ecphoria.runtime import in_parts

R = TypeVar("R")

# Ids and times are listed first and sorted here: `valid_at` may have an offset or none, and Cypher
# cannot compare the two (decision 0038).
_KEYS_A_PAGE, _EPISODES_A_PAGE = 10_000, 100
_MOST_NAMES = 1_000
_ZONE: Final = re.compile(r"\[[^\]]*\]$")
_SPEAKER: Final = re.compile(r"([^\n:()]{1,80}?)\s*(?:\((\w{1,20})\))?:\s+(?=\S)")
_ROLES: Final = {"human": "user", "ai": "assistant"} | {
    name: name for name in ("user", "assistant", "tool", "system")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class _EpisodeRow:
    uuid: str
    content: str | None
    name: str | None
    group: str | None
    source: str | None
    source_description: str | None
    names: list[str]
    facts: list[Mapping[str, str | None]]


_LIST_KEYS = Statement("graphiti.list_keys", tuple[str, str | None])
_LOAD_EPISODES = Statement("graphiti.load_episodes", _EpisodeRow)


@contextmanager
def opened_graph(options: GraphOptions, group: str | None = None) -> Iterator[Opened]:
    """Open a database of Graphiti.

    Ids and times of all episodes are read first, because nothing else orders them in time; they
    take about 200 bytes each. Texts and facts are read a hundred episodes at a time.

    Raises:
        Misconfigured: The address, the user or the password cannot be used.
        StoreUnavailable: The server does not answer.
        BadFile: It holds no episodes of Graphiti.
    """
    if "@" in options.uri:
        raise Misconfigured(
            "Give the user and the password by --source-user and ECPHORIA_SOURCE_PASSWORD, "
            "not in the address."
        )
    with asyncio.Runner() as runner:
        source = _Source(runner, Graph.connect(options))
        try:
            keys = source.keys(group)
            if not keys:
                where = f"of the group {group}" if group else "in this database"
                raise BadFile(f"There are no episodes of Graphiti {where}.")
            reading = Reading()
            found = _read(source, keys, reading)
            yield Opened(
                records=numbered(found, reading),
                form=Format.GRAPHITI,
                size=len(keys),
                reading=reading,
            )
        finally:
            source.close()


class _Source:
    """A connection to Graphiti's Neo4j, for a caller that does not await."""

    def __init__(self, runner: asyncio.Runner, graph: Graph) -> None:
        self._runner, self._graph = runner, graph

    def keys(self, group: str | None) -> list[tuple[datetime | None, str]]:
        """List the times and ids of all episodes, the oldest first, undated ones last."""
        found: list[tuple[datetime | None, str]] = []
        after = ""
        while True:
            page = self._run(_LIST_KEYS, group=group, after=after, limit=_KEYS_A_PAGE)
            found += [(_instant(valid_at), uuid) for uuid, valid_at in page]
            if len(page) < _KEYS_A_PAGE:
                return sorted(found, key=lambda key: (key[0] is None, key[0] or 0, key[1]))
            after, _ = page[-1]

    def episodes(self, uuids: list[str]) -> list[_EpisodeRow]:
        """Read episodes in the order asked for; some may have been deleted meanwhile."""
        by_uuid = {row.uuid: row for row in self._run(_LOAD_EPISODES, uuids=uuids)}
        return [by_uuid[uuid] for uuid in uuids if uuid in by_uuid]

    def close(self) -> None:
        """Close the connection."""
        self._runner.run(self._graph.close())

    def _run(self, statement: Statement[R], **params: object) -> list[R]:
        try:
            return self._runner.run(self._graph.run(statement, **params))
        except Misconfigured as error:
            raise Misconfigured(
                "Graphiti's Neo4j refuses the user and password; give --source-user and "
                "ECPHORIA_SOURCE_PASSWORD."
            ) from error
        except StoreUnavailable as error:
            raise StoreUnavailable(
                "Graphiti's Neo4j does not answer; check its address."
            ) from error


def _read(
    source: _Source, keys: list[tuple[datetime | None, str]], reading: Reading
) -> Iterator[Found]:
    for page in in_parts(keys, _EPISODES_A_PAGE):
        times = {uuid: at for at, uuid in page}
        for row in source.episodes([uuid for _, uuid in page]):
            reading.done += 1
            reading.place = f"episode {row.uuid}"
            yield _episode(row, times[row.uuid], reading)
    reading.done = len(keys)


def _episode(row: _EpisodeRow, at: datetime | None, reading: Reading) -> Found:
    if not isinstance(row.content, str) or not row.content.strip():
        return BadFile("The episode has no `content`; Graphiti was told not to store it.")
    fields: Fields = {
        "text": row.content,
        "session": row.group or "graphiti",
        "source": row.source_description or None,
        "metadata": {"name": row.name} if row.name else {},
        # The source's id is the key, so a repeated import stores nothing twice and needs no state
        # (decision 0038).
        "idempotency_key": f"graphiti-{row.uuid}",
        "occurred_at": at,
    }
    if row.source == "message":
        fields |= _spoken(row.content)
    names = [name for name in row.names if _is_name(name)][:_MOST_NAMES]
    # Facts come with their episode, because a fact needs the text that supports it (decision
    # 0038).
    facts = list(_facts(row.facts, at, reading))[:_MOST_NAMES]
    if names or facts:
        fields["extraction"] = {"names": names, "facts": facts}
    return fields


def _spoken(content: str) -> Fields:
    """Part the speaker from a message such as `Ana(user): I moved.`; several stay together."""
    found = _SPEAKER.match(content)
    rest = content[found.end() :] if found else ""
    if found is None or any(_SPEAKER.match(line) for line in rest.split("\n")):
        return {}
    role = _ROLES.get((found[2] or found[1]).lower())
    return {"text": rest, "speaker": found[1].strip() or None, "role": role}


def _facts(
    given: Iterable[Mapping[str, str | None]], at: datetime | None, reading: Reading
) -> Iterator[Fields]:
    for fact in map(as_object, given):
        predicate = str(fact.get("predicate") or "relates to")
        parts = {
            "subject": fact.get("subject"),
            "predicate": predicate.replace("_", " ").lower() if predicate.isupper() else predicate,
            "object": fact.get("object"),
        }
        begin, end = _instant(fact.get("valid_from")), _instant(fact.get("valid_to"))
        begun = begin or at
        if not all(map(_is_name, parts.values())):
            reading.leave_parts("facts with a part that is empty or too long")
        elif end is not None and (begun is None or end <= begun):
            reading.leave_parts("facts that ended before they began")
        else:
            yield {**parts, "valid_from": begin, "valid_to": end}


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip()) and len(value) <= LONGEST_NAME


def _instant(text: str | None) -> datetime | None:
    """Read a time of Neo4j, which may end with the name of a zone."""
    return instant(_ZONE.sub("", text)) if text else None
