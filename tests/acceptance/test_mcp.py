"""The MCP server on stdio and over HTTP, called by the SDK's own client in both protocol eras."""

import json
import os
import sys
from time import monotonic
from urllib.parse import quote

import httpx
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import TextResourceContents

from ecphoria.recall.answer import count_tokens
from tests.acceptance.agents import (
    BOUND,
    COMMAND,
    OVER_HTTP,
    STDIO,
    WAYS,
    data_of,
    on_stdio,
    refused,
    speaking,
    words_of,
)
from tests.acceptance.conftest import Owner, RunningService

TOOLS = {
    "remember", "remember_turns", "recall", "get", "timeline", "facts", "correct", "forget", "why",
}  # fmt: skip
VECTOR = [1.0] + [0.0] * 383
LONG = "The harbour inn has a lamp; 灯台守は夜に眠らない。 It stands by the sea. "


@pytest.mark.parametrize("how", WAYS)
async def test_an_agent_remembers_recalls_explains_corrects_and_forgets(
    owner: Owner, stranger: Owner, how: str
) -> None:
    theirs = stranger.remember("The key is under the mat.", session="2026-03-14")
    begun = monotonic()
    async with speaking(owner, how) as agent:
        tools = {tool.name: tool for tool in (await agent.list_tools()).tools}
        assert monotonic() - begun < 10  # two seconds on a quiet machine
        assert set(tools) == TOOLS, "no language model is set, so there is no `ask`"
        assert all(tool.annotations and tool.output_schema for tool in tools.values())
        assert tools["recall"].annotations.read_only_hint  # type: ignore[union-attr]
        assert tools["forget"].annotations.destructive_hint  # type: ignore[union-attr]

        told = data_of(await agent.call_tool("remember", {
            "text": "I moved to Lisbon in March.", "speaker": "Ana", "session": "2026-03-14",
        }))  # fmt: skip
        (first,) = told["ids"]
        turns = [
            {"text": f"Turn {number} about the boat.", "speaker": "Bo",
             "occurred_at": f"2026-03-15T10:0{number}:00Z"} for number in range(3)
        ]  # fmt: skip
        for existed in (0, 3):
            told = data_of(await agent.call_tool(
                "remember_turns", {"session": "2026-03-15", "turns": turns}
            ))  # fmt: skip
            assert (len(told["ids"]), told["existed"], told["refused"]) == (3, existed, [])

        answer = await agent.call_tool("recall", {"query": "Where does Ana live now?"})
        found = data_of(answer)
        assert found["hits"][0]["id"] == first
        assert found["verdict"] in {"answer", "verify"}
        assert "Lisbon" in words_of(answer)
        assert "<memories" in words_of(answer)
        assert theirs not in json.dumps(found)
        explained = data_of(await agent.call_tool(
            "why", {"trace_id": found["trace_id"], "episode": first}
        ))  # fmt: skip
        assert explained["hits"][0]["path"]

        listed = data_of(await agent.call_tool("timeline", {"session": "2026-03-15", "limit": 2}))
        assert [one["text"][:6] for one in listed["memories"]] == ["Turn 0", "Turn 1"]
        rest = await agent.call_tool(
            "timeline", {"session": "2026-03-15", "cursor": listed["next_cursor"]}
        )
        assert [one["text"][:6] for one in data_of(rest)["memories"]] == ["Turn 2"]

        read = await agent.call_tool("get", {"ids": [first, theirs]})
        assert data_of(read)["missing"] == [theirs]
        assert [one["text"] for one in data_of(read)["memories"]] == [
            "I moved to Lisbon in March."
        ]
        assert "(not-found)" in await refused(agent, "forget", ids=[theirs], dry_run=False)

        for given, dry_run in (({}, True), ({"dry_run": False}, False)):
            gone = await agent.call_tool("forget", {"session": "2026-03-15", **given})
            assert (data_of(gone)["dry_run"], data_of(gone)["count"]) == (dry_run, 3)
        assert owner.texts() == ["I moved to Lisbon in March."]
    assert stranger.texts() == ["The key is under the mat."]


