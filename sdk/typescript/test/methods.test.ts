import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { Hippocampus } from "hippocampus-memory";
import { all, newUser, startServer } from "./server.js";

let client: Hippocampus;
before(async () => {
  client = new Hippocampus(await startServer());
});

/** Returns what a user's active memories state, other than messages. */
async function stated(user_id: string): Promise<string[]> {
  const found = await all(client.memories({ user_id }));
  return found
    .filter((m) => m.type !== "message")
    .map((m) => m.content)
    .sort();
}

const said = (content: string) => [{ role: "user" as const, content }];

describe("the client", { concurrency: true }, () => {
  it("replaces and withdraws turns", async () => {
    const turn = { user_id: newUser(), conversation_id: "c", wait: true };
    const first = await client.addTurn({ ...turn, messages: said("I live in Lisbon.") });
    const edited = await client.addTurn({ ...turn, messages: said("I live in Porto."), replaces: first.id });
    assert.deepEqual(await stated(turn.user_id), ["I live in Porto."]);
    const withdrawn = await client.withdrawTurn(edited.id);
    assert.equal(withdrawn.status, "withdrawn");
    assert.ok(withdrawn.effects.length > 0);
    assert.deepEqual(await stated(turn.user_id), []);
    await assert.rejects(client.replayTurn(edited.id), { kind: "conflict" });
  });

  it("shows, renames and deletes a conversation", async () => {
    const user_id = newUser();
    const texts = ["I live in Lisbon.", "I prefer green tea.", "I work as a marine biologist."];
    const conversation_id = "c/1 é";
    for (const text of texts) await client.addTurn({ user_id, conversation_id, messages: said(text), wait: true });
    const turns = await all(client.conversationTurns(conversation_id, { user_id, limit: 2 }));
    assert.deepEqual(
      turns.map((turn) => turn.messages?.[0]?.content),
      texts,
    );
    assert.equal((await client.renameConversation(conversation_id, "Tea", { user_id })).title, "Tea");
    assert.equal((await client.setConversation(user_id, conversation_id, { memory: "read" })).memory, "read");
    assert.equal((await client.deleteConversation(conversation_id, { user_id, memories: "forget" })).turns, 3);
    assert.deepEqual(await stated(user_id), []);
  });

  it("writes, forgets and restores many memories", async () => {
    const user_id = newUser();
    const contents = ["Lives in Lisbon.", "", "Likes tea."];
    const [first, refused, last] = await client.rememberMany(contents.map((content) => ({ user_id, content })));
    assert.equal(refused?.error?.errors?.[0]?.path, "content");
    assert.ok(first?.id && last?.id);
    const ids = [first.id, last.id];
    assert.equal((await client.forgetMany({ ids, dry_run: true })).results.length, 2);
    assert.deepEqual(await stated(user_id), ["Likes tea.", "Lives in Lisbon."]);
    await client.forgetMany({ ids });
    assert.deepEqual(await stated(user_id), []);
    assert.equal((await client.restoreMany({ ids })).results.length, 2);
    assert.deepEqual(await stated(user_id), ["Likes tea.", "Lives in Lisbon."]);
    await assert.rejects(client.undo(first.id), { kind: "conflict" });
  });

  it("forgets and restores one memory without what states the same", async () => {
    const user_id = newUser();
    await client.addTurn({ user_id, messages: said("I live in Lisbon."), wait: true });
    const memories = await all(client.memories({ user_id }));
    const fact = memories.find((m) => m.type !== "message");
    assert.ok(fact && memories.length === 2);
    await client.forget(fact.id, { scope: "item" });
    assert.deepEqual(
      (await all(client.memories({ user_id }))).map((m) => m.type),
      ["message"],
    );
    assert.equal((await client.restore(fact.id, { scope: "item" })).status, "active");
  });

  it("shows a user and the profile", async () => {
    const user_id = newUser();
    await client.rememberMany(["Lives in Lisbon.", "Is allergic to peanuts."].map((content) => ({ user_id, content })));
    assert.equal((await client.setUser(user_id, { time_zone: "Asia/Shanghai" })).zone, "Asia/Shanghai");
    const kept = await client.user(user_id);
    assert.deepEqual([kept.memories.active, kept.time_zone], [2, "Asia/Shanghai"]);
    assert.equal((await client.profile(user_id, { limit: 1 })).memories.length, 1);
  });

  it("lists the evidence of a fact", async () => {
    const fact = { user_id: newUser(), type: "profile", key: "home_city" };
    for (const value of ["Lisbon", "Porto"]) await client.stateFact({ ...fact, value });
    const evidence = await all(client.factHistory({ ...fact, limit: 1 }));
    assert.deepEqual(
      evidence.map((f) => f.value),
      ["Lisbon", "Porto"],
    );
  });
});
