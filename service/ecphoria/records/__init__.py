"""Records: the definition of all that is stored, answered and read.

A module loads when it is first used: `records.episode` needs no import of its own.
"""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ecphoria.records import (
        answered,
        ask,
        calibration,
        conditions,
        embedding,
        episode,
        fact,
        graph,
        history,
        ids,
        item,
        job,
        recall,
        settings,
        start_context,
        strategy,
        tenant,
        traced,
        upkeep,
    )

__all__ = [
    "answered",
    "ask",
    "calibration",
    "conditions",
    "embedding",
    "episode",
    "fact",
    "graph",
    "history",
    "ids",
    "item",
    "job",
    "recall",
    "settings",
    "start_context",
    "strategy",
    "tenant",
    "traced",
    "upkeep",
]


def __getattr__(name: str) -> ModuleType:
    """Load a module of the package."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")
