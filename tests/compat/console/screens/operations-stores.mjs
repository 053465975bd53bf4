// The sections that the operator of the server uses: verify, repair, rebuild, re-embedding, and the keys of every app.
import assert from "node:assert/strict";
import { eventually, remember, request } from "../api.mjs";

export const key = () => process.env.COMPAT_OPERATOR_KEY;

export async function prepare() {
  for (let i = 0; i < 5; i++) await remember("operations-bob", `Has seen the city number ${i}.`);
  await request("POST", "/v1/admin/verify", {}, key());
  await eventually("the stores are verified", async () => (await request("GET", "/v1/admin/state", undefined, key())).drift);
}

export const address = () => "#/operations/stores";

export async function show(page) {
  await page.getByRole("tab").nth(3).waitFor();
  await page.getByRole("button").filter({ hasText: /Verify|校验/ }).waitFor();
  await page.getByText(/The stores are equal|两个存储一致/).first().waitFor();
}

export async function act(page) {
  await page.getByRole("button", { name: "Verify" }).click();
  await page.getByRole("region", { name: "Result of verification" }).getByText("Compared").waitFor();
  for (const [name, help] of [
    ["Repair", /removes orphaned records/],
    ["Rebuild", /Writes and recalls go on/],
  ]) {
    await page.getByRole("button", { name }).click();
    const asked = page.getByRole("dialog", { name });
    await asked.getByText(help).waitFor();
    await asked.getByRole("button", { name }).click();
    await page.getByRole("region", { name: `Result of ${name.toLowerCase()}` }).getByText("Compared").waitFor();
  }
  await page.getByText("Copied", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "Jobs" }).click();
  await page.getByRole("row", { name: /^rebuild .* completed/ }).first().waitFor();
  await page.getByRole("tab", { name: "Keys" }).click();
  await page.getByRole("row", { name: / operator no app / }).first().waitFor();
  await showWork(page);
}

/** showWork shows work that a server of this size ends too soon to be seen: drift, its repair, a re-embedding. */
async function showWork(page) {
  const state = await request("GET", "/v1/admin/state", undefined, key());
  const { at } = state.drift;
  state.drift = { at, missing: 2, orphaned: 1, different: 0 };
  state.embedding = { serving: "old-model", target: "new-model", remaining: 80 };
  const job = { id: "900", kind: "repair", state: "available", attempt: 1, enqueued_at: at };
  const shown = { ...job };
  const verified = { ...job, id: "1", kind: "verification", state: "completed", ended_at: at, result: { checked: 12 } };
  await page.route("**/v1/admin/state", (route) => route.fulfill({ json: state }));
  await page.route("**/v1/admin/repair", (route) => route.fulfill({ status: 202, json: job }));
  await page.route("**/v1/jobs?*", (route) => route.fulfill({ json: { jobs: [verified] } }));
  await page.route("**/v1/jobs/900", (route) => route.fulfill({ json: shown }));
  const progress = (name) => page.getByRole("progressbar", { name }).getAttribute("value");

  await page.getByRole("tab", { name: "Stores" }).click();
  const drift = page.getByRole("region", { name: "Drift between the database and the vector store" });
  await drift.getByText("The stores differ in 3 memories.").waitFor();
  const embedding = page.getByRole("region", { name: "Embedding model" });
  await embedding.getByText("new-model").waitFor();
  assert.equal(await progress("80 memories of all apps remain to be embedded"), "0");
  state.embedding.remaining = 20;
  assert.equal(await progress("20 memories of all apps remain to be embedded"), "0.75");
  state.embedding = { serving: "new-model", target: "new-model", remaining: 0 };
  await embedding.getByText("nothing is being re-embedded").waitFor();

  await page.getByRole("button", { name: "Repair" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Repair" }).click();
  assert.equal(await progress("The job repair waits for a worker"), null);
  Object.assign(shown, { state: "running", started_at: at, result: { checked: 3 } });
  assert.equal(await progress("The job repair runs: 3 memories compared"), "0.25");
  await page.getByText("25%").waitFor();
  state.drift = { at, missing: 0, orphaned: 0, different: 0 };
  const found = { missing: { count: 2 }, orphaned: { count: 1 }, different: { count: 0 } };
  Object.assign(shown, { state: "completed", ended_at: at, result: { checked: 12, ...found, requeued: 2, deleted: 1 } });
  const repaired = page.getByRole("region", { name: "Result of repair" });
  await repaired.getByText("The stores differ in 3 memories.").waitFor();
  await repaired.getByText("Pushed again").waitFor();
  await drift.getByText("The stores are equal.").waitFor(); // it is read again after the job
}
