"""The client that the adapters use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hippocampus_memory import Hippocampus


@pytest.fixture
def client(server: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Hippocampus]:
    """A client of the server, which the environment names also."""
    url, key = server
    monkeypatch.setenv("HIPPOCAMPUS_URL", url)
    monkeypatch.setenv("HIPPOCAMPUS_KEY", key)
    with Hippocampus() as client:
        yield client
