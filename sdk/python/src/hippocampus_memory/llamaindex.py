"""Hippocampus as a memory block of LlamaIndex (extra `llamaindex`)."""

from __future__ import annotations

import asyncio
import uuid
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import ConfigDict, Field
from llama_index.core.memory import BaseMemoryBlock

from ._sync import Hippocampus
from ._wire import shortened

ROLES = {"user": "user", "chatbot": "assistant", "model": "assistant", "assistant": "assistant"}
"""The roles whose messages are reported, and what the server calls them."""
REPORTED = uuid.UUID("0b4c8a52-6f4e-5d1b-9a37-4a2f6b1de0c9")
LONGEST_MESSAGE = 65536
"""In bytes of UTF-8."""
LONGEST_QUERY = 65536
"""In characters."""


class HippocampusMemoryBlock(BaseMemoryBlock[str]):
    """Puts what fits the last message of the user into the prompt, and reports what leaves the short-term memory.

    A session of LlamaIndex is a conversation. Put messages into the block yourself, by `aput`, if they should be
    remembered before the short-term memory is full; a message that is put twice in a session is one turn.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    name: str = "hippocampus"
    description: str | None = "What is remembered of the user."
    user_id: str
    agent_id: str | None = None
    max_tokens: int = 1000
    """The size of the text that goes into the prompt."""
    wait: bool = False
    """Whether to wait until the gate has decided on what is reported."""
    client: Hippocampus = Field(default_factory=Hippocampus)
    """By default of $HIPPOCAMPUS_URL and $HIPPOCAMPUS_KEY."""

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        query = next((message.content for message in reversed(messages or []) if message.role == "user"), None)
        if not query or not query.strip():
            return ""
        scope = self._scope(None)  # without the conversation, which is in the prompt already
        answer = await asyncio.to_thread(
            self.client.context, **scope, query=query[:LONGEST_QUERY], max_tokens=self.max_tokens
        )
        return answer.text

    async def _aput(self, messages: list[ChatMessage]) -> None:
        for message in messages:
            text = shortened((message.content or "").strip(), LONGEST_MESSAGE)
            if not text or message.role.value not in ROLES:
                continue
            session = message.additional_kwargs.get("session_id")
            role = ROLES[message.role.value]
            of = repr((self.user_id, self.agent_id, session, role, text))
            turn: dict[str, Any] = self._scope(session) | {
                "id": f"llamaindex:{uuid.uuid5(REPORTED, of)}",
                "messages": [{"role": role, "content": text}],
                "wait": self.wait,
            }
            await asyncio.to_thread(self.client.add_turn, **turn)

    def _scope(self, session: str | None) -> dict[str, Any]:
        scope = {"user_id": self.user_id, "agent_id": self.agent_id, "conversation_id": session}
        return {name: value for name, value in scope.items() if value}

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """Drops the last lines of the text, the least important ones."""
        kept = content[: max(0, len(content) - 4 * tokens_to_truncate)].rpartition("\n")[0]
        return kept or None
