"""The memory block in LlamaIndex's Memory, with a scripted model."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.llms import MockLLM
from llama_index.core.memory import Memory

from hippocampus_memory import Hippocampus
from hippocampus_memory.llamaindex import HippocampusMemoryBlock


def said(text: str, role: MessageRole = MessageRole.USER) -> ChatMessage:
    return ChatMessage(role=role, content=text)


async def test_fact_of_one_session_is_used_in_the_next(client: Hippocampus, user: str) -> None:
    def memory(session: str) -> tuple[Memory, HippocampusMemoryBlock]:
        block = HippocampusMemoryBlock(user_id=user, wait=True)  # its client is one of the environment
        return Memory.from_defaults(session_id=session, token_limit=60, memory_blocks=[block]), block

    first, _ = memory("first")
    for text in ("I live in Lisbon.", "I prefer green tea over coffee.", "Thanks a lot!"):
        await first.aput(said(text))
        await first.aput(said("I will keep that in mind, and ask again if anything is unclear.", MessageRole.ASSISTANT))
    contents = {m.content for m in client.memories(user_id=user)}
    assert "I live in Lisbon." in contents  # it has left the short-term memory

    second, block = memory("second")
    engine = SimpleChatEngine.from_defaults(llm=MockLLM(), memory=second)
    assert "Lisbon" in str(await engine.achat("In which city do I live?"))  # the mock repeats its prompt
    assert "Lisbon" in await block.aget([said("In which city do I live?")])
    assert await block.aget([said("I am here.", MessageRole.ASSISTANT)]) == ""


async def test_block_reports_what_fits_of_a_long_message(client: Hippocampus, user: str) -> None:
    block = HippocampusMemoryBlock(user_id=user, client=client, wait=True)
    await block.aput([said("我住在里斯本。" * 20_000)])
    (turn,) = client.turns(user_id=user)
    messages = client.turn(turn.id).messages
    assert messages is not None
    assert messages[0].content == ("我住在里斯本。" * 20_000)[: 65536 // 3]


async def test_block_reports_each_message_once(client: Hippocampus, user: str) -> None:
    block = HippocampusMemoryBlock(user_id=user, agent_id="butler", client=client, wait=True)
    messages: list[Any] = [
        said("I live in Lisbon."), said("Be brief.", MessageRole.SYSTEM), said("Noted.", MessageRole.ASSISTANT),
    ]  # fmt: skip
    for session in ("first", "first", "second"):
        await block.aput(messages, session_id=session)
    turns = [client.turn(turn.id) for turn in client.turns(user_id=user)]
    assert len(turns) == 4
    assert {turn.conversation_id for turn in turns} == {"first", "second"}
    assert {turn.agent_id for turn in turns} == {"butler"}
    assert {message.role for turn in turns for message in turn.messages or []} == {"user", "assistant"}
    text = await block.aget(messages)
    shorter = await block.atruncate(text, 1)
    assert shorter is None or len(shorter) < len(text)
    assert await block.atruncate(text, 1000) is None
