"""The memory service in the real Agent Development Kit, with a scripted model."""

from __future__ import annotations

import asyncio
import os
import pathlib
import uuid
from collections.abc import AsyncGenerator
from typing import Any

import pytest
from google.adk.agents import LlmAgent
from google.adk.cli import service_registry
from google.adk.events.event import Event
from google.adk.memory.base_memory_service import BaseMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm
from google.adk.models.llm_request import LlmRequest
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types

from hippocampus_memory import Hippocampus, InvalidError
from hippocampus_memory.adk import HippocampusMemoryService

SEEN: dict[str, list[str]] = {}


class ScriptedModel(BaseLlm):
    """Keeps what it is shown and answers a fixed text."""

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        shown = [part.text or "" for content in llm_request.contents for part in content.parts or []]
        SEEN.setdefault(self.model, []).append("\n".join(shown))
        yield LlmResponse(content=words("I will keep that in mind.", "model"))


def words(text: str, role: str = "user") -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


@pytest.fixture
def memory(client: Hippocampus) -> HippocampusMemoryService:
    return HippocampusMemoryService(client=client, wait=True)


def runner(memory: BaseMemoryService, app: str, model: str) -> Runner:
    agent = LlmAgent(name="butler", model=ScriptedModel(model=model), tools=[PreloadMemoryTool()])
    return Runner(app_name=app, agent=agent, session_service=InMemorySessionService(), memory_service=memory)


async def says(runner: Runner, user: str, session: str, text: str) -> Any:
    """Says something in a session and adds the session to the memory."""
    sessions = runner.session_service
    if not await sessions.get_session(app_name=runner.app_name, user_id=user, session_id=session):
        await sessions.create_session(app_name=runner.app_name, user_id=user, session_id=session)
    async for _ in runner.run_async(user_id=user, session_id=session, new_message=words(text)):
        pass
    after = await sessions.get_session(app_name=runner.app_name, user_id=user, session_id=session)
    assert after is not None
    assert runner.memory_service is not None
    await runner.memory_service.add_session_to_memory(after)
    return after


async def test_fact_of_one_session_is_used_in_the_next(memory: HippocampusMemoryService, user: str) -> None:
    model, session = f"scripted-{user}", f"first-{user}"
    agent = runner(memory, "shop", model)
    await says(agent, user, session, "I live in Lisbon and work as a marine biologist.")
    await says(agent, user, session, "I prefer green tea over coffee.")  # the session is added a second time
    await says(agent, user, f"second-{user}", "In which city do I live?")
    assert "<PAST_CONVERSATIONS>" in SEEN[model][-1]
    assert "I live in Lisbon" in SEEN[model][-1]
    listed = await memory.list_memories(app_name="shop", user_id=user, memory_type="message")
    said = [m.content.parts[0].text for m in listed if m.content.parts]
    assert said.count("I live in Lisbon and work as a marine biologist.") == 1
    assert {m.author for m in listed} == {"user", "butler"}

    other = await memory.search_memory(app_name="bank", user_id=user, query="In which city do I live?")
    assert other.memories == []
    ended = await memory.consolidate(session, "fast", user_id=user, wait=True)
    assert ended.conversation.id == session


def test_runner_with_an_event_loop_for_each_call(memory: HippocampusMemoryService, user: str) -> None:
    model = f"loops-{user}"
    agent = runner(memory, "shop", model)
    for text in ("I live in Lisbon.", "Where do I live?"):
        asyncio.run(says(agent, user, f"session-{user}", text))
    session = f"sync-{user}"
    asyncio.run(agent.session_service.create_session(app_name="shop", user_id=user, session_id=session))
    list(agent.run(user_id=user, session_id=session, new_message=words("Where do I live?")))
    assert "I live in Lisbon" in SEEN[model][-1]


