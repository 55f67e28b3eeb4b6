"""API keys as text: how they are made, and the hash that is kept of them.

A key looks like `eck_1f3a90c2_` and 43 characters more: a prefix that may be shown, to tell
keys apart, and 256 random bits. So long a random secret cannot be guessed from its SHA-256,
and needs no slow hash.
"""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Entropy", "Secret", "hashed", "new_secret", "prefix_of"]

Entropy = Callable[[int], bytes]

_SHOWN = len("eck_") + 8
_SHOWN_OF_FOREIGN = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A key in clear, to be shown once."""

    text: str = field(repr=False)
    prefix: str


def new_secret(entropy: Entropy) -> Secret:
    """Make a key from 4 random bytes to show and 32 to keep."""
    prefix = f"eck_{entropy(4).hex()}"
    hidden = base64.urlsafe_b64encode(entropy(32)).rstrip(b"=").decode("ascii")
    return Secret(text=f"{prefix}_{hidden}", prefix=prefix)


def hashed(secret: str) -> str:
    """Hash a key for the store; lower-case hexadecimal SHA-256."""
    return hashlib.sha256(secret.encode()).hexdigest()


def prefix_of(secret: str) -> str:
    """Give the part of a key that may be shown; of a key not made by us, four characters."""
    return secret[: _SHOWN if secret.startswith("eck_") else _SHOWN_OF_FOREIGN]
