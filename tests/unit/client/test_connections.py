"""A client in several event loops, threads and processes, and after its end."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from fastapi import FastAPI

from ecphoria import AsyncClient, Client, Retries
from ecphoria.errors import Unavailable
from tests.local_server import local_server

ONCE = Retries(limit=0)
SEVERAL_LOOPS = """
import asyncio, sys
from concurrent.futures import ThreadPoolExecutor
from ecphoria import AsyncClient, Retries

client = AsyncClient(sys.argv[1], "key", retries=Retries(limit=0))
for _ in range(3):
    assert asyncio.run(client.strategies()) == ()
with ThreadPoolExecutor(8) as pool:
    assert list(pool.map(lambda _: asyncio.run(client.strategies()), range(24))) == [()] * 24

async def end():
    await client.strategies()
    await client.aclose()

asyncio.run(end())
print("done")
"""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    app = FastAPI()

    @app.get("/v1/strategies")
    async def strategies() -> dict[str, list[object]]:
        await asyncio.sleep(0.02)
        return {"items": []}

    with local_server(app) as address:
        yield address


def test_one_client_serves_several_loops_after_each_other_and_at_once(url: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SEVERAL_LOOPS, url], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


def test_threads_share_a_client(url: str) -> None:
    with Client(url, "key", retries=ONCE) as client, ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda _: client.strategies(), range(24))) == [()] * 24


@pytest.mark.parametrize("used_before", [True, False])
def test_a_forked_child_opens_connections_of_its_own(url: str, *, used_before: bool) -> None:
    client = Client(url, "key", retries=ONCE)
    if used_before:
        client.strategies()
    children = []
    for _ in range(3):
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = int(any(client.strategies() != () for _ in range(5)))
                client.close()
            finally:
                os._exit(code)
        children.append(child)
    for _ in range(5):
        assert client.strategies() == ()
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0, 0]
    assert client.strategies() == ()
    client.close()


def test_a_closed_client_says_so(url: str) -> None:
    client, other = Client(url, "key"), AsyncClient(url, "key")
    client.strategies()
    client.close()
    client.close()
    with pytest.raises(Unavailable, match="closed"):
        client.strategies()

    async def run() -> None:
        await other.aclose()
        with pytest.raises(Unavailable, match="closed"):
            await other.strategies()

    asyncio.run(run())
