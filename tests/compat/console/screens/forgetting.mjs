import assert from "node:assert/strict";
import { importOld, remember, request } from "../api.mjs";

const user = "forgetting-ada";
const changed = "forgetting-bob"; // whose memories act forgets

async function fill(user) {
  const ids = [];
  for (const year of [2021, 2022]) {
    ids.push(await importOld(user, `Was in Rome in ${year}.`, `${year}-05-01T00:00:00Z`));
  }
  for (let i = 0; i < 6; i++) await remember(user, `Likes the tea number ${i}.`);
  await importOld(user, "Is allergic to peanuts.", "2020-01-01T00:00:00Z", { pinned: true });
  return ids;
}

export async function prepare() {
  await fill(user);
  return { ids: await fill(changed) };
}

export const address = () => `#/forgetting?user=${user}`;

export async function show(page) {
  const zh = (await page.locator("html").getAttribute("lang")) === "zh-CN";
  const own = page.getByRole("region", { name: zh ? /^forgetting-ada/ : "Active memories of forgetting-ada by retention" });
  assert.match(await own.getByRole("img").getAttribute("aria-label"), zh ? /0% 到 10%：2 条/ : /0% to 10%: 2 memories/);
  await page.getByRole("row", { name: /forgetting-ada 9 2 1/ }).waitFor(); // one run forgets 20 % of 9
  await page.getByRole("button", { name: zh ? "试运行" : "Dry run" }).click();
  await page.getByRole("listitem").filter({ hasText: "Was in Rome in 2021." }).getByText(zh ? "已衰退" : "faded", { exact: true }).waitFor();
  await page.getByText(zh ? /9 条有效记忆中有 2 条/ : /2 of 9 active memories have faded on/).waitFor();
  await page.evaluate(() => scrollTo(0, 0)); // of the picture
}

export async function act(page, { ids }) {
  await page.getByRole("button", { name: changed }).click(); // among what the next run forgets
  await page.getByRole("region", { name: `Active memories of ${changed} by retention` }).waitFor();
  const statuses = async () => Promise.all(ids.map(async (id) => (await request("GET", `/v1/memories/${id}`)).status));
  await page.getByLabel("Threshold").fill("0"); // nothing falls below it
  await page.getByRole("button", { name: "Dry run" }).click();
  await page.getByText(/0 of 9 active memories have faded on/).waitFor();

  await page.getByRole("button", { name: "Forget what has faded" }).click();
  const asked = page.getByRole("dialog");
  await asked.getByText(/can be restored until it is purged/).waitFor();
  await asked.getByRole("button", { name: "Cancel" }).click();
  assert.deepEqual(await statuses(), ["active", "active"]);

  await page.getByRole("button", { name: "Forget what has faded" }).click();
  await asked.getByLabel("Also beyond").check();
  await asked.getByRole("button", { name: "Forget what has faded" }).click();
  const toast = page.getByText("Forgotten memories: 2.").locator("..");
  await toast.waitFor();
  assert.deepEqual(await statuses(), ["forgotten", "forgotten"]);
  await page.getByText(/0 of 7 active memories/).waitFor();
  let restores = 0;
  await page.route("**/restore", (route) => (restores++, route.continue()));
  await toast.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  assert.equal(restores, 1, "the memories are restored one by one");
  await page.getByText(/0 of 9 active memories/).waitFor();
  assert.deepEqual(await statuses(), ["active", "active"]);
}
