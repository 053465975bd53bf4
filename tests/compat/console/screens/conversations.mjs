// A conversation: the list, the log, the working memory, what consolidation made, and a turn with its verdicts.
import assert from "node:assert/strict";
import { eventually, request } from "../api.mjs";

const user = "talk-ada";
const id = "talk/one";

export async function prepare() {
  const turns = [];
  for (const content of [
    "I live in Lisbon and work as a marine biologist.",
    "I have two cats, Miso and Nori.",
    "Next month I will move to Porto.",
  ]) {
    const messages = [{ role: "user", content }, { role: "assistant", content: "That is good to know." }];
    turns.push(await request("POST", "/v1/turns", { user_id: user, conversation_id: id, wait: true, messages }));
  }
  await request("POST", `/v1/conversations/${encodeURIComponent(id)}/end`, { user_id: user, wait: true });
  const path = `/v1/conversations/${encodeURIComponent(id)}/consolidations?user_id=${user}`;
  await eventually("the conversation is consolidated", async () => {
    const { consolidations } = await request("GET", path);
    return consolidations.some((c) => c.type === "fast_replay" && c.state === "done");
  });
  return { turn: turns[0] };
}

export const address = () => `#/conversations/${encodeURIComponent(id)}?user=${user}`;

export async function show(page) {
  await page.locator("main ol").getByText("two cats, Miso and Nori").waitFor();
  await page.locator("main dl").getByText(id, { exact: true }).waitFor();
  const tabs = page.getByRole("tab");
  await tabs.nth(1).click();
  await page.getByRole("tabpanel").getByText("I will move to Porto").waitFor();
  await tabs.nth(2).click();
  await page.getByRole("row", { name: /summaries 1/ }).waitFor();
  await page.getByRole("tabpanel").getByText("summary", { exact: true }).waitFor();
}

export async function act(page, { turn }) {
  await page.getByLabel("Memory of the conversation").selectOption("read");
  await page.getByText("Memory of the conversation: recalls, keeps nothing new.").waitFor();
  const path = `/v1/conversations/${encodeURIComponent(id)}?user_id=${user}`;
  assert.equal((await request("GET", path)).conversation.memory, "read");
  await request("PUT", path, { memory: "on" });
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByRole("tab", { name: "Log" }).press("ArrowRight");
  assert.equal(await page.getByRole("tab", { name: "Working memory" }).getAttribute("aria-selected"), "true");
  await page.getByRole("tab", { name: "Log" }).click();
  await page.getByRole("link", { name: "Candidates and verdicts" }).first().click();
  await page.getByRole("heading", { level: 1, name: "Turns" }).waitFor();
  assert.ok(turn.candidates.length > 0);
  for (const { content, reason } of turn.candidates) {
    await page.getByText(content, { exact: true }).last().waitFor();
    await page.getByText(reason).first().waitFor();
  }
  await page.getByRole("link", { name: id }).click();
  await page.getByRole("link", { name: "All conversations" }).click();
  await page.getByRole("row", { name: /ended\s+3\s+6/ }).waitFor();
}
