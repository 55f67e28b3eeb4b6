"""Store of a change of the embedding model: its state, and its missing vectors."""

import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Final

from ecphoria.neo4j_store.decoding import parsed
from ecphoria.neo4j_store.encoding import stored
from ecphoria.neo4j_store.schema import (
    FIND_STORE,
    StoreMark,
    create_vector_indexes,
    drop_vector_indexes,
)
from ecphoria.neo4j_store.session import Done, Graph, Statement, Store, Work
from ecphoria.ports import Vector
from ecphoria.records.embedding import EmbedderChoice, Reembedding, ReembeddingState
from ecphoria.records.episode import indexed_text, opening
from ecphoria.records.item import searched_text
from ecphoria.text.names import encoded_name

_SWITCH_S: Final = 600.0
"""Longest the switch may take; writes wait meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReembeddingRow:
    """A stored change of the model.

    Attributes:
        source: The generation of vectors that it replaces by the next one.
        choice: The embedder, as JSON.
    """

    state: ReembeddingState
    source: int
    model: str
    dimension: int
    choice: str
    done: int
    total: int
    started_at: datetime
    attempt_at: datetime | None
    attempt_done: int | None
    now: datetime
    switched_at: datetime | None
    finished_at: datetime | None
    code: str | None
    message: str | None

    def embedder(self) -> EmbedderChoice:
        """Read the embedder to change to."""
        return parsed(EmbedderChoice, self.choice)

    def told(self) -> Reembedding:
        """Build the answer about its state."""
        choice = self.embedder()
        return Reembedding(
            state=self.state,
            provider=choice.provider,
            model=self.model,
            dimension=self.dimension,
            request_dimension=choice.request_dimension,
            base_url=choice.base_url,
            done=self.done,
            total=self.total,
            eta_s=self._eta_s(),
            started_at=self.started_at,
            switched_at=self.switched_at,
            finished_at=self.finished_at,
            code=self.code,
            message=self.message,
        )

    def _eta_s(self) -> float | None:
        """Estimate by the rate of the current attempt."""
        if self.state is not ReembeddingState.FILLING or self.attempt_at is None:
            return None
        made = self.done - (self.attempt_done or 0)
        seconds = (self.now - self.attempt_at).total_seconds()
        return round((self.total - self.done) * seconds / made, 1) if made > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A node and the text of its vector; None if it should have no vector."""

    node: str
    stamp: str
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """Counts of vectors: all of the old model, and those that have one of the new model."""

    total: int
    done: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    node: str
    stamp: str
    kind: str
    title: str | None
    text: str | None
    detail: str | None
    cognitive: str | None
    description: str | None
    episode: str | None
    start: int | None
    end: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Owner:
    id: str
    title: str | None
    text: str


_FIND = Statement("embedding.find_reembedding", ReembeddingRow)
_START = Statement("embedding.start_reembedding", int)
_CANCEL = Statement("embedding.cancel_reembedding", int)
_HOLD = Statement("embedding.hold_reembedding", ReembeddingState)
_RELEASE = Statement("embedding.release_reembedding", Done)
_LIST_PENDING = Statement("embedding.list_pending", list[str])
_COUNT_VECTORS = Statement("embedding.count_vectors", Count)
_LOAD_TEXTS = Statement("embedding.load_texts", _Words)
_LOAD_OWNERS = Statement("embedding.load_owners", _Owner)
_SAVE_VECTORS = Statement("embedding.save_vectors", Done)
_HOLD_STORE = Statement("embedding.hold_store", Done)
_SWITCH = Statement("embedding.update_generation", int)
_REMOVE_VECTORS = Statement("embedding.remove_vectors", int)


