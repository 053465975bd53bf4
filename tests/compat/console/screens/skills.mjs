import { request } from "../api.mjs";

const user = "skills-ada";
const changed = "skills-bob"; // whose skill act changes
const record = (success, workflow, note, user_id = user) =>
  request("POST", "/v1/skills/deploy%20the%20shop/outcomes", { user_id, success, workflow, note });

export async function prepare() {
  for (let i = 0; i < 3; i++) await record(true, "Run the tests, tag, push the tag.", `release ${i}`);
  await record(false, "Copy the files by hand.", "one file was missing");
  await record(true, "Run the tests, tag, push the tag.", "the first release", changed);
}

export const address = () => `#/skills?user=${user}&name=deploy+the+shop`;

export async function show(page) {
  await page.getByRole("row", { name: /deploy the shop 2 .*75\s*% 3 1/ }).waitFor();
  const best = page.getByRole("article").first();
  await best.getByText("Run the tests, tag, push the tag.").waitFor();
  await best.getByText("80%").waitFor(); // (3 + 1) / (3 + 2)
  await page.getByRole("article").nth(1).getByText("one file was missing").waitFor();
}

export async function act(page) {
  await page.goto(`${page.url().split("#")[0]}#/skills?user=${changed}&name=deploy+the+shop`);
  await page.getByText("the first release").waitFor();
  await page.getByRole("button", { name: "Record an outcome" }).click();
  const form = page.getByRole("dialog");
  await form.getByLabel("Workflow").fill("Run the tests, tag, push the tag.");
  await form.getByLabel("It failed").check();
  await form.getByLabel("Note, for people").fill("the network was down");
  await form.getByRole("button", { name: "Record an outcome" }).click();
  await page.getByText("Recorded. Successes: 1, failures: 1.").waitFor();
  await page.getByRole("row", { name: /deploy the shop 1 .*50\s*% 1 1/ }).waitFor();
  await page.getByText("the network was down").waitFor();
}
