"""Replies that only repeat a memory are copies of it, on the real graph and encoder."""

import pytest

from ecphoria.ingest.service import IngestService
from ecphoria.recall.service import RecallService
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Hit
from tests.integration.memory.chats import ask
from tests.integration.memory.stories import Case, store

TOLD = [
    ("user", "I run the gateway on port 8443 behind nginx."),
    ("user", "The cellar of my house is damp in winter."),
    ("user", "My sister plays the oboe in Graz."),
]
PORT = "What port does the gateway use?"
ROLES = Case(seed=1, language="en", role="roles")


Asked = tuple[str, str, str]
"""A question, the reply to it, and a later cue."""


async def recalled(
    ingest: IngestService,
    recalls: RecallService,
    tenant: TenantId,
    asked: Asked,
    **options: object,
) -> dict[str, Hit]:
    """Tell the facts, store a question and its reply, and ask again."""
    question, reply, cue = asked
    await store(ingest, tenant, TOLD, ROLES, "facts")
    await store(ingest, tenant, [("user", question), ("assistant", reply)], ROLES, "questions")
    found = await ask(recalls, tenant, cue, **options)
    return {hit.episode.text: hit for hit in found.hits}


@pytest.mark.parametrize(
    "reply",
    ["Port 8443.", "It runs behind nginx on port 8443.", "Port 8443, behind the nginx proxy."],
)
@pytest.mark.parametrize(
    "cue",
    ["What port does the gateway use?", "Which port do I have for the gateway in the office?"],
)
async def test_a_reply_that_only_repeats_a_memory_is_its_copy(
    reply: str, cue: str, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    hits = await recalled(ingest, recalls, tenant, (PORT, reply, cue))
    assert reply not in hits
    source = hits[TOLD[0][1]]
    assert source.rank == 1
    assert len(source.copies) == 1


async def test_without_joining_the_reply_is_a_hit(
    ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    hits = await recalled(ingest, recalls, tenant, (PORT, "Port 8443.", PORT), collapse=False)
    assert {"Port 8443.", TOLD[0][1]} <= hits.keys()


@pytest.mark.parametrize(
    "asked",
    [
        # It says more than the memory.
        (PORT, "Port 8443, and 9000 for tests.", "Which port?"),
        (PORT, "Port 8443, which Nora chose with care.", "Which port?"),
        (PORT, "Port 8443 of the new proxy.", "Which port?"),
        # It denies the memory.
        (PORT, "The gateway does not use port 8443.", "Which port?"),
        # Its words are in a memory about something else.
        ("Where does the mayor live?", "In Graz.", "Where does the mayor live?"),
        # The cue asks for the reply.
        (PORT, "Port 8443.", "What did you say about the gateway?"),
    ],
)
async def test_other_replies_stay_hits(
    asked: Asked, ingest: IngestService, recalls: RecallService, tenant: TenantId
) -> None:
    assert asked[1] in await recalled(ingest, recalls, tenant, asked)
