// The context playground: the prompt as the API gives it, and its budget by part.
import assert from "node:assert/strict";
import { eventually, remember, request } from "../api.mjs";

const user = "context-ada";
const query = "What should I cook for Ada?";

export async function prepare() {
  await remember(user, "Ada is allergic to peanuts.");
  await remember(user, "Ada loves mushroom risotto.");
  await request("POST", "/v1/instructions", { scope: "app", name: "tone", content: "Answer in one sentence." });
  const turn = await request("POST", "/v1/turns", {
    user_id: user,
    conversation_id: "context-dinner",
    wait: true,
    messages: [{ role: "user", content: "Ada comes to dinner on Friday." }],
  });
  await eventually("the turn is processed", async () => (await request("GET", `/v1/turns/${turn.id}`)).status === "processed");
}

const conversation = "context-dinner";
export const address = () => `#/context?user=${user}&q=${encodeURIComponent(query)}&conversation=${conversation}`;

export async function show(page) {
  const prompt = page.locator("section.card").first();
  await prompt.getByText("Answer in one sentence.").waitFor();
  const text = await prompt.locator("pre").innerText();
  const expected = await request("POST", "/v1/context", {
    user_id: user, query, conversation_id: conversation, max_tokens: 1000, condense: false, touch: false,
  });
  assert.equal(text.trim(), expected.text.trim(), "the prompt is not the one that the API gives");
  for (const part of ["peanuts", "Answer in one sentence", "dinner on Friday"]) assert.ok(text.includes(part), part);
  const rows = await page.locator("section.card").nth(1).locator("tbody tr").allInnerTexts();
  assert.equal(rows.length, 4);
  for (const [i, { items, used, budget }] of expected.parts.entries()) {
    assert.deepEqual(rows[i].split(/\s+/).filter((word) => /^\d+$/.test(word)).map(Number), [items, used, budget]);
  }
}

export async function act(page) {
  await page.getByLabel("Format").selectOption("messages");
  await page.getByLabel("At most").fill("60");
  await page.getByRole("button", { name: "Build the context" }).click();
  const prompt = page.getByRole("region", { name: "The prompt as it would be sent" });
  await prompt.getByText("system", { exact: true }).waitFor();
  const budget = page.getByRole("region", { name: "The budget by part" });
  await budget.getByText(/\d+ of 60 tokens/).waitFor();
  await budget.getByText("no room").first().waitFor();
}
