"""`ecphoria mcp`: the memory as an MCP server on stdio, and its configuration for agents."""

import asyncio
import json
import shlex
import shutil
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from httpx import URL
from typer import Argument, Option

from ecphoria.cli.connection import Home, Key, Server, TenantName, target_of
from ecphoria.cli.extras import local_settings
from ecphoria.cli.terminal import say_error, stderr
from ecphoria.client import AsyncClient, Client
from ecphoria.client.defaults import DEFAULT_URL, Target
from ecphoria.errors import EcphoriaError, InvalidInput, Misconfigured, install
from ecphoria.hosts import is_loopback

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

    from ecphoria.cli.own_service import OwnService

commands = typer.Typer(add_completion=False)
mcp = typer.Typer(
    help="Serve the memory to agents by the Model Context Protocol.", invoke_without_command=True
)
commands.add_typer(mcp, name="mcp")


class Agent(StrEnum):
    """An agent that reads an MCP configuration."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    CODEX = "codex"
    VSCODE = "vscode"
    CLAUDE_DESKTOP = "claude-desktop"
    WINDSURF = "windsurf"
    GEMINI_CLI = "gemini-cli"
    OPENCODE = "opencode"


@mcp.callback()
def serve_stdio(
    context: typer.Context,
    *,
    tools: Annotated[
        Literal["all", "core"], Option(help="`core` has only remember, recall, get and forget.")
    ] = "all",
    profile: Annotated[
        Literal["ecphoria", "openai"],
        Option(help="`openai` has only search and fetch, for ChatGPT."),
    ] = "ecphoria",
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Serve MCP on stdin and stdout; a running service has it under `/mcp` too.

    If no service answers on this machine, one is started in the background. It ends with the last
    `ecphoria mcp`. Until it answers, each tool waits for 20 s and then asks to be called again.
    """
    if context.invoked_subcommand is not None:
        return
    try:
        from ecphoria.mcp.server import create_server  # noqa: PLC0415 (extra `mcp`)
        from ecphoria.mcp.stdio import serve_stdio  # noqa: PLC0415 (the same)
    except ModuleNotFoundError as missing:
        raise Misconfigured(
            f"MCP needs its SDK ({missing.name} is missing): {install('mcp')}."
        ) from missing

    async def run() -> None:
        async with _connections(server, key, tenant, home) as memory:

            @asynccontextmanager
            async def connect(_: "Context") -> AsyncIterator[AsyncClient]:
                yield await memory.client()

            made = create_server(connect, tools=tools, profile=profile, asks=memory.asks)
            await serve_stdio(made)

    asyncio.run(run())


class _Memory:
    """The client of the tools, opened when the service answers."""

    def __init__(self, own: "OwnService | None", connect: Callable[[], AsyncClient]) -> None:
        self._own = own
        self._connect = connect
        self._client: AsyncClient | None = None

    async def client(self) -> AsyncClient:
        """Give the client; its key is looked up late, as a service makes it at its first start."""
        if self._own is not None:
            await self._own.wait()
        if self._client is None:
            self._client = self._connect()
        return self._client

    async def asks(self) -> bool:
        """Tell whether the service has a language model; it is not waited for."""
        if self._own is not None and not self._own.is_up:
            return False
        try:
            return (await (await self.client()).ready()).language_model is not None
        except EcphoriaError:
            return False

    async def close(self) -> None:
        """Close the client."""
        if self._client is not None:
            await self._client.aclose()


@asynccontextmanager
async def _connections(
    server: str, key: str | None, tenant: str | None, home: Path | None
) -> AsyncIterator[_Memory]:
    """Serve a block with clients; start a service meanwhile if none answers."""

    def connect() -> AsyncClient:
        target = target_of(server, key, tenant, home)
        return AsyncClient(target.url, target.key or "", tenant=target.tenant)

    own = _own_service(server, home)
    memory = _Memory(own, connect)
    async with AsyncExitStack() as use:
        if own is not None:
            await use.enter_async_context(own.running())
        use.push_async_callback(memory.close)
        yield memory


def _own_service(server: str, home: Path | None) -> "OwnService | None":
    """Make the service to start if none answers; None for a service elsewhere."""
    try:
        from ecphoria.cli.own_service import OwnService, is_own  # noqa: PLC0415 (extra `server`)

        return OwnService(local_settings(home).home, server) if is_own(server) else None
    except ModuleNotFoundError:
        return None  # a light installation: the tools tell that no service answers


@mcp.command()
def hook(
    server: Server = DEFAULT_URL, key: Key = None, tenant: TenantName = None, home: Home = None
) -> None:
    """Recall for a prompt of Claude Code and remember it, as the hook of an event.

    The event is read from stdin. For `UserPromptSubmit` the context is printed if the memory
    holds an answer, and the prompt is stored; for `Stop` the agent's last message is stored.
    """
    try:
        _serve_event(sys.stdin.read(), target_of(server, key, tenant, home))
    except EcphoriaError as error:
        # Not as other commands end: with 2, Claude Code would hold back the prompt.
        say_error(error)
        raise typer.Exit(1) from error


