// Opens every page of the documentation in Chromium on a phone, and some in the light and the dark theme and on a desktop. A page
// fails if it logs an error, sends a request to another host, is wider than the window, or breaks a rule of axe.
import assert from "node:assert/strict";
import { AxeBuilder } from "@axe-core/playwright";
import { chromium } from "playwright-core";

const { COMPAT_URL: url } = process.env;
const pages = ["concepts.html", "zh/concepts.html", "", "benchmarks.html", "decisions/", "guides/choosing.html"];
const { pages: listed } = await (await fetch(`${url}/docs/search.json`)).json();
const all = listed.map(({ p }) => p);
assert.ok(all.length > 60, `the search knows only ${all.length} pages`);
const variants = [
  { width: 1440, theme: "light", pages },
  { width: 1440, theme: "dark", pages: pages.slice(0, 2) },
  { width: 390, theme: "light", pages: all },
  { width: 390, theme: "dark", pages: pages.slice(0, 2) },
];

/** watch returns the list to which the page's errors and requests to other hosts are added. */
function watch(page) {
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("request", (request) => {
    if (!/^(data:|blob:)/.test(request.url()) && !request.url().startsWith(`${url}/`)) errors.push(request.url());
  });
  return errors;
}

const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const { width, theme, pages } of variants) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: theme });
  const page = await context.newPage();
  const errors = watch(page);
  for (const path of pages) {
    const name = `/docs/${path} at ${width} px, ${theme}`;
    await page.goto(`${url}/docs/${path}`, { waitUntil: "load" });
    await page.locator("main h1").waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= width, `${name}: the page is ${wide} px wide`);
    const { violations } = await new AxeBuilder({ page }).analyze();
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes[0].html}`);
    assert.deepEqual([...errors, ...found], [], name);
  }
  await context.close();
}

// The reference of the API shows each of its documents.
{
  const page = await browser.newPage();
  const errors = watch(page);
  await page.goto(`${url}/docs/api/`, { waitUntil: "load" });
  const documents = page.locator("nav a[data-document]");
  assert.equal(await documents.count(), 3);
  const titles = new Set();
  for (let i = 0; i < 3; i++) {
    const name = await documents.nth(i).getAttribute("data-document");
    await documents.nth(i).click();
    await page.waitForURL((address) => address.searchParams.get("document") === name);
    await page.locator("#reference .opblock").first().waitFor();
    titles.add(await page.locator("#reference .info .title").innerText());
    await page.locator("#reference .opblock-summary-control").first().click();
    await page.locator("#reference .opblock-body").first().waitFor();
    assert.deepEqual(errors, [], `/docs/api/ with ${name}`);
  }
  assert.equal(titles.size, 3, "documents have the same title");
  await page.close();
}

// The picture follows the theme, which the button changes and the next page keeps.
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, colorScheme: "light" });
const page = await context.newPage();
await page.goto(`${url}/docs/concepts.html`, { waitUntil: "load" });
const picture = page.locator("main img").first();
await picture.scrollIntoViewIfNeeded();
const light = await picture.screenshot();
await page.locator("#theme").click();
assert.notDeepEqual(await picture.screenshot(), light, "the picture is the same in both themes");
await page.locator("nav .order, nav.order").getByRole("link").last().click();
await page.waitForLoadState();
assert.equal(await page.evaluate(() => document.documentElement.style.colorScheme), "dark", "the theme is not kept");

// The search works by keyboard, and leads to a heading.
await page.goto(`${url}/docs/`, { waitUntil: "load" });
await page.keyboard.press("/");
await page.keyboard.type("rerank");
await page.locator("#results a").first().waitFor();
const { violations } = await new AxeBuilder({ page }).analyze();
assert.deepEqual(violations.map(({ id }) => id), [], "the results of the search break rules of axe");
await page.keyboard.press("ArrowDown");
await page.keyboard.press("Enter");
await page.waitForURL(/#/);
assert.match(page.url(), /reranker/, "the search does not lead to the heading about rerankers");
for (const [query, result] of [["记忆 遗忘", "zh/concepts.html"], ["purge forgotten", "guides/forgetting.html"]]) {
  await page.goto(`${url}/docs/`, { waitUntil: "load" });
  await page.locator("#query").fill(query);
  await page.locator(`#results a[href^="${result}"]`).waitFor();
}
await page.locator("#query").fill("zzzz");
await page.getByText("No page has these words.").waitFor({ state: "attached" });
await browser.close();
console.log("the documentation passes");
