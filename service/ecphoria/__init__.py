"""Ecphoria: a memory service for agents on Neo4j.

The public names are those of the client; they load when first asked for, so that the package
itself costs nothing to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecphoria.client import AsyncClient, Client, Retries
    from ecphoria.errors import EcphoriaError
    from ecphoria.records.tenant import Scope
    from ecphoria.wire.admin import GateAnswer, GateRequest, ShadowAnswer
    from ecphoria.wire.episodes import (
        AppendAnswer,
        AppendRequest,
        BatchAnswer,
        EpisodeAnswer,
        ExtractedFact,
        Extraction,
    )
    from ecphoria.wire.recall import HitAnswer, RecallAnswer, TraceAnswer

__all__ = [
    "AppendAnswer",
    "AppendRequest",
    "AsyncClient",
    "BatchAnswer",
    "Client",
    "EcphoriaError",
    "EpisodeAnswer",
    "ExtractedFact",
    "Extraction",
    "GateAnswer",
    "GateRequest",
    "HitAnswer",
    "RecallAnswer",
    "Retries",
    "Scope",
    "ShadowAnswer",
    "TraceAnswer",
]

_HOMES = {
    "AppendAnswer": "ecphoria.wire.episodes",
    "AppendRequest": "ecphoria.wire.episodes",
    "AsyncClient": "ecphoria.client",
    "BatchAnswer": "ecphoria.wire.episodes",
    "Client": "ecphoria.client",
    "EcphoriaError": "ecphoria.errors",
    "EpisodeAnswer": "ecphoria.wire.episodes",
    "ExtractedFact": "ecphoria.wire.episodes",
    "Extraction": "ecphoria.wire.episodes",
    "GateAnswer": "ecphoria.wire.admin",
    "GateRequest": "ecphoria.wire.admin",
    "HitAnswer": "ecphoria.wire.recall",
    "RecallAnswer": "ecphoria.wire.recall",
    "Retries": "ecphoria.client",
    "Scope": "ecphoria.records.tenant",
    "ShadowAnswer": "ecphoria.wire.admin",
    "TraceAnswer": "ecphoria.wire.recall",
}


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    """Tell the public names before they are loaded."""
    return sorted({*globals(), *__all__})
