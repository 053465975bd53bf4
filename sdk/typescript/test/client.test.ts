import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { Hippocampus, type MemoryRequest, type RecallRequest, type TurnRequest } from "hippocampus-memory";
import { all, newUser, type Server, startServer, testdata } from "./server.js";

let server: Server;
let client: Hippocampus;
before(async () => {
  server = await startServer();
  client = new Hippocampus(server);
});

/** Writes memories and returns their user. */
async function userWith(...memories: Omit<MemoryRequest, "user_id">[]): Promise<string> {
  const user_id = newUser();
  for (const memory of memories) await client.remember({ user_id, ...memory });
  return user_id;
}

describe("the client", { concurrency: true }, () => {
  it("replays the conversation of all clients", async () => {
    const script = testdata<{
      turns: Omit<TurnRequest, "user_id">[];
      memories: { type: string; content: string; status: string }[];
      queries: (Omit<RecallRequest, "user_id"> & { first: string })[];
    }>("conversation.json");
    const user_id = newUser();
    for (const turn of script.turns) {
      const { status } = await client.addTurn({ ...turn, user_id, wait: true });
      assert.equal(status, "processed");
    }
    const found = await all(client.memories({ user_id, status: ["active", "superseded"] }));
    const kept = found
      .filter((m) => m.type !== "message")
      .map(({ type, content, status }) => ({ type, content, status }));
    const inOrder = (list: { content: string }[]) => list.toSorted((a, b) => (a.content < b.content ? -1 : 1));
    assert.deepEqual(inOrder(kept), inOrder(script.memories));
    for (const { first, ...query } of script.queries) {
      const { memories } = await client.recall({ ...query, user_id });
      assert.equal(memories[0]?.content, first, query.query);
    }
  });

  it("takes a memory through its life", async () => {
    const user_id = newUser();
    const { id, verdict } = await client.remember({ user_id, content: "Lives in Lisbon.", tags: ["home"] });
    assert.equal(verdict, "kept");
    assert.equal((await client.recall({ user_id, query: "Where does she live?" })).memories[0]?.id, id);
    assert.match((await client.context({ user_id, query: "Where does she live?" })).text, /Lives in Lisbon/);
    const before = (await client.memory(id)).updated_at;
    assert.equal((await client.update(id, { content: "Lives in Porto." })).content, "Lives in Porto.");
    assert.equal((await client.memory(id, { as_of: before })).content, "Lives in Lisbon.");
    assert.equal((await client.pin(id)).pinned, true);
    assert.equal((await client.unpin(id)).pinned, false);
    assert.equal((await client.forget(id)).status, "forgotten");
    assert.deepEqual(await all(client.memories({ user_id })), []);
    assert.equal((await client.restore(id)).status, "active");
    const kinds = (await client.history(id)).map((e) => e.kind);
    assert.deepEqual([kinds[0], kinds.at(-2), kinds.at(-1)], ["created", "forgotten", "restored"]);
    await assert.rejects(client.memory("0198c0de-0000-7000-8000-000000000001"), { kind: "not_found", status: 404 });
  });

  it("gives a turn an id also where there is no randomUUID, or the id is undefined", async () => {
    const described = Object.getOwnPropertyDescriptor(globalThis, "crypto");
    const getRandomValues = crypto.getRandomValues.bind(crypto);
    const sent: string[] = [];
    const fetch = async (_: string, init: RequestInit) => {
      sent.push((JSON.parse(String(init.body)) as { id: string }).id);
      return Response.json({});
    };
    const offline = new Hippocampus({ url: "http://127.0.0.1", key: "", fetch });
    const turn = { user_id: "ada", messages: [], id: undefined } as unknown as TurnRequest;
    await offline.addTurn(turn);
    Object.defineProperty(globalThis, "crypto", { value: { getRandomValues }, configurable: true });
    try {
      await offline.addTurn(turn);
    } finally {
      if (described) Object.defineProperty(globalThis, "crypto", described);
    }
    for (const id of sent) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(new Set(sent).size, 2);
  });

  it("answers a repeated turn with the first one", async () => {
    const user_id = newUser();
    const turn = { id: newUser(), user_id, messages: [{ role: "user" as const, content: "I live in Lisbon." }] };
    const first = await client.addTurn(turn);
    const second = await client.addTurn(turn);
    assert.deepEqual([first.id, first.repeated ?? false, second.repeated], [second.id, false, true]);
    const other = client.addTurn({ ...turn, messages: [{ role: "user", content: "I live in Porto." }] });
    await assert.rejects(other, { kind: "conflict", status: 409 });
  });

  it("names the fields that are not valid", async () => {
    const call = client.addTurn({ user_id: newUser(), messages: [{ role: "cat" as "user", content: "Meow." }] });
    await assert.rejects(
      call,
      (error: { kind: string; errors: { path: string }[]; message: string; requestId?: string }) => {
        assert.equal(error.kind, "invalid");
        assert.deepEqual(
          error.errors.map((e) => e.path),
          ["messages[0].role"],
        );
        assert.match(error.message, /messages\[0\]\.role/);
        assert.ok(error.requestId);
        return true;
      },
    );
  });

  it("iterates over pages", async () => {
    const user_id = await userWith(...Array.from({ length: 7 }, (_, i) => ({ content: `Has read book ${i}.` })));
    const found = await all(client.memories({ user_id, limit: 3 }));
    assert.deepEqual(
      found.map((m) => m.content).sort(),
      Array.from({ length: 7 }, (_, i) => `Has read book ${i}.`),
    );
    const signal = AbortSignal.abort(new Error("the user left"));
    await assert.rejects(all(client.memories({ user_id }, { signal })), /the user left/);
    const users = await all(client.users());
    assert.equal(users.find((u) => u.user_id === user_id)?.memories, 7);
  });

  it("lists what has no method of its own", async () => {
    const user_id = newUser();
    const { id } = await client.addTurn({
      user_id,
      conversation_id: "c/1 ?",
      messages: [{ role: "user", content: "Hi." }],
    });
    const turns = await all(client.turns({ user_id, limit: 1 }));
    assert.deepEqual(
      turns.map((turn) => turn.id),
      [id],
    );
    assert.equal((await client.turn(id)).messages?.[0]?.content, "Hi.");
    assert.equal((await client.consolidate("c/1 ?", { user_id, mode: "fast" })).conversation.id, "c/1 ?");
    const jobs = await all(client.list("/v1/jobs", { query: { limit: 1 } }));
    assert.ok(jobs.every((job) => job.kind));
    assert.equal((await client.ready()).status, "ready");
    const path = { id: "c/1 ?" };
    const said = await all(client.list("/v1/conversations/{id}", { path, query: { user_id } }));
    assert.equal(said[0]?.messages?.[0]?.content, "Hi.");
    const { data } = await client.api.GET("/v1/turns/{id}", { params: { path: { id } } });
    assert.equal(data?.user_id, user_id);
  });

  it("passes answers that are not JSON, or have no body, by a generated route", async () => {
    const user_id = await userWith({ content: "Lives in Lisbon." });
    const get = (header = {}) =>
      client.api.GET("/v1/files/memory.md", { params: { query: { user_id }, header }, parseAs: "text" });
    const { data, response } = await get();
    assert.match(data ?? "", /Lives in Lisbon\./);
    assert.equal((await get({ "If-None-Match": response.headers.get("ETag") })).response.status, 304);
    const body = [{ format: "hippocampus-export", version: 2 }, { end: { memories: 0 } }];
    const bodySerializer = (lines: object[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const headers = { "Content-Type": "application/x-ndjson" };
    const report = await client.api.POST("/v1/import", { body, headers, bodySerializer });
    assert.equal(report.data?.complete, true);
  });

  it("states and ends facts", async () => {
    const user_id = newUser();
    const fact = { user_id, type: "profile", key: "home city", value: "Lisbon", confidence: 0.9 };
    const outcome = await client.stateFact(fact);
    assert.equal(outcome.fact.value, "Lisbon");
    assert.deepEqual(
      (await all(client.facts({ user_id }))).map((f) => f.key),
      ["home_city"],
    );
    await client.endFact({ user_id, type: "profile", key: "home city" });
    assert.deepEqual(await all(client.facts({ user_id })), []);
  });

  it("ends conversations, promotes candidates, forgets and counts", async () => {
    const user_id = newUser();
    const messages = [{ role: "user" as const, content: "I am allergic to peanuts." }];
    await client.addTurn({ user_id, conversation_id: user_id, messages, wait: true });
    assert.equal((await client.endConversation(user_id, { user_id })).conversation.id, user_id);
    const conversations = await all(client.conversations({ user_id }));
    assert.deepEqual(
      conversations.map((c) => c.state),
      ["ended"],
    );
    const [candidate] = await all(client.candidates({ user_id }));
    assert.ok(candidate);
    assert.equal((await client.promote({ user_id, min_importance: 0 })).more, false);
    assert.equal((await client.forgetPreview({ user_id, at: "2199-01-01T00:00:00Z" })).dry_run, true);
    assert.equal((await client.forgetRun({ user_id })).dry_run, false);
    assert.ok((await client.stats({ user_id })).user);
    await assert.rejects(client.reflect({ user_id, force: true }), { kind: "conflict" });
    await assert.rejects(client.compress({ user_id }), { kind: "conflict" });
  });

  it("erases a user", async () => {
    const user_id = await userWith({ content: "Lives in Lisbon." });
    assert.equal((await client.eraseUser(user_id)).deleted.memories, 1);
    assert.deepEqual(await all(client.memories({ user_id })), []);
  });

  it("refuses a wrong key", async () => {
    const stranger = new Hippocampus({ ...server, key: "hp_0" });
    await assert.rejects(stranger.stats(), { kind: "unauthorized", status: 401 });
  });
});
