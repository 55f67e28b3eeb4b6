"""Ecphoria: a memory service for agents on Neo4j.

The public names are those of the client; they load when first asked for, so that the package
itself costs nothing to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecphoria.client import AsyncClient, Client, Retries
    from ecphoria.errors import EcphoriaError
    from ecphoria.memory import AsyncMemory, Memory
    from ecphoria.records.episode import Episode, Receipt
    from ecphoria.records.recall import Hit, RecallResult, Trace
    from ecphoria.records.tenant import Scope
    from ecphoria.wire.admin import GateAnswer, GateRequest, ShadowAnswer
    from ecphoria.wire.episodes import AppendRequest, BatchAnswer, ExtractedFact, Extraction

__all__ = [
    "AppendRequest",
    "AsyncClient",
    "AsyncMemory",
    "BatchAnswer",
    "Client",
    "EcphoriaError",
    "Episode",
    "ExtractedFact",
    "Extraction",
    "GateAnswer",
    "GateRequest",
    "Hit",
    "Memory",
    "RecallResult",
    "Receipt",
    "Retries",
    "Scope",
    "ShadowAnswer",
    "Trace",
]

_HOMES = {
    "AppendRequest": "ecphoria.wire.episodes",
    "AsyncClient": "ecphoria.client",
    "AsyncMemory": "ecphoria.memory",
    "BatchAnswer": "ecphoria.wire.episodes",
    "Client": "ecphoria.client",
    "EcphoriaError": "ecphoria.errors",
    "Episode": "ecphoria.records.episode",
    "ExtractedFact": "ecphoria.wire.episodes",
    "Extraction": "ecphoria.wire.episodes",
    "GateAnswer": "ecphoria.wire.admin",
    "GateRequest": "ecphoria.wire.admin",
    "Hit": "ecphoria.records.recall",
    "Memory": "ecphoria.memory",
    "RecallResult": "ecphoria.records.recall",
    "Receipt": "ecphoria.records.episode",
    "Retries": "ecphoria.client",
    "Scope": "ecphoria.records.tenant",
    "ShadowAnswer": "ecphoria.wire.admin",
    "Trace": "ecphoria.records.recall",
}

_IN_PROCESS = "ecphoria.memory"


def __getattr__(name: str) -> object:
    """Load a public name when it is first asked for."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(home), name)
    except ModuleNotFoundError as missing:
        if home != _IN_PROCESS:
            raise
        raise ImportError(
            f"{name} runs the service and needs its packages ({missing.name} is missing): "
            "pip install 'ecphoria[server,local]'."
        ) from missing


def __dir__() -> list[str]:
    """Tell the public names before they are loaded."""
    return sorted({*globals(), *__all__})
