"""The session of the OpenAI Agents SDK, also in a run of an agent whose model is a script."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool
from agents.items import TResponseInputItem
from agents.memory.session import Session
from agents.memory.session_settings import SessionSettings
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
)

from ecphoria.client import Client
from ecphoria.errors import TooLarge
from ecphoria.integrations.openai_agents import EcphoriaSession

ITEMS: list[TResponseInputItem] = [
    {"role": "user", "content": "My boat is called Meridian."},
    {
        "type": "function_call",
        "call_id": "1",
        "name": "look_up",
        "arguments": '{"boat": "Meridian"}',
    },
    {"type": "function_call_output", "call_id": "1", "output": "It leaks."},
    {"role": "assistant", "content": [{"type": "output_text", "text": "She leaks, I hear."}]},  # type: ignore[list-item, misc]
    {"type": "reasoning", "id": "r", "summary": []},
]


class Script(Model):
    """A model that answers what the script says, and notes what it was sent."""

    def __init__(self, *outputs: Any) -> None:
        self.outputs = list(outputs)
        self.inputs: list[Any] = []

    async def get_response(self, *args: Any, **given: Any) -> ModelResponse:
        del args
        self.inputs.append(given["input"])
        return ModelResponse(output=[self.outputs.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *args: Any, **more: Any) -> AsyncIterator[Any]:
        raise NotImplementedError


def says(text: str) -> ResponseOutputMessage:
    words = ResponseOutputText(text=text, type="output_text", annotations=[], logprobs=[])
    return ResponseOutputMessage(
        id="m", content=[words], role="assistant", status="completed", type="message"
    )


def remembered(memory: Client) -> list[tuple[str | None, str]]:
    return [(episode.role, episode.text) for episode in memory.list()]


async def test_it_is_a_session_that_gives_back_what_was_added(memory: Client) -> None:
    session = EcphoriaSession("s", memory, user="Ana")
    assert isinstance(session, Session)
    assert await session.get_items() == []
    await session.add_items([])
    await session.add_items(ITEMS[:2])
    await session.add_items(ITEMS[2:])
    assert await session.get_items() == ITEMS
    assert await session.get_items(2) == ITEMS[-2:]
    assert await session.get_items(0) == []
    assert await EcphoriaSession("s", memory).get_items(99) == ITEMS
    assert await EcphoriaSession("other", memory).get_items() == []
    few = EcphoriaSession("s", memory, session_settings=SessionSettings(limit=1))
    assert await few.get_items() == ITEMS[-1:]


async def test_messages_are_remembered_and_nothing_else(memory: Client) -> None:
    await EcphoriaSession("s", memory, user="Ana").add_items(ITEMS)
    assert remembered(memory) == [
        ("user", "My boat is called Meridian."), ("assistant", "She leaks, I hear."),
    ]  # fmt: skip
    hits = memory.recall("What is the name of Ana's boat?").hits
    assert (hits[0].episode.text, hits[0].episode.speaker) == (ITEMS[0]["content"], "Ana")  # type: ignore[typeddict-item]


async def test_what_is_popped_or_cleared_is_erased(memory: Client) -> None:
    session = EcphoriaSession("s", memory)
    await session.add_items(ITEMS)
    other = EcphoriaSession("other", memory)
    await other.add_items(ITEMS[:1])
    assert [await session.pop_item() for _ in range(2)] == [ITEMS[4], ITEMS[3]]
    assert await session.get_items() == ITEMS[:3]
    assert len(remembered(memory)) == 2
    await session.clear_session()
    assert await session.get_items() == []
    assert await session.pop_item() is None
    assert remembered(memory) == [("user", "My boat is called Meridian.")]
    assert await other.get_items() == ITEMS[:1]
    await session.add_items(ITEMS[:1])
    assert await session.get_items() == ITEMS[:1]


async def test_long_histories_keep_their_order(memory: Client) -> None:
    session = EcphoriaSession("s", memory)
    items: list[Any] = [{"type": "reasoning", "id": str(n), "summary": []} for n in range(1_203)]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(700) == items[-700:]


async def test_sessions_of_two_writers_lose_nothing(memory: Client) -> None:
    one, two = EcphoriaSession("s", memory), EcphoriaSession("s", memory)
    await asyncio.gather(*(
        session.add_items([{"role": "user", "content": f"{name} {n}"}])
        for n in range(10) for name, session in (("one", one), ("two", two))
    ))  # fmt: skip
    assert len(await one.get_items()) == len(remembered(memory)) == 20


async def test_an_item_that_cannot_be_stored_is_told_and_leaves_nothing(memory: Client) -> None:
    session = EcphoriaSession("s", memory)
    big: Any = {"type": "function_call_output", "call_id": "1", "output": "x" * 300_000}
    with pytest.raises(TooLarge, match="262,144"):
        await session.add_items([ITEMS[0], big])
    assert await session.get_items() == []
    assert remembered(memory) == []


@function_tool
def leaks(boat: str) -> str:
    """Tell whether a boat leaks."""
    return f"{boat} leaks."


async def test_an_agent_goes_on_where_it_was(memory: Client) -> None:
    call = ResponseFunctionToolCall(
        arguments='{"boat": "Meridian"}', call_id="c", name="leaks", type="function_call"
    )
    model = Script(call, says("Meridian leaks."), says("You asked about Meridian."))
    agent = Agent(name="Bo", model=model, tools=[leaks])
    await Runner.run(agent, "Does Meridian leak?", session=EcphoriaSession("s", memory))
    last = await Runner.run(agent, "What did I ask?", session=EcphoriaSession("s", memory))
    assert last.final_output == "You asked about Meridian."
    sent = [item.get("type", item.get("role")) for item in model.inputs[-1]]
    assert sent == ["user", "function_call", "function_call_output", "message", "user"]
    assert remembered(memory)[1] == ("assistant", "Meridian leaks.")
