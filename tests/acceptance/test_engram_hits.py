"""Summaries as hits of their own: found on request, with evidence that the recall may show."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from ecphoria.client import Client
from ecphoria.errors import InvalidInput
from ecphoria.records.recall import EngramHit
from tests.acceptance.conftest import Owner, RunningService

START = datetime(2024, 3, 1, 9, tzinfo=UTC)
TALKS = {
    "kiln": (
        "The kiln in the yard is fired with birch wood.",
        "Ana glazes the bowls before they go into the kiln.",
        "The kiln needs two days until it is cold.",
        "The bowls are sold on the market in Evora.",
    ),
    "boat": (
        "The boat lies at the pier of Olhao.",
        "Its engine was repaired by Rui in the winter.",
        "Rui paints the boat green every spring.",
        "The boat goes out for sardines at night.",
    ),
}


@pytest.fixture
def client(working: RunningService, owners: tuple[Owner, Owner]) -> Iterator[Client]:
    with Client(working.url, owners[0].key) as made:
        for session, turns in TALKS.items():
            for n, text in enumerate(turns):
                made.remember(
                    text, session=session, speaker="Ana", occurred_at=START + timedelta(minutes=n)
                )
        made.consolidate(steps=["engrams"])
        yield made


def found(client: Client, cue: str = "How is the kiln fired?", **asked: object) -> list[EngramHit]:
    return list(client.recall(cue, engrams=5, **asked).engrams)  # type: ignore[arg-type]


def test_a_summary_is_recalled_with_its_evidence(client: Client) -> None:
    first, second = found(client)
    assert (first.rank, first.engram.session, first.engram.members) == (1, "kiln", 4)
    assert (second.rank, second.engram.session) == (2, "boat")
    assert first.engram.method == "extractive"
    assert first.score == pytest.approx(sum(first.parts.values()))
    assert first.score > second.score
    assert tuple(one.id for one in first.evidence) == first.engram.evidence
    for one in first.evidence:
        assert one.text in TALKS["kiln"]
        assert one.text in first.engram.summary
    assert found(client, "Who repaired the engine?")[0].engram.session == "boat"


def test_engrams_leave_the_hits_as_they_are(client: Client) -> None:
    without = client.recall("How is the kiln fired?")
    beside = client.recall("How is the kiln fired?", engrams=5)
    assert without.engrams == ()
    assert [(hit.episode.id, hit.score) for hit in beside.hits] == [
        (hit.episode.id, hit.score) for hit in without.hits
    ]
    assert beside.context == without.context


def test_a_summary_of_what_may_not_be_shown_is_left_out(
    client: Client, owners: tuple[Owner, Owner]
) -> None:
    quoted = found(client)[0].evidence[0].id
    assert [hit.engram.session for hit in found(client, exclude=[quoted])] == ["boat"]
    assert [hit.engram.session for hit in found(client, session="boat")] == ["boat"]
    assert found(client, as_of=START - timedelta(days=1)) == []
    owners[0].post("/v1/dormancy/sleep", json={"ids": [quoted]})
    assert [hit.engram.session for hit in found(client)] == ["boat"]
    assert [hit.engram.session for hit in found(client, include_dormant=True)] == ["kiln", "boat"]


def test_an_erased_memory_takes_the_summary_with_it(client: Client) -> None:
    quoted = found(client)[0].evidence[0]
    client.delete(quoted.id)
    assert [hit.engram.session for hit in found(client)] == ["boat"]
    client.consolidate(steps=["engrams"])
    (again,) = [hit for hit in found(client) if hit.engram.session == "kiln"]
    assert quoted.text not in again.engram.summary
    assert again.engram.members == 3


def test_no_other_tenant_finds_it(
    client: Client, working: RunningService, owners: tuple[Owner, Owner]
) -> None:
    assert found(client)
    with Client(working.url, owners[1].key) as other:
        other.remember("The kiln is fired.")
        assert found(other) == []


def test_the_number_is_bounded(client: Client) -> None:
    with pytest.raises(InvalidInput, match=r"`engrams`.* 50"):
        client.recall("kiln", engrams=51)
