"""neo4j-graphrag: a retriever; needs the extra `graphrag`."""

from typing import Any

import neo4j
from neo4j_graphrag.retrievers.base import Retriever
from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem

from ecphoria.client import Client
from ecphoria.integrations.shared import cue_of, details_of, hits_of, text_of


class EcphoriaRetriever(Retriever):
    """Retrieves memories for `GraphRAG(retriever, llm).search`.

    The id of an episode stands in the metadata of its item, so an answer can be traced back. The
    metadata of the whole result hold the verdict of the gate, its reasons and the id of the trace.

    Args:
        client: The memory: a `Client`, or a `Memory` in this process.
        abstain: Return nothing if the gate refuses the recall.
        options: Further arguments of `Client.recall`, such as `strategy`.
    """

    # The service talks to its Neo4j itself; this retriever has no driver.
    VERIFY_NEO4J_VERSION = False

    def __init__(
        self, client: Client | None = None, *, abstain: bool = False, **options: Any
    ) -> None:
        self._client = client or Client()
        self._abstain = abstain
        self._options = options
        self.result_formatter = lambda record: RetrieverResultItem(
            content=record["text"], metadata=record["metadata"]
        )

    def get_search_results(self, query_text: str, top_k: int = 5) -> RawSearchResult:
        """Recall memories for a text.

        Args:
            query_text: The question.
            top_k: Number of memories.
        """
        result = self._client.recall(cue_of(query_text), **{**self._options, "k": top_k})
        records = [
            neo4j.Record(  # type: ignore[no-untyped-call]
                {"text": text_of(hit), "metadata": details_of(hit, result)}
            )
            for hit in hits_of(result, abstain=self._abstain)
        ]
        metadata = {
            "verdict": str(result.verdict),
            "confidence": result.confidence,
            "reasons": list(result.reasons),
            "trace_id": result.trace_id,
        }
        return RawSearchResult(records=records, metadata=metadata)
