"""The examples of the documentation, and the generated code."""

from __future__ import annotations

import os
import pathlib
import re
import subprocess
import sys
import uuid

from conftest import Server

SDK = pathlib.Path(__file__).resolve().parents[1]


def test_examples_of_the_readme_run(server: Server, tmp_path: pathlib.Path) -> None:
    text = (SDK / "README.md").read_text()
    examples = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(examples) == 3
    user = f"ada-{uuid.uuid4()}"
    environment = os.environ | {
        "HIPPOCAMPUS_URL": server.url, "HIPPOCAMPUS_KEY": server.key, "PYTHONPATH": str(SDK / "src"),
    }  # fmt: skip
    for example in examples:
        code = example.replace('"ada"', repr(user))
        subprocess.run([sys.executable, "-W", "error", "-c", code], cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "ada.ndjson").read_bytes().count(b"\n") > 2


def test_readme_names_every_method() -> None:
    text = (SDK / "README.md").read_text()
    client = "".join(file.read_text() for file in (SDK / "src" / "hippocampus_memory").glob("_async*.py"))
    methods = set(re.findall(r"^    (?:async )?def ([a-z]\w*)", client, re.MULTILINE))
    assert {name for name in methods - {"aclose", "send"} if f"{name}`" not in text and f"{name}(" not in text} == set()


def test_generated_code_is_what_openapi_yaml_gives() -> None:
    done = subprocess.run([sys.executable, str(SDK / "generate"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, f"run sdk/python/generate\n{done.stdout}{done.stderr}"
