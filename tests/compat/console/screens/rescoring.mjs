// Turns are scored again: what would change, the run, and its undo.
import assert from "node:assert/strict";
import { erase, request } from "../api.mjs";

const user = "rescoring-ada";

export const pictures = [];

export async function prepare() {
  await erase(user);
  const { id } = await request("POST", "/v1/turns", {
    user_id: user, wait: true, messages: [{ role: "user", content: "I live in Lisbon. I am allergic to peanuts." }],
  });
  await request("POST", "/v1/turns/reprocess", { user_id: user, scorer: "nobody" });
  return { id };
}

export const address = () => `#/rescoring?user=${user}`;

export async function show(page) {
  const zh = (await page.locator("html").getAttribute("lang")) === "zh-CN";
  await page.getByRole("row", { name: `rescoring-ada ${zh ? "已完成" : "done"} 0` }).waitFor();
}

export async function act(page) {
  const memories = async () => (await request("GET", `/v1/memories?user_id=${user}&type=fact`)).memories;
  const before = await memories();
  await page.getByLabel("Scored by").fill("rules");
  await page.getByRole("button", { name: "Dry run" }).click();
  const turn = page.getByRole("list", { name: "What would change" }).getByRole("listitem");
  await turn.getByText("scored by rules").waitFor();
  await turn.getByText("stays").first().waitFor();

  await page.getByRole("button", { name: "Score again", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: `Score the turns of ${user} again?` });
  await dialog.getByText("can be undone for 30 days").waitFor();
  await dialog.getByRole("button", { name: "Score again" }).click();
  await page.getByText("The run has begun.").waitFor();
  const run = page.getByRole("row", { name: `${user} done 1 0 new, ${before.length} stay, 0 forgotten` });
  await run.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("dialog", { name: "Undo the run?" }).getByRole("button", { name: "Undo" }).click();
  await page.getByText("The run is being undone.").waitFor();
  await page.getByRole("row", { name: `${user} undone 1` }).waitFor();
  assert.deepEqual((await memories()).map((m) => m.id), before.map((m) => m.id));
}