async def test_a_memory_is_read_among_its_neighbours(owner: Owner, stranger: Owner) -> None:
    stranger.remember("Theirs.", session="walk")
    ids = [owner.remember(f"Step {number}.", session="walk") for number in range(6)]
    alone = owner.remember("No session.")
    async with speaking(owner, OVER_HTTP) as agent:
        read = await agent.call_tool("get", {"ids": [ids[3]], "around": 2})
        assert [each["id"] for each in data_of(read)["memories"]] == ids[1:]
        assert [each["text"] for each in data_of(read)["memories"]][:2] == ["Step 1.", "Step 2."]
        read = await agent.call_tool("get", {"ids": [ids[0], ids[1], alone], "around": 1})
        assert [each["id"] for each in data_of(read)["memories"]] == [*ids[:3], alone]
        refusal = await refused(agent, "get", ids=ids, around=2)
        assert "With around=2 give at most 4 ids." in refusal
        await refused(agent, "get", ids=ids[:1], around=10)


async def test_facts_are_listed_and_corrected(owner: Owner) -> None:
    fact = {"subject": "Ana", "predicate": "lives in", "object": "Porto"}
    owner.remember("Ana lives in Porto.", extraction={"names": ["Ana"], "facts": [fact]})
    async with speaking(owner, OVER_HTTP) as agent:
        (known,) = data_of(await agent.call_tool("facts", {"about": "ana"}))["facts"]
        assert (known["says"], known["holds"]) == ("ana lives in porto", True)
        ruling = {"fact": known["id"], "ruling": "retract", "why": "It was a joke."}
        data_of(await agent.call_tool("correct", ruling))
        (known,) = data_of(await agent.call_tool("facts", {"about": "ana"}))["facts"]
        assert known["standing"] == "retracted"


@pytest.mark.parametrize("kind", ["words", "灯", "code", "emoji"])
async def test_no_answer_is_larger_than_its_bound(owner: Owner, kind: str) -> None:
    """Twelve memories are longer than an answer, and their names longer than they are shown."""
    text = {
        "words": LONG * 13, "灯": "灯台守は夜に眠らない" * 90, "emoji": "lamp 🎏🎐 " * 110,
        "code": "```python\n" + 'def f(x: int) -> str:\n    return "x\\n"\n' * 20 + "```",
    }[kind]  # fmt: skip
    names = {"session": "灯" * 200, "speaker": "灯" * 200, "source": "x" * 200}
    turns = [{"text": f"{number} {text}", **names, "vector": VECTOR} for number in range(12)]
    stored = owner.post("/v1/episodes/batch", json={"episodes": turns}).json()["results"]
    ids = [one["id"] for one in stored]
    async with speaking(owner, OVER_HTTP) as agent:
        query = {"query": "harbour inn lamp", "limit": 12, "token_budget": 2_500}
        found = data_of(await agent.call_tool("recall", query))
        data_of(await agent.call_tool("why", {"trace_id": found["trace_id"]}))
        data_of(await agent.call_tool("timeline", {"limit": 20}))
        data_of(await agent.call_tool("get", {"ids": ids}))
        data_of(await agent.call_tool("forget", {"ids": ids}))
        for address in (
            f"memory://episode/{ids[0]}",
            "memory://session/" + quote("灯" * 200),
            "memory://context/lamp",
            "memory://context",
            "memory://context?speaker=Ana",
        ):
            (item,) = (await agent.read_resource(address)).contents
            assert isinstance(item, TextResourceContents)
            assert sum(count_tokens([item.text])) <= BOUND


