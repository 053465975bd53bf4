"""Talks to the scripted model through the proxy with LiteLLM.

check_litellm.py states|remembers|passes: see drive.
"""

import json
import os
import sys

import litellm

from check import PROXY, TEXT, TOOLS, UPSTREAM, joined, last


def chat(words, conversation="", user="litellm", url=PROXY, messages=(), **more):
    return litellm.completion(
        model="openai/scripted", base_url=url, api_key=os.environ["COMPAT_KEY"] if url == PROXY else "x", num_retries=0,
        messages=[{"role": "user", "content": words}, *messages],
        extra_headers={"X-Hippocampus-User": user, "X-Hippocampus-Conversation": conversation}, **more,
    )


def text(answer, stream):
    return joined(answer)[0] if stream else answer.choices[0].message.content


def states():
    assert text(chat("I live in Lisbon with my dog Pixel.", "1"), False) == TEXT


def remembers():
    for stream in (False, True):
        assert text(chat("Where do I live?", f"asks-{stream}", stream=stream), stream) == TEXT
        assert "Lisbon" in last(), last()

        question, conversation = "Do I need a coat where I live?", f"tools-{stream}"
        answer = chat(question, conversation, tools=TOOLS, stream=stream)
        whole = litellm.stream_chunk_builder(list(answer)) if stream else answer
        first = json.loads(last())["messages"]
        assert "Lisbon" in first[0]["content"], first
        message = whole.choices[0].message
        function = message.tool_calls[0].function
        assert (function.name, json.loads(function.arguments)) == ("weather", {"city": "Lisbon"}), function
        tool = {"role": "tool", "tool_call_id": message.tool_calls[0].id, "content": "rain"}
        final = chat(question, conversation, messages=[message, tool], tools=TOOLS, stream=stream)
        assert text(final, stream) == "The tool has answered."
        assert json.loads(last())["messages"][: len(first)] == first, last()

    chat("Where do I live?", user="litellm-other")
    assert "Lisbon" not in last(), last()
    try:
        chat("Fail with 429, please.")
        raise AssertionError("the call succeeds")
    except litellm.RateLimitError as error:
        assert "a scripted failure" in str(error), error


def passes():
    """The bodies are those of calls that do not go through the proxy."""
    for stream in (False, True):
        bodies = []
        for url in (UPSTREAM + "/v1", PROXY):
            assert text(chat("Where do I live?", url=url, stream=stream), stream) == TEXT
            bodies.append(last())
        assert bodies[0] == bodies[1], bodies


{"states": states, "remembers": remembers, "passes": passes}[sys.argv[1]]()
