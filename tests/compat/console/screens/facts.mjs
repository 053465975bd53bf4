import assert from "node:assert/strict";
import { request } from "../api.mjs";

const user = "facts-ada";
const changed = "facts-bob"; // whose facts act changes

const state = (type, key, value, valid_from, fields = {}) =>
  request("PUT", "/v1/facts", { user_id: user, type, key, value, valid_from, ...fields });

export async function prepare() {
  await state("profile", "home city", "Oslo", "2020-03-01T00:00:00Z", { user_id: changed, confidence: 0.7, source: "chat-1" });
  await state("profile", "home city", "Oslo", "2020-03-01T00:00:00Z", { confidence: 0.7, source: "chat-1" });
  await state("profile", "home city", "Lisbon", "2024-06-01T00:00:00Z", { confidence: 0.9, source: "chat-9" });
  await state("work", "employer", { name: "Acme", since: 2021 }, "2021-02-01T00:00:00Z", {
    valid_until: "2023-01-01T00:00:00Z",
  });
}

export const address = () => `#/facts?user=${user}`;

export async function show(page) {
  const home = page.getByRole("region", { name: "profile / home_city" });
  await home.locator("strong", { hasText: "Lisbon" }).waitFor();
  const bars = await home.getByRole("img").getAttribute("aria-label");
  assert.match(bars, /Oslo, Lisbon$/);
  assert.equal(await home.locator("svg rect").count(), 2);
  assert.equal(await home.getByRole("listitem").count(), 2);
  await page.getByRole("region", { name: "work / employer" }).locator("strong", { hasText: "Acme" }).waitFor();
}

export async function act(page) {
  await page.goto(`${page.url().split("#")[0]}#/facts?user=${changed}`);
  const home = page.getByRole("region", { name: "profile / home_city" });
  await home.locator("strong", { hasText: "Oslo" }).waitFor();
  await home.getByRole("button", { name: "History" }).click();
  await page.getByRole("dialog").getByRole("row", { name: /Oslo.*accepted.*70%.*chat-1/ }).waitFor();
  await page.keyboard.press("Escape");

  await page.getByRole("button", { name: "State a fact" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Type").fill("profile");
  await form.getByLabel("Key").fill("home city");
  await form.getByLabel("Value", { exact: true }).fill("Rome");
  await form.getByRole("button", { name: "State a fact" }).click();
  await page.getByText(/The fact is accepted/).waitFor();
  await home.locator("strong", { hasText: "Rome" }).waitFor();

  await home.getByRole("button", { name: "End" }).click();
  const asked = page.getByRole("dialog");
  await asked.getByText(/“Rome” is not valid for profile \/ home_city/).waitFor();
  await asked.getByRole("button", { name: "End", exact: true }).click();
  await page.getByText("profile / home_city has ended.").waitFor();
  await home.getByRole("button", { name: "End" }).waitFor({ state: "detached" });
  const { facts } = await request("GET", `/v1/facts?user_id=${changed}`);
  assert.deepEqual(facts, [], "the fact is still valid");
}
