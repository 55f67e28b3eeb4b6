"""Other products behind one interface, as `compare_products` measures them.

It runs in an environment that has one of them, and reads the task from a file:

    python -m scripts.products graphiti TASK.json RESULT.json

No product gets a language model, so each stores the messages themselves: as its own documentation
shows where it does, else as the part of it that its search reads. All have the same encoder.
"""

import asyncio
import json
import logging
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from ecphoria.models.onnx import DIMENSION, LocalEmbedder
from ecphoria.models.weights import MODEL, obtain_weights

_BATCH = 100
_WARM_UP = 3


class Message(NamedTuple):
    """One message of a conversation; `when` is an ISO time."""

    id: str
    session: str
    speaker: str
    text: str
    when: str | None

    @property
    def line(self) -> str:
        """The text as a product sees it that knows no speaker."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def time(self) -> datetime:
        """The time of the event; 1970 if it has none."""
        return datetime.fromisoformat(self.when) if self.when else datetime.fromtimestamp(0, UTC)


class Place(NamedTuple):
    """Where a product may store: a Neo4j of its own, and a folder."""

    uri: str
    password: str
    folder: Path

    @property
    def auth(self) -> tuple[str, str]:
        """User and password."""
        return "neo4j", self.password


class Encoder:
    """The built-in encoder, for synchronous and asynchronous callers of one thread."""

    def __init__(self, cache: Path) -> None:
        self._embedder = LocalEmbedder(obtain_weights(cache_dir=cache))
        self.run = asyncio.Runner().run

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Give a vector for each text."""
        return [list(map(float, row)) for row in await self._embedder.embed(list(texts))]

    def embed_now(self, texts: Sequence[str]) -> list[list[float]]:
        """Do the same for a caller outside of the loop."""
        return self.run(self.embed(texts))


class Product(ABC):
    """A memory that holds one conversation at a time."""

    @abstractmethod
    def store(self, messages: Sequence[Message]) -> None:
        """Forget what was stored, and store these."""

    @abstractmethod
    def search(self, cue: str, limit: int) -> list[str]:
        """List the ids of the best messages, best first."""

    def close(self) -> None:  # noqa: B027 - most products need no end
        """End what it has started."""


class Ecphoria(Product):
    """This product, through its client, with its service in this process."""

    def __init__(self, place: Place, _: Encoder) -> None:
        from ecphoria import Memory  # noqa: PLC0415

        self._home, self._held = place.folder, [Memory(home=place.folder)]

    def store(self, messages: Sequence[Message]) -> None:
        """Append in batches to a new tenant."""
        from ecphoria import Memory, NewEpisode  # noqa: PLC0415

        self._memory = Memory(f"t{len(self._held)}", home=self._home)
        self._held.append(self._memory)
        self._ids: dict[str, str] = {}
        for batch in _batches(messages):
            answer = self._memory.append_batch([
                NewEpisode(
                    text=one.text, speaker=one.speaker or None, session=one.session,
                    occurred_at=one.time if one.when else None,
                ) for one in batch
            ])  # fmt: skip
            for one, receipt in zip(batch, answer.results, strict=True):
                self._ids[receipt.id or ""] = one.id

    def search(self, cue: str, limit: int) -> list[str]:
        """Recall with the default options."""
        return [self._ids[hit.episode.id] for hit in self._memory.recall(cue, k=limit).hits]

    def close(self) -> None:
        """End the service with its last memory."""
        for one in self._held:
            one.close()


