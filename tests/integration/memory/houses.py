"""A tenant that learns, recalled at a standing instant."""

from datetime import timedelta

from ecphoria.app import STRATEGIES
from ecphoria.learning.service import LearningService
from ecphoria.learning.store import LearningStore
from ecphoria.neo4j_store.session import Graph
from ecphoria.neo4j_store.traces import TraceStore
from ecphoria.ports import Embedder
from ecphoria.recall.service import RecallService
from ecphoria.recall.store import EpisodeReader
from ecphoria.records.ids import TenantId
from ecphoria.records.recall import Cue, OptionValue, RecallOptions, RecallResult
from tests.conftest import WallClock
from tests.integration.memory.chats import START

CUE = "Who takes the pottery class?"
NOW = START + timedelta(days=60)


class Still:
    """A clock that stands."""

    def now(self) -> object:
        return NOW


class House:
    """Recall and learning over one tenant."""

    def __init__(self, graph: Graph, embedder: Embedder, tenant: TenantId) -> None:
        self.tenant = tenant
        self.learning = LearningService(LearningStore(graph), WallClock())
        self.recalls = RecallService(
            store=EpisodeReader(graph),
            strategies=STRATEGIES,
            traces=TraceStore(graph, keep=100, pending=self.learning.wake),
            embedder=embedder,
            clock=Still(),  # type: ignore[arg-type]  # its instant is a datetime
        )

    async def look(self, strategy: str, cue: str = CUE, **options: OptionValue) -> RecallResult:
        asked = RecallOptions(strategy=strategy, options=options, k=7)
        return await self.recalls.recall(self.tenant, Cue(text=cue), asked, record=False)

    async def learn(self, strategy: str, *cues: str, **options: OptionValue) -> RecallResult:
        for cue in cues:
            asked = RecallOptions(strategy=strategy, options=options, k=5)
            answer = await self.recalls.recall(self.tenant, Cue(text=cue), asked)
            await self.recalls.close()
            await self.learning.drain()
        return answer
