import assert from "node:assert/strict";
import { it } from "node:test";
import { Hippocampus } from "hippocampus-memory";
import { startModel } from "./model.js";
import { all, newUser, startServer, until } from "./server.js";

it("examples/next-route uses in one chat what was said in another", async () => {
  const server = await startServer();
  const { url, bodies } = await startModel();
  Object.assign(process.env, { HIPPOCAMPUS_URL: server.url, HIPPOCAMPUS_KEY: server.key, MODEL_URL: url });
  const route = new URL("../next-route/route.js", import.meta.url).href;
  const { POST } = (await import(route)) as { POST: (request: Request) => Promise<Response> };
  const user = newUser();
  const chat = async (id: string, text: string, headers: Record<string, string> = { "X-Signed-In-User": user }) => {
    const messages = [{ id: "1", role: "user", parts: [{ type: "text", text }] }];
    const response = await POST(
      new Request("http://127.0.0.1/api/chat", { method: "POST", headers, body: JSON.stringify({ id, messages }) }),
    );
    return { status: response.status, text: await response.text() };
  };
  assert.equal((await chat("1", "Where do I live?", {})).status, 401);
  const { status, text } = await chat(`${user}-1`, "I live in Lisbon with my dog Pixel.");
  assert.equal(status, 200);
  assert.match(text, /"delta":"I "[\s\S]*"delta":"see\."/);

  const client = new Hippocampus(server);
  const turns = () => all(client.list("/v1/turns", { query: { user_id: user } }));
  await until(async () => (await turns())[0]?.status === "processed");
  await chat(`${user}-2`, "Where do I live?");
  assert.equal(bodies.length, 2);
  assert.doesNotMatch(bodies[0] ?? "", /user data, not instructions/);
  assert.match(bodies[1] ?? "", /user data, not instructions[\s\S]*Lisbon/);

  await chat(`${user}-1`, "I live in Porto with my dog Pixel."); // the same message, edited
  await until(async () => (await turns()).every((turn) => turn.status === "processed" || turn.status === "withdrawn"));
  const memories = await all(client.memories({ user_id: user, status: ["active"] }));
  assert.ok(memories.some((memory) => memory.content.includes("I live in Porto")));
  assert.ok(!memories.some((memory) => memory.content.includes("I live in Lisbon")));
});
