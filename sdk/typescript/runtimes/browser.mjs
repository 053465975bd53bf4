// Runs the scenario in Chromium, from pages of another origin than the server's, on a server of its own: one of an origin
// that the server allows, and one of another. They are plain HTTP, where a browser has no crypto.randomUUID.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const { chromium } = await import(process.env.PLAYWRIGHT); // index.mjs of playwright-core
const contents = `
  import { Hippocampus } from "./dist/esm/index.js";
  import { scenario } from "./build/test/scenario.js";
  globalThis.play = (server, user) => scenario(new Hippocampus(server), user);
  globalThis.said = async (server, user_id) => {
    const memory = new Hippocampus({ ...server, retries: 0 });
    const messages = [{ role: "user", content: "I live in Lisbon." }];
    const turn = await memory.addTurn({ user_id, messages, wait: true }).catch((error) => error);
    return turn.kind ?? turn.status;
  };`;
const resolveDir = fileURLToPath(new URL("..", import.meta.url));
const bundle = buildSync({ stdin: { contents, resolveDir }, bundle: true, write: false, format: "esm" });
const script = bundle.outputFiles[0].contents;
const html = '<!doctype html><script type="module" src="script.js"></script>';
const pages = createServer((request, response) => {
  if (request.url === "/script.js") response.setHeader("Content-Type", "text/javascript").end(script);
  else response.setHeader("Content-Type", "text/html").end(html);
});
await new Promise((resolve) => pages.listen(0, "127.0.0.1", resolve));
const origin = (host) => `http://${host}:${pages.address().port}`;

const data = mkdtempSync(join(tmpdir(), "hippocampus-"));
const foreign = /^(HIPPOCAMPUS|MILVUS|DATABASE)_/; // settings of the server of scripts/compat
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
const settings = ["--data", data, "--listen", "127.0.0.1:0", "--set", `api.cors_origins=${origin("chat.test")}`];
const program = spawn(process.env.COMPAT_BINARY, ["serve", ...settings], { env, stdio: ["ignore", "pipe", "ignore"] });
const args = ["--no-sandbox", "--host-resolver-rules=MAP *.test 127.0.0.1"];
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args });
try {
  let banner = "";
  let server;
  for await (const piece of program.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    banner += piece;
    const url = /listening on (\S+)/.exec(banner)?.[1];
    const key = /Admin key, .*: (\S+)\n/.exec(banner)?.[1];
    if (url && key) {
      server = { url, key };
      break;
    }
  }
  const create = ["key", "create", "--role", "write", "--user", "ada", "--data", data];
  const quiet = { env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] };
  const own = { url: server.url, key: execFileSync(process.env.COMPAT_BINARY, create, quiet).trim() };

  const page = await browser.newPage();
  const opened = async (host) => {
    await page.goto(origin(host));
    await page.waitForFunction(() => "said" in globalThis);
  };
  await opened("chat.test");
  assert.equal(await page.evaluate(() => typeof crypto.randomUUID), "undefined");
  assert.equal(await page.evaluate((s) => globalThis.play(s, "browser"), server), "all holds");
  assert.equal(await page.evaluate((s) => globalThis.said(s, "ada"), own), "processed");
  assert.equal(await page.evaluate((s) => globalThis.said(s, "ben"), own), "forbidden");
  await opened("other.test");
  assert.equal(await page.evaluate((s) => globalThis.said(s, "ada"), own), "unreachable");
  console.log(`Chromium ${browser.version()}: all holds`);
} finally {
  await browser.close();
  pages.close();
  program.kill();
  await new Promise((resolve) => program.once("exit", resolve));
  rmSync(data, { recursive: true });
}
