import assert from "node:assert/strict";
import { AxeBuilder } from "@axe-core/playwright";

/** inspect fails for what no screen may have; errors are those that the page has collected. */
export async function inspect(page, errors = []) {
  assert.deepEqual(errors, [], "the page has errors");
  const { wide, window } = await page.evaluate(() => ({
    wide: document.documentElement.scrollWidth,
    window: innerWidth,
  }));
  assert.ok(wide <= window, `the page is ${wide} px wide in a window of ${window} px`);
  const squeezed = await page.locator("td.wrap").evaluateAll((cells) =>
    cells.filter((c) => c.innerText.length > 12 && c.clientWidth < 120).map((c) => c.innerText),
  );
  assert.deepEqual(squeezed, [], "cells of a table break their words");
  const { violations } = await new AxeBuilder({ page }).analyze();
  assert.deepEqual(
    violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(" | ").slice(0, 600)}`),
    [],
    "axe has found violations",
  );
}

const titles = new WeakMap(); // of the dialogs of each page that were inspected, without their numbers

/** inspectDialog inspects the dialog that is open, unless one with its title was inspected before. */
export async function inspectDialog(page) {
  const inspected = titles.get(page) ?? new Set();
  titles.set(page, inspected);
  const open = page.locator("dialog[open]").first();
  const title = await open.getAttribute("aria-labelledby", { timeout: 1000 }).then(
    (id) => page.evaluate((id) => document.getElementById(id)?.innerText.replace(/\d+/g, "n"), id),
    () => undefined, // it has been closed
  );
  if (title === undefined || inspected.has(title)) return;
  inspected.add(title);
  await inspect(page).catch((failure) => {
    throw new Error(`the dialog ${title}: ${failure.message}`);
  });
}

/**
 * inspectDialogs inspects each dialog before the next action in it. `end` fails for what broke a rule, and for dialogs in
 * which nothing was done and which `inspectDialog` was not called for.
 */
export async function inspectDialogs(page) {
  const failures = [];
  await page.evaluate(() => {
    globalThis.dialogTitles = new Set();
    const add = ({ innerText }) => globalThis.dialogTitles.add(innerText.replace(/\d+/g, "n"));
    const note = () => document.querySelectorAll("dialog[open] h2").forEach(add);
    new MutationObserver(note).observe(document.body, { subtree: true, childList: true, attributes: true });
  });
  const dialog = page.locator("dialog[open]");
  await page.addLocatorHandler(dialog, () => inspectDialog(page).catch((failure) => failures.push(failure.message)), {
    noWaitAfter: true,
  });
  return {
    async end() {
      await page.removeLocatorHandler(dialog);
      const opened = await page.evaluate(() => [...(globalThis.dialogTitles ?? [])]); // none after a reload
      assert.deepEqual(failures, []);
      assert.deepEqual(opened.filter((title) => !titles.get(page)?.has(title)), [], "dialogs were not inspected");
    },
  };
}
