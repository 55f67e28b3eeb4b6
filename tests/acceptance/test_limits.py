"""Limits of a running service: one tenant's flood is refused or waits, others go on."""

import asyncio
from pathlib import Path

import httpx
import pytest

from ecphoria.settings import LimitsSettings
from tests.acceptance.conftest import new_owner, problem, running, settings_for
from tests.conftest import Server


def test_a_tenant_over_its_rate_is_told_when_to_come_again(
    neo4j_server: Server, tmp_path: Path
) -> None:
    limits = LimitsSettings(tenant_rate=0.5)  # five at once, then one in two seconds
    with running(settings_for(neo4j_server, tmp_path, limits=limits)) as service:
        headers = {"Authorization": f"Bearer {service.key}"}
        with (
            httpx.Client(base_url=service.url, headers=headers, timeout=60) as operator,
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
    with running(settings_for(neo4j_server, tmp_path, limits=limits)) as service:
        headers = {"Authorization": f"Bearer {service.key}"}
        with (
            httpx.Client(base_url=service.url, headers=headers, timeout=60) as operator,
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
