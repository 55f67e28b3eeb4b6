"""The turns that follow an open question stand in the context, and no hidden one does."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.acceptance.conftest import Owner
from tests.acceptance.ending import let_end
from tests.conftest import Cypher

SESSIONS = (
    ("The shop needs a router. Do I take chi or gin?", "Chi is small.", "OK, the first it is."),
    ("I can't decide on a router: chi or gin.", "Both are good.", "Settled for the second."),
)
CUE = "router chi gin"
FIRST = "2025-03-01T10:0{}Z"
BETWEEN, LATER = "2025-03-20T00:00Z", "2025-04-01T10:00Z"


def tell(owner: Owner, turns: tuple[str, ...], **last: Any) -> list[str]:
    """Store a session in which user and assistant speak in turn, and another one beside it."""
    ids = [
        owner.remember(
            text,
            session="s1",
            **{
                "occurred_at": FIRST.format(place),
                "speaker": "Bot" if place % 2 else "Ana",
                "role": "assistant" if place % 2 else "user",
                **(last if place == len(turns) - 1 else {}),
            },
        )
        for place, text in enumerate(turns)
    ]
    owner.remember(
        "The ferry leaves at nine.", session="s2", speaker="Ana", occurred_at=FIRST.format(9)
    )
    return ids


def recall(owner: Owner, **body: object) -> dict[str, Any]:
    answer = owner.post("/v1/recall", json={"cue": CUE, "k": 1, **body})
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


@pytest.mark.parametrize("turns", SESSIONS)
@pytest.mark.parametrize("strategy", ["ecphoria", "fusion", "lexical"])
def test_the_decision_follows_the_question(
    owner: Owner, turns: tuple[str, ...], strategy: str
) -> None:
    ids = tell(owner, turns)
    told = recall(owner, strategy=strategy)
    assert [hit["episode"]["id"] for hit in told["hits"]] == ids[:1]
    assert told["context"].splitlines()[1:-1] == [
        f"[1] 2025-03-01 Ana: {turns[0]}",
        f"[2] 2025-03-01 Bot (assistant) (follows 1): {turns[1]}",
        f"[3] 2025-03-01 Ana (follows 1): {turns[2]}",
    ]
    lines = [(ref["number"], ref["episode"], ref.get("follows")) for ref in told["references"]]
    assert lines == [(1, ids[0], None), (2, ids[1], 1), (3, ids[2], 1)]
    assert "followers" not in told


def test_the_end_of_a_fact_is_told_in_the_calendar_of_the_turn(owner: Owner) -> None:
    def lives_in(place: str) -> dict[str, Any]:
        return {"facts": [{"subject": "Ana", "predicate": "lives in", "object": place}]}

    west, moved = "2025-03-01T23:00:00-12:00", "2025-04-01T05:00:00Z"
    tell(owner, SESSIONS[0], occurred_at=west, extraction=lives_in("Oslo"))
    owner.remember("Moved.", session="s2", occurred_at=moved, extraction=lives_in("Bergen"))
    last = recall(owner)["context"].splitlines()[-2]
    assert last.endswith("OK, the first it is. (outdated: no longer so since 2025-03-31)")


def test_a_statement_brings_no_other_turn(owner: Owner) -> None:
    tell(owner, ("I took the router chi and left gin.", "Good.", "It works."))
    assert len(recall(owner)["references"]) == 1


@pytest.mark.parametrize("turns", SESSIONS)
@pytest.mark.parametrize(
    ("last", "body"),
    [
        ({"role": "tool"}, {"filters": {"role": "user"}}),
        ({"speaker": "Bo"}, {"filters": {"speaker": "Ana"}}),
        ({"session": "s3"}, {}),
        ({"session": "s3"}, {"filters": {"session": "s1"}}),
        ({"metadata": {"team": "b"}}, {"filters": {"metadata": {"team": "a"}}}),
        ({"occurred_at": LATER}, {"filters": {"occurred_before": BETWEEN}}),
        ({"occurred_at": LATER}, {"as_of": BETWEEN}),
    ],
)  # fmt: skip
def test_a_hidden_turn_never_follows(
    owner: Owner, turns: tuple[str, ...], last: dict[str, Any], body: dict[str, Any]
) -> None:
    tagged = {"metadata": {"team": "a"}} if "metadata" in last else {}
    question = owner.remember(
        turns[0], session="s1", speaker="Ana", role="user", occurred_at=FIRST.format(0), **tagged
    )
    hidden = {"session": "s1", "speaker": "Ana", "role": "user", "occurred_at": FIRST.format(1)}
    owner.remember(turns[2], **{**hidden, **last})
    told = recall(owner, **body)
    assert [ref["episode"] for ref in told["references"]] == [question]
    assert turns[2] not in told["context"]


@pytest.mark.parametrize("turns", SESSIONS)
async def test_an_expired_turn_never_follows(
    owner: Owner, cypher: Cypher, turns: tuple[str, ...]
) -> None:
    end = datetime.now(UTC) + timedelta(minutes=10)
    ids = tell(owner, turns, expires_at=end.isoformat())
    assert [ref["episode"] for ref in recall(owner)["references"]] == ids
    await let_end(cypher, ids[2])
    assert [ref["episode"] for ref in recall(owner)["references"]] == ids[:2]


@pytest.mark.parametrize("turns", SESSIONS)
def test_an_excluded_sleeping_or_erased_turn_never_follows(
    owner: Owner, turns: tuple[str, ...]
) -> None:
    ids = tell(owner, turns)
    told = recall(owner, filters={"exclude": [ids[2]]})
    assert [ref["episode"] for ref in told["references"]] == ids[:2]
    sleeping = {"ids": [ids[2]]}
    assert owner.post("/v1/dormancy/sleep", json=sleeping).json() == sleeping
    assert [ref["episode"] for ref in recall(owner)["references"]] == ids[:2]
    woken = recall(owner, include_dormant=True)
    assert [ref["episode"] for ref in woken["references"]] == ids
    assert owner.delete(f"/v1/episodes/{ids[2]}").is_success
    assert [ref["episode"] for ref in recall(owner)["references"]] == ids[:2]