async def test_bad_calls_are_told_in_the_protocol_s_form(owner: Owner) -> None:
    async with speaking(owner, STDIO) as agent:
        assert "has no argument 'colour'" in await refused(agent, "recall", query="x", colour=1)
        assert "Unknown tool" in await refused(agent, "conjure")
        assert "limit" in await refused(agent, "recall", query="x", limit=1_000)
        assert "ids" in await refused(agent, "get", ids=["not an id"])
        assert "`ids` or `session`" in await refused(agent, "forget")
        assert "(not-found)" in await refused(agent, "why", trace_id="f" * 32)
        assert "(invalid-input" in await refused(agent, "remember", text=" ")
        turns = [{"text": "Hello there."}]
        assert "`session` is blank" in await refused(
            agent, "remember_turns", session="", turns=turns
        )
        with pytest.raises(MCPError):
            await agent.read_resource("memory://episode/" + "0" * 32)


async def test_an_unknown_session_is_told(owner: Owner) -> None:
    owner.remember("The boat is sold.", session="harbour")
    async with speaking(owner, STDIO) as agent:
        told = words_of(await agent.call_tool("timeline", {"session": "harbor"}))
        assert told == "No memory has the session 'harbor'."
        of_a_day = {"session": "harbour", "before": "2020-01-01"}
        assert words_of(await agent.call_tool("timeline", of_a_day)) == "No memories."
        told = words_of(await agent.call_tool("forget", {"session": "harbor"}))
        assert told == "No memory has the session 'harbor'; nothing is erased."
        told = words_of(await agent.call_tool("forget", {"session": "harbour"}))
        assert told.startswith("1 memory would be erased; nothing is erased yet:")


async def test_what_is_no_name_is_told(owner: Owner) -> None:
    owner.remember("the boat is sold.", session="harbour")
    async with speaking(owner, STDIO) as agent:
        told = words_of(await agent.call_tool("timeline", {"about": "sold"}))
        assert told == "'sold' is not known as a name; `recall` looks for words."


async def test_forgetting_tells_ids_that_are_not_stored_and_erases_the_others(
    owner: Owner,
) -> None:
    first, second = (owner.remember(text) for text in ("One boat.", "Two boats."))
    owner.remember("Three boats.")
    async with speaking(owner, OVER_HTTP) as agent:
        given = {"ids": [first, "0" * 32, second, first]}
        answer = await agent.call_tool("forget", given)
        assert (data_of(answer)["count"], data_of(answer)["missing"]) == (2, ["0" * 32])
        assert f"Not stored: {'0' * 32}" in words_of(answer)
        assert len(owner.texts()) == 3
        answer = await agent.call_tool("forget", {**given, "dry_run": False})
        assert data_of(answer)["count"] == 2
        assert owner.texts() == ["Three boats."]
        assert "(not-found)" in await refused(agent, "forget", **given, dry_run=False)


async def test_a_day_is_one_in_utc(owner: Owner) -> None:
    async with speaking(owner, STDIO) as agent:
        await agent.call_tool("remember", {"text": "We sailed.", "occurred_at": "2026-03-14"})
        for given, count in (
            ({"after": "2026-03-14", "before": "2026-03-15"}, 1),
            ({"after": "2026-03-14T00:01"}, 0),
            ({"since": "2026-03-14T01:00:00+01:00"}, 1),
        ):
            found = data_of(await agent.call_tool("timeline", given))
            assert len(found["memories"]) == count, given


async def test_memories_are_filtered_by_their_metadata(owner: Owner) -> None:
    for page in (1, 2.5, 3):
        owner.remember(f"The boat is on page {page}.", metadata={"page": page, "by": 'O"Neil'})
    async with speaking(owner, OVER_HTTP) as agent:
        for wanted, count in (
            ({"page": 3.0}, 1),
            ({"page": {"$gte": 2}, "by": 'O"Neil'}, 2),
            ({"page": {"$ne": 1}, "by": {"$gt": "P"}}, 0),
            ({}, 3),
        ):
            for tool, beside in (("recall", {"query": "Where is the boat?"}), ("timeline", {})):
                found = data_of(await agent.call_tool(tool, {"metadata": wanted, **beside}))
                told = found["memories"] if tool == "timeline" else found["hits"] + found["misses"]
                assert len(told) == count, (tool, wanted)
        for odd in ({"page": {"$near": 3}}, {"page": [3]}, "page=3"):
            assert "`metadata" in await refused(agent, "timeline", metadata=odd)