class Graphiti(Product):
    """Each message is an episode and a fact between its speaker and its session.

    `search` is its basic hybrid search, which ranks facts by words and vectors.
    """

    def __init__(self, place: Place, encoder: Encoder) -> None:
        from graphiti_core import Graphiti as Product  # noqa: PLC0415
        from graphiti_core.cross_encoder.client import CrossEncoderClient  # noqa: PLC0415
        from graphiti_core.embedder import EmbedderClient  # noqa: PLC0415
        from graphiti_core.llm_client import LLMClient, LLMConfig  # noqa: PLC0415

        class Embedder(EmbedderClient):
            async def create(self, input_data: Any) -> list[float]:
                texts = [input_data] if isinstance(input_data, str) else list(input_data)
                return (await encoder.embed(texts[:1]))[0]

            async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
                return await encoder.embed(input_data_list)

        class NoReranker(CrossEncoderClient):
            async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
                raise NotImplementedError

        class NoModel(LLMClient):
            async def _generate_response(self, *_: Any, **__: Any) -> dict[str, Any]:
                raise NotImplementedError

        self._run, self._embedder, self._held = encoder.run, Embedder(), 0
        self._product = Product(
            place.uri, *place.auth, llm_client=NoModel(LLMConfig(api_key="none")),
            embedder=self._embedder, cross_encoder=NoReranker(),
        )  # fmt: skip
        self._run(self._product.build_indices_and_constraints())

    def store(self, messages: Sequence[Message]) -> None:
        """Write them by its bulk function, to a new group."""
        from graphiti_core.edges import EntityEdge, EpisodicEdge  # noqa: PLC0415
        from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode  # noqa: PLC0415
        from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk  # noqa: PLC0415

        self._held += 1
        group = self._group = f"g{self._held}"
        self._ids: dict[str, str] = {}
        names: dict[str, EntityNode] = {}

        def entity(name: str) -> EntityNode:
            return names.setdefault(
                name, EntityNode(name=name, group_id=group, created_at=messages[0].time)
            )

        for batch in _batches(messages):
            known = len(names)
            episodes, mentions, facts = [], [], []
            vectors = self._run(self._embedder.create_batch([one.line for one in batch]))
            for one, vector in zip(batch, vectors, strict=True):
                speaker, session = entity(one.speaker or "document"), entity(one.session)
                episode = EpisodicNode(
                    name=one.id, group_id=group, source=EpisodeType.message, content=one.line,
                    source_description="a conversation", created_at=one.time, valid_at=one.time,
                )  # fmt: skip
                fact = EntityEdge(
                    group_id=group, source_node_uuid=speaker.uuid, target_node_uuid=session.uuid,
                    name="SAID", fact=one.line, fact_embedding=vector, episodes=[episode.uuid],
                    created_at=one.time, valid_at=one.time,
                )  # fmt: skip
                mention = EpisodicEdge(
                    group_id=group, source_node_uuid=episode.uuid, target_node_uuid=speaker.uuid,
                    created_at=one.time,
                )  # fmt: skip
                self._ids[fact.uuid] = one.id
                episodes.append(episode)
                mentions.append(mention)
                facts.append(fact)
            fresh = list(names.values())[known:]
            write = add_nodes_and_edges_bulk(
                self._product.driver, episodes, mentions, fresh, facts, self._embedder
            )
            self._run(write)

    def search(self, cue: str, limit: int) -> list[str]:
        """Ask for facts."""
        found = self._run(self._product.search(cue, group_ids=[self._group], num_results=limit))
        return [self._ids[one.uuid] for one in found]


class Mem0(Product):
    """Each message is a memory, added without inference, in its default store (Qdrant)."""

    def __init__(self, place: Place, encoder: Encoder) -> None:
        from mem0 import Memory  # noqa: PLC0415
        from mem0.embeddings.base import EmbeddingBase  # noqa: PLC0415

        class Embedder(EmbeddingBase):
            def embed(self, text: str, *_: object) -> list[float]:
                return encoder.embed_now([text])[0]

            def embed_batch(self, texts: list[str], *_: object) -> list[list[float]]:
                return encoder.embed_now(texts)

        self._held = 0
        self._product = Memory.from_config({
            "vector_store": {"provider": "qdrant", "config": {
                "collection_name": "messages", "embedding_model_dims": DIMENSION,
                "path": str(place.folder / "qdrant"), "on_disk": True,
            }},
            "embedder": {"provider": "openai", "config": {"api_key": "none"}},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
            "history_db_path": str(place.folder / "history.db"),
        })  # fmt: skip
        self._product.embedding_model = Embedder()

    def store(self, messages: Sequence[Message]) -> None:
        """Add one after the other, as it has no other way without inference."""
        self._held += 1
        self._user = f"u{self._held}"
        for one in messages:
            self._product.add(
                [{"role": "user", "content": one.line}], user_id=self._user,
                metadata={"message": one.id}, infer=False,
            )  # fmt: skip

    def search(self, cue: str, limit: int) -> list[str]:
        """Search without a threshold."""
        found = self._product.search(
            cue, top_k=limit, filters={"user_id": self._user}, threshold=0.0
        )
        return [one["metadata"]["message"] for one in found["results"]]


class AgentMemory(Product):
    """Messages of its short-term memory, without extraction of entities."""

    def __init__(self, place: Place, encoder: Encoder) -> None:
        from neo4j_agent_memory import MemoryClient, MemorySettings  # noqa: PLC0415

        class Embedder:
            model, dimensions = MODEL, DIMENSION

            async def embed(self, text: str) -> list[float]:
                return (await encoder.embed([text]))[0]

            async def embed_batch(self, texts: list[str]) -> list[list[float]]:
                return await encoder.embed(texts)

        self._run = encoder.run
        self._product: Any = MemoryClient(
            MemorySettings(
                neo4j={"uri": place.uri, "password": place.password},
                extraction={"extractor_type": "none"},
            ),
            embedder=Embedder(),
        )
        self._run(self._product.connect())
        self._place = place

    def store(self, messages: Sequence[Message]) -> None:
        """Add each session by its batch function; its search reads all conversations."""
        _empty(self._place)
        sessions: dict[str, list[Message]] = {}
        for one in messages:
            sessions.setdefault(one.session, []).append(one)
        for name, session in sessions.items():
            batch = [
                {"role": "user", "content": one.line, "metadata": {"message": one.id}}
                for one in session
            ]
            self._run(self._product.short_term.add_messages_batch(name, batch))

    def search(self, cue: str, limit: int) -> list[str]:
        """Search without a threshold."""
        found = self._run(
            self._product.short_term.search_messages(cue, limit=limit, threshold=0.0)
        )
        return [one.metadata["message"] for one in found]


