import assert from "node:assert/strict";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { type CallOptions, Hippocampus, HippocampusError } from "hippocampus-memory";
import { all, testdata } from "./server.js";

interface Answer {
  status?: number;
  retry_after?: string;
  kind?: string;
  errors?: { path: string; message: string }[];
  html?: boolean;
  cut?: boolean;
  stall?: boolean;
  trickle?: boolean;
  stream?: string;
}

interface Row {
  name: string;
  request: string;
  answers: Answer[];
  attempts: number;
  waits: number[];
  result: "ok" | { kind: string; status?: number; retry_after?: number; errors?: unknown[] };
  same_id?: boolean;
}

const { rows } = testdata<{ rows: Row[] }>("faults.json");

const id = "0198c0de-0000-7000-8000-000000000001";
const messages = [{ role: "user" as const, content: "I live in Lisbon." }];

/** The calls of the table; each returns a field that its answer has. */
const requests: Record<string, (client: Hippocampus, options?: CallOptions) => Promise<unknown>> = {
  events: async (c, o) => {
    for await (const event of c.events({}, o)) return event; // leaving the loop ends the stream
    return undefined;
  },
  export: async (c, o) => (await all(c.export({}, o))).length,
  recall: async (c, o) => (await c.recall({ user_id: "ada", query: "Where?" }, o)).took_ms,
  turn: async (c, o) => (await c.addTurn({ user_id: "ada", messages }, o)).id,
  get: async (c, o) => (await c.memory(id, {}, o)).id,
  remember: async (c, o) => (await c.remember({ user_id: "ada", content: "Lives in Lisbon." }, o)).id,
  "remember with dedup": async (c, o) =>
    (await c.remember({ user_id: "ada", content: "Lives in Lisbon.", dedup: true }, o)).id,
  "remember many": async (c, o) => c.rememberMany([{ user_id: "ada", content: "Lives in Lisbon." }], o),
  withdraw: async (c, o) => (await c.withdrawTurn(id, o)).id,
  "set user": async (c, o) => c.setUser("ada", { time_zone: "Asia/Shanghai" }, o),
  update: async (c, o) => (await c.update(id, { importance: 1 }, o)).id,
  reflect: async (c, o) => (await c.reflect({ user_id: "ada" }, o)).skipped,
};

function play(answer: Answer, url: string, response: ServerResponse): void {
  const { status = 200, retry_after, kind, errors, html, stream } = answer;
  if (answer.stall) return;
  if (stream !== undefined) {
    const media = url.startsWith("/v1/events") ? "text/event-stream" : "application/x-ndjson";
    response.writeHead(status, { "Content-Type": media, "Transfer-Encoding": "chunked" });
    response.flushHeaders();
    if (answer.cut) response.write(stream, () => response.socket?.destroy());
    else response.end(stream);
    return;
  }
  if (answer.trickle) {
    response.writeHead(200, { "Content-Type": "application/json" });
    const timer = setInterval(() => response.write(" "), 100);
    response.on("close", () => clearInterval(timer));
    return;
  }
  if (answer.cut) {
    response.socket?.destroy();
    return;
  }
  if (status === 301) response.setHeader("Location", "/elsewhere");
  if (retry_after) response.setHeader("Retry-After", retry_after);
  if (html) {
    response.writeHead(status, { "Content-Type": "text/html" }).end("<h1>A gateway</h1>");
  } else if (status < 300) {
    response.writeHead(status, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ id, took_ms: 1, skipped: "not due" }));
  } else {
    response.writeHead(status, { "Content-Type": "application/problem+json" });
    response.end(JSON.stringify({ type: `urn:hippocampus:problem:${kind}`, title: "A problem", status, errors }));
  }
}

