"""The code of docs/connect/frameworks.md."""

from __future__ import annotations

import pathlib
import re
from typing import Any

import pytest
from test_anthropic import model as model  # a fixture

from hippocampus_memory import Hippocampus

PAGE = pathlib.Path(__file__).resolve().parents[4] / "docs" / "connect" / "frameworks.md"


@pytest.mark.usefixtures("model")
def test_code_of_the_page_runs(client: Hippocampus, user: str, capsys: pytest.CaptureFixture[str]) -> None:
    sections = re.findall(r"^## (.+?)\n\n```python\n(.*?)```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert [name for name, _ in sections] == ["Google ADK", "LangGraph", "LangChain", "LlamaIndex", "Anthropic"]
    made: dict[str, dict[str, Any]] = {}
    for name, code in sections:
        made[name] = {}
        exec(compile(code.replace('"ada"', repr(user)), name, "exec"), made[name])
    printed = capsys.readouterr().out
    assert printed.startswith("drink Prefers green tea.")  # LangGraph
    assert printed.count("Prefers green tea.") == 2  # LangChain also
    assert made["Google ADK"]["runner"].memory_service is made["Google ADK"]["memory"]
    assert made["LlamaIndex"]["memory"].memory_blocks[0].user_id == user
    assert "created successfully" in made["Anthropic"]["message"].content[0].text
