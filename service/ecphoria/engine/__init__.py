"""The managed local Neo4j: fetched once, verified, and run on loopback ports."""

from ecphoria.engine.assemble import Progress, Report, Stage
from ecphoria.engine.service import Endpoint, Engine, EngineSettings, EngineState, EngineStatus

__all__ = [
    "Endpoint",
    "Engine",
    "EngineSettings",
    "EngineState",
    "EngineStatus",
    "Progress",
    "Report",
    "Stage",
]
