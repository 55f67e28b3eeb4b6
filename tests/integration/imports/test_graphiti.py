"""Graphiti's graph in a real Neo4j becomes episodes with their facts."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from ecphoria.errors import BadFile, Misconfigured, StoreUnavailable
from ecphoria.imports.graphiti import opened_graph
from ecphoria.imports.records import Record
from ecphoria.neo4j_store.session import GraphOptions
from ecphoria.records.episode import NewEpisode
from tests.conftest import Server
from tests.graphiti_graph import BEGUN, GraphitiGraph, graphiti_graph


@pytest.fixture
def memory(neo4j_server: Server) -> Iterator[GraphitiGraph]:
    with graphiti_graph(neo4j_server) as graph:
        yield graph


def read(options: GraphOptions, group: str) -> tuple[list[Record], dict[str, int]]:
    with opened_graph(options, group) as export:
        records = list(export.records)
        assert sum(record.size for record in records) == export.size
        return records, dict(export.reading.parts)


def turns(records: list[Record]) -> list[NewEpisode]:
    return [one.content for one in records if isinstance(one.content, NewEpisode)]


def test_episodes_come_in_time_with_names_and_facts(
    memory: GraphitiGraph, options: GraphOptions
) -> None:
    ids = memory.entities("Ana Kos", "Lisbon", "Porto", "Quill Workshop")
    ana, lisbon, porto, quill = ids.values()
    later = memory.episode("Ana(user): I moved to Porto.", [ana, porto],
                           valid_at=BEGUN + timedelta(days=9))  # fmt: skip
    first = memory.episode("Ana: I live in Lisbon and work at Quill.", [ana, lisbon, quill])
    memory.fact(ana, "LIVES_IN", lisbon, episodes=[first, later], valid_at=BEGUN,
                invalid_at=BEGUN + timedelta(days=9))  # fmt: skip
    memory.fact(ana, "WORKS_AT", quill, episodes=[first])
    memory.fact(ana, "LIVES_IN", porto, episodes=[later], valid_at=BEGUN + timedelta(days=9))
    memory.fact(ana, "KNOWS", quill, episodes=["another"])
    said, moved = turns(read(options, memory.group)[0])
    assert (said.text, said.speaker, said.role) == (
        "I live in Lisbon and work at Quill.", "Ana", None,
    )  # fmt: skip
    assert (moved.text, moved.speaker, moved.role) == ("I moved to Porto.", "Ana", "user")
    assert [turn.occurred_at for turn in (said, moved)] == [BEGUN, BEGUN + timedelta(days=9)]
    assert (said.session, said.source) == (memory.group, "chat")
    assert said.idempotency_key == f"graphiti-{first}"
    assert said.extraction is not None
    assert moved.extraction is not None
    assert said.extraction.names == ("Ana Kos", "Lisbon", "Quill Workshop")
    facts = {(one.predicate, one.object): one for one in said.extraction.facts}
    assert set(facts) == {("lives in", "Lisbon"), ("works at", "Quill Workshop")}
    lived = facts["lives in", "Lisbon"]
    assert (lived.subject, lived.valid_from, lived.valid_to) == (
        "Ana Kos", BEGUN, BEGUN + timedelta(days=9),
    )  # fmt: skip
    assert facts["works at", "Quill Workshop"].valid_to is None
    assert {one.object for one in moved.extraction.facts} == {"Lisbon", "Porto"}


def test_what_is_odd_in_a_graph_is_read_or_told(
    memory: GraphitiGraph, options: GraphOptions
) -> None:
    one, long = memory.entities("Ana", "x" * 300).values()
    ep = memory.episode("Ana: Hi.\nBo: Hello.", [one, long],
                        valid_at=datetime(2024, 3, 2, 8))  # fmt: skip # noqa: DTZ001
    memory.fact(one, "LIKES", long, episodes=[ep])
    memory.fact(one, "WAS_IN", one, episodes=[ep], invalid_at=BEGUN - timedelta(days=900))
    memory.fact(one, "KNEW", one, episodes=[ep], valid_at=BEGUN, expired_at=BEGUN + timedelta(1))
    memory.episode("", uuid="0" * 32)
    memory.episode('{"a": 1}', source="json", valid_at=None, created_at=None, name="",
                   source_description="")  # fmt: skip
    records, left_out = read(options, memory.group)
    (fault,) = (record for record in records if isinstance(record.content, BadFile))
    assert fault.place == f"episode {'0' * 32}"
    both, undated = turns(records)
    assert (both.text, both.speaker) == ("Ana: Hi.\nBo: Hello.", None)
    assert both.occurred_at == datetime(2024, 3, 2, 8, tzinfo=UTC), "without an offset it is UTC"
    assert both.extraction is not None
    assert both.extraction.names == ("Ana",)
    (knew,) = both.extraction.facts
    assert (knew.predicate, knew.valid_to) == ("knew", BEGUN + timedelta(1))
    assert (undated.text, undated.occurred_at, undated.source) == ('{"a": 1}', None, None)
    assert sum(left_out.values()) == 2


def test_many_episodes_are_read_in_pages(memory: GraphitiGraph, options: GraphOptions) -> None:
    for number in range(230):
        memory.episode(f"Turn {number}.", valid_at=BEGUN + timedelta(minutes=-number))
    texts = [turn.text for turn in turns(read(options, memory.group)[0])]
    assert texts == [f"Turn {number}." for number in reversed(range(230))]


def test_a_wrong_address_password_or_group_is_told(options: GraphOptions) -> None:
    def refused(**changes: Any) -> str:
        with (
            pytest.raises((BadFile, Misconfigured, StoreUnavailable)) as told,
            opened_graph(replace(options, **changes), "no such group"),
        ):
            pass
        return told.value.message

    assert "no such group" in refused()
    assert "ECPHORIA_SOURCE_PASSWORD" in refused(password="top-secret-word")
    assert "top-secret-word" not in refused(password="top-secret-word")
    assert "not in the address" in refused(uri="bolt://neo4j:top-secret-word@localhost:1")
    assert "does not answer" in refused(uri="bolt://localhost:1", retry_s=0.1)
    assert "must start with" in refused(uri="http://localhost:7474")