async def test_events_are_reported_without_calls_and_thoughts(
    memory: HippocampusMemoryService, client: Hippocampus, user: str
) -> None:
    call = types.Part(function_call=types.FunctionCall(name="weather", args={}))
    thought = types.Part(text="She seems to like tea.", thought=True)
    events = [
        Event(author="user", content=words("I live in Lisbon."), timestamp=1_772_000_000),
        Event(author="butler", content=words("I li"), partial=True),
        Event(author="butler", content=types.Content(role="model", parts=[call, thought])),
        Event(author="butler", content=types.Content(role="model", parts=[thought, types.Part(text="Noted.")])),
    ]
    scope: Any = {"app_name": "shop", "user_id": user, "session_id": "s"}
    await memory.add_events_to_memory(**scope, events=events[:1], custom_metadata={"channel": "web"})
    await memory.add_events_to_memory(**scope, events=events)
    turns = [client.turn(turn.id) for turn in client.turns(user_id=user)]
    said = [(turn.messages[0].role, turn.messages[0].content) for turn in reversed(turns) if turn.messages]
    assert said == [("user", "I live in Lisbon."), ("assistant", "Noted.")]
    assert turns[-1].metadata == {"channel": "web"}
    assert turns[-1].at.timestamp() == 1_772_000_000


async def test_events_after_a_refused_one_are_reported(
    memory: HippocampusMemoryService, client: Hippocampus, user: str
) -> None:
    long = "我住在里斯本。" * 20_000  # 420,000 bytes
    events = [
        Event(author="user", content=words("I live in Lisbon.")),
        Event(author="a\0b", content=words("Hello."), id="refused"),
        Event(author="user", content=words(long)),
        Event(author="butler", content=words("Noted.")),
    ]
    with pytest.raises(InvalidError, match="event refused: "):
        await memory.add_events_to_memory(app_name="shop", user_id=user, events=events, session_id="s")
    turns = [client.turn(turn.id) for turn in client.turns(user_id=user)]
    said = [turn.messages[0].content for turn in reversed(turns) if turn.messages]
    assert said == ["I live in Lisbon.", long[: 65536 // 3], "Noted."]


async def test_memories_are_added_searched_and_deleted(memory: HippocampusMemoryService, user: str) -> None:
    scope: Any = {"app_name": "shop", "user_id": user}
    written = MemoryEntry(
        content=words("Is allergic to peanuts."), author="doctor", timestamp="2026-03-02T09:00:00",
        custom_metadata={"importance": 0.95, "source": "form"},
    )  # fmt: skip
    await memory.add_memory(**scope, memories=[written, written], custom_metadata={"type": "preference"})
    (found,) = (await memory.search_memory(**scope, query="What is she allergic to?")).memories
    assert (found.author, found.timestamp) == ("doctor", "2026-03-02T09:00:00+00:00")
    assert found.custom_metadata["source"] == "form"
    assert (found.custom_metadata["type"], found.custom_metadata["importance"]) == ("preference", 0.95)
    assert (await memory.search_memory(**scope, query=" ")).memories == []

    await memory.delete_memory(app_name="shop", user_id="another", memory_id=found.id)
    await memory.delete_memory(app_name="bank", user_id=user, memory_id=found.id)
    await memory.delete_memory(**scope, memory_id=str(uuid.uuid4()))
    await memory.delete_memory(**scope, memory_id="not an id")
    await memory.delete_memory(**scope)
    assert len(await memory.list_memories(**scope)) == 1
    await memory.delete_memory(**scope, memory_id=found.id)
    assert await memory.list_memories(**scope) == []


async def test_services_yaml_wires_the_service(client: Hippocampus, user: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "services.yaml").write_text(
        "services:\n  - {scheme: hippocampus, type: memory, class: hippocampus_memory.adk.HippocampusMemoryService}\n"
    )
    service_registry.load_services_module(str(tmp_path))
    uri = os.environ["HIPPOCAMPUS_URL"].replace("http://", "hippocampus://") + "?wait=true"
    service = service_registry.get_service_registry().create_memory_service(uri, agents_dir=str(tmp_path))
    assert isinstance(service, HippocampusMemoryService)
    await service.add_memory(app_name="shop", user_id=user, memories=[MemoryEntry(content=words("Lives in Lisbon."))])
    found = await service.search_memory(app_name="shop", user_id=user, query="Where does she live?")
    assert len(found.memories) == 1
