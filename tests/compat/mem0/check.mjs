// Calls every method of mem0's JavaScript client and compares the results with those of /v1.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";

// The packages are those of the first node_modules on PATH.
const packages = process.env.PATH.split(":").find((folder) => folder.endsWith("/node_modules/.bin"));
const { MemoryClient } = createRequire(packages + "/../../")("mem0ai");

const url = process.env.COMPAT_URL;
const host = url + "/mem0";
const userId = "js/ada";
const filters = { user_id: userId };
const open = (apiKey) => new MemoryClient({ apiKey, host });

/** Returns the answer of the server's own API. */
async function v1(method, path, body) {
  const answer = await fetch(url + path, {
    method,
    body: body && JSON.stringify(body),
    headers: { Authorization: "Bearer " + process.env.COMPAT_KEY, "Content-Type": "application/json" },
  });
  assert.ok(answer.ok, `${method} ${path}: ${answer.status}`);
  return answer.json();
}

/** Compares a memory in the client's form with that of /v1. */
function same(shown, memory) {
  assert.equal(shown.id, memory.id);
  assert.equal(shown.memory, memory.content);
  assert.equal(shown.userId, memory.user_id);
  assert.equal(shown.agentId, memory.agent_id ?? null);
  assert.equal(shown.runId, memory.conversation_id ?? null);
  assert.deepEqual(shown.metadata, memory.metadata ?? null);
  assert.deepEqual(shown.categories, memory.tags);
  assert.equal(new Date(shown.createdAt).getTime(), new Date(memory.created_at).getTime());
}

// Methods that are called below, and those that are not offered, by what their refusals name.
const offered = `add search getAll get update delete deleteAll history users deleteUser deleteUsers batchUpdate batchDelete
  feedback ping`.split(/\s+/);
const notOffered = {
  "GET /v1/export": {
    createMemoryExport: { schema: {}, filters }, getMemoryExport: { filters },
  },
  "GET /v1/facts": {
    getProfile: { entityId: userId }, generateProfile: { entityId: userId }, getProfileSettings: undefined,
    updateProfileSettings: { enabled: true }, sampleProfiles: { limit: 1 }, getProfileJob: "job",
  },
  "POST /v1/webhooks": {
    getWebhooks: undefined, createWebhook: { name: "hook", url: "https://a.example", eventTypes: ["memory_add"] },
    updateWebhook: { webhookId: 1, name: "hook" }, deleteWebhook: { webhookId: 1 },
  },
  "hippocampus key create": { getProject: {}, updateProject: { customInstructions: "x" } },
};

/** Fails for a method of the client that is not called in this file, and calls the methods that are not offered. */
async function complete(client) {
  const has = Object.getOwnPropertyNames(MemoryClient.prototype).filter((name) => !/^(_|constructor$)/.test(name));
  const named = Object.values(notOffered).flatMap((methods) => Object.keys(methods));
  assert.deepEqual(has.sort(), [...offered, ...named].sort());
  for (const [route, methods] of Object.entries(notOffered)) {
    for (const [name, argument] of Object.entries(methods)) {
      await assert.rejects(client[name](argument), (error) => {
        assert.ok(error.message.includes("not offered here") && error.message.includes(route), `${name}: ${error.message}`);
        return true;
      });
    }
  }
}

const client = open(process.env.COMPAT_KEY);
await client.ping();
await complete(client);

async function add() {
  const added = await client.add(
    [
      { role: "user", content: "Likes green tea." },
      { role: "assistant", content: "Lives in Lisbon." },
    ],
    { userId, agentId: "tutor", runId: "chat-1", metadata: { my_key: 1, Other: "x" }, infer: false },
  );
  assert.equal(added.status, "SUCCEEDED");
  return added.results.map((result) => result.id);
}

const [tea, home] = await add();
for (const id of [tea, home]) same(await client.get(id), await v1("GET", "/v1/memories/" + id));

const pending = await client.add([{ role: "user", content: "I work as a nurse." }], { userId: "js-gate" });
assert.equal(pending.status, "PENDING");
let event;
do {
  await sleep(50);
  event = await v1("GET", `/mem0/v1/event/${pending.eventId}/`);
} while (["PENDING", "RUNNING"].includes(event.status));
assert.equal(event.status, "SUCCEEDED");
const gated = await client.getAll({ filters: { user_id: "js-gate" } });
assert.ok(gated.results.some((memory) => memory.id === event.results[0].id));

