// A user's episodes: the list, a condensed episode, and the undo of what statements were condensed to.
import assert from "node:assert/strict";
import { erase, importOld, request } from "../api.mjs";

const user = "episodes-ada";
const path = `/v1/users/${user}/episodes`;
const episode = "0198c0de-0000-7000-8000-00000000e910"; // the id of an episode
const day = (n) => new Date(Date.UTC(2026, 3, n, 9)).toISOString();

export const pictures = [];

/** condense imports statements, and what they were condensed to; it returns the ids of the statements. */
async function condense(content, from, pattern, statements) {
  const ids = [];
  for (const [i, said] of statements.entries()) {
    ids.push(await importOld(user, said, day(from + i), { status: "consolidated" }));
  }
  const metadata = { episode, from: day(from), ...(pattern && { pattern }) };
  await importOld(user, content, day(from + statements.length - 1), { type: "summary", metadata }, ids);
  return ids;
}

export async function prepare() {
  await erase(user);
  const sources = await condense("The trip to Kyoto was planned with a ryokan and rail passes.", 1, false, [
    "I booked a ryokan in Kyoto.",
    "I ordered rail passes for the train to Kyoto.",
  ]);
  await condense("Kyoto in spring is what the user likes to come back to.", 8, true, ["I saw Kyoto in April.", "Kyoto again!"]);
  for (const [i, content] of [
    "The landlord raises the rent.",
    "I wrote to the landlord about the rent.",
    "The landlord takes the new rent back.",
  ].entries()) {
    await importOld(user, content, day(15 + 3 * i));
  }
  const made = await request("POST", path);
  assert.equal(made.episodes, 2);
  return { sources };
}

export const address = () => `#/episodes?user=${user}`;

export async function show(page) {
  const zh = (await page.locator("html").getAttribute("lang")) === "zh-CN";
  await page.getByRole("row", { name: zh ? /2 1 条模式, 1 条核心陈述/ : /Kyoto.* 1 Apr 2026 – 9 Apr 2026 2 1 pattern, 1 core/ }).waitFor();
  await page.getByRole("row", { name: zh ? /rent.* 3 未浓缩/ : /rent.* 3 not condensed/ }).waitFor();
}

export async function act(page, { sources }) {
  await page.getByRole("link", { name: /Kyoto/ }).click();
  const statements = page.getByRole("main").getByRole("listitem");
  await statements.first().getByText("core statement", { exact: true }).waitFor();
  await statements.nth(1).getByText("pattern", { exact: true }).waitFor();
  await statements.first().getByRole("button", { name: "Undo: The trip to Kyoto" }).click();
  const dialog = page.getByRole("dialog", { name: "Undo this summary?" });
  await dialog.getByText("The trip to Kyoto was planned").waitFor();
  await dialog.getByText("No later run condenses").waitFor();
  await dialog.getByRole("button", { name: "Undo" }).click();
  await page.getByText("2 statements are active again.").waitFor();
  await page.getByText("The trip to Kyoto was planned").waitFor({ state: "detached" });
  await page.getByRole("link", { name: "I booked a ryokan in Kyoto." }).waitFor();
  assert.equal(await statements.count(), 3);
  for (const id of sources) assert.equal((await request("GET", `/v1/memories/${id}`)).status, "active");

  await page.getByRole("link", { name: "All episodes" }).click();
  await page.getByRole("button", { name: "Group the memories now" }).click();
  await page.getByText(/^New or changed episodes: \d, gone: \d\.$/).waitFor();
  await page.getByRole("row", { name: /Kyoto.* 3 1 pattern/ }).waitFor();
  await page.getByRole("link", { name: /rent/ }).click();
  await page.getByRole("link", { name: "I wrote to the landlord about the rent." }).click();
  await page.getByRole("heading", { level: 1, name: "Memories" }).waitFor();
}
