"""A chat backend with a long-term memory: FastAPI, the client of Hippocampus, and any model with OpenAI's API.

    ../../sdk/python/build dist && pip install dist/hippocampus_memory-*.whl fastapi uvicorn
    export HIPPOCAMPUS_KEY=... MODEL_URL=http://127.0.0.1:11434/v1 MODEL=llama3.2
    uvicorn app:app

    curl -s localhost:8000/chat -H 'Content-Type: application/json' \\
        -d '{"user": "ada", "conversation": "c-1", "message": "I live in Lisbon."}'

    message -> POST /v1/context -> messages -> model -> answer -> (afterwards) POST /v1/turns

Without its memory the chat goes on: a failed context is logged, and the model answers without it.
"""

import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import httpx
from fastapi import BackgroundTasks, Depends, FastAPI, HTTPException, Request
from hippocampus_memory import AsyncHippocampus, HippocampusError
from pydantic import BaseModel, Field

MODEL_URL = os.environ.get("MODEL_URL", "http://127.0.0.1:11434/v1")
MODEL = os.environ.get("MODEL", "llama3.2")
log = logging.getLogger("uvicorn.error")


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[dict[str, Any]]:
    """Opens the connections of both clients. The address and the key of the memory come from the environment."""
    headers = {"Authorization": "Bearer " + os.environ.get("MODEL_KEY", "none")}
    async with AsyncHippocampus() as memory, httpx.AsyncClient(headers=headers, timeout=120) as model:
        yield {"memory": memory, "model": model}


app = FastAPI(lifespan=lifespan)


def memory_of(request: Request) -> AsyncHippocampus:
    return request.state.memory


Memory = Annotated[AsyncHippocampus, Depends(memory_of)]


class Said(BaseModel):
    """In a real backend the user comes from the session, not from the body."""

    user: str = Field(min_length=1, max_length=256)
    conversation: str = Field(min_length=1, max_length=256)
    message: str = Field(min_length=1, max_length=4096)


class Answer(BaseModel):
    answer: str


@app.post("/chat")
async def chat(said: Said, request: Request, memory: Memory, later: BackgroundTasks) -> Answer:
    known = await messages_of(memory, said)
    answer = await ask(request.state.model, [*known, {"role": "user", "content": said.message}])
    later.add_task(report, memory, said, answer)
    return Answer(answer=answer)


async def messages_of(memory: AsyncHippocampus, said: Said) -> list[dict[str, Any]]:
    """Returns what the model needs to know: instructions, facts, memories and the latest turns of the conversation."""
    try:
        context = await memory.with_options(timeout=2, retries=0).context(
            user_id=said.user, query=said.message, conversation_id=said.conversation, format="messages", max_tokens=2000
        )
    except HippocampusError as error:
        log.warning("answering without memory: %s", error)
        return []
    return [{"role": message.role, "content": message.content} for message in context.messages or []]


async def ask(model: httpx.AsyncClient, messages: list[dict[str, Any]]) -> str:
    try:
        response = await model.post(MODEL_URL + "/chat/completions", json={"model": MODEL, "messages": messages})
        response.raise_for_status()
    except httpx.HTTPError as error:
        raise HTTPException(502, "the model does not answer") from error
    return response.json()["choices"][0]["message"]["content"]


async def report(memory: AsyncHippocampus, said: Said, answer: str) -> None:
    """Reports the turn. The client repeats it after faults under one id, so that it is kept once."""
    try:
        await memory.add_turn(
            user_id=said.user,
            conversation_id=said.conversation,
            messages=[{"role": "user", "content": said.message}, {"role": "assistant", "content": answer}],
        )
    except HippocampusError as error:
        log.error("a turn of %s is not remembered: %s", said.conversation, error)
