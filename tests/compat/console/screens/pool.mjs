// The shared pool: its contributors, a withdrawal, and a promotion on the page of a memory.
import assert from "node:assert/strict";
import { erase, remember, request } from "../api.mjs";

const users = ["pool-ada", "pool-bob"];
const [ada, bob] = users;
const contents = async (user) =>
  (await request("GET", `/v1/pool?contributor=${user}`)).memories.map(({ content }) => content).sort();

export const pictures = [];

export async function prepare() {
  await erase(...users);
  const share = async (user, content, agent_id, memory = {}) => {
    const { id } = await remember(user, content, memory);
    await request("POST", "/v1/pool", { user_id: user, memory_id: id, agent_id });
  };
  await share(ada, "The payment service is deployed with make release.", undefined, { agent_id: "forge" });
  await share(ada, "Releases are tagged on Mondays.");
  await share(bob, "The staging database is reset every night.", "scout");
  return await remember(bob, "Invoices are sent on the first of the month.");
}

export const address = () => "#/pool";

export async function show(page) {
  const zh = (await page.locator("html").getAttribute("lang")) === "zh-CN";
  await page.getByRole("row", { name: zh ? /make release.*pool-ada 通过 forge/ : /make release.*pool-ada through forge/ }).waitFor();
  await page.getByRole("row", { name: zh ? /reset every night.*仅供 scout.*pool-bob/ : /reset every night.*only for scout.*pool-bob/ }).waitFor();
}

export async function act(page, { id }) {
  await page.getByLabel("Contributed by").fill(ada);
  await page.getByLabel("Contributed by").press("Enter");
  await page.getByRole("row", { name: "reset every night" }).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Withdraw: Releases are tagged" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("No recall finds it any more").waitFor();
  await dialog.getByText("The memory of pool-ada stays").waitFor();
  await dialog.getByRole("button", { name: "Withdraw" }).click();
  await page.getByText("Withdrawn.").waitFor();
  await page.getByRole("row", { name: "Releases are tagged" }).waitFor({ state: "detached" });
  assert.deepEqual(await contents(ada), ["The payment service is deployed with make release."]);

  const promote = async () => {
    await page.getByRole("button", { name: "Promote to the pool" }).click();
    await dialog.getByText("say that pool-bob shared it").waitFor();
    await dialog.getByRole("button", { name: "Promote to the pool" }).click();
  };
  await page.goto(`${page.url().split("#")[0]}#/memories/${id}?user=${bob}`);
  await promote();
  await page.getByText("Shared with the app.").waitFor();
  await page.getByRole("link", { name: /^Shared with the app ./ }).waitFor();
  assert.equal((await contents(bob)).length, 2);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  await page.getByRole("button", { name: "Promote to the pool" }).waitFor();
  assert.deepEqual(await contents(bob), ["The staging database is reset every night."]);
}
