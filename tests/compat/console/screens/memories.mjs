import assert from "node:assert/strict";
import { erase, eventually, remember, replace, request } from "../api.mjs";

const user = "memories-ada";
const other = "memories-bob";
const abroad = "memories-lin"; // in another time zone than the browser

export const widths = [1440, 390];
export const pictures = ["", "-390", "-zh"];

export async function prepare() {
  await erase(user, other, abroad);
  await replace(other, "I live in Porto.", "I live in Braga.");
  await remember(user, "Likes green tea.", {
    type: "preference", domain: "lifestyle_and_interests", tags: ["tea", "drinks"], metadata: { source: "survey" },
  });
  await request("PUT", `/v1/users/${abroad}`, { time_zone: "Asia/Shanghai" });
  await remember(abroad, "Landed in Shanghai.", { at: "2026-01-31T22:30:00Z" });
  await remember(user, "Lives in Lisbon.", { pinned: true, importance: 0.9 });
  for (const name of ["one", "two", "three"]) await remember(user, `Passing thought ${name}.`);
}

export const address = () => `#/memories?user=${user}`;

export async function show(page) {
  await page.getByRole("link", { name: "Likes green tea." }).waitFor();
  await page.getByRole("link", { name: "Lives in Lisbon." }).waitFor();
  await page.getByText("drinks", { exact: true }).waitFor();
}

const statusOf = async (content, user_id = user) => {
  const query = ["active", "forgotten", "superseded"].map((status) => `status=${status}`).join("&");
  const { memories } = await request("GET", `/v1/memories?user_id=${user_id}&${query}`);
  return memories.find((m) => m.content === content);
};

