"""Talks to the scripted model through the proxy with OpenAI's Python client.

check.py states|remembers|passes: see drive.
"""

import json
import os
import sys
import urllib.request

import openai

UPSTREAM = os.environ["COMPAT_UPSTREAM"]
PROXY = os.environ["COMPAT_URL"] + "/proxy/v1"
TOOLS = [{"type": "function", "function": {
    "name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}},
}}]
TEXT = "I am a scripted model."


def client(user, conversation="", base_url=PROXY, key=os.environ["COMPAT_KEY"]):
    headers = {"X-Hippocampus-User": user, "X-Hippocampus-Conversation": conversation}
    return openai.OpenAI(base_url=base_url, api_key=key, default_headers=headers, max_retries=0)


def last():
    """Returns the body that the model got last, as text. No key of the server may have come with it."""
    with urllib.request.urlopen(UPSTREAM + "/last") as answer:
        request = json.load(answer)
    assert os.environ["COMPAT_KEY"] not in request["authorization"], request
    return request["body"]


def chat(of, words, messages=(), **more):
    return of.chat.completions.create(
        model="scripted", messages=[*messages, {"role": "user", "content": words}], **more,
    )


def joined(stream):
    """Returns the text, and the name and the arguments of the call, of a stream."""
    text, name, arguments = "", "", ""
    for chunk in stream:
        delta = chunk.choices[0].delta
        text += delta.content or ""
        for call in delta.tool_calls or []:
            name += call.function.name or ""
            arguments += call.function.arguments or ""
    return text, name, arguments


def states():
    assert [model.id for model in client("py").models.list()] == ["scripted"]
    assert chat(client("py", "1"), "I live in Lisbon with my dog Pixel.").choices[0].message.content == TEXT
    assert last().count("Lisbon") == 1, last()


def remembers():
    raw = client("py", "2").chat.completions.with_raw_response.create(
        model="scripted", messages=[{"role": "user", "content": "Where do I live?"}],
    )
    assert raw.headers["x-hippocampus-memory"] == "injected" and raw.headers["x-request-id"] == "scripted-1", raw.headers
    assert raw.parse().choices[0].message.content == TEXT
    assert "Lisbon" in last(), last()
    assert joined(chat(client("py", "3"), "Where do I live?", stream=True)) == (TEXT, "", "")
    assert "Lisbon" in last(), last()
    chat(client("py-other"), "Where do I live?")
    assert "Lisbon" not in last(), last()
    chat(client("py", key=os.environ["COMPAT_OTHER_KEY"]), "Where do I live?")
    assert "Lisbon" not in last(), last()

    for stream in (False, True):
        tools(stream)

    try:
        chat(client("py"), "Fail with 429, please.")
        raise AssertionError("the call succeeds")
    except openai.RateLimitError as error:
        assert error.code == "scripted_429" and error.request_id == "scripted-1", error
    try:
        chat(client("py", key="wrong"), "Where do I live?")
        raise AssertionError("the call succeeds")
    except openai.AuthenticationError:
        pass

    answer = client("py", "5").responses.create(model="scripted", input="Where do I live?", instructions="Be brief.")
    assert answer.output_text == TEXT and "Lisbon" in json.loads(last())["instructions"], last()
    with client("py", "6").responses.stream(model="scripted", input="Where do I live?") as events:
        assert events.get_final_response().output_text == TEXT
    assert "Lisbon" in json.loads(last())["instructions"], last()


def tools(stream):
    """Lets the model call a tool, and answers it."""
    of, question = client("py", f"tools-{stream}"), "Do I need a coat where I live?"
    answer = chat(of, question, tools=TOOLS, stream=stream)
    first = json.loads(last())
    assert "Lisbon" in first["messages"][0]["content"] and first["tools"] == TOOLS, first
    if stream:
        _, name, arguments = joined(answer)
    else:
        function = answer.choices[0].message.tool_calls[0].function
        name, arguments = function.name, function.arguments
    assert (name, json.loads(arguments)) == ("weather", {"city": "Lisbon"}), (name, arguments)
    call = {"id": "call_1", "type": "function", "function": {"name": name, "arguments": arguments}}
    final = of.chat.completions.create(model="scripted", tools=TOOLS, stream=stream, messages=[
        {"role": "user", "content": question},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
    ])
    text = joined(final)[0] if stream else final.choices[0].message.content
    assert text == "The tool has answered.", text
    assert json.loads(last())["messages"][: len(first["messages"])] == first["messages"], last()


def passes():
    """The bodies are those of a call that does not go through the proxy."""
    for stream in (False, True):
        bodies = []
        for url in (UPSTREAM + "/v1", PROXY):
            answer = chat(client("py", "9", url, os.environ["COMPAT_KEY"] if url == PROXY else "x"), "Where do I live?",
                          stream=stream)
            assert (joined(answer)[0] if stream else answer.choices[0].message.content) == TEXT
            bodies.append(last())
        assert bodies[0] == bodies[1], bodies
    raw = client("py").chat.completions.with_raw_response.create(
        model="scripted", messages=[{"role": "user", "content": "Where do I live?"}],
    )
    assert raw.headers["x-hippocampus-error"], raw.headers


if __name__ == "__main__":
    {"states": states, "remembers": remembers, "passes": passes}[sys.argv[1]]()
