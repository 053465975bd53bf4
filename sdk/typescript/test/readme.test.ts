import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { promisify } from "node:util";
import { startModel } from "./model.js";
import { newUser, packageFolder, repository, startServer } from "./server.js";

const execute = promisify(execFile);

/** Returns the examples of a page. */
function examplesOf(page: string): string[] {
  return [...readFileSync(page, "utf8").matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map((match) => match[1] ?? "");
}

it("the TypeScript examples of the README, docs/connect/ai-sdk.md and docs/connect/clients.md compile and run", async () => {
  const [server, { url }] = await Promise.all([startServer(), startModel()]);
  const pages = ["sdk/typescript/README.md", "docs/connect/ai-sdk.md", "docs/connect/clients.md"];
  const examples = pages.flatMap((page) => examplesOf(join(repository, page)));
  assert.equal(examples.length, 5);
  // A program below the package finds the package by its name.
  mkdirSync(join(packageFolder, "build"), { recursive: true });
  const folder = mkdtempSync(join(packageFolder, "build/examples-"));
  const user = JSON.stringify(newUser());
  for (const [i, example] of examples.entries()) {
    const text = example.replaceAll('"ada"', user).replace("http://127.0.0.1:11434/v1", url);
    writeFileSync(join(folder, `${i}.ts`), text);
  }
  copyFileSync(join(packageFolder, "build/next-route/tsconfig.json"), join(folder, "tsconfig.json"));
  await execute(join(packageFolder, "node_modules/.bin/tsc"), ["-p", folder]);
  const env = { ...process.env, HIPPOCAMPUS_URL: server.url, HIPPOCAMPUS_KEY: server.key };
  const printed: string[] = [];
  for (const i of examples.keys()) {
    const { stdout, stderr } = await execute(process.execPath, [join(folder, `${i}.js`)], { env, timeout: 60_000 });
    assert.equal(stderr, "");
    printed.push(stdout);
  }
  assert.match(printed[0] ?? "", /verdict: 'kept'[\s\S]*I work as a marine biologist\. \[Long-term memory/);
  assert.match(printed[1] ?? "", /Plays the cello\.[\s\S]*ready/);
  assert.match(printed[2] ?? "", /^invalid 400 \[/);
  assert.equal(printed[3], "I see.\n");
  rmSync(folder, { recursive: true });
});
