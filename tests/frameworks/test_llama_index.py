"""The memory block of LlamaIndex, alone and in its memory."""

import pytest
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from llama_index.core.memory import Memory

from ecphoria.client import Client
from ecphoria.errors import TooLarge
from ecphoria.integrations.llama_index import EcphoriaMemoryBlock


def said(role: str, text: str) -> ChatMessage:
    return ChatMessage(role=role, content=text)


async def test_it_recalls_for_the_last_message_of_the_user(life: Client) -> None:
    block = EcphoriaMemoryBlock(client=life)
    talk = [said("user", "Hello."), said("user", "What is Ana's boat called?"),
            said("assistant", "Let me see.")]  # fmt: skip
    assert "Meridian" in await block.aget(talk)
    assert await block.aget([]) == await block.aget() == ""
    assert await block.aget([said("assistant", "Meridian?")]) == ""


async def test_a_very_long_message_is_asked_by_its_beginning(life: Client) -> None:
    asked = "What is Ana's boat called? " + "Here is a log. " * 1_000
    assert "Meridian" in await EcphoriaMemoryBlock(client=life).aget([said("user", asked)])


async def test_it_remembers_what_was_said_with_session_and_speaker(memory: Client) -> None:
    block = EcphoriaMemoryBlock(client=memory, user="Ana")
    picture = ChatMessage(role="user", blocks=[ImageBlock(url="https://example.org/x.png")])
    both = ChatMessage(role="user", blocks=[TextBlock(text="See"), TextBlock(text="this.")])
    await block.aput(
        [said("system", "Be brief."), said("user", "I sail."), said("tool", "{}"), picture, both,
         said("assistant", "Where?")],
        session_id="spring",
    )  # fmt: skip
    await block.aput([])
    kept = [(one.role, one.speaker, one.session, one.text) for one in memory.list()]
    assert kept == [
        ("user", "Ana", "spring", "I sail."), ("user", "Ana", "spring", "See\nthis."),
        ("assistant", None, "spring", "Where?"),
    ]  # fmt: skip


async def test_it_can_abstain_from_what_is_not_known(memory: Client) -> None:
    memory.remember("The printer on the second floor is out of toner.")
    question = [said("user", "Which opera did Verdi write for Cairo in 1871?")]
    assert await EcphoriaMemoryBlock(client=memory, abstain=True).aget(question) == ""
    assert "printer" in await EcphoriaMemoryBlock(client=memory).aget(question)


async def test_it_is_cut_by_lines(memory: Client) -> None:
    block = EcphoriaMemoryBlock(client=memory)
    content = "\n".join(f"[{n}] line {n}" for n in range(10))
    cut = await block.atruncate(content, 10)
    assert cut is not None
    assert content.startswith(cut + "\n")
    assert len(cut) <= len(content) - 40
    assert await block.atruncate(content, 1_000) is None


async def test_a_refused_message_is_told(memory: Client) -> None:
    block = EcphoriaMemoryBlock(client=memory, user="x" * 300)
    with pytest.raises(TooLarge, match="speaker"):
        await block.aput([said("user", "Hello.")])


async def test_a_memory_moves_old_turns_into_it_and_asks_it(memory: Client) -> None:
    block = EcphoriaMemoryBlock(client=memory, user="Ana")
    talk = Memory.from_defaults(
        session_id="spring", token_limit=200, token_flush_size=100, chat_history_token_ratio=0.2,
        memory_blocks=[block],
    )  # fmt: skip
    await talk.aput(said("user", "My boat is called Meridian, and it leaks at the bow."))
    for n in range(8):
        await talk.aput(said("assistant", f"Tell me more about that, please, number {n}."))
        await talk.aput(said("user", f"There is not much to tell about the harbour on day {n}."))
    assert "Meridian" in next(iter(memory.list())).text
    await talk.aput(said("user", "What is my boat called?"))
    told = await talk.aget()
    assert "Meridian" in str(told[0].content)
