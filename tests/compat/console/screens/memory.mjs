// The detail of a memory, with its history, relations and retention.
import assert from "node:assert/strict";
import { remember, replace, request } from "../api.mjs";

const user = "memory-ada";

export const pictures = ["", "-390"];

export async function prepare() {
  const memory = await remember(user, "Likes green tea with honey.", { tags: ["tea"], importance: 0.6 });
  await request("PATCH", `/v1/memories/${memory.id}`, {
    content: "Likes green tea without honey.",
    expires_at: "2199-12-31",
  });
  const other = await remember(user, "Drinks tea in the morning.", { tags: ["tea"] });
  await request("POST", `/v1/memories/${other.id}/relations`, { to: memory.id, kind: "supports" });
  const gone = await remember(user, "Dislikes tea.");
  await request("POST", `/v1/memories/${memory.id}/relations`, { to: gone.id, kind: "contradicts" });
  await request("DELETE", `/v1/memories/${gone.id}`);
  const superseded = await replace(user, "I live in Porto.", "I live in Braga.");
  return { id: memory.id, superseded: superseded.id };
}

export const address = ({ id }) => `#/memories/${id}?user=${user}`;

export async function show(page, { id }) {
  await page.getByText("Likes green tea without honey.").first().waitFor();
  await page.getByText(id).waitFor();
  // Every tab is inspected at one of the variants; the pictures show the retention.
  const tab = { "1440-light": 3, "1440-dark": 1, "390-light": 2, "390-dark": 3 }[
    await page.evaluate(() => `${innerWidth}-${matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"}`)
  ];
  await page.getByRole("tab").nth(tab).click();
  if (tab === 3) await page.getByRole("img", { name: /Retention over time|保持度随时间变化/ }).waitFor();
  if (tab === 1) await page.locator("ins", { hasText: "without" }).waitFor();
  if (tab === 2) await page.getByRole("img", { name: /Graph of the memory/ }).waitFor();
}

export async function act(page, { id, superseded }) {
  await page.getByRole("tab", { name: "About" }).click();
  await page.getByRole("definition").filter({ hasText: /2199|2200/ }).waitFor();
  await page.getByRole("link", { name: user, exact: true }).waitFor();
  await page.getByRole("tab", { name: "History" }).click();
  const change = page.getByRole("listitem").filter({ hasText: "changed" });
  await change.locator("del", { hasText: /^with$/ }).waitFor();
  await change.locator("ins", { hasText: /^without$/ }).waitFor();

  await page.keyboard.press("ArrowRight"); // the arrows move between the tabs
  const related = page.getByRole("listitem").filter({ has: page.getByRole("link") });
  await related.filter({ hasText: "supported by" }).filter({ hasText: "Drinks tea" }).waitFor();
  await related.filter({ hasText: "contradicts" }).filter({ hasText: "forgotten" }).waitFor();

  await page.getByRole("tab", { name: "Retention" }).click();
  await page.getByText("Fades if accessed now").waitFor();
  const outlook = await request("GET", `/v1/memories/${id}/retention`);
  assert.ok(outlook.accessed.fades_at > outlook.left.fades_at, "an access does not make the memory last longer");

  await page.getByRole("button", { name: "Pin" }).click();
  await page.getByText("so it never fades").waitFor();
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("so it never fades").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Forget" }).click();
  await page.getByText("It is not active").waitFor();
  await page.route("**/v1/memories/restore", (route) => {
    const error = { type: "about:blank", title: "Not found", status: 404, detail: "the memory was purged" };
    return route.fulfill({ json: { results: [{ id, error }] } });
  });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("the memory was purged").waitFor();
  await page.unroute("**/v1/memories/restore");
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByText("It is not active").waitFor({ state: "detached" });
  assert.equal((await request("GET", `/v1/memories/${id}`)).status, "active");

  // A superseded memory can be restored as well. Its successor stays, so the restore asks first and has no undo.
  await page.goto(`${page.url().split("#")[0]}${address({ id: superseded })}`);
  await page.getByText("superseded", { exact: true }).waitFor();
  const undos = await page.getByRole("button", { name: "Undo" }).count();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByRole("dialog").getByText("What took their place stays active").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await page.getByRole("button", { name: "Forget" }).waitFor();
  assert.equal((await request("GET", `/v1/memories/${superseded}`)).status, "active");
  assert.equal(await page.getByRole("button", { name: "Undo" }).count(), undos);
}