async def test_resources_and_prompts(owner: Owner) -> None:
    one = owner.remember("The boat is sold.", speaker="Bo", session="2026-03-14")
    async with speaking(owner, OVER_HTTP) as agent:
        texts = [
            (await agent.read_resource(address)).contents[0].text  # type: ignore[union-attr]
            for address in (f"memory://episode/{one}", "memory://session/2026-03-14",
                            "memory://context/" + quote("Who sold the boat?"),
                            "memory://context", "memory://context?speaker=Ana")
        ]  # fmt: skip
        assert texts[0] == "The boat is sold."
        assert f"Bo, session 2026-03-14: The boat is sold. (id {one})" in texts[1]
        assert "The boat is sold." in texts[2]
        assert "Bo: The boat is sold." in texts[3]
        assert texts[4].startswith("unknown speaker: Ana; known: Bo")
        listed = (await agent.list_resources()).resources
        assert [str(one.uri) for one in listed] == ["memory://context"]
        assert {one.name for one in (await agent.list_prompts()).prompts} == {
            "recall_first", "close_session",
        }  # fmt: skip
        asked = await agent.get_prompt("recall_first", {"question": "Where is Bo?"})
        assert "Where is Bo?" in asked.messages[0].content.text  # type: ignore[union-attr]
        for name, given, told in (
            ("recall_first", None, "recall_first: `question` is needed."),
            ("recall_first", {"question": " "}, "recall_first: `question` is needed."),
            ("close_session", {"name": "s"}, "`name` is no argument. `session` is needed."),
            ("recall", None, "there is no prompt 'recall': recall_first, close_session"),
        ):
            with pytest.raises(MCPError) as refusal:
                await agent.get_prompt(name, given)
            assert told in str(refusal.value)


async def test_fewer_tools_on_request(owner: Owner) -> None:
    one = owner.remember("The boat is sold.", speaker="Bo")
    async with Client(on_stdio(owner, "--tools", "core")) as agent:
        names = {tool.name for tool in (await agent.list_tools()).tools}
        assert names == {"remember", "recall", "get", "forget"}
    async with Client(on_stdio(owner, "--profile", "openai")) as agent:
        assert {tool.name for tool in (await agent.list_tools()).tools} == {"search", "fetch"}
        found = json.loads(
            words_of(await agent.call_tool("search", {"query": "Is the boat sold?"}))
        )
        assert [result["id"] for result in found["results"]] == [one]
        document = json.loads(words_of(await agent.call_tool("fetch", {"id": one})))
        assert (document["text"], document["metadata"]["speaker"]) == ("The boat is sold.", "Bo")


async def test_without_a_service_the_tools_tell_why(owner: Owner) -> None:
    nowhere = StdioServerParameters(
        command=sys.executable,
        args=["-c", COMMAND, "mcp", "--server", "http://127.0.0.1:9", "--key", "eck_x"],
        env={"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    async with Client(nowhere) as agent:
        assert len((await agent.list_tools()).tools) == len(TOOLS)
        assert "127.0.0.1:9" in await refused(agent, "recall", query="Where is Bo?")


def test_http_needs_a_key_and_a_known_host(owner: Owner, server: RunningService) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    accept = {"Accept": "application/json, text/event-stream"}
    with httpx.Client(base_url=server.url, timeout=60, headers=accept) as stranger:
        answer = stranger.post("/mcp", json=body)
        assert answer.status_code == 401
        assert answer.headers["WWW-Authenticate"].startswith("Bearer")
        keyed = {"Authorization": f"Bearer {owner.key}"}
        assert stranger.post("/mcp", json=body, headers=keyed).status_code == 200
        for wrong, status in (({"Host": "evil.example"}, 421), ({"Origin": "http://evil"}, 403)):
            assert stranger.post("/mcp", json=body, headers=keyed | wrong).status_code == status
