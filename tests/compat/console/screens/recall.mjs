// The recall playground: the parts of each score add up to it, and two settings stand side by side.
import assert from "node:assert/strict";
import { remember, request } from "../api.mjs";

const user = "recall-ada";
const query = "Where does Ada row at the weekend?";

export const pictures = ["", "-390"];

export async function prepare() {
  await remember(user, "Ada rows on the river every weekend.", { importance: 0.6 });
  await remember(user, "Ada's rowing club meets at the boathouse.", { importance: 0.9 });
  for (const content of ["Ada: I row at the weekend, and the river was high.", "Ben: Where do you row at the weekend? Far away?"]) {
    await remember(user, content, { importance: 0.5, conversation_id: "rowing" });
  }
  await remember(user, "Ada wants to row to the sea at a weekend in June.", { importance: 0.4 });
  for (let n = 1; n <= 9; n++) await remember(user, `Ada has read the book ${n} about rivers.`, { importance: 0.4 + n / 50 });
  return request("POST", "/v1/recall", { user_id: user, query, explain: true, touch: false });
}

export const address = () => `#/recall?user=${user}&q=${encodeURIComponent(query)}`;

/** scores returns the score of each shown memory and the sum of its shown parts. */
const scores = (side) =>
  side.locator("[data-memory]").evaluateAll((items) =>
    items.map((item) => {
      const parts = [...item.querySelectorAll("dd")].map((part) => Number(part.textContent));
      const sum = parts.reduce((a, b) => a + b, 0);
      return { score: Number(item.querySelector(".score").textContent), sum, parts: parts.length };
    }),
  );

export async function show(page, expected) {
  const answer = page.locator("section.card").first();
  await answer.locator("ol > [data-memory]").first().getByRole("link", { name: expected.memories[0].content }).waitFor();
  const leftOut = answer.locator("summary").first();
  await leftOut.click();
  const shown = await scores(answer);
  assert.equal(shown.length, expected.memories.length + expected.explanation.left_out.length);
  assert.ok(expected.explanation.left_out.length > 0);
  for (const [i, { score, sum, parts }] of shown.entries()) {
    const memory = [...expected.memories, ...expected.explanation.left_out.map((l) => l.memory)][i];
    assert.ok(Math.abs(score - memory.score) < 0.001, `the page shows the score ${score}, and the API ${memory.score}`);
    assert.ok(parts >= 2 || score === 0, `a score of ${score} has ${parts} parts`);
    assert.ok(Math.abs(sum - score) < 0.0005 * (parts + 1), `the parts add up to ${sum}, and the score is ${score}`);
  }
  const stages = expected.explanation.stages.filter(({ stage }) => stage !== "embed"); // it is cached by now
  assert.equal(await answer.locator("tbody tr").count(), stages.length);
  await leftOut.click();
  await page.evaluate(() => scrollTo(0, 0));
}

export async function act(page, expected) {
  await page.getByLabel("Compare two settings side by side").check();
  const other = page.getByRole("group", { name: "Settings B" });
  await other.getByLabel("Weight of relevance").fill("0");
  await other.getByLabel("Weight of freshness").fill("0");
  await other.getByLabel("Weight of importance").fill("1");
  await other.getByLabel("Mode").selectOption("additive");
  await page.getByRole("button", { name: "Recall", exact: true }).click();
  const place = expected.memories.findIndex((m) => m.content.includes("boathouse")) + 1;
  assert.ok(place > 1);
  const b = page.getByRole("region", { name: "Settings B" });
  await b.getByText("0 × relevance + 0 × freshness + 1 × importance").waitFor();
  const a = page.getByRole("region", { name: "Settings A" });
  await a.locator("ol > [data-memory]").first().getByRole("link", { name: expected.memories[0].content }).waitFor();
  await b.locator("ol > [data-memory]").first().getByRole("link", { name: "meets at the boathouse" }).waitFor();
  await b.locator("ol > [data-memory]").first().getByText(`place ${place} in the other answer`).waitFor();
  assert.equal((await scores(b))[0].score, 0.9, "importance alone does not decide the score of B");

  await other.getByLabel("Filter (JSON)").fill('{"importance":{"gte":2}'); // no JSON
  await page.getByRole("button", { name: "Recall", exact: true }).click();
  await page.getByRole("alert").waitFor();
}