/** Starts a server that gives the answers in order, the last one repeatedly. */
async function start(answers: Answer[]) {
  const bodies: string[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    bodies.push(body);
    play(answers[Math.min(bodies.length, answers.length) - 1] ?? {}, request.url ?? "", response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const waits: number[] = [];
  const attempts: string[] = [];
  const late = answers.map((a) => a.stall || a.trickle);
  const client = new Hippocampus({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: "hp_1",
    // An answer may take a while on a busy machine.
    timeout: late.every(Boolean) ? 500 : late.some(Boolean) ? 3_000 : 30_000,
    fetch: (url, init) => {
      attempts.push(url);
      return fetch(url, init);
    },
    sleep: async (milliseconds) => void waits.push(milliseconds / 1000),
  });
  const stop = () => {
    server.closeAllConnections();
    server.close();
  };
  return { client, attempts, bodies, waits, stop };
}

describe("the table of faults", { concurrency: 4 }, () => {
  assert.ok(rows.length > 20);
  for (const row of rows) {
    it(row.name, async () => {
      const { client, attempts, bodies, waits, stop } = await start(row.answers);
      const request = requests[row.request];
      assert.ok(request, `no request ${row.request}`);
      const outcome = await request(client).catch((error: unknown) => error);
      stop();

      assert.equal(attempts.length, row.attempts);
      assert.equal(waits.length, row.waits.length);
      row.waits.forEach((least, i) => {
        const wait = waits[i] ?? 0;
        assert.ok(wait >= least && wait <= least * 1.25, `waits ${wait} s, not ${least} s`);
      });
      if (row.result === "ok") {
        assert.ok(outcome && !(outcome instanceof Error), String(outcome));
      } else {
        assert.ok(outcome instanceof HippocampusError, String(outcome));
        assert.equal(outcome.kind, row.result.kind);
        assert.equal(outcome.status, row.result.status);
        // A date is not compared, but for the wait.
        if (!row.answers.some((a) => a.retry_after?.includes(":")))
          assert.equal(outcome.retryAfter, row.result.retry_after);
        assert.deepEqual(outcome.errors, row.result.errors ?? []);
      }
      if (row.same_id) {
        const ids = bodies.map((body) => (JSON.parse(body) as { id: string }).id);
        assert.match(ids[0] ?? "", /^[0-9a-f-]{36}$/);
        assert.deepEqual(new Set(ids).size, 1);
      }
    });
  }
});

describe("a call", { concurrency: true }, () => {
  it("ends with the reason of its signal while it waits for an answer", async () => {
    const { client, bodies, stop } = await start([{ stall: true }]);
    const controller = new AbortController();
    const call = requests.recall?.(client, { signal: controller.signal });
    controller.abort(new Error("the user left"));
    await assert.rejects(call as Promise<unknown>, /the user left/);
    assert.ok(bodies.length <= 1);
    stop();
  });

  it("ends with the reason of its signal while it waits for a repetition", async () => {
    const fetch = async () => new Response("", { status: 503, headers: { "Retry-After": "60" } });
    const client = new Hippocampus({ url: "http://127.0.0.1", key: "", fetch });
    const signal = AbortSignal.timeout(50);
    await assert.rejects(requests.recall?.(client, { signal }) as Promise<unknown>, { name: "TimeoutError" });
  });

  it("has retries and a timeout of its own", async () => {
    const { client, bodies, stop } = await start([{ status: 503, kind: "unavailable" }]);
    await assert.rejects(requests.recall?.(client, { retries: 0 }) as Promise<unknown>, { kind: "unavailable" });
    assert.equal(bodies.length, 1);
    stop();
    const stalled = await start([{ stall: true }]);
    await assert.rejects(requests.reflect?.(stalled.client, { timeout: 20 }) as Promise<unknown>, { kind: "timeout" });
    stalled.stop();
  });

  it("by a generated route has the same retries and errors", async () => {
    const { client, bodies, stop } = await start([
      { status: 503, kind: "unavailable" },
      { status: 404, kind: "not_found" },
    ]);
    await assert.rejects(client.api.GET("/v1/jobs/{id}", { params: { path: { id: "42" } } }), { kind: "not_found" });
    assert.equal(bodies.length, 2);
    stop();
  });
});
