"""A service in a process of its own: its program, its admin key, its start and its end."""

import os
import secrets
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.conftest import CACHE, Server

PROGRAM = """
import asyncio
from contextlib import suppress
from ecphoria import runtime
from ecphoria.cli.serve import running
from ecphoria.settings import read_settings

async def main():
    async with running(read_settings()) as service:
        print(service.started.url, flush=True)
        await asyncio.wait({service.ended})

with suppress(asyncio.CancelledError):
    runtime.run(main())
"""
KEY = "process-" + secrets.token_urlsafe(32)


@dataclass
class Child:
    """A running process and where it says what."""

    process: subprocess.Popen[str]
    url: str
    log: Path


@contextmanager
def child(neo4j: Server, home: Path, **changes: str) -> Iterator[Child]:
    log = home / "log"
    environment = {
        **{name: text for name, text in os.environ.items() if "ECPHORIA" not in name},  # noqa: TID251
        "ECPHORIA_HOME": str(home),
        "ECPHORIA_CACHE": str(CACHE),
        "ECPHORIA_NEO4J__URI": neo4j.uri,
        "ECPHORIA_NEO4J__USER": neo4j.user,
        "ECPHORIA_NEO4J__PASSWORD": neo4j.password,
        "ECPHORIA_AUTH__BOOTSTRAP_KEY": KEY,
        "ECPHORIA_SERVER__PORT": "0",
        "ECPHORIA_CONSOLIDATION__LIGHT_EPISODES": "0",
        "ECPHORIA_LOG__LEVEL": "debug",
        "ECPHORIA_LOG__FORMAT": "json",
        **changes,
    }
    with log.open("w") as stream:
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=stream,
            text=True,
        )
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://"), log.read_text()
        yield Child(process, url, log)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def operator_of(service: Child) -> httpx.Client:
    headers = {"Authorization": f"Bearer {KEY}"}
    return httpx.Client(base_url=service.url, headers=headers, timeout=60)
