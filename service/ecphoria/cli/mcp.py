"""`ecphoria mcp`: the memory as an MCP server on stdio, and its configuration for agents."""

import asyncio
import json
import shlex
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ecphoria.cli.connection import Home, Key, Server, TenantName, target_of
from ecphoria.cli.terminal import say_error, stderr
from ecphoria.client import AsyncClient, Client
from ecphoria.client.defaults import DEFAULT_URL, Target
from ecphoria.client.exchange import is_loopback
from ecphoria.errors import EcphoriaError, InvalidInput, Misconfigured

if TYPE_CHECKING:
    from mcp.server.mcpserver import Context

commands = typer.Typer(add_completion=False)
mcp = typer.Typer(
    help="Serve the memory to agents by the Model Context Protocol.", invoke_without_command=True
)
commands.add_typer(mcp, name="mcp")


class Tools(StrEnum):
    """Tools that an agent sees."""

    ALL = "all"
    CORE = "core"


class Profile(StrEnum):
    """The kind of client that the tools are for."""

    ECPHORIA = "ecphoria"
    OPENAI = "openai"


class Agent(StrEnum):
    """An agent that reads an MCP configuration."""

    CLAUDE_CODE = "claude-code"
    CURSOR = "cursor"
    CODEX = "codex"


@mcp.callback()
def serve_stdio(
    context: typer.Context,
    *,
    tools: Annotated[
        Tools, typer.Option(help="`core` has only remember, recall, get and forget.")
    ] = Tools.ALL,
    profile: Annotated[
        Profile, typer.Option(help="`openai` has only search and fetch, for ChatGPT.")
    ] = Profile.ECPHORIA,
    server: Server = DEFAULT_URL,
    key: Key = None,
    tenant: TenantName = None,
    home: Home = None,
) -> None:
    """Serve MCP on stdin and stdout, for a service that runs; a service has it under `/mcp` too.

    It starts no service and downloads nothing. Until the service answers, each tool tells why.
    """
    if context.invoked_subcommand is not None:
        return
    try:
        from ecphoria.mcp.server import create_server  # noqa: PLC0415 (extra `mcp`)
    except ModuleNotFoundError as missing:
        raise Misconfigured(
            f"MCP needs its SDK ({missing.name} is missing): pip install 'ecphoria[mcp]'."
        ) from missing

    target = target_of(server, key, tenant, home)
    client = AsyncClient(target.url, target.key or "", tenant=target.tenant)

    @asynccontextmanager
    async def connect(_: "Context") -> AsyncIterator[AsyncClient]:
        yield client

    async def asks() -> bool:
        try:
            return (await client.ready()).language_model is not None
        except EcphoriaError:
            return False

    async def run() -> None:
        async with client:
            made = create_server(connect, tools=tools.value, profile=profile.value, asks=asks)
            await made.run_stdio_async()

    asyncio.run(run())


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
            if found.answerable:
                typer.echo(found.context)
            client.remember(prompt, role="user", session=session, source="claude-code")
        elif name == "Stop" and isinstance(answer, str) and answer.strip():
            client.remember(answer, role="assistant", session=session, source="claude-code")


@mcp.command()
def config(
    agent: Annotated[Agent, typer.Argument(help="The agent to configure.")],
    hooks: Annotated[
        bool,
        typer.Option(
            "--hooks",
            help="Print hooks that recall and remember each prompt; only for claude-code.",
        ),
    ] = False,
    server: Server = DEFAULT_URL,
) -> None:
    """Print the configuration that lets an agent start `ecphoria mcp`.

    A service on another machine needs a key: set ECPHORIA_API_KEY where the agent runs.
    """
    command = shutil.which("ecphoria") or "ecphoria"
    if hooks:
        _print_hooks(agent, command, server)
        return
    args = ["mcp"] if server == DEFAULT_URL else ["mcp", "--server", server]
    remote = not is_loopback(server)
    file = _FILES[agent]
    if agent is Agent.CODEX:
        lines = [
            "[mcp_servers.ecphoria]",
            f"command = {json.dumps(command)}",
            f"args = {json.dumps(args)}",
            *([f"env_vars = {json.dumps([_KEY])}"] if remote else []),
        ]
        text = "\n".join(lines)
    else:
        entry: dict[str, object] = {"command": command, "args": args}
        if remote:
            variable = _KEY if agent is Agent.CLAUDE_CODE else f"env:{_KEY}"
            entry["env"] = {_KEY: f"${{{variable}}}"}
        text = json.dumps({"mcpServers": {"ecphoria": entry}}, indent=2)
    stderr().print(f"[dim]Add this to {file}:[/dim]")
    typer.echo(text)


def _print_hooks(agent: Agent, command: str, server: str) -> None:
    if agent is not Agent.CLAUDE_CODE:
        raise InvalidInput("Hooks are known of claude-code only.", field="agent")
    words = [command, "mcp", "hook", *([] if server == DEFAULT_URL else ["--server", server])]
    entry = {"type": "command", "command": shlex.join(words), "timeout": round(_HOOK_S)}
    events = {name: [{"hooks": [entry]}] for name in ("UserPromptSubmit", "Stop")}
    stderr().print("[dim]Add this to .claude/settings.json in the project:[/dim]")
    typer.echo(json.dumps({"hooks": events}, indent=2))


_HOOK_S = 10.0
_HOOK_TOKENS = 1_000
_LONGEST_CUE = 4_000
_KEY = "ECPHORIA_API_KEY"
_FILES = {
    Agent.CLAUDE_CODE: ".mcp.json in the project",
    Agent.CURSOR: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
    Agent.CODEX: "~/.codex/config.toml",
}