class GraphRag(Product):
    """Messages are nodes under a vector and a text index, found by its `HybridRetriever`."""

    def __init__(self, place: Place, encoder: Encoder) -> None:
        import neo4j  # noqa: PLC0415
        from neo4j_graphrag.embeddings.base import Embedder as Base  # noqa: PLC0415
        from neo4j_graphrag.indexes import create_fulltext_index, create_vector_index  # noqa: PLC0415
        from neo4j_graphrag.retrievers import HybridRetriever  # noqa: PLC0415

        class Embedder(Base):
            def embed_query(self, text: str) -> list[float]:
                return encoder.embed_now([text])[0]

        self._place, self._encoder = place, encoder
        self._driver = neo4j.GraphDatabase.driver(place.uri, auth=place.auth)
        create_vector_index(self._driver, "vectors", "Message", "embedding", DIMENSION, "cosine")
        create_fulltext_index(self._driver, "words", "Message", ["text"])
        self._driver.execute_query("CALL db.awaitIndexes()")
        self._retriever = HybridRetriever(
            self._driver, "vectors", "words", Embedder(), return_properties=["id"]
        )

    def store(self, messages: Sequence[Message]) -> None:
        """Create the nodes, then set their vectors by its function."""
        from neo4j_graphrag.indexes import upsert_vectors  # noqa: PLC0415

        _empty(self._place)
        for batch in _batches(messages):
            made, _, _ = self._driver.execute_query(
                "UNWIND $rows AS row CREATE (m:Message {id: row.id, text: row.text}) "
                "RETURN elementId(m) AS made",
                rows=[{"id": one.id, "text": one.line} for one in batch],
            )
            vectors = self._encoder.embed_now([one.line for one in batch])
            upsert_vectors(self._driver, [row["made"] for row in made], "embedding", vectors)

    def search(self, cue: str, limit: int) -> list[str]:
        """Retrieve; the characters that its text index reads as operators are left out."""
        words = "".join(one if one.isalnum() else " " for one in cue)
        vector = self._encoder.embed_now([cue])[0]
        found = self._retriever.get_search_results(words, query_vector=vector, top_k=limit)
        return [row["node"]["id"] for row in found.records]


PRODUCTS: dict[str, Callable[[Place, Encoder], Product]] = {
    "ecphoria": Ecphoria,
    "graphiti": Graphiti,
    "mem0": Mem0,
    "neo4j-agent-memory": AgentMemory,
    "neo4j-graphrag": GraphRag,
}


def _batches(messages: Sequence[Message]) -> list[Sequence[Message]]:
    return [messages[start : start + _BATCH] for start in range(0, len(messages), _BATCH)]


def _empty(place: Place) -> None:
    import neo4j  # noqa: PLC0415

    with neo4j.GraphDatabase.driver(place.uri, auth=place.auth) as driver:
        driver.execute_query("MATCH (n) WHERE NOT n:Ontology DETACH DELETE n")


def measure(product: Product, task: dict[str, Any]) -> dict[str, Any]:
    """Store each conversation and ask its questions, one after the other."""
    answers, seconds, stored = [], 0.0, 0
    for part in task["collections"]:
        messages = [Message(**one) for one in part["messages"]]
        begun = time.perf_counter()
        product.store(messages)
        seconds += time.perf_counter() - begun
        stored += len(messages)
        for asked in part["questions"][:_WARM_UP]:
            product.search(asked["text"], task["limit"])
        for asked in part["questions"]:
            begun = time.perf_counter()
            found = product.search(asked["text"], task["limit"])
            took = time.perf_counter() - begun
            answers.append({"question": asked["id"], "hits": found, "ms": 1_000 * took})
        print(f"  {part['name']}: {len(messages)} messages", flush=True)
    return {"stored": stored, "seconds": seconds, "answers": answers}


def main(name: str, task: str, result: str) -> None:
    """Measure one product by the task's file, and write the result's."""
    # The driver tells of properties that a product's queries name and its store lacks.
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    given = json.loads(Path(task).read_text())
    with TemporaryDirectory(prefix="compare-", ignore_cleanup_errors=True) as folder:
        place = Place(given["uri"], given["password"], Path(folder))
        product = PRODUCTS[name](place, Encoder(Path(given["cache"])))
        try:
            found = measure(product, given)
        finally:
            product.close()
    Path(result).write_text(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
