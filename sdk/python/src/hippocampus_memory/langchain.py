"""Hippocampus as a retriever of LangChain (extra `langchain`)."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from ._sync import Hippocampus


class HippocampusRetriever(BaseRetriever):
    """Recalls memories of a user as documents, best first.

    The metadata of a document is that of the memory, with its type, domain, importance, tags, created_at, score,
    relevance and confidence.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    user_id: str
    k: int = 10
    """The most documents, 1 to 100."""
    options: dict[str, Any] = Field(default_factory=dict)
    """More fields of a recall, such as agent_id, types, filter or min_confidence."""
    client: Hippocampus = Field(default_factory=Hippocampus)
    """By default of $HIPPOCAMPUS_URL and $HIPPOCAMPUS_KEY."""

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, k: int | None = None
    ) -> list[Document]:
        recall: dict[str, Any] = {"user_id": self.user_id, "query": query, "limit": k or self.k}
        answer = self.client.recall(**(self.options | recall))
        names = {"type", "domain", "importance", "tags", "created_at", "score", "relevance", "confidence"}
        return [
            Document(
                id=memory.id,
                page_content=memory.content,
                metadata=dict(memory.metadata or {}) | memory.model_dump(mode="json", include=names, exclude_none=True),
            )
            for memory in answer.memories
        ]
