"""A tenant of its own in a running service; scripts/test_frameworks.py starts both."""

import secrets
from collections.abc import Iterator

import pytest

from ecphoria.client import Client

LIFE = (
    ("user", "I moved to Trieste in March; the flat is above a bakery by the harbour."),
    ("assistant", "How is the smell of bread in the morning?"),
    ("user", "I am allergic to walnuts, so I ask what is in every cake."),
    ("user", "My sister Ilse Brandt repairs wooden boats in Rovinj."),
    ("assistant", "Shall I note that Ilse comes to visit in August?"),
    ("user", "Yes, Ilse comes to visit on the ninth of August with her dog Pluto."),
    ("user", "My boat is called Meridian, and it leaks."),
)
"""Who said what in the session `spring`."""


@pytest.fixture
def memory() -> Iterator[Client]:
    """A memory without a past."""
    name = f"t-{secrets.token_hex(8)}"
    with Client(tenant=name) as client:
        client.admin.create_tenant(name)
        yield client
        client.admin.erase_tenant(name)


@pytest.fixture
def life(memory: Client) -> Client:
    """A memory of a conversation."""
    for role, text in LIFE:
        memory.remember(
            text, role=role, session="spring", speaker="Ana" if role == "user" else None
        )
    return memory
