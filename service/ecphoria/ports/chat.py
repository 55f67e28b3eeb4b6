"""What asking a language model needs, where one is set."""

from dataclasses import dataclass
from typing import Protocol

__all__ = ["Chat", "NoAnswer", "Reply", "TextRefused"]


class NoAnswer(Exception):
    """The model cannot be asked now; the message says what would help, and quotes nothing."""


class TextRefused(Exception):
    """The model's endpoint does not take this text; another it may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What a model said.

    Attributes:
        tokens: Read and written together; 0 where the endpoint does not count.
    """

    text: str
    tokens: int


class Chat(Protocol):
    """A language model that answers one message at a time."""

    @property
    def model(self) -> str:
        """Its name."""
        ...

    async def ask(self, purpose: str, instruction: str, text: str) -> Reply:
        """Ask it, for a purpose that is counted.

        Raises:
            NoAnswer: It does not answer, or not with text.
            TextRefused: It does not take this text.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...
