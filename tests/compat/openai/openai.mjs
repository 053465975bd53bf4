// Talks to the scripted model through the proxy with OpenAI's JavaScript client.

import assert from "node:assert/strict";
import { afterTool, assertKnows, last, load, parameters, proxy, run, text, upstream } from "./upstream.mjs";

const { default: OpenAI } = await load("openai");
const tools = [{ type: "function", function: { name: "weather", parameters } }];

const open = (user, conversation = "", baseURL = proxy) =>
  new OpenAI({
    baseURL,
    apiKey: process.env.COMPAT_KEY,
    maxRetries: 0,
    defaultHeaders: { "X-Hippocampus-User": user, "X-Hippocampus-Conversation": conversation },
  });

/** Returns the assistant's message, which is streamed or not. */
async function chat(client, messages, { stream = false, ...more } = {}) {
  const body = { model: "scripted", messages, ...more };
  if (!stream) return (await client.chat.completions.create(body)).choices[0].message;
  return client.chat.completions.stream(body).finalMessage();
}

const asks = (content) => [{ role: "user", content }];

async function states() {
  assert.equal((await chat(open("js", "1"), asks("I live in Lisbon with my dog Pixel."))).content, text);
}

async function remembers() {
  for (const stream of [false, true]) {
    assert.equal((await chat(open("js", `asks-${stream}`), asks("Where do I live?"), { stream })).content, text);
    await assertKnows(true);
    await withTools(stream);
  }
  await chat(open("js-other"), asks("Where do I live?"));
  await assertKnows(false);

  await assert.rejects(chat(open("js"), asks("Fail with 429, please.")), (error) => {
    assert.ok(error instanceof OpenAI.RateLimitError, error);
    assert.equal(error.code, "scripted_429");
    return true;
  });

  const body = { model: "scripted", input: "Where do I live?" };
  assert.equal((await open("js", "5").responses.create(body)).output_text, text);
  await assertKnows(true);
  assert.equal((await open("js", "6").responses.stream(body).finalResponse()).output_text, text);
  await assertKnows(true);
}

async function withTools(stream) {
  const client = open("js", `tools-${stream}`);
  const messages = asks("Do I need a coat where I live?");
  const message = await chat(client, messages, { stream, tools });
  await assertKnows(true);
  const first = JSON.parse(await last()).messages;
  assert.deepEqual(
    message.tool_calls.map((call) => [call.function.name, JSON.parse(call.function.arguments)]),
    [["weather", { city: "Lisbon" }]],
  );
  messages.push(message, { role: "tool", tool_call_id: message.tool_calls[0].id, content: "rain" });
  assert.equal((await chat(client, messages, { stream, tools })).content, afterTool);
  assert.deepEqual(JSON.parse(await last()).messages.slice(0, first.length), first);
}

/** The bodies are those of calls that do not go through the proxy. */
async function passes() {
  for (const stream of [false, true]) {
    const bodies = [];
    for (const url of [upstream, proxy]) {
      assert.equal((await chat(open("js", "", url), asks("Where do I live?"), { stream })).content, text);
      bodies.push(await last());
    }
    assert.equal(bodies[0], bodies[1]);
  }
  const { response } = await open("js")
    .chat.completions.create({ model: "scripted", messages: asks("Where do I live?") })
    .withResponse();
  assert.ok(response.headers.get("x-hippocampus-error"));
}

await run({ states, remembers, passes });
