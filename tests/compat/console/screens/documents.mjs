// A user's documents: the list, one with its passages, its deletion and its restore.
import assert from "node:assert/strict";
import { erase, request } from "../api.mjs";

const user = "documents-ada";
const add = (content, fields) =>
  request("POST", "/v1/documents", { user_id: user, content_type: "text/markdown", content, ...fields });

export const pictures = [];

export async function prepare() {
  await erase(user);
  const handbook = { id: "handbook.md", title: "Handbook", url: "https://wiki.example.com/handbook", tags: ["team"] };
  const text = (days) => `# Handbook\n\n## Leave\n\nYou have ${days} days of paid holiday.\n\n## Dogs\n\nDogs are welcome upstairs.`;
  await add(text(28), handbook);
  await add("# Notes\n\nThe printer is on the third floor.", { id: "notes.md" });
  return add(text(30), handbook);
}

export const address = () => `#/documents?user=${user}`;

export async function show(page) {
  await page.getByRole("row", { name: /Handbook\s*team\s*https:\/\/wiki.example.com\/handbook 2 2/ }).waitFor();
  await page.getByRole("row", { name: /Notes 1 1/ }).waitFor();
}

export async function act(page, { id }) {
  const state = async () => ("forgotten_at" in (await request("GET", `/v1/documents/${id}`)) ? "forgotten" : "kept");
  await page.getByRole("link", { name: "Handbook" }).click();
  const passages = page.getByRole("main").getByRole("listitem");
  await passages.filter({ hasText: "You have 30 days of paid holiday." }).getByText("since version 2").waitFor();
  await passages.filter({ hasText: "Dogs are welcome" }).getByText("since version 1").waitFor();
  assert.equal(await passages.count(), 2, "a passage of the former version is shown");

  const remove = async () => {
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog", { name: "Delete Handbook?" });
    await dialog.getByText("its passages (2) are forgotten").waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("button", { name: "Restore" }).waitFor();
    assert.equal(await state(), "forgotten");
  };
  await remove();
  await passages.first().getByText("forgotten", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Restore" }).click();
  await page.getByText("Restored.").waitFor();
  await passages.first().getByText("forgotten", { exact: true }).waitFor({ state: "detached" });
  assert.equal(await state(), "kept");
  await remove();
  await page.getByRole("button", { name: "Undo" }).last().click();
  await page.getByRole("button", { name: "Delete" }).waitFor();
  assert.equal(await state(), "kept");
  await remove();
  await page.getByRole("link", { name: "All documents" }).click();
  await page.getByRole("row", { name: "Notes" }).waitFor();
  assert.equal(await page.getByRole("row", { name: "Handbook" }).count(), 0);
}
