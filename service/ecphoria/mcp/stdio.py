"""MCP on standard input and output, where each request gets an answer."""

import contextlib
import json
import os
import sys
from collections.abc import AsyncIterator
from typing import Any, Final, cast

import anyio
from mcp.server.mcpserver import MCPServer
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    jsonrpc_message_adapter,
)

_NO_JSON: Final = "The line is no JSON; send one message of JSON-RPC 2.0 a line."
_NO_MESSAGE: Final = (
    "The message is no request of JSON-RPC 2.0: it needs `jsonrpc`, an `id` that is text or a "
    "whole number, `method`, and an object as `params`."
)
_HALF: Final = "The message holds half of a surrogate pair, as of a cut emoji; send it whole."


async def serve_stdio(server: MCPServer) -> None:
    """Serve until standard input ends.

    The SDK drops a line that it cannot read, and its client then waits until it gives up. So
    such lines are answered here, before the SDK sees them.
    """
    lines = _Lines()
    # The transport only iterates over the lines.
    stdin = cast("anyio.AsyncFile[str]", lines)
    async with stdio_server(stdin=stdin) as (read, write):
        lines.answer_on(write)
        low = server._lowlevel_server  # noqa: SLF001 (the SDK takes no other streams)
        await low.run(read, write, low.create_initialization_options())


class _Lines:
    """The lines of standard input that are messages; the others are answered."""

    def __init__(self) -> None:
        # Children and stray reads get the null device, as with the SDK's own transport.
        own = os.dup(sys.stdin.fileno())
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, sys.stdin.fileno())
        os.close(null)
        self._source = anyio.wrap_file(
            os.fdopen(own, encoding="utf-8", errors="replace", closefd=False)
        )
        self._write: Any = None
        self._ready = anyio.Event()

    def answer_on(self, write: Any) -> None:
        """Set where answers go."""
        self._write = write
        self._ready.set()

    async def __aiter__(self) -> AsyncIterator[str]:
        async for line in self._source:
            if not line.strip():
                continue
            message, fault = read_line(line)
            if fault is not None:
                await self._ready.wait()
                await self._write.send(SessionMessage(fault))
            elif message is not None:
                yield line


def read_line(line: str) -> tuple[JSONRPCMessage | None, JSONRPCError | None]:
    """Read a line: the message, or the answer to a request that cannot be read.

    A notification or response that cannot be read gives neither: it gets no answer.
    """
    message: JSONRPCMessage | None = None
    with contextlib.suppress(ValueError):  # the SDK's own error of validation is one
        message = jsonrpc_message_adapter.validate_json(line, by_name=False)
    if isinstance(message, JSONRPCRequest):
        return message, None
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        return None, _fault(None, PARSE_ERROR, _NO_JSON)
    if not isinstance(raw, dict):
        return None, _fault(None, INVALID_REQUEST, _NO_MESSAGE)
    # An id that is no id makes a request look like a notification.
    if "id" not in raw or not ("method" in raw or message is None):
        return message, None
    if "result" in raw or "error" in raw:
        return message, None
    said = _NO_MESSAGE if _is_unicode(raw) else _HALF
    return None, _fault(raw["id"], INVALID_REQUEST, said)


def _fault(ident: object, code: int, message: str) -> JSONRPCError:
    usable = isinstance(ident, int | str) and not isinstance(ident, bool) and _is_unicode(ident)
    return JSONRPCError(
        jsonrpc="2.0",
        id=cast("int | str", ident) if usable else None,
        error=ErrorData(code=code, message=message),
    )


def _is_unicode(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
