// The menu of a narrow window: it opens, leads to a screen, and closes.
import assert from "node:assert/strict";
import { inspect } from "../inspect.mjs";

export const widths = [390];
export const pictures = [];
export const prepare = () => ({});
export const address = () => "#/users";

export async function show(page) {
  await page.getByRole("searchbox").waitFor();
}

export async function act(page) {
  const menu = page.getByRole("button", { name: "Menu" });
  const nav = page.getByRole("navigation", { name: "Screens" });
  assert.ok(!(await nav.isVisible()), "the menu is open at first");
  assert.equal(await menu.getAttribute("aria-expanded"), "false");
  for (const name of ["Operations", "Recall playground", "Users"]) {
    await menu.click();
    assert.equal(await menu.getAttribute("aria-expanded"), "true");
    await nav.getByRole("link", { name }).waitFor();
    await inspect(page);
    await nav.getByRole("link", { name }).click();
    await page.getByRole("heading", { level: 1, name }).waitFor();
    await nav.waitFor({ state: "hidden" });
  }
}
