"""LangChain: a retriever; needs the extra `langchain`."""

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from ecphoria.client import Client
from ecphoria.integrations.shared import cue_of, details_of, hits_of, text_of


class EcphoriaRetriever(BaseRetriever):
    """Retrieves memories as documents, best first.

    A document's text is the memory, or the part of a long memory that matches best. Its metadata
    tell the score, session, speaker and time, and the verdict of the gate.

    Attributes:
        client: The memory: a `Client`, or a `Memory` in this process.
        k: Number of documents.
        abstain: Return nothing if the gate refuses the recall.
        options: Further arguments of `Client.recall`, such as `session` or `strategy`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    client: Client = Field(default_factory=Client)
    k: int = 10
    abstain: bool = False
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        # The asynchronous twin of the base class runs this in a thread.
        del run_manager
        result = self.client.recall(
            cue_of(query), **{**self.options, "k": self.k if k is None else k}
        )
        return [
            Document(
                id=hit.episode.id, page_content=text_of(hit), metadata=details_of(hit, result)
            )
            for hit in hits_of(result, abstain=self.abstain)
        ]
