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
    from ecphoria.records.episode import Episode, Extracted, NewEpisode, Receipt, Statement
    from ecphoria.records.recall import Hit, RecallResult, Trace
    from ecphoria.records.tenant import Scope
    from ecphoria.wire.episodes import BatchAnswer
    from ecphoria.wire.settings import GateRequest, SettingsAnswer, TrialAnswer

__all__ = [
    "AsyncClient",
    "AsyncMemory",
    "BatchAnswer",
    "Client",
    "EcphoriaError",
    "Episode",
    "Extracted",
    "GateRequest",
    "Hit",
    "Memory",
    "NewEpisode",
    "RecallResult",
    "Receipt",
    "Retries",
    "Scope",
    "SettingsAnswer",
    "Statement",
    "Trace",
    "TrialAnswer",
]

_HOMES = {
    "NewEpisode": "ecphoria.records.episode",
    "AsyncClient": "ecphoria.client",
    "AsyncMemory": "ecphoria.memory",
    "BatchAnswer": "ecphoria.wire.episodes",
    "Client": "ecphoria.client",
    "EcphoriaError": "ecphoria.errors",
    "Episode": "ecphoria.records.episode",
    "Statement": "ecphoria.records.episode",
    "Extracted": "ecphoria.records.episode",
    "GateRequest": "ecphoria.wire.settings",
    "Hit": "ecphoria.records.recall",
    "Memory": "ecphoria.memory",
    "RecallResult": "ecphoria.records.recall",
    "Receipt": "ecphoria.records.episode",
    "Retries": "ecphoria.client",
    "Scope": "ecphoria.records.tenant",
    "SettingsAnswer": "ecphoria.wire.settings",
    "Trace": "ecphoria.records.recall",
    "TrialAnswer": "ecphoria.wire.settings",
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
        from ecphoria.errors import install  # noqa: PLC0415 (for this error only)

        raise ImportError(
            f"{name} runs the service and needs its packages ({missing.name} is missing): "
            f"{install('server', 'local')}."
        ) from missing


def __dir__() -> list[str]:
    """Tell the public names before they are loaded."""
    return sorted({*globals(), *__all__})
