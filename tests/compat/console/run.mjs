// Runs the modules of screens in Chromium. Each module exports:
//
//   prepare()          creates data through the API and returns what the other functions need; once per run
//   address(data)      of the screen, such as "#/users"
//   show(page, data)   waits for what the screen shows; at every width, in both themes, also in Chinese
//   act(page, data, { width, forgive })
//                      optional: uses the screen in English, and leaves what prepare can create again; `forgive` drops an
//                      error of the page that the module has caused
//   widths             optional: the widths at which act runs; otherwise 1440 px
//   key                optional: the key to sign in with; otherwise that of an administrator
//   pictures           optional: the pictures of the screen by the ends of their names; otherwise the one at 1440 px
//
// With COMPAT_BRIEF each screen is shown once and not used. The screens of administrators share one page, since a new
// page takes most of the time.
//
// A screen fails if the page logs an error, asks another host, is wider than the window, or breaks a rule of axe, also
// while a dialog is open.
import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { chromium } from "playwright-core";
import { inspect, inspectDialogs } from "./inspect.mjs";

const { COMPAT_URL: url, COMPAT_SIZE: size, COMPAT_BRIEF: brief, COMPAT_ADMIN_KEY: adminKey } = process.env;
const { CONSOLE_SCREEN: only, CONSOLE_PICTURES: pictures } = process.env;
const variants = [
  { width: 1440, theme: "dark", language: "en" },
  { width: 390, theme: "light", language: "en" },
  { width: 390, theme: "dark", language: "zh", picture: "-zh" },
  { width: 390, theme: "dark", language: "en", picture: "-390", acts: true },
  { width: 1440, theme: "light", language: "en", picture: "", acts: true },
];

/** triedOf returns the variants of a screen. Pages differ by the size of the server only in their data. */
function triedOf({ pictures: own = [""] }) {
  if (pictures) return variants.filter(({ picture }) => own.includes(picture));
  if (brief) return [{ ...variants.at(-1), acts: false }];
  return size === "embedded" ? variants : variants.slice(-1);
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });

/** open signs in at a screen and returns its page with the errors that it collects. */
async function open(screen, data, { width, theme, language }) {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: theme,
    locale: language === "zh" ? "zh-CN" : "en-GB",
    reducedMotion: "reduce",
    timezoneId: "UTC",
  });
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => errors.push(`page: ${error.stack ?? error}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(`${url}/`)) errors.push(`request to ${request.url()}`);
  });
  await page.goto(`${url}/console/${screen.address(data)}`);
  await page.locator("input[name=key]").fill(screen.key?.(data) ?? adminKey);
  await page.keyboard.press("Enter");
  await page.locator("main h1").waitFor();
  return { context, page, errors };
}

let opened; // by an administrator, with COMPAT_BRIEF

/** reopen shows a screen in the page that is open. */
async function reopen(screen, data, variant) {
  if (!brief || pictures || screen.key) return open(screen, data, variant);
  if (!opened) return (opened = await open(screen, data, variant));
  opened.errors.length = 0;
  await opened.page.goto("about:blank"); // or the address would differ in its fragment alone
  await opened.page.goto(`${url}/console/${screen.address(data)}`);
  await opened.page.locator("main h1").waitFor();
  return opened;
}

/** forgive drops the errors that match a pattern; there must be one. */
function forgive(errors, pattern) {
  const others = errors.filter((error) => !pattern.test(error));
  assert.ok(others.length < errors.length, `the page has no error like ${pattern}`);
  errors.splice(0, errors.length, ...others);
}

async function run(name, screen) {
  let data, prepared;
  for (const variant of triedOf(screen)) {
    const { width, theme, language, picture } = variant;
    if (!prepared) data = await screen.prepare();
    prepared = true;
    const { context, page, errors } = await reopen(screen, data, variant);
    const where = `${name} at ${width} px, ${theme}, ${language}`;
    try {
      await screen.show(page, data);
      if (pictures) {
        await page.evaluate(() => document.fonts.ready);
        await page.screenshot({ path: `${pictures}/${name}${picture}.png`, fullPage: false });
      } else {
        await inspect(page, errors);
        if (variant.acts && screen.act && (screen.widths ?? [1440]).includes(width)) {
          const dialogs = await inspectDialogs(page);
          await screen.act(page, data, { width, forgive: (pattern) => forgive(errors, pattern) });
          await dialogs.end();
          await inspect(page, errors);
          prepared = false; // the data is used up
        }
      }
    } catch (failure) {
      await page.screenshot({ path: `${process.env.COMPAT_DIR}/${name}.png` }).catch(() => {});
      const text = await page.locator("body").innerText().catch(() => "");
      throw new Error(`${where}: ${failure.message}\n--- errors\n${errors.join("\n")}\n--- the page\n${text}`);
    } finally {
      if (context !== opened?.context) await context.close();
    }
  }
}

try {
  const files = (await readdir(new URL("screens", import.meta.url))).sort();
  const names = files.map((file) => file.replace(/\.mjs$/, "")).filter((name) => !only || name === only);
  assert.ok(names.length > 0, `there is no screen ${only}`);
  for (const name of names) {
    const screen = await import(`./screens/${name}.mjs`);
    if (triedOf(screen).length === 0) continue;
    const start = performance.now();
    await run(name, screen);
    console.log(`ok  the screen ${name} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  }
} finally {
  await browser.close();
}
