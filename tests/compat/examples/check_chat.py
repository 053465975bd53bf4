"""Talks to the chat in the terminal: what was said in one conversation is in the prompt of another one."""

import os
import subprocess
import sys
import time

import httpx
from hippocampus_memory import Hippocampus


def chat(*lines, model=()):
    """Runs the program for one conversation and returns its standard output, which has no prompts and no failures."""
    program, text = [sys.argv[1], "--user", "chat", *model], "".join(line + "\n" for line in lines)
    return subprocess.run(program, input=text, check=True, capture_output=True, text=True).stdout


assert chat("I live in Lisbon.") == "user: I live in Lisbon.\n\n"
with Hippocampus() as memory:
    deadline = time.monotonic() + 60
    while any(turn.status != "processed" for turn in memory.turns(user_id="chat")):
        assert time.monotonic() < deadline, "the turn is not processed"
        time.sleep(0.1)
    prompt = chat("Where do I live?")
    assert "I live in Lisbon." in prompt and prompt.endswith("user: Where do I live?\n\n"), prompt
    answers = chat("Hello.", "Where do I live?", model=("--model-url", os.environ["COMPAT_UPSTREAM"] + "/v1"))
    assert answers == "I am a scripted model.\n" * 2, answers
    assert "Lisbon" in httpx.get(os.environ["COMPAT_UPSTREAM"] + "/last").json()["body"]
    assert len(list(memory.turns(user_id="chat"))) == 4

# An empty line, a failing model and a server that does not answer do not end the chat.
upstream = os.environ["COMPAT_UPSTREAM"] + "/v1"
assert chat("", " ", "Fail with 429", "Hello.", model=("--model-url", upstream)) == "I am a scripted model.\n"
os.environ["HIPPOCAMPUS_URL"] = "http://127.0.0.1:9"  # nothing listens there
assert chat("I live in Lisbon.") == "user: I live in Lisbon.\n\n"
