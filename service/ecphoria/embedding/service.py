"""Change the embedding model in the background, and switch when all vectors are made."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import structlog

from ecphoria.embedding.store import (
    Count,
    Encode,
    Hold,
    NotHeld,
    ReembeddingRow,
    ReembeddingStore,
    Text,
    VectorStore,
)
from ecphoria.errors import (
    Conflict,
    EcphoriaError,
    InvalidInput,
    Misconfigured,
    NotFound,
    Unavailable,
)
from ecphoria.models.embedders import embed_all
from ecphoria.neo4j_store.session import Graph
from ecphoria.ports import Embedder, Vector
from ecphoria.records.embedding import ENDED, EmbedderChoice, Reembedding, ReembeddingState
from ecphoria.records.ids import fresh_id
from ecphoria.runtime import in_parts

_PAGE: Final = 128
"""Texts of one call of the encoder and one transaction."""
# Missing vectors are read from the graph, so a killed attempt leaves nothing to repair, and no
# vector is made twice (decision 0037).
_LISTED: Final = 50_000
# The switch blocks all writes, so only a few vectors may be missing when it begins (decision
# 0037).
_FEW: Final = 1_000
"""Largest number of missing vectors with which the switch begins; they are made under its lock."""
_REMOVED: Final = 1_000
_LONGEST_PAUSE_S: Final = 60.0
_PROBE: Final = "Which model makes this vector?"

Open = Callable[[EmbedderChoice], Awaitable[Embedder]]

log = structlog.get_logger(__name__)


class ReembeddingService:
    """Starts, shows and cancels a change of the embedding model; the `Reembedder` does it."""

    def __init__(self, graph: Graph, current: Embedder, opened: Open) -> None:
        """Serve callers.

        Args:
            graph: The store, with the names of its generation.
            current: The embedder in use.
            opened: Opens another one.
        """
        self._generation = graph.generation
        self._store = ReembeddingStore(graph)
        self._current = current
        self._open = opened

    async def start(self, choice: EmbedderChoice) -> Reembedding:
        """Start a change to another model, after a test with one text.

        Raises:
            Conflict: The store uses this model already, or another change is under way.
            InvalidInput: The model cannot be used as it is described.
            EncoderUnavailable: It does not answer.
        """
        try:
            embedder = await self._open(choice)
            try:
                await embedder.embed([_PROBE])
                model, dimension = embedder.model, embedder.dimension
            finally:
                await embedder.close()
        except Misconfigured as error:  # by the caller, not by the settings
            raise InvalidInput(error.message) from error
        if (model, dimension) == (self._current.model, self._current.dimension):
            raise Conflict(f"The store uses {model} ({dimension} dimensions) already.")
        whole = replace(choice, dimension=dimension)
        if not await self._store.start(self._generation, whole, model, dimension):
            raise Conflict(
                "Another change of the model is under way, or failed; wait for its end or cancel "
                "it: `ecphoria reembed --cancel`."
            )
        return await self.find()

    async def find(self) -> Reembedding:
        """Find the running or the last change; NotFound if there was none."""
        found = await self._store.find()
        if found is None:
            raise NotFound("The embedding model was never changed; `ecphoria reembed` does it.")
        return found.told()

    async def cancel(self) -> Reembedding:
        """Cancel the change and remove the new vectors; the store keeps the old model.

        Raises:
            Conflict: The store has switched already, or the change has ended.
            NotFound: There was none.
        """
        cancelled = await self._store.cancel()
        found = await self.find()
        if not cancelled:
            raise Conflict(
                f"The change to {found.model} cannot be cancelled: it is {found.state.value}."
            )
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembedderOptions:
    """Options of the background work.

    Attributes:
        lease_s: Seconds for which a silent process keeps the work.
        pause_s: Pause after the first failure, in seconds; doubled after each further one.
        grace_s: Seconds after the switch in which reads of the old vectors may end.
    """

    lease_s: float = 60.0
    pause_s: float = 5.0
    grace_s: float = 5.0


class Reembedder:
    """Makes the vectors; after any end, the next attempt of any process continues.

    Missing vectors are read from the graph: nodes with a vector of the old model and none of the
    new one. So no progress is stored, and no vector is made twice.
    """

    def __init__(
        self,
        graph: Graph,
        opened: Open,
        options: ReembedderOptions,
        fault: Callable[[str], None] = lambda _place: None,
    ) -> None:
        """Build a worker.

        Args:
            graph: The store, of any generation.
            opened: Opens the embedder to change to.
            options: The options.
            fault: Called first at each checkpoint; tests kill the process there.
        """
        self._graph = graph
        self._store = ReembeddingStore(graph)
        self._open = opened
        self._options = options
        self._fault = fault
        self._holder = fresh_id()
        self._failures = 0
        self._embedder: tuple[EmbedderChoice, Embedder] | None = None

    async def run_one(self) -> bool:
        """Work on a change until it pauses or ends; return whether there was one.

        Raises:
            Unavailable: The store does not answer.
        """
        found = await self._store.find()  # a read, as usually there is no change
        if found is None or found.state in ENDED:
            return False
        hold = await self._store.hold(self._holder, self._options.lease_s)
        # Read again, because another process may have switched before this one got the lease.
        row = await self._store.find() if hold else None
        if hold is None or row is None:
            return False
        try:
            await self._work(row, hold)
        except NotHeld:
            log.info("reembedding_left")
        except asyncio.CancelledError:
            await asyncio.shield(self._given_back(hold))
            raise
        except Exception as error:  # noqa: BLE001 (the top of the work)
            await self._failed(hold, error)
            return False
        else:
            self._failures = 0
        return True

    def take_embedder(self, choice: EmbedderChoice) -> Embedder | None:
        """Hand over the embedder of a change, if it is open; the caller closes it."""
        if self._embedder is None or self._embedder[0] != choice:
            return None
        _, embedder = self._embedder
        self._embedder = None
        return embedder

    async def close(self) -> None:
        """Close the embedder."""
        if self._embedder is not None:
            await self._embedder[1].close()
            self._embedder = None

    async def _work(self, row: ReembeddingRow, hold: Hold) -> None:
        vectors = VectorStore(self._graph, row.source)
        match hold.state:
            case ReembeddingState.FILLING:
                await self._fill(row, vectors, hold)
            case ReembeddingState.CLEANING:
                await self._clean(row, vectors, hold)
            case _:
                self._fault("reembed: drop new")
                await self.close()
                await vectors.drop_new(hold, _REMOVED)
                await self._store.release(hold, state=ReembeddingState.CANCELLED)

    async def _fill(self, row: ReembeddingRow, vectors: VectorStore, hold: Hold) -> None:
        embedder = await self._opened(row.embedder())
        self._fault("reembed: indexes")
        await vectors.create_indexes(row.dimension)
        count = await vectors.count()
        await vectors.save(hold, (), (), count, is_first=True)
        log.info("reembedding", model=row.model, vectors=count.total, made=count.done)
        while nodes := await vectors.pending(_LISTED):
            await self._make(vectors, hold, embedder, nodes)
            # Appends meanwhile write vectors of the old model only, so this catches up with them
            # (decision 0037).
            if len(nodes) <= _FEW:
                break
        await vectors.create_indexes(row.dimension)
        self._fault("reembed: switch")
        await vectors.switch(hold, _encoder(embedder), _PAGE)
        log.info("embedding_model_switched", model=row.model)
        self._fault("reembed: switched")

    async def _make(
        self, vectors: VectorStore, hold: Hold, embedder: Embedder, nodes: Sequence[str]
    ) -> None:
        count = await vectors.count()
        done = count.done
        for page in in_parts(nodes, _PAGE):
            texts = await vectors.texts(page)
            made = await _encoder(embedder)(texts)
            done = min(done + len(page), count.total)
            self._fault("reembed: save")
            await vectors.save(hold, texts, made, Count(done=done, total=count.total))

    async def _clean(self, row: ReembeddingRow, vectors: VectorStore, hold: Hold) -> None:
        assert row.switched_at is not None, "the store has switched"
        age_s = (row.now - row.switched_at).total_seconds()
        # Processes of the old generation end their requests first (decision 0037).
        await asyncio.sleep(max(0.0, self._options.grace_s - age_s))
        # An import writes without the locks that the switch waits for.
        while nodes := await vectors.pending(_LISTED):
            embedder = await self._opened(row.embedder())
            await self._make(vectors, hold, embedder, nodes)
        self._fault("reembed: drop old")
        await vectors.drop_old(hold, _REMOVED)
        await self.close()
        await self._store.release(hold, state=ReembeddingState.DONE)
        log.info("old_vectors_removed")

    async def _opened(self, choice: EmbedderChoice) -> Embedder:
        if self._embedder is None or self._embedder[0] != choice:
            await self.close()
            self._embedder = (choice, await self._open(choice))
        return self._embedder[1]

    async def _failed(self, hold: Hold, error: Exception) -> None:
        """Retry after a pause, or end the change if a retry cannot help."""
        self._failures += 1
        code, message = EcphoriaError.code, f"An unexpected {type(error).__name__}."
        refused = False
        if isinstance(error, EcphoriaError):
            code, message = error.code, error.message
            refused = not isinstance(error, Unavailable) and type(error) is not EcphoriaError
        log.error("reembedding_failed", code=code, exc_info=error)
        ends = refused and hold.state is ReembeddingState.FILLING
        pause_s = min(self._options.pause_s * 2.0 ** min(self._failures - 1, 30), _LONGEST_PAUSE_S)
        with contextlib.suppress(Unavailable):  # otherwise its lease runs out
            await self._store.release(
                hold,
                pause_s=0.0 if ends else pause_s,
                state=ReembeddingState.FAILED if ends else None,
                code=code,
                message=message,
            )

    async def _given_back(self, hold: Hold) -> None:
        with contextlib.suppress(EcphoriaError):
            await self._store.release(hold)


def _encoder(embedder: Embedder) -> Encode:
    async def encode(texts: Sequence[Text]) -> Sequence[Vector]:
        worded = [one.text for one in texts if one.text is not None]
        return list(await embed_all(embedder, worded)) if worded else []

    return encode
