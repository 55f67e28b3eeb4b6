"""Agents: the SDK's own client of MCP on each way in, and one form of an answer at a time."""

import json
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Literal

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.types import CallToolResult

from ecphoria.recall.answer import count_tokens
from tests.acceptance.conftest import Owner

COMMAND = "from ecphoria.cli.main import run; run()"
BOUND = 8_000
STDIO, OVER_HTTP, LEGACY = "stdio", "http", "legacy http"
WAYS = (STDIO, OVER_HTTP, LEGACY)

Form = Literal["text", "data"]


def words_of(answer: CallToolResult) -> str:
    """The text of an answer."""
    (item,) = answer.content
    assert item.type == "text"
    return item.text


def data_of(answer: CallToolResult) -> dict[str, Any]:
    """The data of an answer that is no error, whose size is within the bound."""
    assert not answer.is_error, answer
    data: dict[str, Any] = answer.structured_content or {}
    size = sum(count_tokens([words_of(answer), json.dumps(data, ensure_ascii=False)]))
    assert size <= BOUND, size
    return data


def seen(answer: CallToolResult, form: Form) -> str:
    """Give what a model sees whose client shows only this form, without white space."""
    data = data_of(answer)
    shown = words_of(answer) if form == "text" else "\n".join(leaves(data))
    return "".join(shown.split())


def leaves(part: Any) -> Iterator[str]:
    """List the names and values in the data of an answer."""
    if isinstance(part, dict):
        for name, value in part.items():
            yield name
            yield from leaves(value)
    elif isinstance(part, list):
        for value in part:
            yield from leaves(value)
    else:
        yield str(part)


async def refused(agent: Client, tool: str, **given: object) -> str:
    """Call a tool that must refuse, and give its words."""
    answer = await agent.call_tool(tool, given)
    assert answer.is_error
    return words_of(answer)


def on_stdio(owner: Owner, *options: str) -> StdioServerParameters:
    """The command that serves MCP for a running service."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-c", COMMAND, "mcp", "--server", str(owner.base_url), *options],
        env={"ECPHORIA_API_KEY": owner.key, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@asynccontextmanager
async def speaking(owner: Owner, how: str, *options: str) -> AsyncIterator[Client]:
    """Connect an agent; options are for the command on stdio."""
    if how == STDIO:
        async with Client(on_stdio(owner, *options)) as agent:
            yield agent
        return
    headers = {"Authorization": f"Bearer {owner.key}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
        transport = streamable_http_client(f"{owner.base_url}/mcp", http_client=http)
        async with Client(transport, mode="legacy" if how == LEGACY else "auto") as agent:
            yield agent
