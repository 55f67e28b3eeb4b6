"""A service without the SDK of MCP has no `/mcp`, and serves everything else."""

import asyncio
import sys
from typing import Any

import pytest
from fastapi import FastAPI

from ecphoria.http.mcp import mcp_mounted


@pytest.mark.parametrize("missing", ["mcp", "mcp.server", "mcp.server.mcpserver"])
def test_without_the_sdk_nothing_is_mounted(missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "mcp"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, missing, None)
    app, services = FastAPI(), None
    before = len(app.router.routes)

    async def serve(given: Any) -> int:
        async with mcp_mounted(app, given):
            return len(app.router.routes)

    assert asyncio.run(serve(services)) == before