export async function act(page, _, { forgive }) {
  const rows = page.getByRole("row").filter({ has: page.getByRole("link") });
  const shows = (n) => eventually(`the list has ${n} rows`, async () => (await rows.count()) === n);
  await shows(5);
  for (const [label, value] of [
    ["Text contains", "GREEN"], ["Tags (all of them)", "tea, drinks"], ["Metadata", "source=survey"],
  ]) {
    await page.getByLabel(label, { exact: true }).fill(value);
    await page.getByRole("button", { name: "Apply" }).click();
    await shows(1);
    await page.getByRole("button", { name: "Clear" }).click();
    await shows(5);
  }

  // A search that finds little says how far it has come, can be stopped, and goes on.
  const held = Promise.withResolvers();
  let asked = 0;
  await page.route("**/v1/memories?**", async (route) => {
    if (++asked === 2) await held.promise;
    const url = route.request().url();
    assert.match(url, /examine=10000/);
    await route.continue({ url: url.replace("examine=10000", "examine=1") }).catch(() => {}); // the page has given it up
  });
  await page.getByLabel("Text contains", { exact: true }).fill("Lisbon");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.getByText("10,000 compared so far").waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  held.resolve();
  await page.getByRole("button", { name: "Show more" }).click();
  await shows(1);
  assert.ok(asked > 5, `${asked} pages were read`);
  await page.unroute("**/v1/memories?**");
  await page.getByRole("button", { name: "Clear" }).click();
  await shows(5);

  await page.getByLabel("Type").selectOption("preference");
  await shows(1);
  await page.getByRole("button", { name: "Clear" }).click();
  await shows(5);

  // The rows of a user are gone as soon as another user is chosen, whether or not that user's rows arrive.
  const choose = async (user) => {
    await page.getByRole("combobox", { name: "User" }).fill(user);
    await page.getByRole("combobox", { name: "User" }).press("Enter");
  };
  await page.getByLabel("Select: Lives in Lisbon.").check();
  await page.route("**/v1/memories?**", (route) => route.abort(), { times: 1 });
  await choose(other);
  const refused = page.getByRole("alert");
  await refused.getByText("The server does not answer").waitFor();
  forgive(/ERR_FAILED/);
  assert.equal(await rows.count(), 0, "another user's memories are shown");
  assert.ok(await page.getByRole("button", { name: "Forget", exact: true }).isDisabled(), "another user's are chosen");
  await refused.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("link", { name: "I live in Braga." }).waitFor();
  await shows(1);

  // Dates that are shown, and those that are entered, are of the user's zone.
  await choose(abroad);
  await page.getByRole("definition").filter({ hasText: "Asia/Shanghai" }).waitFor();
  await page.getByTitle("1 Feb 2026, 06:30").waitFor();
  for (const [since, n] of [["2026-02-02", 0], ["2026-02-01", 1]]) {
    await page.getByLabel("Created since").fill(since);
    await page.getByRole("button", { name: "Apply" }).click();
    await shows(n);
  }
  await page.getByRole("button", { name: "Clear" }).click();
  await choose(other);
  await page.getByText("Asia/Shanghai").waitFor({ state: "detached" });

  // What was superseded can be restored.
  await page.getByLabel("Status").selectOption("superseded");
  await page.getByLabel("Select: I live in Porto.").check();
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await page.getByRole("dialog").getByText("What took their place stays active").waitFor();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await page.getByText("1 restored.").waitFor();
  for (const city of ["Porto", "Braga"]) {
    assert.equal((await statusOf(`I live in ${city}.`, other)).status, "active");
  }
  await page.getByRole("button", { name: "Clear" }).click();
  await choose(user);
  await shows(5);

  // Forgetting asks, and can be undone with one request, whose progress and failures are shown.
  for (const name of ["one", "two"]) await page.getByLabel(`Select: Passing thought ${name}.`).check();
  await page.getByRole("button", { name: "Forget", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
  await page.getByText("2 forgotten.").waitFor();
  await shows(3);
  assert.equal((await statusOf("Passing thought one.")).status, "forgotten");
  const answer = Promise.withResolvers();
  let restores = 0;
  await page.route("**/v1/memories/restore", async (route) => {
    restores++;
    await answer.promise;
    await route.continue();
  });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByRole("progressbar", { name: "Undoing…" }).waitFor();
  answer.resolve();
  await page.getByText("Undone.").waitFor();
  await shows(5);
  assert.equal(restores, 1);
  assert.equal((await statusOf("Passing thought one.")).status, "active");
  await page.getByRole("button", { name: "Close" }).last().click();
  await page.unroute("**/v1/memories/restore");

  await page.getByLabel("Select: Passing thought two.").check();
  await page.getByRole("button", { name: "Forget", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
  await shows(4);
  await page.route("**/v1/memories/restore", (route) => {
    const [id] = route.request().postDataJSON().ids;
    const error = { type: "about:blank", title: "Not found", status: 404, detail: "the memory was purged" };
    return route.fulfill({ json: { results: [{ id, error }] } });
  });
  await page.getByRole("button", { name: "Undo" }).click();
  await page.getByText("1 could not be restored: the memory was purged").waitFor();
  assert.equal(await page.getByText("Undone.").count(), 0, "what failed is shown as undone");
  await page.unroute("**/v1/memories/restore");
  await request("POST", "/v1/memories/restore", { ids: [(await statusOf("Passing thought two.")).id] });
  await page.reload();
  await shows(5);

  // What was forgotten is found by its status, and restored.
  await page.getByLabel("Select: Passing thought three.").check();
  await page.getByRole("button", { name: "Forget", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Forget" }).click();
  await page.getByText("1 forgotten.").waitFor();
  await page.getByLabel("Status").selectOption("forgotten");
  await shows(1);
  await page.getByLabel("Select all").check();
  await page.getByRole("button", { name: "Restore", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Restore" }).click();
  await page.getByText("1 restored.").waitFor();
  await page.getByRole("button", { name: "Clear" }).click();
  await shows(5);

  await page.getByRole("button", { name: "Unpin: Lives in Lisbon." }).click();
  await page.getByText("Unpinned.").waitFor();
  assert.equal((await statusOf("Lives in Lisbon.")).pinned, false);
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.getByRole("button", { name: "Unpin: Lives in Lisbon." }).waitFor();
}
