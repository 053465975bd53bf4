import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { type ExportLine, Hippocampus, type ServerEvent } from "hippocampus-memory";
import { all, newUser, type Server, startRelay, startServer, until } from "./server.js";

let server: Server;
let client: Hippocampus;
before(async () => {
  server = await startServer();
  client = new Hippocampus(server);
});

const contents = ["Lives in Lisbon.", "养了一只猫，叫年糕。", "Plays the cello."];

async function userWithMemories(): Promise<string> {
  const user_id = newUser();
  for (const content of contents) await client.remember({ user_id, content });
  return user_id;
}

/** Returns a client whose requests are answered with the bodies in order, in pieces of 7 bytes, and then with 401. */
function clientOf(...bodies: string[]) {
  const requests: Headers[] = [];
  const encoder = new TextEncoder();
  const fetch = async (_: string, init: RequestInit) => {
    requests.push(new Headers(init.headers));
    const text = bodies[requests.length - 1];
    const media = requests[requests.length - 1]?.get("Accept") ?? "";
    if (text === undefined) return new Response("", { status: 401 });
    const bytes = encoder.encode(text);
    const body = new ReadableStream({
      start(controller) {
        for (let i = 0; i < bytes.length; i += 7) controller.enqueue(bytes.slice(i, i + 7));
        controller.close();
      },
    });
    return new Response(body, { headers: { "Content-Type": media } });
  };
  const fake = new Hippocampus({ url: "http://127.0.0.1", key: "hp_1", fetch, sleep: async () => undefined });
  return { fake, requests };
}

describe("export and import", { concurrency: true }, () => {
  it("keep what is kept of a user", async () => {
    const user_id = await userWithMemories();
    const lines = await all(client.export({ user_id }));
    assert.deepEqual(lines.flatMap((l) => l.memory?.content ?? []).sort(), [...contents].sort());
    assert.equal(lines.at(-1)?.end?.memories, 3);
    await client.eraseUser(user_id);
    const report = await client.import(lines);
    assert.deepEqual([report.imported, report.failed, report.complete], [3, 0, true]);
    assert.equal((await all(client.memories({ user_id }))).length, 3);
    assert.equal((await client.recall({ user_id, query: "Where does she live?" })).memories[0]?.content, contents[0]);
  });

  it("stream from one server into another", async () => {
    const user_id = await userWithMemories();
    assert.equal((await client.import(client.export({ user_id }))).skipped, 3);
    const text = (await all(client.export({ user_id }))).map((line) => `${JSON.stringify(line)}\n`).join("");
    for (const source of [text, new Blob([text]), new TextEncoder().encode(text), new Blob([text]).stream()]) {
      assert.equal((await client.import(source)).skipped, 3);
    }
  });

  it("fails with the error of the lines", async () => {
    async function* lines(): AsyncGenerator<ExportLine> {
      yield { format: "hippocampus-export", version: 2 };
      throw new Error("the disk failed");
    }
    await assert.rejects(client.import(lines()), /the disk failed/);
    const stream = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("a bad file")) });
    await assert.rejects(client.import(stream), /a bad file/);
  });

  it("fails if the export breaks off", async () => {
    const memory = '{"format":"hippocampus-export","version":2}\n';
    for (const rest of ["", '{"error":"A part of the server is unavailable."}\n', "{"]) {
      const { fake } = clientOf(memory + rest);
      const lines: ExportLine[] = [];
      const reading = (async () => {
        for await (const line of fake.export()) lines.push(line);
      })();
      await assert.rejects(reading, { kind: "bad_answer" });
      assert.equal(lines.length, 1);
    }
  });
});

describe("events", { concurrency: true }, () => {
  it("come once each across cut connections", async () => {
    const { client: relayed, cut } = await startRelay(server);
    const user_id = newUser();
    const controller = new AbortController();
    const heard: ServerEvent[] = [];
    const query = { user_id, kind: ["memory.written" as const] };
    const listening = (async () => {
      for await (const event of relayed.events(query, { signal: controller.signal, retries: 9 })) heard.push(event);
    })();
    const write = async (content: string) => {
      const before = heard.length;
      await client.remember({ user_id, content });
      await until(async () => heard.length > before);
    };
    // The first events come when the stream has begun.
    await until(async () => {
      await client.remember({ user_id, content: `Has written ${heard.length} ${Date.now()}.` });
      return heard.length > 0;
    });
    await write(contents[0] ?? "");
    cut();
    await client.remember({ user_id, content: contents[1] ?? "" });
    await write(contents[2] ?? "");
    cut();
    await until(async () => heard.some((e) => e.kind === "memory.written" && e.data.content === contents[2]));
    controller.abort(new Error("enough"));
    await assert.rejects(listening, /enough/);
    const told = heard.flatMap((e) => (e.kind === "memory.written" ? [e.data.content ?? ""] : []));
    assert.deepEqual(
      told.filter((content) => contents.includes(content)),
      contents,
    );
    assert.equal(new Set(told).size, told.length);
  });

  it("resume after the last id, which a block without data may state", async () => {
    const event = {
      id: "1.5",
      kind: "turn.failed",
      at: "2026-01-31T08:00:00Z",
      app_id: "a",
      user_id: "年糕",
      data: {},
    };
    const json = JSON.stringify(event);
    const { fake, requests } = clientOf(
      `retry: 2000\nid: 1.4\n\nid: 1.5\nevent: turn.failed\ndata: ${json}\n\n`,
      ": still here\r\nid: 1.6\r\n\r\n",
      'event: reset\ndata: {"after":"1.6"}\n\nid: 9.1\n\nid: 9.2\nda',
    );
    const heard: unknown[] = [];
    const listening = (async () => {
      for await (const one of fake.events({ after: "1.3" })) heard.push(one);
    })();
    await assert.rejects(listening, { kind: "unauthorized" });
    assert.deepEqual(heard, [event, { kind: "reset", after: "1.6" }]);
    assert.deepEqual(
      requests.map((r) => r.get("Last-Event-ID")),
      ["1.3", "1.5", "1.6", "9.1"],
    );
  });

  it("end after as many streams without anything as there are retries", async () => {
    const { fake, requests } = clientOf("", "", "", "");
    await assert.rejects(all(fake.events()), { kind: "unreachable" });
    assert.equal(requests.length, 3);
  });

  it("give back their connection when the loop is left", async () => {
    const { client: relayed, connections } = await startRelay(server);
    const user_id = newUser();
    const { id } = await client.remember({ user_id, content: "Lives in Lisbon." });
    for await (const event of relayed.events({ user_id, after: "0" })) {
      if (event.kind === "memory.written" && event.data.memory_id === id) break;
    }
    await until(async () => connections() === 0);
  });
});
