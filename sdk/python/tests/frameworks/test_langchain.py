"""The retriever: LangChain's standard tests, and a chain with a scripted model."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnablePassthrough
from langchain_tests.integration_tests import RetrieversIntegrationTests

from hippocampus_memory import Hippocampus
from hippocampus_memory.langchain import HippocampusRetriever


class TestStandard(RetrieversIntegrationTests):
    """The standard tests of retrievers."""

    @pytest.fixture(autouse=True)
    def remembered(self, client: Hippocampus, user: str) -> None:
        self.parameters = {"user_id": user, "client": client}
        for number in range(5):
            client.remember(user_id=user, content=f"Likes tea number {number}.")

    @property
    def retriever_constructor(self) -> type[BaseRetriever]:
        return HippocampusRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return self.parameters

    @property
    def retriever_query_example(self) -> str:
        return "Which tea does she like?"


def test_chain_is_given_what_a_turn_said(client: Hippocampus, user: str) -> None:
    client.add_turn(user_id=user, messages=[{"role": "user", "content": "I live in Lisbon."}], wait=True)
    retriever = HippocampusRetriever(user_id=user)  # its client is one of the environment
    prompt = ChatPromptTemplate.from_template("{memories}\n{question}")
    seen: list[str] = []

    def look(value: Any) -> Any:
        seen.append(value.to_string())
        return value

    model = GenericFakeChatModel(messages=iter([AIMessage("Lisbon.")]))
    chain = {"memories": retriever, "question": RunnablePassthrough()} | prompt | look | model
    assert chain.invoke("In which city do I live?").content == "Lisbon."
    assert "I live in Lisbon." in seen[0]


def test_documents_have_the_metadata_of_memories(client: Hippocampus, user: str) -> None:
    for content, source in (("Likes tea.", "form"), ("Likes green tea.", "chat")):
        client.remember(user_id=user, content=content, metadata={"source": source}, tags=["drinks"])
    options = {"filter": {"metadata": {"source": "form"}}}
    (document,) = HippocampusRetriever(user_id=user, client=client, options=options).invoke("What does she like?")
    assert document.page_content == "Likes tea."
    assert document.metadata["source"] == "form"
    assert document.metadata["tags"] == ["drinks"]
    assert document.metadata["score"] > 0
    assert document.id == next(m.id for m in client.memories(user_id=user) if m.content == "Likes tea.")
