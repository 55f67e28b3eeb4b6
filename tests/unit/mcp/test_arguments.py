"""Arguments of tools: other names, blank values, faults and schemas."""

import json
from collections.abc import Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.types import Tool

from ecphoria.client import AsyncClient
from ecphoria.mcp.arguments import read_arguments
from ecphoria.mcp.server import create_server
from ecphoria.records.asked import read_as
from ecphoria.records.episode import NewEpisode

SCHEMA = {"properties": {"query": {}, "limit": {}, "speaker": {}}, "required": ["query"]}


def walked(part: Any) -> Iterator[Any]:
    yield part
    for each in (
        part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
    ):
        yield from walked(each)


@asynccontextmanager
async def nobody(_: object) -> Any:
    async with AsyncClient("http://127.0.0.1:9") as client:
        yield client


async def with_a_model() -> bool:
    return True


async def tools_of(profile: Any) -> list[Tool]:
    return await create_server(nobody, profile=profile, asks=with_a_model).list_tools()


@pytest.mark.parametrize("profile", ["ecphoria", "openai"])
async def test_schemas_have_no_references(profile: Any) -> None:
    for tool in await tools_of(profile):
        for schema in (tool.input_schema, tool.output_schema or {}):
            assert "$ref" not in json.dumps(schema)
            assert "$defs" not in json.dumps(schema)
            for part in walked(schema):
                assert not isinstance(part, dict) or not isinstance(part.get("title"), str)


async def test_the_fields_of_a_turn_stand_in_the_schema() -> None:
    (tool,) = [tool for tool in await tools_of("ecphoria") if tool.name == "remember_turns"]
    turn = tool.input_schema["properties"]["turns"]["items"]
    assert set(turn["properties"]) == {"text", "speaker", "role", "occurred_at"}


async def test_forget_erases_nothing_unless_it_is_told_to() -> None:
    (tool,) = [tool for tool in await tools_of("ecphoria") if tool.name == "forget"]
    assert tool.input_schema["properties"]["dry_run"]["default"] is True


@pytest.mark.parametrize("blank", ["", "  ", "\n", None])
@pytest.mark.parametrize("name", ["speaker", "limit"])
def test_a_blank_optional_argument_is_absent(name: str, blank: object) -> None:
    assert read_arguments("recall", SCHEMA, {"query": "q", name: blank}) == {"query": "q"}


@pytest.mark.parametrize("blank", ["", None])
def test_a_blank_needed_argument_stays_to_be_refused(blank: object) -> None:
    assert read_arguments("recall", SCHEMA, {"query": blank}) == {"query": blank}


def test_blanks_of_turns_are_absent_but_not_their_text() -> None:
    schema = {"properties": {"turns": {}}, "required": ["turns"]}
    given = {"turns": [{"text": "", "speaker": "", "role": None}, {"text": "a", "speaker": "Bo"}]}
    read = read_arguments("remember_turns", schema, given)
    assert read == {"turns": [{"text": ""}, {"text": "a", "speaker": "Bo"}]}


@pytest.mark.parametrize("name", ["cue", "question"])
def test_other_names_of_the_same_argument(name: str) -> None:
    assert read_arguments("recall", SCHEMA, {name: "q", "k": 3}) == {"query": "q", "limit": 3}
    assert read_arguments("recall", SCHEMA, {name: "q", "query": "q"}) == {"query": "q"}
    assert read_arguments("recall", SCHEMA, {name: "q", "query": ""}) == {"query": "q"}


def test_turns_may_have_the_form_of_messages() -> None:
    schema = {"properties": {"turns": {"type": "array"}}, "required": ["turns"]}
    turns = [{"role": "user", "content": "a"}, {"text": "b", "content": "c"}]
    read = read_arguments("remember_turns", schema, {"turns": turns})
    assert read == {"turns": [{"role": "user", "text": "a"}, turns[1]]}


