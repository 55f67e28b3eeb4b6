"""The memory service of Google's ADK: users apart, events once, deletions for good."""

import secrets
from collections.abc import Iterator

import pytest
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.sessions.session import Session
from google.genai import types

from ecphoria.client import Client
from ecphoria.errors import InvalidInput
from ecphoria.integrations.google_adk import EcphoriaMemoryService, tenant_of


@pytest.fixture
def app() -> Iterator[str]:
    """An app whose users are erased."""
    name = f"harbour-{secrets.token_hex(4)}"
    yield name
    with Client() as operator:
        users = {tenant_of(name, user) for user in ("ana", "bo")}
        for tenant in operator.admin.tenants():
            if tenant.name in users:
                operator.admin.erase_tenant(tenant.name)


@pytest.fixture
def service() -> EcphoriaMemoryService:
    return EcphoriaMemoryService()


def event(text: str, author: str = "user", name: str | None = None) -> Event:
    content = types.Content(role="user", parts=[types.Part(text=text)] if text else [])
    return Event(id=name or secrets.token_hex(4), author=author, content=content, timestamp=1.7e9)


def session(app: str, user: str, *events: Event) -> Session:
    return Session(id="spring", app_name=app, user_id=user, events=list(events))


async def found(service: BaseMemoryService, app: str, user: str, query: str) -> list[MemoryEntry]:
    answer = await service.search_memory(app_name=app, user_id=user, query=query)
    return answer.memories


def text(entry: MemoryEntry) -> str:
    assert entry.content.parts
    return entry.content.parts[0].text or ""


async def test_a_session_is_remembered_once_and_found(
    service: EcphoriaMemoryService, app: str
) -> None:
    talk = session(app, "ana", event("My boat is called Meridian."), event("Nice.", "skipper"),
                   event(""))  # fmt: skip
    for _ in range(2):
        await service.add_session_to_memory(talk)
    talk.events.append(event("She leaks at the bow."))
    await service.add_session_to_memory(talk)
    with Client(tenant=tenant_of(app, "ana")) as client:
        kept = [(one.speaker, one.role, one.session, one.text) for one in client.list()]
    assert kept == [
        ("ana", "user", "spring", "My boat is called Meridian."),
        ("skipper", "assistant", "spring", "Nice."),
        ("ana", "user", "spring", "She leaks at the bow."),
    ]
    best = (await found(service, app, "ana", "What is the boat called?"))[0]
    assert (text(best), best.author) == ("My boat is called Meridian.", "ana")
    assert best.timestamp == "2023-11-14T22:13:20+00:00"
    assert best.custom_metadata["session"] == "spring"
    assert await found(service, app, "ana", " ") == []


async def test_users_and_apps_never_meet(service: EcphoriaMemoryService, app: str) -> None:
    await service.add_session_to_memory(session(app, "ana", event("My boat is called Meridian.")))
    await service.add_session_to_memory(session(app, "bo", event("My boat is called Bora.")))
    question = "What is my boat called?"
    assert [text(one) for one in await found(service, app, "bo", question)] == [
        "My boat is called Bora."
    ]
    assert tenant_of("app", "x") != tenant_of("app x", "")


async def test_what_is_deleted_does_not_come_back_with_its_session(
    service: EcphoriaMemoryService, app: str
) -> None:
    talk = session(app, "ana", event("My boat is called Meridian."), event("I sail on Sundays."))
    await service.add_session_to_memory(talk)
    entry = (await found(service, app, "ana", "What is the boat called?"))[0]
    for _ in range(2):
        await service.delete_memory(app_name=app, user_id="ana", memory_id=entry.id)
    await service.delete_memory(app_name=app, user_id="ana")
    await service.add_session_to_memory(talk)
    with Client(tenant=tenant_of(app, "ana")) as client:
        assert [one.text for one in client.list()] == ["I sail on Sundays."]


async def test_memories_and_events_are_added_without_a_session(
    service: EcphoriaMemoryService, app: str
) -> None:
    entry = MemoryEntry(
        content=types.Content(parts=[types.Part(text="Ana is allergic to walnuts.")]),
        author="doctor", timestamp="2026-03-01T09:00:00", id="allergy",
    )  # fmt: skip
    for _ in range(2):
        await service.add_memory(
            app_name=app,
            user_id="ana",
            memories=[entry],
            custom_metadata={"ward": "B", "odd": [1]},
        )
    thought = types.Part(text="I wonder.", thought=True)
    content = types.Content(parts=[thought, types.Part(text="I sail."), types.Part(text="Often.")])
    talk = [Event(author="user", content=content), Event(author="user")]
    await service.add_events_to_memory(
        app_name=app, user_id="ana", events=talk, custom_metadata={"place": "pier", "odd": [1]}
    )
    with Client(tenant=tenant_of(app, "ana")) as client:
        kept = {one.text: one for one in client.list()}
    assert set(kept) == {"Ana is allergic to walnuts.", "I sail.\nOften."}
    assert kept["I sail.\nOften."].metadata == {"place": "pier"}
    assert kept["Ana is allergic to walnuts."].metadata == {"ward": "B"}
    (best, *_) = await found(service, app, "ana", "To what is Ana allergic?")
    assert text(best) == "Ana is allergic to walnuts."


async def test_a_bad_event_is_told(service: EcphoriaMemoryService, app: str) -> None:
    with pytest.raises(InvalidInput, match="unreadable"):
        await service.add_session_to_memory(session(app, "ana", event("a\x00b")))