class NotHeld(Exception):
    """The change was cancelled or has ended, or another process works on it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """The right to work on a change while it is in a state."""

    holder: str
    seconds: float
    state: ReembeddingState


class ReembeddingStore(Store):
    """The state of a change of the model."""

    async def generation(self) -> StoreMark:
        """Read the generation that the store uses."""
        found = await self._graph.run_one(FIND_STORE)
        assert found is not None, "the store is bound to a model"
        return found

    async def find(self) -> ReembeddingRow | None:
        """Find the running or the last change; None if there was none."""
        return await self._graph.run_one(_FIND)

    async def start(self, source: int, choice: EmbedderChoice, model: str, dimension: int) -> bool:
        """Begin a change; return False if another one runs, or the model is in use."""
        begun = await self._graph.run(
            _START,
            source=source,
            model=model,
            dimension=dimension,
            choice=json.dumps(asdict(choice), sort_keys=True),
        )
        return bool(begun)

    async def cancel(self) -> bool:
        """Request the removal of the new vectors; return whether there is a change to cancel."""
        return bool(await self._graph.run(_CANCEL))

    async def hold(self, holder: str, seconds: float) -> Hold | None:
        """Acquire or keep the lease; None if there is no change, or another process has it."""
        state = await self._graph.run_one(_HOLD, holder=holder, seconds=seconds)
        return None if state is None else Hold(holder=holder, seconds=seconds, state=state)

    async def release(
        self,
        hold: Hold,
        *,
        pause_s: float = 0.0,
        state: ReembeddingState | None = None,
        code: str | None = None,
        message: str | None = None,
    ) -> None:
        """Release the change for a pause, or end it in a state."""
        await self._graph.run(
            _RELEASE,
            holder=hold.holder,
            seconds=pause_s,
            state=state and state.value,
            code=code,
            message=message,
        )


Encode = Callable[[Sequence[Text]], Awaitable[Sequence[Vector]]]
"""Makes the vectors of texts."""


class VectorStore:
    """The vectors of one generation, and of the next one, which is to replace it."""

    def __init__(self, graph: Graph, source: int) -> None:
        """Work on a change.

        Args:
            graph: The connection.
            source: The generation to replace.
        """
        self._graph = graph.at(source)
        # Each generation has its own names, so no query can compare vectors of two models
        # (decision 0037).
        self._next = graph.at(source + 1)
        self._source = source

    async def create_indexes(self, dimension: int) -> None:
        """Create the indexes of the next generation, if they do not exist, and await them."""
        await create_vector_indexes(self._next, dimension)

    async def count(self) -> Count:
        """Count the finished and all vectors."""
        (count,) = await self._graph.run(_COUNT_VECTORS)
        return count

    async def pending(self, limit: int) -> Sequence[str]:
        """List nodes without a vector of the next generation."""
        return await _pending(self._graph, limit)

    async def texts(self, nodes: Sequence[str]) -> Sequence[Text]:
        """Read the texts of those that still need a vector."""
        return await _texts(self._graph, nodes)

    async def save(
        self,
        hold: Hold,
        texts: Sequence[Text],
        vectors: Sequence[Vector],
        count: Count | None = None,
        *,
        is_first: bool = False,
    ) -> None:
        """Store vectors and the progress in one transaction.

        Raises:
            NotHeld: Nothing was written.
        """

        async def write(work: Work) -> None:
            await _require(work, hold)
            await _save(work, texts, vectors, count, is_first=is_first)

        await self._graph.change("embedding.save", write)

    async def switch(self, hold: Hold, encode: Encode, page: int) -> None:
        """Block writes, make the last vectors, and switch to the next generation.

        Appends wait until it has committed; recalls go on.

        Raises:
            NotHeld: Nothing was changed.
        """
        async with self._graph.holding("embedding.switch", _SWITCH_S) as work:
            await _require(work, hold)
            # Writes wait here until the commit; recalls go on (decision 0037).
            await work.run(_HOLD_STORE)
            while nodes := await _pending(work, page):
                texts = await _texts(work, nodes)
                await _save(work, texts, await encode(texts))
            # One transaction sets the model, the dimension and the generation, so a kill at any
            # moment loses nothing (decision 0037).
            if not await work.run(_SWITCH, source=self._source):
                raise NotHeld

    async def drop_old(self, hold: Hold, page: int) -> None:
        """Remove the indexes and vectors of the old model."""
        await drop_vector_indexes(self._graph)
        await self._remove(hold, page, of_next=False)

    async def drop_new(self, hold: Hold, page: int) -> None:
        """Remove the indexes and vectors of the new model."""
        await drop_vector_indexes(self._next)
        await self._remove(hold, page, of_next=True)

    async def _remove(self, hold: Hold, page: int, *, of_next: bool) -> None:
        async def write(work: Work) -> int:
            await _require(work, hold)
            (removed,) = await work.run(_REMOVE_VECTORS, next=of_next, limit=page)
            return removed

        while await self._graph.change(_REMOVE_VECTORS.name, write):
            pass


async def _require(work: Work, hold: Hold) -> None:
    if await work.run_one(_HOLD, holder=hold.holder, seconds=hold.seconds) != hold.state:
        raise NotHeld


async def _pending(graph: Graph | Work, limit: int) -> Sequence[str]:
    (nodes,) = await graph.run(_LIST_PENDING, limit=limit)
    return nodes


async def _texts(graph: Graph | Work, nodes: Sequence[str]) -> Sequence[Text]:
    rows = await graph.run(_LOAD_TEXTS, nodes=list(nodes))
    ids = sorted({row.episode for row in rows if row.episode is not None})
    owners = {row.id: row for row in await graph.run(_LOAD_OWNERS, ids=ids)} if ids else {}
    return [
        Text(node=row.node, stamp=row.stamp, text=_text(row, owners.get(row.episode or "")))
        for row in rows
    ]


def _text(row: _Words, owner: _Owner | None) -> str | None:
    """Build the text of a node's vector, by the same rule as its first writer."""
    match row.kind:
        case "episode":
            return opening(row.title, row.text or "")
        case "passage":
            if owner is None:  # deleted a moment ago
                return None
            return indexed_text(owner.title, owner.text[row.start : row.end])
        case "concept":
            return encoded_name(row.text or "", row.detail or "", row.cognitive, row.description)
        case "item":
            value: Any = json.loads(row.detail or "null")
            text = searched_text(value, row.text)
            return text if text.strip() else None
        case _:
            return row.text or ""


async def _save(
    work: Work,
    texts: Sequence[Text],
    vectors: Sequence[Vector],
    count: Count | None = None,
    *,
    is_first: bool = False,
) -> None:
    made = iter(vectors)
    rows = [
        {
            "node": one.node,
            "stamp": one.stamp,
            "vector": None if one.text is None else stored(next(made)),
        }
        for one in texts
    ]
    await work.run(
        _SAVE_VECTORS,
        rows=rows,
        done=count and count.done,
        total=count and count.total,
        is_first=is_first,
    )
