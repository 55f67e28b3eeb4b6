"""Request and response bodies of the REST API, shared by the service and its clients.

A module loads when it is first used: `wire.episodes` needs no import of its own.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecphoria.wire import admin, base, episodes, facts, graph, items, settings, upkeep

__all__ = ["admin", "base", "episodes", "facts", "graph", "items", "settings", "upkeep"]


def __getattr__(name: str) -> ModuleType:
    """Load a module of the package."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
