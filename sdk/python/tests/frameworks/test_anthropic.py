"""The memory tool in Anthropic's SDK, with a scripted model behind its API."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from anthropic import Anthropic

from hippocampus_memory import Hippocampus
from hippocampus_memory.anthropic import HippocampusMemoryTool

FILE = "/memories/ada.md"


class ScriptedModel(ThreadingHTTPServer):
    """Creates a file when it is asked to remember, else reads it, and ends with what the tool returned."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        content = request["messages"][-1]["content"]
        if isinstance(content, list):
            result = content[0]["content"]
            text = result if isinstance(result, str) else result[0]["text"]
            blocks, reason = [{"type": "text", "text": text}], "end_turn"
        else:
            command: dict[str, Any] = {"command": "view", "path": FILE}
            if content.startswith("Remember"):
                command = {"command": "create", "path": FILE, "file_text": content}
            blocks, reason = [{"type": "tool_use", "id": "t1", "name": "memory", "input": command}], "tool_use"
        body = json.dumps({
            "id": "m1", "type": "message", "role": "assistant", "model": "scripted", "content": blocks,
            "stop_reason": reason, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1},
        }).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The scripted model, which the environment names as Anthropic's API."""
    with ScriptedModel() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "scripted")
        yield
        server.shutdown()


def says(user: str, words: str) -> str:
    """Returns the model's last words in a session of its own."""
    message = Anthropic().beta.messages.tool_runner(
        model="scripted", max_tokens=100, tools=[HippocampusMemoryTool(user)],
        messages=[{"role": "user", "content": words}],
    ).until_done()  # fmt: skip
    return "".join(block.text for block in message.content if block.type == "text")


@pytest.mark.usefixtures("model")
def test_fact_of_one_session_is_used_in_the_next(client: Hippocampus, user: str) -> None:
    assert "created successfully" in says(user, "Remember that I moved to Porto.")
    assert "Remember that I moved to Porto." in says(user, "Where do I live?")
    assert "does not exist" in says(user + "-other", "Where do I live?")
    answer = client.recall(user_id=user, query="Where do I live?")
    assert answer.memories[0].metadata == {"path": FILE, "source": "memory-tool"}