def _serve_event(text: str, target: Target) -> None:
    try:
        event = json.loads(text)
        name, session = str(event["hook_event_name"]), str(event["session_id"])
    except (ValueError, TypeError, KeyError) as error:
        raise InvalidInput(
            "Standard input is no event of Claude Code; `ecphoria mcp config claude-code --hooks` "
            "shows how to set the hook.",
            field="stdin",
        ) from error
    prompt, answer = event.get("prompt"), event.get("last_assistant_message")
    with Client(target.url, target.key or "", tenant=target.tenant, timeout=_HOOK_S) as client:
        if name == "UserPromptSubmit" and isinstance(prompt, str) and prompt.strip():
            # Recalled first, so that the prompt does not find itself.
            found = client.recall(prompt[:_LONGEST_CUE], k=8, token_budget=_HOOK_TOKENS)
            if not found.verdict.refused:
                typer.echo(found.context)
            client.remember(prompt, role="user", session=session, source="claude-code")
        elif name == "Stop" and isinstance(answer, str) and answer.strip():
            client.remember(answer, role="assistant", session=session, source="claude-code")


@mcp.command()
def config(
    agent: Annotated[Agent, Argument(help="The agent to configure.")],
    hooks: Annotated[
        bool,
        Option(
            "--hooks",
            help="Print hooks that recall and remember each prompt; only for claude-code.",
        ),
    ] = False,
    server: Server = DEFAULT_URL,
    home: Home = None,
) -> None:
    """Print the configuration that lets an agent start `ecphoria mcp`.

    A service on another machine needs a key: set ECPHORIA_API_KEY where the agent runs.
    """
    command = shutil.which("ecphoria") or "ecphoria"
    remote = not is_loopback(URL(server).host)
    # The agent does not run in this directory, and may lack its variables.
    place = [] if home is None or remote else ["--home", str(home.absolute())]
    place += [] if server == DEFAULT_URL else ["--server", server]
    if hooks:
        _print_hooks(agent, [command, "mcp", "hook", *place])
        return
    args = ["mcp", *place]
    stderr().print(f"[dim]Add this to {_FILES[agent]}:[/dim]")
    typer.echo(_entry_of(agent, command, args, remote=remote))
    if remote and agent is Agent.CLAUDE_DESKTOP:
        stderr().print(
            "[dim]Put your key in place of eck_...; this agent reads no variables.[/dim]"
        )


def _entry_of(agent: Agent, command: str, args: list[str], *, remote: bool) -> str:
    """Write what an agent's file needs, in the form of this file."""
    if agent is Agent.CODEX:
        lines = [
            "[mcp_servers.ecphoria]",
            f"command = {json.dumps(command)}",
            f"args = {json.dumps(args)}",
            *([f"env_vars = {json.dumps([_KEY])}"] if remote else []),
        ]
        return "\n".join(lines)
    key = {_KEY: _KEY_OF.get(agent, f"${{env:{_KEY}}}")} if remote else {}
    entry: dict[str, object]
    if agent is Agent.OPENCODE:
        entry = {"type": "local", "command": [command, *args], "enabled": True}
        whole = {"mcp": {"ecphoria": entry | ({"environment": key} if key else {})}}
        return json.dumps(whole, indent=2)
    kind = {"type": "stdio"} if agent is Agent.VSCODE else {}
    entry = {**kind, "command": command, "args": args} | ({"env": key} if key else {})
    servers = "servers" if agent is Agent.VSCODE else "mcpServers"
    return json.dumps({servers: {"ecphoria": entry}}, indent=2)


def _print_hooks(agent: Agent, command: Sequence[str]) -> None:
    if agent is not Agent.CLAUDE_CODE:
        raise InvalidInput("Only claude-code has hooks; leave out --hooks.", field="agent")
    entry = {"type": "command", "command": shlex.join(command), "timeout": round(_HOOK_S)}
    events = {name: [{"hooks": [entry]}] for name in ("UserPromptSubmit", "Stop")}
    stderr().print("[dim]Add this to .claude/settings.json in the project:[/dim]")
    typer.echo(json.dumps({"hooks": events}, indent=2))


_HOOK_S = 10.0
_HOOK_TOKENS = 1_000
_LONGEST_CUE = 4_000
_KEY = "ECPHORIA_API_KEY"
_KEY_OF = {
    Agent.CLAUDE_CODE: f"${{{_KEY}}}",
    Agent.GEMINI_CLI: f"${{{_KEY}}}",
    Agent.OPENCODE: f"{{env:{_KEY}}}",
    Agent.CLAUDE_DESKTOP: "eck_...",
}
"""The reference to the variable with the key, by agent; the other agents take `${env:NAME}`."""
_FILES = {
    Agent.CLAUDE_CODE: ".mcp.json in the project",
    Agent.CURSOR: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
    Agent.CODEX: "~/.codex/config.toml",
    Agent.VSCODE: ".vscode/mcp.json in the project",
    Agent.CLAUDE_DESKTOP: (
        "claude_desktop_config.json, in ~/Library/Application Support/Claude on macOS, "
        "~/.config/Claude on Linux, %APPDATA%/Claude on Windows"
    ),
    Agent.WINDSURF: "~/.codeium/windsurf/mcp_config.json",
    Agent.GEMINI_CLI: ".gemini/settings.json in the project, or ~/.gemini/settings.json",
    Agent.OPENCODE: "opencode.json in the project, or ~/.config/opencode/opencode.json",
}
