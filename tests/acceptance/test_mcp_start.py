"""`ecphoria mcp` without a service: it starts one in the background, which ends with it."""

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from mcp import Client, StdioServerParameters

from ecphoria.engine.process import choose_ports
from scripts.archive_classes import with_schema
from tests.acceptance.agents import COMMAND, words_of
from tests.conftest import SMALL_ENGINE_VARIABLES

_HANDSHAKE_S, _START_S, _END_S = 20.0, 200.0, 90.0


def server(home: Path, port: int) -> StdioServerParameters:
    """Run `ecphoria mcp` with a home of its own, and no service."""
    machine = dict(os.environ)  # noqa: TID251 (what an agent gives its servers)
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", COMMAND, "mcp"],
        env={
            **{name: value for name, value in machine.items() if "ECPHORIA" not in name},
            "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
            **SMALL_ENGINE_VARIABLES,
            "ECPHORIA_HOME": str(home),
            "ECPHORIA_SERVER__PORT": str(port),
        },
    )


def running(home: Path, sign: str) -> list[Any]:
    """List the processes of this home whose command line has this sign."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        words = " ".join(process.info["cmdline"] or ())
        if str(home) in words and sign in words:
            found.append(process)
    return found


async def said(agent: Client, tool: str, **given: object) -> tuple[bool, str]:
    answer = await agent.call_tool(tool, given)
    return not answer.is_error, words_of(answer)


@pytest.mark.engine
@pytest.mark.timeout(600)
async def test_two_agents_start_one_service_and_it_ends_with_them(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with_schema(home / "engine")
    place = server(home, choose_ports(bolt=None, http=None, remembered=None).bolt)
    begun = time.monotonic()
    async with Client(place) as one, Client(place) as other:
        assert len((await one.list_tools()).tools) > 1
        assert time.monotonic() - begun < _HANDSHAKE_S, "a handshake waits for no service"
        told = [(False, "")]
        while not all(done for done, _ in told):
            assert time.monotonic() - begun < _START_S, told
            told = [
                await said(one, "remember", text="Ana keeps bees."),
                await said(other, "remember", text="Bo keeps bees too."),
            ]
            assert all(done or "Call again" in words for done, words in told), told
        done, words = await said(one, "recall", query="Who keeps bees?")
        assert done
        assert "Ana keeps bees." in words
        assert "Bo keeps bees too." in words
        assert len(running(home, "--for-agents")) == 1
    ended = time.monotonic()
    while running(home, "--for-agents") or running(home, "Neo4jCommunity"):
        assert time.monotonic() - ended < _END_S, "the service outlives its agents"
        await asyncio.sleep(0.5)