@pytest.mark.parametrize("name", ["get", "forget"])
async def test_one_id_stands_for_a_list_of_one(name: str) -> None:
    (tool,) = [tool for tool in await tools_of("ecphoria") if tool.name == name]
    assert read_arguments(name, tool.input_schema, {"ids": "a" * 32}) == {"ids": ["a" * 32]}


BAD: list[tuple[str, dict[str, Any], str]] = [
    ("recall", {}, "`query` is needed"),
    ("recall", {"query": ["x"]}, "`query` is no text"),
    ("recall", {"query": "x", "limit": 10**400}, "`limit` is too large; give 12 or less"),
    ("recall", {"query": "x", "limit": float("nan")}, "`limit` is no finite number"),
    ("recall", {"query": "x", "limit": 0}, "`limit` is too small; give 1 or more"),
    ("recall", {"query": "x", "limit": 99}, "`limit` is too large; give 12 or less"),
    ("recall", {"query": "x", "after": "soon"}, "`after` is no instant; write it like 2026"),
    ("recall", {"query": "x", "after": 17}, "`after` cannot be used: Send an ISO 8601 instant"),
    ("recall", {"query": "x", "colour": 1}, "recall has no argument 'colour'; it has query"),
    ("recall", {"query": "x", "cue": "y"}, "`query` and `cue` are names of one argument"),
    ("recall", {"query": "x" * 10_001}, "`query` is too long"),
    ("recall", {"query": "cut \ud83d"}, "`query` is not well-formed Unicode"),
    ("remember", {"text": "x", "role": "boss"}, "`role` is none of 'user', 'assistant'"),
    ("remember", {"text": "x", "kind": "odd"}, "`kind` is none of 'episodic', 'semantic'"),
    ("remember", {"text": "x", "importance": 9}, "`importance` is too large; give 1.0 or less"),
    ("remember_turns", {"session": "s", "turns": []}, "`turns` is empty; give 1 or more"),
    ("remember_turns", {"session": "s", "turns": ["x"]}, "`turns.0` is no object"),
    ("remember_turns", {"session": "s", "turns": [{}]}, "`turns.0.text` is needed"),
    ("remember_turns", {"session": "s", "turns": [{"text": "x", "who": "y"}]}, "turns.0.who"),
    ("get", {"ids": ["nope"]}, "`ids.0` is no id; ids have 32 hexadecimal digits"),
    ("get", {"ids": "nope"}, "`ids.0` is no id; ids have 32 hexadecimal digits"),
    ("get", {"ids": 5}, "`ids` is no list"),
    ("forget", {"ids": ["a" * 32], "dry_run": "perhaps"}, "`dry_run` is neither true nor false"),
    ("forget", {}, "Give either `ids` or `session`"),
    ("facts", {"about": " "}, "`about` is blank; name a person or thing"),
]


@pytest.mark.parametrize(("tool", "given", "said"), BAD)
async def test_faults_name_the_argument_and_the_remedy(
    tool: str, given: dict[str, Any], said: str
) -> None:
    server = create_server(nobody, asks=with_a_model)
    with pytest.raises(ToolError) as refused:
        await server.call_tool(tool, given)
    words = str(refused.value)
    assert said in words
    for foreign in ("pydantic", "Value error", "input_value", "type=", "validation error"):
        assert foreign not in words


async def test_a_fault_inside_a_tool_is_not_told_as_one_of_its_arguments() -> None:
    @asynccontextmanager
    async def broken(_: object) -> Any:
        read_as(NewEpisode, {"text": 7})
        yield

    server = create_server(broken, asks=with_a_model)
    with pytest.raises(UnexpectedToolError) as failed:
        await server.call_tool("recall", {"query": "x"})
    assert "text" not in str(failed.value)


@pytest.mark.parametrize("profile", ["ecphoria", "openai"])
async def test_descriptions_have_no_indentation_of_the_code(profile: Any) -> None:
    for tool in await tools_of(profile):
        assert tool.description
        assert "\n    " not in tool.description
