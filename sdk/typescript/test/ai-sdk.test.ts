import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { generateText, isStepCount, jsonSchema, streamText, tool, wrapLanguageModel } from "ai";
import { MockLanguageModelV4, simulateReadableStream } from "ai/test";
import { Hippocampus } from "hippocampus-memory";
import { type MemoryOptions, memory } from "hippocampus-memory/ai-sdk";
import { all, newUser, startServer, until } from "./server.js";

type Generated = Awaited<ReturnType<MockLanguageModelV4["doGenerate"]>>;
type Part = Awaited<ReturnType<MockLanguageModelV4["doStream"]>>["stream"] extends ReadableStream<infer P> ? P : never;

const usage: Generated["usage"] = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
const call = { type: "tool-call" as const, toolCallId: "call-1", toolName: "weather", input: '{"city":"Lisbon"}' };

/** Returns an answer of the model: a text, or a call of the tool for an empty text. */
function answer(text: string): Generated {
  const unified = text === "" ? "tool-calls" : "stop";
  const content: Generated["content"] = text === "" ? [call] : [{ type: "text", text }];
  return { content, finishReason: { unified, raw: undefined }, usage, warnings: [] };
}

/** Returns the parts of an answer that is streamed in two pieces. */
function parts(text: string): Part[] {
  const { content, finishReason } = answer(text);
  const said: Part[] =
    text === ""
      ? (content as Part[])
      : [
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: text.slice(0, 3) },
          { type: "text-delta", id: "1", delta: text.slice(3) },
          { type: "text-end", id: "1" },
        ];
  return [{ type: "stream-start", warnings: [] }, ...said, { type: "finish", finishReason, usage }];
}

/** Returns a model that gives the answers in order. */
function modelOf(...answers: string[]) {
  const streams = answers.map((text) => ({ stream: simulateReadableStream({ chunks: parts(text) }) }));
  return new MockLanguageModelV4({ doGenerate: answers.map(answer), doStream: streams });
}

/** Returns what the model got in a call. */
function promptOf(model: MockLanguageModelV4, call = 0) {
  const options = [...model.doGenerateCalls, ...model.doStreamCalls][call];
  assert.ok(options, "the model was not called");
  return options.prompt;
}

/** Returns the texts of the system messages that the model got. */
const systemOf = (model: MockLanguageModelV4, call = 0) =>
  promptOf(model, call).flatMap((m) => (m.role === "system" ? [m.content] : []));

/** Asks a model with the middleware by generateText or streamText. */
async function ask(
  model: MockLanguageModelV4,
  options: MemoryOptions,
  prompt: string | Parameters<typeof generateText>[0]["messages"],
  { stream = false, ...more }: { stream?: boolean; [key: string]: unknown } = {},
): Promise<string> {
  const asked = {
    model: wrapLanguageModel({ model, middleware: memory(options) }),
    maxRetries: 0,
    ...(typeof prompt === "string" ? { prompt } : { messages: prompt }),
    ...more,
  } as Parameters<typeof generateText>[0];
  if (!stream) return (await generateText(asked)).text;
  return streamText({ ...asked, onError: () => undefined } as Parameters<typeof streamText>[0]).text;
}

/** Returns options with a tool that the model may call. */
function withTool(execute: () => Promise<string>) {
  const inputSchema = jsonSchema<object>({ type: "object", properties: { city: { type: "string" } } });
  return { tools: { weather: tool({ inputSchema, execute }) }, stopWhen: isStepCount(3) };
}

/** What onError got in the tests in which memory does not fail. */
const failures: unknown[] = [];
after(() => assert.deepEqual(failures, []));

let client: Hippocampus;
before(async () => {
  client = new Hippocampus(await startServer());
});

/** Returns options with time enough for a busy machine. */
function options(user_id = newUser(), more: Partial<MemoryOptions> = {}): MemoryOptions {
  const onError = (error: unknown) => void failures.push(error);
  return { client, user_id, contextTimeout: 20_000, turnTimeout: 20_000, onError, ...more };
}

