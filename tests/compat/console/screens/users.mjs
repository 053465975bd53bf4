import assert from "node:assert/strict";
import { erase, remember, request } from "../api.mjs";
import { inspectDialog } from "../inspect.mjs";

export const widths = [1440, 390];
export const pictures = ["", "-390"];

export async function prepare() {
  await erase("users-ada", "users-bob", "users-cleo", "users-ada-copy", "users-ada-moved");
  await remember("users-ada", "Likes tea.");
  await remember("users-ada", "Lives in Lisbon.");
  await remember("users-bob", "Plays chess.");
  const { id } = await remember("users-cleo", "Is not to be remembered.");
  await request("DELETE", `/v1/memories/${id}`);
}

export const address = () => "#/users";

export async function show(page) {
  await page.getByRole("row", { name: /users-ada\s+2/ }).waitFor();
  await page.getByRole("row", { name: /users-bob\s+1/ }).waitFor();
}

export async function act(page) {
  // works does something while the answers of a route are held back, and fails if the dialog shows no progress.
  const works = async (route, label, begin) => {
    const held = Promise.withResolvers();
    await page.route(route, async (one) => {
      await held.promise;
      await one.continue();
    });
    await begin();
    await page.getByRole("dialog").getByRole("progressbar", { name: label }).waitFor();
    held.resolve();
    await page.getByRole("dialog").getByRole("progressbar", { name: label }).waitFor({ state: "detached" });
    await page.unroute(route);
  };
  const search = async (text) => {
    await page.getByLabel("User id begins with").fill(text);
    await page.getByLabel("User id begins with").press("Enter");
  };
  const dialog = page.getByRole("dialog");
  const showKept = async (user, text) => {
    await page.getByRole("button", { name: `What is kept of ${user}` }).click();
    await dialog.getByText(text).waitFor();
    await inspectDialog(page);
    await page.keyboard.press("Escape");
  };
  const erases = async (user) => {
    await page.getByRole("button", { name: `Erase ${user}` }).click();
    const button = dialog.getByRole("button", { name: "Erase" });
    assert.ok(await button.isDisabled(), "the user can be erased without typing the id");
    await dialog.getByLabel(`Type ${user}`).fill(user);
    await works(`**/v1/users/${user}`, "Working…", () => button.click());
    await dialog.getByText("Every store was asked afterwards").waitFor();
    await inspectDialog(page);
    await page.keyboard.press("Escape");
    assert.deepEqual((await request("GET", `/v1/users/${user}`)).memories, {}, "memories of the erased user are left");
  };

  const transfers = async (user, way, into, text) => {
    await page.getByRole("button", { name: `Merge, rename or clone ${user}`, exact: true }).click();
    await dialog.getByRole("radio", { name: way }).check();
    await inspectDialog(page);
    await dialog.getByRole("textbox").fill(into);
    const route = `**/v1/users/${user}/${way.toLowerCase()}`;
    await works(route, way, () => dialog.getByRole("button", { name: way }).click());
    await dialog.getByText(text).waitFor();
    await inspectDialog(page);
    await page.keyboard.press("Escape");
  };

  await search("users-b");
  await page.getByRole("row", { name: "users-ada" }).waitFor({ state: "detached" });
  await showKept("users-bob", "12 B");
  await erases("users-bob");
  await page.getByText("No user's id begins so.").waitFor();

  await search("users-ada");
  await transfers("users-ada", "Clone", "users-ada-copy", "Copied: memories");
  await page.getByRole("row", { name: /users-ada-copy\s+2/ }).waitFor();
  await transfers("users-ada-copy", "Rename", "users-ada-moved", "users-ada-copy is renamed to users-ada-moved.");
  await transfers("users-ada-moved", "Merge", "users-ada", "Moved: memories");
  await page.getByRole("row", { name: "users-ada-moved" }).waitFor({ state: "detached" });
  assert.deepEqual((await request("GET", "/v1/users/users-ada-moved")).memories, {}, "memories of the merged user are left");
  await page.getByRole("button", { name: "What is kept of users-ada" }).click();
  await dialog.getByLabel("Memory of the user").selectOption("off");
  await page.getByText("Memory of the user: off.").waitFor();
  await page.keyboard.press("Escape");
  assert.equal((await request("GET", "/v1/users/users-ada")).memory, "off");
  await request("PUT", "/v1/users/users-ada", { memory: "on" });

  // A user without an active memory is found by the whole id.
  assert.equal(await page.getByRole("row", { name: "users-cleo" }).count(), 0);
  await search("users-cleo");
  await page.getByText("No user with the id users-cleo has an active memory.").waitFor();
  await showKept("users-cleo", "24 B");
  await erases("users-cleo");
  await search("users-ada");
  await page.getByRole("row", { name: /users-ada\s+2/ }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Erase users-ada" }).count(), 1);
}
