"""The built server, and the two forms of the client."""

from __future__ import annotations

import asyncio
import inspect
import os
import pathlib
import re
import subprocess
import uuid
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

import hippocampus_memory as sdk

ROOT = pathlib.Path(__file__).resolve().parents[3]


class Server(NamedTuple):
    url: str
    key: str
    """Of the role admin."""


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """The server of scripts/compat, or else one on SQLite, which is built and started here."""
    if "COMPAT_URL" in os.environ:
        yield Server(os.environ["COMPAT_URL"], new_key(os.environ["COMPAT_BINARY"], dict(os.environ)))
        return
    folder = tmp_path_factory.mktemp("server")
    binary = str(folder / "hippocampus")
    subprocess.run(["go", "build", "-o", binary, "./cmd/hippocampus"], cwd=ROOT, check=True)
    kept = {name: value for name, value in os.environ.items() if not re.match("HIPPOCAMPUS_|MEMORY_|MILVUS_", name)}
    settings = kept | {
        "HIPPOCAMPUS_DATA": str(folder / "data"),
        "HIPPOCAMPUS_LISTEN": "127.0.0.1:0",
        "HIPPOCAMPUS_FORGETTING_CLOCK": "wall",  # as in scripts/compat: what is imported as old has faded
    }
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [binary, "serve"], env=settings, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True
        )
        try:
            assert process.stdout is not None
            for line in process.stdout:
                if match := re.match("Hippocampus is listening on (.*)", line):
                    break
            else:
                raise AssertionError((folder / "log").read_text())
            yield Server(match[1], new_key(binary, settings))
        finally:
            process.terminate()
            process.wait(60)


def new_key(binary: str, settings: dict[str, str]) -> str:
    command = [binary, "key", "create", "--app", f"python-{uuid.uuid4()}", "--role", "admin"]
    return subprocess.run(command, env=settings, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def user() -> str:
    """A user of this test alone."""
    return f"ada-{uuid.uuid4()}"


class Blocking:
    """AsyncHippocampus, called like Hippocampus: one test is for both."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        self._loop = asyncio.new_event_loop()
        self._client = sdk.AsyncHippocampus(*arguments, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        attribute = getattr(self._client, name)

        def call(*arguments: Any, **options: Any) -> Any:
            result = attribute(*arguments, **options)
            if inspect.isasyncgen(result):
                return self._each(result)
            return self._loop.run_until_complete(result)

        return call

    def _each(self, items: Any) -> Iterator[Any]:
        try:
            while True:
                yield self._loop.run_until_complete(anext(items))
        except StopAsyncIteration:
            pass
        finally:
            self._loop.run_until_complete(items.aclose())

    def close(self) -> None:
        self._loop.run_until_complete(self._client.aclose())
        self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        self._loop.close()


def made(form: str, *arguments: Any, **options: Any) -> Any:
    """Returns a client of a form, sync or async."""
    if form == "sync":
        return sdk.Hippocampus(*arguments, **options)
    if sleep := options.get("sleep"):

        async def wait(seconds: float) -> None:
            sleep(seconds)

        options["sleep"] = wait
    return Blocking(*arguments, **options)


@pytest.fixture(params=["sync", "async"])
def form(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def client(server: Server, form: str) -> Iterator[Any]:
    """A client of the server, in both forms; the tests see the interface of the sync one."""
    client = made(form, *server)
    yield client
    client.close()