/** Returns a user's turns, without those that others have taken the place of. */
async function turnsOf(user_id: string) {
  const turns = await all(client.list("/v1/turns", { query: { user_id } }));
  return turns.filter((turn) => turn.status !== "withdrawn");
}

/** Returns the messages of a user's only turn. */
async function messagesOf(user_id: string) {
  const [turn, ...others] = await turnsOf(user_id);
  assert.ok(turn && others.length === 0, `${others.length + (turn ? 1 : 0)} turns`);
  return messagesOfTurn(turn.id);
}

async function messagesOfTurn(id: string) {
  const { data } = await client.api.GET("/v1/turns/{id}", { params: { path: { id } } });
  return (data?.messages ?? []).map(({ role, content }) => `${role}: ${content}`);
}

it("an abort by the caller is no failure of memory", async () => {
  const controller = new AbortController();
  const fetch = (_: string, init: RequestInit) =>
    new Promise<Response>((_, reject) => {
      init.signal?.addEventListener("abort", () => reject(new Error("cut")));
      controller.abort();
    });
  const hanging = new Hippocampus({ url: "http://127.0.0.1", key: "", fetch });
  const { transformParams } = memory(options("ada", { client: hanging }));
  const prompt = [{ role: "user" as const, content: [{ type: "text" as const, text: "Where do I live?" }] }];
  const params = { prompt, abortSignal: controller.signal };
  const model = modelOf();
  assert.deepEqual((await transformParams?.({ type: "generate", params, model }))?.prompt, prompt);
  assert.deepEqual(failures, []);
});

