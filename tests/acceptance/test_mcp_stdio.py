"""MCP on standard input and output: names of every kind, and lines that no SDK would send."""

import asyncio
import json
import sys
from typing import Any
from urllib.parse import quote

import pytest
from mcp import Client
from mcp.types import TextResourceContents

from ecphoria.text.names import is_name, normalise
from tests.acceptance.agents import STDIO, data_of, on_stdio, refused, speaking
from tests.acceptance.conftest import Owner, RunningService

NAMES = (
    "O'Brien", "Ana\u2019s", "St. Gallen", "a/b", "../mast", "/oar", "C++", "İpek", "Zoë-Anne",
    "佐藤", "佐藤健", "हिन्दी", "Мир", "100 %", "a?b#c&d=e", 'so "called"', "back\\slash",
    "👩\u200d👧", "{x}",
)  # fmt: skip
THINGS = [name for name in NAMES if is_name(normalise(name))]
"""Those that can name a thing: numbers, signs and names under three characters cannot."""


async def test_a_name_of_any_kind_is_found_as_it_was_told(owner: Owner) -> None:
    """As speaker, session and thing; each in calls that name no other."""
    told = {}
    async with speaking(owner, STDIO) as agent:
        for number, name in enumerate(NAMES):
            text = f"Note {number} tells of the boat."
            given = {"text": text, "speaker": name, "session": name}
            (told[name],) = data_of(await agent.call_tool("remember", given))["ids"]
        for number, name in enumerate(THINGS):
            extraction = {"names": [name], "facts": []}
            about = owner.remember(f"Of thing {number}.", extraction=extraction)
            listed = data_of(await agent.call_tool("timeline", {"about": name}))["memories"]
            assert [one["id"] for one in listed] == [about], name
        for number, name in enumerate(NAMES):
            listed = data_of(await agent.call_tool("timeline", {"session": name}))["memories"]
            assert [one["id"] for one in listed] == [told[name]], name
            assert (listed[0]["speaker"], listed[0]["session"]) == (name, name)
            doomed = data_of(await agent.call_tool("forget", {"session": name}))
            assert (doomed["count"], doomed["dry_run"]) == (1, True), name
            if number % 3:
                continue  # each recall reads the whole store
            for filters in ({"speaker": name}, {"session": name}):
                given = {"query": "What tells of the boat?", **filters}
                found = data_of(await agent.call_tool("recall", given))
                assert [one["id"] for one in found["hits"] + found["misses"]] == [told[name]], name
    assert len(owner.texts()) == len(NAMES) + len(THINGS)
    assert len(THINGS) > 10


async def test_the_sessions_of_all_names_are_resources(owner: Owner) -> None:
    async with speaking(owner, STDIO) as agent:
        for name in NAMES:
            ident = owner.remember("The boat is red.", session=name)
            address = f"memory://session/{quote(name, safe='')}"
            (shown,) = (await agent.read_resource(address)).contents
            assert isinstance(shown, TextResourceContents)
            assert ident in shown.text, name


@pytest.mark.parametrize("tenant", ["O'Brien", "a/b", "Upper", "a b", "佐藤", "İpek"])
async def test_a_tenant_that_cannot_be_is_told(
    owner: Owner, server: RunningService, tenant: str
) -> None:
    place = on_stdio(owner, "--tenant", tenant)
    place.env = {**(place.env or {}), "ECPHORIA_API_KEY": str(server.key)}
    async with Client(place) as agent:
        said = await refused(agent, "recall", query="Where is the boat?")
    assert "tenant" in said
    assert "Traceback" not in said


class Wire:
    """The command on pipes: sends lines as they are, and gathers the answers by id."""

    def __init__(self, owner: Owner) -> None:
        self._place = on_stdio(owner)

    async def answers(self, lines: list[str], ids: set[Any]) -> dict[Any, dict[str, Any]]:
        """Send lines after the handshake; wait for the answers to these ids."""
        begin = {
            "jsonrpc": "2.0", "id": "begin", "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                       "clientInfo": {"name": "raw", "version": "1"}},
        }  # fmt: skip
        ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        process = await asyncio.create_subprocess_exec(
            sys.executable, *self._place.args, env=self._place.env,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        found: dict[Any, dict[str, Any]] = {}
        try:
            async with asyncio.timeout(120):
                process.stdin.write((json.dumps(begin) + "\n").encode())
                assert json.loads(await process.stdout.readline())["id"] == "begin"
                process.stdin.write((json.dumps(ready) + "\n").encode())
                process.stdin.write("".join(line + "\n" for line in lines).encode())
                while ids - found.keys():
                    answer = json.loads(await process.stdout.readline())
                    ident = answer.get("id")
                    assert ident is None or ident not in found, "each request has one answer"
                    found[ident] = answer
        finally:
            process.stdin.close()
            process.kill()
            await process.wait()
        return found


def call(ident: object, tool: str, **arguments: object) -> str:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params})


BLANK: tuple[object, ...] = ("", " ", None)
OPTIONAL = {
    "remember": ("speaker", "session", "occurred_at", "source", "role"),
    "recall": ("session", "speaker", "metadata", "after", "before", "as_of", "limit"),
    "timeline": ("session", "about", "after", "before", "cursor", "newest"),
}
NEEDED = {
    "remember": {"text": "The boat is red."}, "recall": {"query": "Which boat?"}, "timeline": {},
}  # fmt: skip


async def test_blank_optional_arguments_are_absent_on_the_wire(owner: Owner) -> None:
    lines = [
        call(f"{tool} {name} {blank!r}", tool, **{name: blank}, **NEEDED[tool])
        for tool, names in OPTIONAL.items()
        for name in names
        for blank in BLANK
    ]
    ids = {json.loads(line)["id"] for line in lines}
    for ident, answer in (await Wire(owner).answers(lines, ids)).items():
        assert "result" in answer, (ident, answer)
        assert not answer["result"].get("isError"), (ident, answer)
    kept = owner.get("/v1/episodes").json()["items"]
    assert len(kept) == len(OPTIONAL["remember"]) * len(BLANK)
    assert {one.get("session") for one in kept} == {None}
    assert {one.get("role") for one in kept} == {"user"}


async def test_every_request_that_cannot_be_read_is_answered_with_its_id(owner: Owner) -> None:
    whole = call(0, "remember", text="A cut emoji HALF.")
    lines: list[str] = []
    ids: set[int | str] = set()
    for number, half in enumerate((r"\ud83d", r"\ude00", r"\ud83d x", r"\ude00\ud83d"), start=1):
        lines.append(whole.replace("HALF", half).replace('"id": 0', f'"id": {number}'))
        ids.add(number)
    wrong: tuple[object, ...] = (
        7, "x", [], [1], None, True, {}, {"name": 3}, {"name": None}, {"arguments": {}},
        {"name": "recall", "arguments": [1]}, {"name": "recall", "arguments": "x"},
        {"name": "recall", "arguments": 7}, {"name": "recall"}, {"name": "no such tool"},
    )  # fmt: skip
    for place, params in enumerate(wrong):
        ident = f"wrong {place}"
        request = {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": params}
        lines.append(json.dumps(request))
        ids.add(ident)
    lines += ["no json", "[]", "7", '{"jsonrpc": "2.0", "method": "tools/call"}', ""]
    found = await Wire(owner).answers([*lines, call("last", "timeline")], {*ids, "last"})
    assert not found["last"]["result"].get("isError"), "the server goes on"
    for each in ids:
        answer = found[each]
        assert "error" in answer or answer["result"].get("isError"), (each, answer)
    assert owner.texts() == []


async def test_a_blank_needed_argument_is_told_in_words(owner: Owner) -> None:
    lines = [call("facts", "facts", about=" "), call("forget", "forget", ids=[], session="")]
    found = await Wire(owner).answers(lines, {"facts", "forget"})
    told = {each: found[each]["result"]["content"][0]["text"] for each in ("facts", "forget")}
    assert "`about` is blank; name a person or thing" in told["facts"]
    assert "Give either `ids` or `session`" in told["forget"]
