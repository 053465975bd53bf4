"""A server that fails as a test says."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

NOW = "2026-03-02T09:00:00Z"
ID = "0198c0de-0000-7000-8000-000000000001"
MEMORY = {
    "id": ID, "user_id": "ada", "content": "Lives in Lisbon.", "type": "fact", "domain": "general_chat", "tags": [],
    "importance": 0.7, "pinned": False, "status": "active", "created_at": NOW, "updated_at": NOW,
    "last_accessed_at": NOW, "access_count": 0,
}  # fmt: skip
TURN = {"id": ID, "user_id": "ada", "status": "accepted", "attempts": 0, "at": NOW, "accepted_at": NOW}
RECALL = {
    "memories": [], "route": {"domains": [], "source": "rules", "skipped": False}, "degraded": [], "at": NOW,
    "took_ms": 1, "recall_id": ID,
}  # fmt: skip
GOOD: dict[str, Any] = {
    "/v1/turns": TURN, f"/v1/turns/{ID}": TURN | {"effects": [], "facts": [], "events": []}, "/v1/recall": RECALL,
    "/v1/memories": MEMORY | {"verdict": "kept"}, "/v1/users/ada": {"user_id": "ada", "zone": "Asia/Shanghai", "memory": "on"},
}  # fmt: skip


class FaultyServer(ThreadingHTTPServer):
    """Plays answers in order, the last one repeatedly, and keeps the bodies of the requests."""

    daemon_threads = True

    def __init__(self, answers: list[dict[str, Any]]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers = answers
        self.bodies: list[Any] = []
        self.headers: list[Any] = []
        self.done = threading.Event()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> FaultyServer:
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.done.set()
        self.shutdown()
        self.server_close()


class Handler(BaseHTTPRequestHandler):
    server: FaultyServer

    def answer(self) -> None:
        self.close_connection = True
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        number = len(self.server.bodies)
        self.server.bodies.append(json.loads(body) if body else None)
        self.server.headers.append(self.headers)
        answer = self.server.answers[min(number, len(self.server.answers) - 1)]
        if answer.get("cut") and "stream" not in answer:
            return
        if answer.get("trickle"):
            self.trickle()
            return
        if answer.get("stall"):
            self.server.done.wait()
            return
        self.reply(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

    def trickle(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        try:
            while not self.server.done.wait(0.05):
                self.wfile.write(b" ")
        except OSError:  # the client has left
            pass

    def stream(self, answer: dict[str, Any]) -> None:
        """Sends a stream; one that is to be cut lacks the last byte that its length states."""
        text = answer["stream"].encode()
        self.send_response(answer["status"])
        events = self.path.startswith("/v1/events")
        self.send_header("Content-Type", "text/event-stream" if events else "application/x-ndjson")
        self.send_header("X-Request-Id", "request-1")
        self.send_header("Content-Length", str(len(text) + bool(answer.get("cut"))))
        self.end_headers()
        self.wfile.write(text)

    def reply(self, answer: dict[str, Any]) -> None:
        if "stream" in answer:
            self.stream(answer)
            return
        kind = "application/json" if answer["status"] < 300 else "application/problem+json"
        body = GOOD.get(self.path, MEMORY)
        if answer["status"] >= 300:
            body = {
                "type": f"urn:hippocampus:problem:{answer.get('kind')}", "title": "A fault", "status": answer["status"],
                "errors": answer.get("errors", []),
            }  # fmt: skip
        text = json.dumps(body)
        if answer.get("html"):
            kind, text = "text/html", "<html><body>An error of the gateway</body></html>"
        self.send_response(answer["status"])
        self.send_header("Content-Type", kind)
        self.send_header("X-Request-Id", "request-1")
        if answer["status"] == 301:
            self.send_header("Location", "/elsewhere")
        if "retry_after" in answer:
            self.send_header("Retry-After", answer["retry_after"])
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass
