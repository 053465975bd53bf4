"""Talks to the FastAPI backend: what was said in one conversation is in the prompt of another one."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time

import httpx
from hippocampus_memory import Hippocampus

DEADLINE = time.monotonic() + 120


def until(condition, what):
    while not condition():
        assert time.monotonic() < DEADLINE, what
        time.sleep(0.1)


@contextlib.contextmanager
def backend(**environment):
    """Runs the backend on a free port and yields a client of it."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port), "--log-level", "warning"]
    with subprocess.Popen(program, env=os.environ | environment) as process:
        try:
            with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                until(lambda: answers(client), "the backend does not start")
                yield client
        finally:
            process.terminate()


def answers(client):
    with contextlib.suppress(httpx.TransportError):
        return client.get("/openapi.json").is_success
    return False


def say(client, conversation, message, status=200):
    answer = client.post("/chat", json={"user": "fastapi", "conversation": conversation, "message": message})
    assert answer.status_code == status, answer.text
    return answer.json().get("answer")


def prompt():
    """The messages of the last request to the model."""
    return json.loads(httpx.get(os.environ["COMPAT_UPSTREAM"] + "/last").json()["body"])["messages"]


with backend() as client, Hippocampus() as memory:

    def processed():
        turns = list(memory.turns(user_id="fastapi"))
        return turns and all(turn.status == "processed" for turn in turns)

    assert say(client, "one", "I live in Lisbon and keep bees.") == "I am a scripted model."
    assert prompt() == [{"role": "user", "content": "I live in Lisbon and keep bees."}], prompt()
    until(processed, "the turn is not processed")
    say(client, "two", "Where do I live?")
    assert "Lisbon" in json.dumps(prompt()[:-1]), prompt()
    until(lambda: len(list(memory.turns(user_id="fastapi"))) == 2, "the second turn is not reported")
    say(client, "two", "Thank you.")
    assert {"role": "user", "content": "Where do I live?"} in prompt(), prompt()
    say(client, "two", "Fail with 429", status=502)

with backend(HIPPOCAMPUS_URL="http://127.0.0.1:9") as client:  # nothing listens there
    assert say(client, "three", "Hello") == "I am a scripted model."
    assert prompt() == [{"role": "user", "content": "Hello"}], prompt()