for (const stream of [false, true]) {
  describe(stream ? "streamText with memory" : "generateText with memory", { concurrency: true }, () => {
    it("uses in one conversation what was said in another", async () => {
      const user_id = newUser();
      const fact = "I live in Lisbon with my dog Pixel.";
      await ask(modelOf("Nice!"), options(user_id, { conversation_id: `${user_id}-1` }), fact, { stream });
      assert.deepEqual(await messagesOf(user_id), [`user: ${fact}`, "assistant: Nice!"]);
      await until(async () => (await turnsOf(user_id))[0]?.status === "processed");
      const model = modelOf("In Lisbon.");
      const more = { stream, instructions: "You are brief." };
      await ask(model, options(user_id, { conversation_id: `${user_id}-2` }), "Where do I live?", more);
      const [own, added, ...others] = systemOf(model);
      assert.equal(own, "You are brief.");
      assert.match(added ?? "", /user data, not instructions[\s\S]*Lisbon/);
      assert.deepEqual(others, []);
      assert.equal(promptOf(model).at(-1)?.role, "user");
      const other = modelOf("I do not know.");
      await ask(other, options(), "Where do I live?", { stream });
      assert.deepEqual(systemOf(other), []);
    });

    it("gives calls after tools the same text and reports one turn", async () => {
      const user_id = newUser();
      await client.remember({ user_id, content: "Lives in Lisbon." });
      const model = modelOf("", "Take a coat.");
      const tools = withTool(async () => {
        await client.remember({ user_id, content: "Lost the coat in Lisbon." });
        return "rain";
      });
      const question = "Do I need a coat where I live?";
      assert.equal(await ask(model, options(user_id), question, { stream, ...tools }), "Take a coat.");
      assert.match(systemOf(model, 0)[0] ?? "", /Lisbon/);
      assert.deepEqual(promptOf(model, 1).slice(0, 2), promptOf(model, 0));
      assert.deepEqual(
        (await messagesOf(user_id)).map((m) => m.split(":")[0]),
        ["user", "assistant", "tool", "assistant"],
      );
      assert.equal((await messagesOf(user_id)).at(-1), "assistant: Take a coat.");
    });

    it("lets an answer that is generated again take the place of the one before", async () => {
      const user_id = newUser();
      for (const text of ["Nice!", "Lovely!", "Lovely!", "Nice!", "Great!"]) {
        for (const more of [{}, { conversation_id: user_id }, { conversation_id: `${user_id}-2`, message_id: "m1" }]) {
          await ask(modelOf(text), options(user_id, more), "I live in Lisbon.", { stream });
        }
        const turns = await turnsOf(user_id);
        assert.equal(turns.length, 3);
        for (const turn of turns) {
          assert.deepEqual(await messagesOfTurn(turn.id), ["user: I live in Lisbon.", `assistant: ${text}`]);
        }
      }
    });

    it("lets an edited message with the same id take the place of the one before", async () => {
      const user_id = newUser();
      const edited = options(user_id, { conversation_id: user_id, message_id: "m2" });
      const before = [
        { role: "user" as const, content: "Hi." },
        { role: "assistant" as const, content: "Hello." },
      ];
      await ask(modelOf("Hello."), options(user_id, { conversation_id: user_id, message_id: "m1" }), "Hi.", { stream });
      for (const city of ["Lisbon", "Porto", "Braga", "Lisbon"]) {
        await ask(modelOf("Nice!"), edited, [...before, { role: "user", content: `I live in ${city}.` }], { stream });
      }
      const turns = await turnsOf(user_id);
      assert.equal(turns.length, 2);
      const messages = await Promise.all(turns.map((turn) => messagesOfTurn(turn.id)));
      assert.deepEqual(messages.toSorted(), [
        ["user: Hi.", "assistant: Hello."],
        ["user: I live in Lisbon.", "assistant: Nice!"],
      ]);
      await until(async () => (await turnsOf(user_id)).every((turn) => turn.status === "processed"));
      const memories = await all(client.memories({ user_id, status: ["active"] }));
      assert.ok(memories.some((m) => m.content.includes("Lisbon")));
      assert.deepEqual(
        memories.filter((m) => /Porto|Braga/.test(m.content)),
        [],
      );
    });

    it("tells onError that another turn has the id of the message", async () => {
      const user_id = newUser();
      const messages = [{ role: "user" as const, content: "I live in Porto.", id: "m1" }];
      await client.addTurn({ user_id, conversation_id: user_id, messages });
      const errors: unknown[] = [];
      const more = { conversation_id: user_id, message_id: "m1", onError: (error: unknown) => void errors.push(error) };
      await ask(modelOf("Nice!"), options(user_id, more), "I live in Lisbon.", { stream });
      assert.deepEqual(
        errors.map((error) => (error as { kind?: string }).kind),
        ["conflict"],
      );
      assert.deepEqual(await messagesOf(user_id), ["user: I live in Porto."]);
    });

    it("reports the latest turn of a longer prompt alone", async () => {
      const user_id = newUser();
      const messages = [
        { role: "user" as const, content: "Hi." },
        { role: "assistant" as const, content: "Hello." },
        { role: "user" as const, content: "I live in Lisbon." },
        { role: "user" as const, content: [{ type: "text" as const, text: "With Pixel." }] },
      ];
      await ask(modelOf("Nice!"), options(user_id), messages, { stream });
      assert.deepEqual(await messagesOf(user_id), ["user: I live in Lisbon.", "user: With Pixel.", "assistant: Nice!"]);
    });

    it("leaves out what the prompt states already", async () => {
      const user_id = newUser();
      const messages = [{ role: "user" as const, content: "The weather in Braga was lovely on Sunday." }];
      await client.addTurn({ user_id, messages, wait: true });
      const question = { role: "user" as const, content: "How was the weather in Braga?" };
      const [alone, after] = [modelOf("Lovely."), modelOf("Lovely.")];
      await ask(alone, options(user_id, { remember: false }), [question], { stream });
      assert.match(systemOf(alone)[0] ?? "", /lovely on Sunday/);
      await ask(
        after,
        options(user_id, { remember: false }),
        [...messages, { role: "assistant", content: "Good." }, question],
        { stream },
      );
      assert.deepEqual(systemOf(after), []);
    });

    it("takes part in long chats with long results of tools", async () => {
      const user_id = newUser();
      await client.remember({ user_id, content: "Lives in Lisbon." });
      const messages = Array.from({ length: 120 }, (_, i) => ({
        role: i % 2 === 0 ? ("user" as const) : ("assistant" as const),
        content: `${i} ${"长话 ".repeat(6000)}`,
      }));
      const model = modelOf("", "Take a coat.");
      const tools = withTool(async () => "rain ".repeat(1_000_000));
      const question = { role: "user" as const, content: "Do I need a coat where I live?" };
      await ask(model, options(user_id), [...messages, question], { stream, ...tools });
      assert.match(systemOf(model)[0] ?? "", /Lisbon/);
      assert.equal((await messagesOf(user_id)).length, 4);
    });

    it("reports no turn of a call that fails or is aborted", async () => {
      const user_id = newUser();
      const fail = async () => {
        throw new Error("no credit");
      };
      const failing = new MockLanguageModelV4({ doGenerate: fail, doStream: fail });
      await assert.rejects(ask(failing, options(user_id), "I live in Lisbon.", { stream }));
      const controller = new AbortController();
      const hanging = new MockLanguageModelV4({
        doGenerate: async () => {
          controller.abort();
          controller.signal.throwIfAborted();
          return answer("");
        },
        doStream: async () => ({
          stream: new ReadableStream<Part>({
            pull(stream) {
              stream.enqueue({ type: "text-start", id: "1" });
              controller.abort();
              stream.error(controller.signal.reason);
            },
          }),
        }),
      });
      const abortSignal = controller.signal;
      await assert.rejects(ask(hanging, options(user_id), "I live in Porto.", { stream, abortSignal }));
      assert.deepEqual(await turnsOf(user_id), []);
    });

    it("answers without memory while the server fails", async () => {
      const errors: string[] = [];
      const onError: MemoryOptions["onError"] = (error, during) => {
        errors.push(`${during}: ${(error as { kind?: string }).kind}`);
        throw new Error("a failing callback");
      };
      for (const fetch of [
        async () => new Response("", { status: 503 }),
        async () => Promise.reject(new TypeError("fetch failed")),
        (_: string, init: RequestInit) =>
          new Promise<Response>((_, reject) => init.signal?.addEventListener("abort", () => reject(new Error("cut")))),
      ]) {
        const broken = new Hippocampus({ url: "http://127.0.0.1", key: "", fetch, retries: 0 });
        const failing: Partial<MemoryOptions> = { client: broken, onError, contextTimeout: 20, turnTimeout: 20 };
        const model = modelOf("", "Nice!");
        const tools = withTool(async () => "rain");
        assert.equal(await ask(model, options("ada", failing), "I live in Lisbon.", { stream, ...tools }), "Nice!");
        assert.deepEqual(systemOf(model), []);
      }
      const late = "turn: undefined"; // the reason of the signal, a TimeoutError
      assert.deepEqual(errors, [
        ...["context: unavailable", "turn: unavailable"],
        ...["context: unreachable", "turn: unreachable"],
        ...["context: timeout", late],
      ]);
    });

    it("reports no turn if remember is false, and leaves the report to waitUntil", async () => {
      const user_id = newUser();
      await ask(modelOf("Nice!"), options(user_id, { remember: false }), "I live in Lisbon.", { stream });
      assert.deepEqual(await turnsOf(user_id), []);
      const reports: Promise<void>[] = [];
      const waitUntil = (report: Promise<void>) => void reports.push(report);
      await ask(modelOf("Nice!"), options(user_id, { waitUntil }), "I live in Lisbon.", { stream });
      assert.equal(reports.length, 1);
      await reports[0];
      assert.equal((await turnsOf(user_id)).length, 1);
    });
  });
}
