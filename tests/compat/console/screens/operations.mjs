// The sections that an administrator of an app uses.
import assert from "node:assert/strict";
import { inspect } from "../inspect.mjs";
import { remember, request } from "../api.mjs";

export async function prepare() {
  await request("POST", "/v1/admin/keys", { name: "a key for a laptop", role: "read", user_id: "operations-ada" });
}

export const address = () => "#/operations";

const tab = (page, index) => page.getByRole("tab").nth(index).click();

export async function show(page) {
  const sections = ["jobs", "webhooks", "keys", "events", "stores"];
  for (const [i, name] of [2, 3, 4, 5, 1].map((index, i) => [index, sections[i]])) {
    await tab(page, i);
    await page.waitForURL(new RegExp(`operations/${name}`));
    if (name === "keys") await page.getByRole("row", { name: /a key for a laptop .*operations-ada/ }).waitFor();
    await inspect(page);
  }
  await tab(page, 0);
  for (const part of ["database", "vector_store", "embedder", "scorer"]) {
    await page.getByRole("row", { name: new RegExp(`^${part} (ready|就绪)`) }).waitFor();
  }
  await page.getByRole("row", { name: /^forgetting / }).waitFor();
}

export async function act(page) {
  await tab(page, 4); // keys
  await page.getByRole("button", { name: "Create a key" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Name").fill("from the console");
  assert.deepEqual(await form.getByLabel("Role").locator("option").allInnerTexts(), ["read", "write", "admin"]);
  await form.getByRole("button", { name: "Create a key" }).click();
  const secret = await page.getByRole("dialog", { name: "The secret" }).getByRole("textbox").inputValue();
  assert.equal((await request("GET", "/v1/key", undefined, secret)).role, "write");
  await page.getByRole("dialog", { name: "The secret" }).getByRole("button", { name: "Close" }).last().click();
  assert.ok(!(await page.content()).includes(secret), "the secret is still shown");
  await page.getByRole("button", { name: "Revoke from the console" }).click();
  const asked = page.getByRole("dialog", { name: "Revoke" });
  assert.ok(await asked.getByRole("button", { name: "Revoke" }).isDisabled(), "nothing was typed");
  await asked.getByRole("textbox").fill("from the console");
  await asked.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("row", { name: /from the console.*revoked/ }).waitFor();

  await tab(page, 3); // webhooks
  await page.getByRole("button", { name: "Create a webhook" }).click();
  await page.getByLabel("URL (https)").fill("https://webhook.invalid/hook");
  await page.getByLabel("turn.failed").check();
  await page.getByRole("dialog").getByRole("button", { name: "Create a webhook" }).click();
  assert.match(await page.getByRole("dialog", { name: "The secret" }).getByRole("textbox").inputValue(), /^whsec_/);
  await page.keyboard.press("Escape");
  const row = page.getByRole("row", { name: /webhook\.invalid.*turn\.failed.*delivers/ });
  await row.getByRole("button", { name: "Test" }).click();
  await page.getByText(/webhook\.invalid\/hook did not take the test: /).waitFor();
  await row.getByRole("button", { name: "Switch off" }).click();
  await page.getByRole("row", { name: /webhook\.invalid.* off / }).waitFor();
  await page.getByRole("button", { name: "Delete https://webhook.invalid/hook" }).click();
  await page.getByRole("dialog", { name: "Delete" }).getByRole("button", { name: "Delete" }).click();
  await page.getByText("The app has no webhook.").waitFor();

  await tab(page, 5); // events
  await page.getByText("Connected").waitFor();
  await remember("operations-ada", "Rides a bicycle.");
  await page.getByRole("listitem").filter({ hasText: "memory.written" }).getByText("operations-ada").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await remember("operations-ada", "Rides a horse.");
  await page.getByRole("button", { name: "Follow" }).click(); // resumes after the last event
  await page.getByRole("listitem").filter({ hasText: "Rides a horse." }).waitFor();
  assert.equal(await page.getByRole("listitem").filter({ hasText: "Rides a bicycle." }).count(), 1);

  await tab(page, 1); // stores
  await page.getByText(/need a key of the role operator/).waitFor();
  assert.equal(await page.getByRole("button", { name: "Verify" }).count(), 0);
}
