// Talks to the scripted model through the proxy with the AI SDK and its provider for OpenAI's API.

import assert from "node:assert/strict";
import { afterTool, assertKnows, last, load, parameters, proxy, run, text, upstream } from "./upstream.mjs";

const { createOpenAICompatible } = await load("@ai-sdk/openai-compatible");
const { APICallError, generateText, isStepCount, jsonSchema, streamText, tool } = await load("ai");

const model = (user, conversation = "", baseURL = proxy) =>
  createOpenAICompatible({
    name: "hippocampus",
    baseURL,
    apiKey: process.env.COMPAT_KEY,
    headers: { "X-Hippocampus-User": user, "X-Hippocampus-Conversation": conversation },
  })("scripted");

/** Returns the text of an answer, which is streamed or not. */
async function ask(of, prompt, { stream = false, ...more } = {}) {
  const options = { model: of, prompt, maxRetries: 0, ...more };
  if (!stream) return (await generateText(options)).text;
  return streamText(options).text;
}

async function states() {
  assert.equal(await ask(model("ai", "1"), "I live in Lisbon with my dog Pixel."), text);
}

async function remembers() {
  for (const stream of [false, true]) {
    assert.equal(await ask(model("ai", `asks-${stream}`), "Where do I live?", { stream }), text);
    await assertKnows(true);
    await withTools(stream);
  }
  await ask(model("ai-other"), "Where do I live?");
  await assertKnows(false);
  await assert.rejects(ask(model("ai"), "Fail with 429, please."), (error) => {
    assert.ok(APICallError.isInstance(error), error);
    assert.equal(error.statusCode, 429);
    assert.match(error.message, /a scripted failure/);
    return true;
  });
}

/** The SDK calls the tool by itself, and goes on with its result. */
async function withTools(stream) {
  const bodies = [];
  const weather = tool({
    inputSchema: jsonSchema(parameters),
    async execute({ city }) {
      assert.equal(city, "Lisbon");
      bodies.push(JSON.parse(await last()).messages);
      return "rain";
    },
  });
  const more = { stream, tools: { weather }, stopWhen: isStepCount(2) };
  assert.equal(await ask(model("ai", `tools-${stream}`), "Do I need a coat where I live?", more), afterTool);
  await assertKnows(true);
  assert.equal(bodies.length, 1);
  assert.deepEqual(JSON.parse(await last()).messages.slice(0, bodies[0].length), bodies[0]);
}

/** The bodies are those of calls that do not go through the proxy. */
async function passes() {
  for (const stream of [false, true]) {
    const bodies = [];
    for (const url of [upstream, proxy]) {
      assert.equal(await ask(model("ai", "", url), "Where do I live?", { stream }), text);
      bodies.push(await last());
    }
    assert.equal(bodies[0], bodies[1]);
  }
}

await run({ states, remembers, passes });
