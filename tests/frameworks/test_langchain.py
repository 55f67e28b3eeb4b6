"""The retriever of LangChain: its own standard tests, and what they do not ask."""

from typing import Any

import pytest
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests

from ecphoria.client import Client
from ecphoria.integrations.langchain import EcphoriaRetriever


class TestStandard(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _known(self, life: Client) -> None:
        self.client = life

    @property
    def retriever_constructor(self) -> type[EcphoriaRetriever]:
        return EcphoriaRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"client": self.client}

    @property
    def retriever_query_example(self) -> str:
        return "When does Ilse Brandt come to visit, and what does she repair?"


def test_a_document_tells_whose_memory_it_is(life: Client) -> None:
    best = EcphoriaRetriever(client=life, k=2).invoke("What is Ana's boat called?")[0]
    assert "Meridian" in best.page_content
    assert best.id == best.metadata["id"]
    assert (best.metadata["session"], best.metadata["speaker"]) == ("spring", "Ana")
    assert best.metadata["verdict"] in {"answer", "verify"}
    assert life.trace(best.metadata["trace_id"])


def test_it_can_abstain_from_what_is_not_known(memory: Client) -> None:
    memory.remember("The printer on the second floor is out of toner.")
    question = "Which opera did Verdi write for Cairo in 1871?"
    assert EcphoriaRetriever(client=memory, abstain=True).invoke(question) == []
    (told,) = EcphoriaRetriever(client=memory).invoke(question)
    assert told.metadata["verdict"] == "refuse"


def test_options_reach_the_recall(life: Client) -> None:
    life.remember("Ana's other boat is called Bora.", session="autumn")
    found = EcphoriaRetriever(client=life, options={"session": "autumn"}).invoke("Ana's boat")
    assert [document.metadata["session"] for document in found] == ["autumn"]


def test_a_long_memory_gives_the_part_that_matches(memory: Client) -> None:
    filler = "The committee discussed the budget of the library at length. " * 200
    memory.remember(f"{filler} The code of the old safe is 7319. {filler}")
    (document,) = EcphoriaRetriever(client=memory, k=1).invoke("What is the code of the old safe?")
    assert "7319" in document.page_content
    assert len(document.page_content) < 5_000


async def test_it_runs_in_a_chain(life: Client) -> None:
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    chain = {"context": EcphoriaRetriever(client=life), "question": RunnablePassthrough()} | prompt
    told = await chain.ainvoke("To what is Ana allergic?")
    assert "walnuts" in told.to_string()
