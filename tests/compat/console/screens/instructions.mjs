import assert from "node:assert/strict";
import { request } from "../api.mjs";

const user = "instructions-ada";
const changed = "instructions-bob"; // whose instruction act changes

export async function prepare() {
  for (const user_id of [user, changed])
    for (const content of ["Answer briefly.\nAnswer in English.", "Answer warmly.\nAnswer in English."]) {
      await request("POST", "/v1/instructions", { scope: "user", user_id, name: "tone", content, note: "a trial" });
    }
}

export const address = () => `#/instructions?scope=user&whom=${user}&name=tone`;

export async function show(page) {
  await page.getByRole("row", { name: /^tone 2 2/ }).waitFor();
  await page.locator("pre", { hasText: "-Answer briefly." }).filter({ hasText: "+Answer warmly." }).waitFor();
  await page.getByRole("row", { name: /2 Answer warmly\..*a trial/ }).waitFor();
}

export async function act(page) {
  await page.goto(`${page.url().split("#")[0]}#/instructions?scope=user&whom=${changed}&name=tone`);
  const active = async () => (await request("GET", `/v1/instructions?scope=user&user_id=${changed}`)).instructions[0].active;
  const confirm = (name) => page.getByRole("dialog").getByRole("button", { name, exact: true }).click();

  await page.getByRole("button", { name: "Activate Version 1" }).click();
  await page.getByRole("dialog").getByText(/version 1 of tone from now on/).waitFor();
  await confirm("Activate");
  await page.getByText("Version 1 of tone is active.").waitFor();
  assert.equal(await active(), 1);

  await page.getByRole("button", { name: "Roll back" }).click();
  await confirm("Roll back");
  await page.getByText("Version 2 of tone is active.").waitFor();
  assert.equal(await active(), 2);

  await page.getByRole("button", { name: "Publish a version" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Text for the model").fill("Answer formally.");
  await form.getByRole("button", { name: "Publish a version" }).click();
  await page.getByText("Version 3 of tone is published.").waitFor();
  await page.getByRole("row", { name: /^tone 3 3/ }).waitFor();

  await page.getByRole("button", { name: "Retire" }).click();
  await confirm("Retire");
  const toast = page.getByText("tone is retired.").locator("..");
  await page.getByRole("row", { name: /^tone retired/ }).waitFor();
  await toast.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("row", { name: /^tone 3 3/ }).waitFor();
}
