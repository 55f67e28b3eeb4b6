"""Limits of a running service: one tenant's flood is refused or waits, others go on."""

import asyncio
import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from ecphoria.settings import LimitsSettings
from tests.acceptance.conftest import Owner, new_owner, problem, running, settings_for
from tests.conftest import Server


@pytest.mark.parametrize("whose", ["tenant_rate", "key_rate"])
def test_who_is_over_a_rate_is_told_when_to_come_again(
    neo4j_server: Server, tmp_path: Path, whose: str
) -> None:
    limits = LimitsSettings(**{whose: 0.5})  # five at once, then one in two seconds
    with (
        running(settings_for(neo4j_server, tmp_path, limits=limits)) as service,
        service.operator() as operator,
        new_owner(operator) as owner,
    ):
        answers = [owner.get("/v1/stats") for _ in range(7)]
        assert answers[0].status_code == 200
        refused = answers[-1]
        problem(refused, 429, "too-many-requests")
        assert 1 <= int(refused.headers["Retry-After"]) <= 10
        assert operator.get("/healthz").status_code == 200


@pytest.mark.parametrize("waiting", [0, 100])
def test_what_is_over_the_slots_waits_or_is_refused_and_nothing_is_lost(
    neo4j_server: Server, tmp_path: Path, waiting: int
) -> None:
    limits = LimitsSettings(concurrent=1, waiting=waiting, wait_s=60)
    with (
        running(settings_for(neo4j_server, tmp_path, limits=limits)) as service,
        service.operator() as operator,
        new_owner(operator) as owner,
    ):
        key = {"Authorization": f"Bearer {owner.key}"}
        answers = asyncio.run(_flood(service.url, key, 40))
        stored = owner.texts(limit=100)
    taken = {f"Parcel {place} is blue." for place, status in answers.items() if status == 201}
    assert set(stored) == taken
    assert len(stored) == len(taken)
    assert set(answers.values()) <= {201, 429}
    assert taken
    assert (len(taken) == 40) == (waiting == 100)


async def _flood(url: str, headers: dict[str, str], number: int) -> dict[int, int]:
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=60) as client:

        async def append(place: int) -> int:
            body = {"text": f"Parcel {place} is blue."}
            return (await client.post("/v1/episodes", json=body)).status_code

        return dict(enumerate(await asyncio.gather(*map(append, range(number)))))


LONG = (
    "The ferry to the island leaves at nine, and the harbour master keeps a blue notebook. "
    * 40_000
)
"""It takes minutes to encode."""


def refused(owner: Owner) -> httpx.Response:
    """Ask until the long request has begun."""
    deadline = time.monotonic() + 60
    while (answer := owner.get("/v1/doctor")).status_code == 200:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    return answer


@contextmanager
def sending(owner: Owner, path: str, body: object) -> Iterator[socket.socket]:
    """Send a request on a connection of its own, and do not wait for the answer."""
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: {owner.base_url.host}\r\n"
        f"Authorization: Bearer {owner.key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(content)}\r\n\r\n"
    )
    address = (owner.base_url.host, owner.base_url.port or 80)
    with socket.create_connection(address, timeout=60) as connection:
        connection.sendall(head.encode() + content)
        yield connection


@pytest.mark.parametrize(
    "body",
    [{"text": LONG}, {"episodes": [{"text": LONG[: 86 * 4_000]}] * 10}],
    ids=["one long text", "a batch of long texts"],
)
def test_long_texts_leave_a_slot_to_others_and_their_own_when_the_client_goes(
    neo4j_server: Server, tmp_path: Path, body: dict[str, object]
) -> None:
    limits = LimitsSettings(concurrent=1, bulk=1, wait_s=3)
    path = "/v1/episodes" if "text" in body else "/v1/episodes/batch"
    with (
        running(settings_for(neo4j_server, tmp_path, limits=limits)) as service,
        service.operator() as operator,
        new_owner(operator) as owner,
        new_owner(operator) as stranger,
    ):
        stranger.remember("The parcel is blue.")
        with sending(owner, path, body) as connection:
            # Its own slot is taken; one for others is kept free, and short calls have others.
            problem(refused(owner), 429, "too-many-requests")
            assert stranger.get("/v1/doctor").status_code == 200
            assert stranger.recalled("Which parcel is blue?") == ["The parcel is blue."]
            assert owner.get("/v1/stats").status_code == 200
            assert operator.get("/v1/tenants").status_code == 200
            connection.shutdown(socket.SHUT_RDWR)
        assert owner.get("/v1/doctor").status_code == 200
        assert owner.texts() == []  # it was given up before anything was written
