"""The features on the real server, without HTTP between."""

import pytest

from ecphoria.app import STRATEGIES
from ecphoria.ingest.service import IngestService
from ecphoria.ingest.store import IngestStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.ports import Embedder
from ecphoria.recall.service import RecallService
from ecphoria.recall.store import EpisodeReader
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
        strategies=STRATEGIES,
        traces=TraceStore(graph, keep=100),
        embedder=embedder,
        clock=WallClock(),
    )
