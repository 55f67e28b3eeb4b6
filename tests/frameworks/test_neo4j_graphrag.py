"""The retriever of neo4j-graphrag, alone and in its GraphRAG with a model that is a script."""

from typing import Any

from neo4j_graphrag.generation import GraphRAG
from neo4j_graphrag.llm import LLMInterface, LLMResponse

from ecphoria.client import Client
from ecphoria.integrations.neo4j_graphrag import EcphoriaRetriever


class Echo(LLMInterface):
    """A model that answers with its prompt."""

    def invoke(self, input: Any, *args: Any, **more: Any) -> LLMResponse:  # noqa: A002
        del args, more
        return LLMResponse(content=str(input))

    async def ainvoke(self, input: Any, *args: Any, **more: Any) -> LLMResponse:  # noqa: A002
        return self.invoke(input, *args, **more)


def test_items_carry_text_and_the_id_of_the_episode(life: Client) -> None:
    found = EcphoriaRetriever(life).search(query_text="What is Ana's boat called?", top_k=2)
    assert "Meridian" in found.items[0].content
    metadata = found.items[0].metadata
    assert metadata is not None
    assert life.get(metadata["id"]).text == found.items[0].content
    assert len(found.items) <= 2
    assert found.metadata is not None
    assert found.metadata["verdict"] in {"answer", "verify"}
    assert life.trace(found.metadata["trace_id"])


def test_graphrag_answers_with_it(life: Client) -> None:
    rag = GraphRAG(retriever=EcphoriaRetriever(life, session="spring"), llm=Echo("script"))
    answer = rag.search("To what is Ana allergic?", retriever_config={"top_k": 3},
                        return_context=True)  # fmt: skip
    assert "walnuts" in answer.answer
    assert answer.retriever_result is not None
    assert answer.retriever_result.items


def test_it_can_abstain_from_what_is_not_known(memory: Client) -> None:
    memory.remember("The printer on the second floor is out of toner.")
    question = "Which opera did Verdi write for Cairo in 1871?"
    found = EcphoriaRetriever(memory, abstain=True).search(query_text=question)
    assert found.items == []
    assert found.metadata is not None
    assert found.metadata["verdict"] == "refuse"
    assert EcphoriaRetriever(memory).search(query_text=question).items


def test_it_can_be_a_tool(life: Client) -> None:
    tool = EcphoriaRetriever(life).convert_to_tool("recall", "Recalls memories.")
    found = tool.execute(query_text="What is Ana's boat called?", top_k=1)
    assert "Meridian" in found.items[0].content
