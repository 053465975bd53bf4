// The gate review: what another threshold would change, a promotion that is undone, and insights that wait for approval.
import assert from "node:assert/strict";
import { request } from "../api.mjs";

// The candidates of the first user stay as they are.
const users = ["gate-ada", "gate-bob"];

export async function prepare() {
  for (const user of users) {
    for (const content of [
      "I live in Lisbon.",
      "My sister works as a nurse in Porto.",
      "I watched a film about whales yesterday evening with my sister.",
      "My coffee was cold this morning.",
      "The shop near our house was closed on Tuesday.",
      "Our neighbours painted their fence green.",
    ]) {
      await request("POST", "/v1/turns", { user_id: user, wait: true, messages: [{ role: "user", content }] });
    }
  }
  const counts = await request("GET", `/v1/candidates/counts?user_id=${users[0]}`);
  assert.equal(counts.threshold, 0.7);
  assert.ok(total(refusedOf(counts)) > 1, JSON.stringify(counts));
  return counts;
}

export const address = () => `#/gate?user=${users[0]}`;

const refusedOf = (counts) => counts.counts.filter((c) => c.verdict === "below_threshold");
const total = (list) => list.reduce((sum, c) => sum + c.count, 0);

export async function show(page, counts) {
  await page.getByRole("slider").waitFor();
  const rows = page.locator("tbody tr");
  await rows.nth(total(refusedOf(counts)) - 1).waitFor();
  const shown = (await rows.locator("td:first-child").allInnerTexts()).map(Number);
  assert.equal(shown.length, total(refusedOf(counts)));
  assert.deepEqual(shown, shown.toSorted((a, b) => b - a), "the most important candidates do not come first");
  assert.equal(await page.locator("svg[role=img] rect.refused").count(), 20);
}

export async function act(page, counts) {
  const [, user] = users;
  await page.getByLabel("User").fill(user);
  await page.getByLabel("User").press("Enter");
  await page.locator(`tbody a[href*="${user}"]`).first().waitFor();
  const slider = page.getByRole("slider");
  const best = refusedOf(counts).at(-1);
  await slider.fill(String(best.importance));
  await page.getByText(`Refused candidates that would have become facts with this threshold: ${best.count}`).waitFor();
  await slider.fill("1");
  const facts = total(counts.counts.filter((c) => c.verdict === "kept" && c.importance >= 0.7 && c.importance < 1));
  await page.getByText(`Facts that would have been refused with this threshold: ${facts}`).waitFor();
  assert.ok(facts > 0);
  await page.getByRole("region", { name: "Candidates that became facts" }).locator("tbody tr").nth(facts - 1).waitFor();

  await page.getByRole("button", { name: "Back to the gate's threshold" }).click();
  const list = page.getByRole("region", { name: "Refused candidates" });
  const first = list.locator("tbody tr").first();
  await first.waitFor();
  const content = (await first.locator("td").nth(1).innerText()).trim();
  const memories = async () => {
    const filter = encodeURIComponent(JSON.stringify({ not: { type: "message" } }));
    return (await request("GET", `/v1/memories?user_id=${user}&filter=${filter}`)).memories.map((m) => m.content);
  };
  await first.getByRole("button").click();
  await page.getByText("1 candidate was promoted.").waitFor();
  assert.ok((await memories()).includes(content), `${content} is no memory`);
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("Undone.").waitFor();
  assert.ok(!(await memories()).includes(content), `${content} is still a memory`);

  const before = (await memories()).length;
  await slider.fill("0");
  await page.getByRole("button", { name: /^Promote these/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText("become memories of the user").waitFor();
  await dialog.getByRole("button", { name: "Promote" }).click();
  await page.getByText("Refused candidates that would have become facts with this threshold: 0").waitFor();
  assert.ok((await memories()).length > before, "no candidate was promoted");
  await decide(page, user);
}

/** decide approves an insight and rejects another. The server has no model to propose them, so the test answers. */
async function decide(page, user) {
  const evidence = (await request("GET", `/v1/memories?user_id=${user}&limit=2`)).memories;
  const proposal = (id, content) => ({
    id, user_id: user, content, domain: evidence[0].domain, importance: 0.9, proposed_at: evidence[0].created_at,
    evidence: evidence.map((memory, i) => ({ memory, retires: i === 0 })),
  });
  let waiting = [proposal("1", "The family lives by the sea."), proposal("2", "The user likes whales.")];
  const decided = [];
  await page.route(/\/v1\/proposals/, (route) => {
    const [, id, verdict] = /proposals\/(\w+)\/(\w+)/.exec(route.request().url()) ?? [];
    waiting = waiting.filter((p) => p.id !== id);
    if (id) decided.push(`${verdict} ${id}`);
    return route.fulfill({ json: verdict ? { id, memory: evidence[0], retired: [] } : { proposals: waiting } });
  });
  await page.getByLabel("User").fill(users[0]);
  await page.getByLabel("User").press("Enter");
  const card = page.getByRole("region", { name: "Insights that wait for approval" });
  await card.getByText("is condensed by an approval").first().waitFor();
  assert.equal(await card.getByRole("link").count(), 2 * evidence.length);
  await card.getByRole("button", { name: "Approve: The family" }).click();
  await page.getByText("The insight is a memory now.").waitFor();
  await card.getByRole("button", { name: "Reject: The user" }).click();
  await page.getByText("The insight was rejected.").waitFor();
  await card.waitFor({ state: "detached" });
  assert.deepEqual(decided, ["approve 1", "reject 2"]);
  await page.unroute(/\/v1\/proposals/);
}
