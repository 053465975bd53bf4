// Failed turns: the list, a turn, and replays after which the turns are processed. A processed turn is withdrawn.
import assert from "node:assert/strict";
import { eventually, request } from "../api.mjs";

// The turns of the first user stay as they are.
const users = ["turns-ada", "turns-bob"];
const at = "2026-05-01T08:00:00Z";
const idsOf = (user) => [1, 2, 3].map((n) => `01a20ac1-77bf-7889-bf49-0000000000${users.indexOf(user)}${n}`);
const says = (n) => `I have lived in the town number ${n} since May.`;

/** prepare imports turns that failed on another server: the rules of a server without a model refuse no turn. */
export async function prepare() {
  for (const user of users) await fail(user, idsOf(user));
}

async function fail(user, ids) {
  const conversation = { id: "turns-failed", user_id: user, began: ids[0], started_at: at, last_at: at };
  const lines = [
    { format: "hippocampus-export", version: 2, exported_at: at },
    { conversation: { ...conversation, title: "Towns", turns: ids.length, events: ids.length, tokens: 36 } },
    ...ids.map((id, i) => ({
      turn: {
        user_id: user, conversation_id: conversation.id, began: ids[0], id, first_event: i + 1,
        messages: [{ role: "user", content: says(i + 1), tokens: 12 }],
        at, accepted_at: at, queued_at: at, hash: String(i).repeat(64), status: "failed", attempts: 3,
        last_error: `the model answered no JSON for turn ${i + 1}`,
      },
    })),
  ];
  const response = await fetch(`${process.env.COMPAT_URL}/v1/import`, {
    method: "POST",
    headers: { Authorization: `Bearer ${process.env.COMPAT_ADMIN_KEY}`, "Content-Type": "application/x-ndjson" },
    body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  });
  const text = await response.text();
  assert.ok(response.ok && !text.includes('"error"'), text);
}

export const address = () => `#/turns?user=${users[0]}`;

export async function show(page) {
  for (const n of [1, 2, 3]) await page.getByRole("row", { name: `the model answered no JSON for turn ${n}` }).waitFor();
}

const processed = (id) =>
  eventually(`the turn ${id} is processed`, async () => (await request("GET", `/v1/turns/${id}`)).status === "processed");

export async function act(page) {
  const [, user] = users;
  const ids = idsOf(user);
  await page.getByLabel("User").fill(user);
  await page.getByLabel("User").press("Enter");
  await page.getByRole("cell", { name: user }).first().waitFor();
  await page.getByRole("row", { name: "for turn 1" }).getByRole("link").click();
  await page.getByText(says(1)).waitFor();
  await page.getByText("The turn has no candidate yet.").waitFor();
  await page.getByRole("button", { name: "Replay", exact: true }).click();
  await page.getByText("kept", { exact: true }).waitFor();
  await processed(ids[0]);

  await page.getByRole("link", { name: "All turns" }).click();
  await page.getByRole("row", { name: "for turn 2" }).waitFor();
  assert.equal(await page.getByRole("row", { name: "for turn 1" }).count(), 0, "a replayed turn is still listed as failed");
  await page.getByRole("checkbox", { name: "Select all" }).check();
  await page.getByRole("button", { name: "Replay the selected turns (2)" }).click();
  await page.getByText("2 turns were queued again.").waitFor();
  await page.getByText("No turn has failed.").waitFor();
  await processed(ids[1]);
  await processed(ids[2]);
  await page.getByLabel("Status").selectOption("processed");
  await page.locator("tbody tr").nth(2).waitFor();

  const row = page.getByRole("row", { name: user }).first();
  await row.getByRole("link").click();
  await page.getByText("kept", { exact: true }).waitFor();
  const id = new URL(page.url()).hash.match(/turns\/([^?]+)/)[1];
  const { candidates } = await request("GET", `/v1/turns/${id}`);
  await page.getByRole("button", { name: "Withdraw", exact: true }).click();
  const dialog = page.getByRole("dialog", { name: "Withdraw this turn" });
  await dialog.getByText("No restore undoes this.").waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  assert.equal((await request("GET", `/v1/turns/${id}`)).status, "processed", "a turn was withdrawn without consent");
  await page.getByRole("button", { name: "Withdraw", exact: true }).click();
  await dialog.getByRole("button", { name: "Withdraw", exact: true }).click();
  const effects = page.getByRole("region", { name: "What this did" });
  await effects.getByText("forgotten").first().waitFor();
  await page.getByText("withdrawn", { exact: true }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Withdraw", exact: true }).count(), 0);
  const kept = candidates.find(({ verdict }) => verdict === "kept");
  assert.equal((await request("GET", `/v1/memories/${kept.memory_id}`)).status, "forgotten");
}
