// The layout: the role's screens, the language and the theme, signing out, a refused key, and the key of one user.
import assert from "node:assert/strict";
import { request } from "../api.mjs";

export const pictures = [];
export const key = () => process.env.COMPAT_READ_KEY;
export const prepare = () => request("POST", "/v1/admin/keys", { name: "of one user", role: "read", user_id: "sign-in-ada" });
export const address = () => "#/";

export async function show(page) {
  await page.getByRole("banner").getByText("compat").waitFor();
}

export async function act(page, bound, { forgive }) {
  const nav = page.getByRole("navigation", { name: "Screens" });
  const links = () => nav.getByRole("link").allInnerTexts();
  for (const name of ["Users", "Memories"]) assert.ok((await links()).includes(name), `the role read has no ${name}`);
  for (const name of ["Forgetting preview", "Operations"]) {
    assert.ok(!(await links()).includes(name), `the role read has ${name}`);
  }
  for (const path of ["operations", "operations/keys", "forgetting"]) {
    await page.evaluate((path) => void (location.hash = `#/${path}`), path);
    await page.getByText("There is no such screen, or the role of your key does not include it.").waitFor();
    assert.equal(await page.locator("main").getByRole("button").count(), 0, `${path} has something to press`);
  }
  await nav.getByRole("link", { name: "Users" }).click();

  await page.getByLabel("Language").selectOption("zh");
  await page.getByRole("heading", { level: 1, name: "用户" }).waitFor();
  assert.equal(await page.locator("html").getAttribute("lang"), "zh-CN");
  await page.getByLabel("语言").selectOption("en");
  const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await ground();
  await page.getByLabel("Theme").selectOption("dark");
  assert.notEqual(await ground(), light, "the dark theme has the colours of the light one");

  await page.reload(); // the key stays in the tab, and the settings in the browser
  await page.getByRole("banner").getByText("compat").waitFor();
  assert.notEqual(await ground(), light, "the theme is lost by a reload");
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByLabel("API key").waitFor();
  const stored = () => page.evaluate(() => sessionStorage.length);
  assert.equal(await stored(), 0, "a key stays after signing out");

  const enter = async (key) => {
    await page.getByLabel("API key").fill(key);
    await page.keyboard.press("Enter");
  };
  await enter("not-a-key");
  await page.getByRole("alert").getByText("(401)").waitFor();
  forgive(/status of 401/);
  assert.equal(await stored(), 0, "a refused key is kept");

  await enter(bound.secret);
  await page.getByRole("banner").getByText("sign-in-ada").waitFor();
  assert.ok(!(await links()).includes("Users"), "the key of one user has the list of users");
  assert.ok(!(await links()).includes("Shared pool"), "a key that may not read the pool has its screen");
  assert.ok((await links()).includes("Memories"));
  await page.evaluate(() => void (location.hash = "#/users"));
  await page.getByText("There is no such screen, or the role of your key does not include it.").waitFor();
}
