"""The features on the real server, without HTTP between."""

import pytest

from ecphoria.graph.executor import Graph
from ecphoria.graph.ingest import IngestStore
from ecphoria.graph.recall import EpisodeReader
from ecphoria.graph.traces import TraceStore
from ecphoria.ingest.service import IngestService
from ecphoria.ports.world import Embedder
from ecphoria.recall.service import RecallService
from tests.conftest import WallClock


@pytest.fixture(scope="session")
def ingest(graph: Graph, embedder: Embedder) -> IngestService:
    """The write side."""
    return IngestService(store=IngestStore(graph), embedder=embedder, clock=WallClock())


@pytest.fixture(scope="session")
def recalls(graph: Graph, embedder: Embedder) -> RecallService:
    """The read side."""
    return RecallService(
        store=EpisodeReader(graph),
        traces=TraceStore(graph, keep=100),
        embedder=embedder,
        clock=WallClock(),
    )
