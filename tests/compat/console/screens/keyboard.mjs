// The keyboard alone: the skip link, the navigation, a memory, its tabs, a dialog, and where the focus is after each.
import assert from "node:assert/strict";
import { erase, eventually, remember, request } from "../api.mjs";
import { inspectDialog } from "../inspect.mjs";

const user = "keyboard-ada";

export const pictures = [];

export async function prepare() {
  await erase(user);
  await remember(user, "Plays the organ.");
  await remember(user, "Plays chess.");
}

export const address = () => `#/users?user=${user}`;

export async function show(page) {
  await page.getByRole("row", { name: user }).waitFor();
}

export async function act(page) {
  const press = (key) => page.keyboard.press(key);
  const focused = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      const name = element.getAttribute("aria-label") ?? element.labels?.[0]?.innerText ?? element.innerText;
      return `${element.localName} ${name.trim()}`;
    });
  const focuses = (wanted) => eventually(`the focus is on ${wanted}`, async () => (await focused()) === wanted);
  /** reach presses Tab, or Shift+Tab, until the element has the focus. */
  const reach = async (wanted, key = "Tab") => {
    const passed = [];
    while (passed.length < 60) {
      await press(key);
      passed.push(await focused());
      if (passed.at(-1) === wanted) return;
    }
    assert.fail(`${key} does not reach ${wanted}, but ${passed.join("; ")}`);
  };

  await page.reload(); // the focus is on nothing
  await show(page);
  await press("Tab");
  assert.equal(await focused(), "a Skip to the content");
  await press("Enter");
  await focuses("h1 Users");
  await reach("a Memories", "Shift+Tab");
  await press("Enter");
  await focuses("h1 Memories");

  // A memory replaces the list in which its link had the focus.
  await page.getByRole("link", { name: "Plays chess." }).waitFor();
  await reach("a Plays chess.");
  await press("Enter");
  await focuses("h1 Memories");
  await page.getByRole("tab", { name: "About" }).waitFor();
  await reach("button About");
  await press("ArrowRight");
  assert.equal(await focused(), "button History");
  await page.getByRole("tabpanel").getByText("created", { exact: true }).waitFor();
  await press("End");
  assert.equal(await focused(), "button Retention");
  await reach("a ← All memories", "Shift+Tab");
  await press("Enter");
  await focuses("h1 Memories");

  // A dialog has the focus, keeps it, and returns it.
  await page.getByRole("link", { name: "Plays chess." }).waitFor();
  await reach("input Select: Plays chess.");
  await press("Space");
  await reach("button Forget", "Shift+Tab");
  await press("Enter");
  const dialog = page.getByRole("dialog", { name: "Forget 1 memory?" });
  await dialog.waitFor();
  await inspectDialog(page);
  const within = () => page.evaluate(() => document.querySelector("dialog[open]").contains(document.activeElement));
  assert.ok(await within(), "the dialog does not have the focus");
  await reach("button Cancel");
  await reach("button Close", "Shift+Tab");
  assert.ok(await within());
  await press("Escape");
  await dialog.waitFor({ state: "detached" });
  assert.equal(await focused(), "button Forget", "the focus does not return from the dialog");

  await press("Enter");
  await reach("button Cancel");
  await press("Tab");
  assert.equal(await focused(), "button Forget");
  await press("Enter");
  await page.getByText("1 forgotten.").waitFor();
  const { memories } = await request("GET", `/v1/memories?user_id=${user}`);
  assert.deepEqual(memories.map((m) => m.content), ["Plays the organ."]);
  await reach("button Undo");
  await press("Enter");
  await page.getByRole("link", { name: "Plays chess." }).waitFor();
}
