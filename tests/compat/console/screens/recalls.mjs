// The log of recalls: what each returned, and the playground that explains it as of then.
import assert from "node:assert/strict";
import { erase, eventually, remember, request } from "../api.mjs";

const user = "recalls-ada";
const query = "Which instrument does Ada play?";

export async function prepare() {
  await erase(user);
  const cello = await remember(user, "Ada plays the cello in a quartet.", { importance: 0.8 });
  const piano = await remember(user, "Ada's instrument as a child was the piano.", { importance: 0.5 });
  const { memories } = await request("POST", "/v1/recall", { user_id: user, query, touch: false });
  await request("POST", "/v1/recall", { user_id: user, query: "hello", touch: false });
  const listed = `/v1/recalls?user_id=${user}`;
  const { recalls } = await eventually("the recalls are logged", async () => {
    const page = await request("GET", listed);
    return page.recalls.length === 2 && page;
  });
  await request("DELETE", `/v1/memories/${piano.id}`); // the entry names it nevertheless
  const later = await remember(user, "Ada plays the accordion since today.");
  return { entry: recalls.find((recall) => recall.query === query), cello, piano, later, memories };
}

export const address = () => `#/recalls?user=${user}`;

export async function show(page, { entry }) {
  const row = page.getByRole("row", { name: query });
  await row.waitFor();
  await page.getByRole("row", { name: "hello" }).getByRole("cell", { name: "0", exact: true }).waitFor();
  await row.getByRole("cell", { name: String(entry.memories.length), exact: true }).waitFor();
}

export async function act(page, { entry, cello, piano, later, memories }) {
  assert.deepEqual(entry.memories.map((m) => m.id), memories.map((m) => m.id));
  await page.getByRole("button", { name: query }).press("Enter");
  const dialog = page.getByRole("dialog", { name: query });
  await dialog.getByRole("link", { name: cello.content }).waitFor();
  const shown = await dialog.locator("[data-memory]").evaluateAll((items) =>
    items.map((item) => ({ id: item.dataset.memory, relevance: Number(item.querySelector("meter").value) })),
  );
  assert.deepEqual(shown.map((m) => m.id), entry.memories.map((m) => m.id));
  for (const [i, { relevance }] of shown.entries()) {
    assert.ok(Math.abs(relevance - entry.memories[i].relevance) < 1e-6, `the page shows the relevance ${relevance}`);
  }
  await dialog.locator(`[data-memory="${piano.id}"]`).getByText("forgotten").waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "hidden" });

  await page.getByRole("button", { name: "hello" }).click();
  await page.getByRole("dialog", { name: "hello" }).getByText("No memory was returned.").waitFor();
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: query }).click();
  await dialog.getByRole("link", { name: "recall it again as of then" }).click();
  await page.getByRole("heading", { name: "Recall playground" }).waitFor();
  const answer = page.locator("section.card").first();
  await answer.locator("ol > [data-memory]").first().getByRole("link", { name: cello.content }).waitFor();
  assert.equal(await page.getByLabel("As of").inputValue(), entry.at);
  // What was said after the recall is not in its explanation.
  assert.equal(await answer.locator(`[data-memory="${later.id}"]`).count(), 0, "a later memory explains an earlier recall");
}