const query = "Where does she live?";
const found = (await client.search(query, { filters, topK: 5, threshold: 0.2 })).results;
const recalled = (await v1("POST", "/v1/recall", { user_id: userId, query, limit: 5, min_confidence: 0.2 })).memories;
assert.equal(found[0].id, home);
assert.deepEqual(found.map((memory) => memory.id), recalled.map((memory) => memory.id));
found.forEach((memory, i) => {
  same(memory, recalled[i]);
  assert.ok(Math.abs(memory.score - recalled[i].confidence) < 0.01);
});

const listed = await client.getAll({ filters, page: 1, pageSize: 1 });
const memories = (await v1("GET", "/v1/memories?user_id=js%2Fada")).memories;
assert.equal(listed.count, 2);
assert.ok(listed.next);
same(listed.results[0], memories[0]);
const chosen = await client.getAll({ filters: { AND: [filters, { metadata: { my_key: 1 } }, { memory_ids: [tea] }] } });
assert.deepEqual(chosen.results.map((memory) => memory.id), [tea]);
for (const [condition, count] of [
  [{ OR: [{ memory_ids: [tea] }, { keywords: { icontains: "LISBON" } }] }, 2],
  [{ OR: [{ agent_id: "nobody" }, { run_id: "chat-1" }] }, 2],
  [{ NOT: { keywords: { icontains: "lisbon" } } }, 1],
  [{ NOT: [{ memory_ids: [tea] }, { memory_ids: [home] }] }, 0],
  [{ created_at: { gte: "2020-01-01", lt: "2021-01-01T00:00:00Z" } }, 0],
  [{ created_at: { gte: "2020-01-01" } }, 2],
  [{ categories: { in: ["work"] } }, 0],
]) {
  const found = await client.getAll({ filters: { AND: [filters, condition] } });
  assert.equal(found.count, count, JSON.stringify(condition));
}
await assert.rejects(client.getAll({ filters: { ...filters, expiration_date: "2030-01-01" } }), /expiration_date/);
const part = (await client.search(query, { filters, fields: ["memory", "created_at"] })).results[0];
assert.deepEqual(Object.keys(part).sort(), ["createdAt", "id", "memory"]);
await assert.rejects(client.search(query, { filters, latestOnly: false }), /latest_only/);

await client.update(tea, { text: "Likes coffee.", metadata: { n: 2 } });
assert.equal((await v1("GET", "/v1/memories/" + tea)).content, "Likes coffee.");
const history = await client.history(tea);
assert.deepEqual(history.map((event) => [event.event, event.oldMemory, event.newMemory]), [
  ["ADD", null, "Likes green tea."],
  ["UPDATE", "Likes green tea.", "Likes coffee."],
]);
await client.batchUpdate([{ memoryId: tea, text: "Likes black tea." }]);
assert.equal((await v1("GET", "/v1/memories/" + tea)).content, "Likes black tea.");
await client.feedback({ memoryId: tea, feedback: "NEGATIVE", feedbackReason: "wrong" });
assert.equal((await v1("GET", "/v1/memories/" + tea)).metadata.feedback_reason, "wrong");

await client.delete(tea);
assert.equal((await v1("GET", "/v1/memories/" + tea)).status, "forgotten");
await assert.rejects(client.get(tea), /there is no memory/);
await client.batchDelete([home]);
assert.equal((await client.getAll({ filters })).count, 0);
await add();
await client.deleteAll({ userId });
assert.deepEqual((await v1("GET", "/v1/memories?user_id=js%2Fada")).memories, []);

const [kept] = await add();
await assert.rejects(open(process.env.COMPAT_OTHER_KEY).get(kept), /there is no memory/);
await assert.rejects(open(process.env.COMPAT_READ_KEY).add("x", { userId }), /role write/);

const admin = open(process.env.COMPAT_ADMIN_KEY);
const users = (await admin.users()).results.map((user) => [user.name, user.totalMemories]);
const counted = (await v1("GET", "/v1/users")).users.map((user) => [user.user_id, user.memories]);
assert.deepEqual(users, counted);
await admin.deleteUsers({ userId });
assert.ok(!(await v1("GET", "/v1/users")).users.some((user) => user.user_id === userId));
await add();
await admin.deleteUser({ entity_id: userId }); // the deprecated form
assert.ok(!(await v1("GET", "/v1/users")).users.some((user) => user.user_id === userId));
