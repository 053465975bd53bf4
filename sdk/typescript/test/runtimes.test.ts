import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { join } from "node:path";
import { before, it } from "node:test";
import { EdgeVM } from "@edge-runtime/vm";
import { buildSync } from "esbuild";
import * as esm from "hippocampus-memory";
import { scenario } from "./scenario.js";
import { newUser, packageFolder, type Server, startServer } from "./server.js";

let server: Server;
before(async () => {
  server = await startServer();
});

it("the client runs as an ES module", async () => {
  assert.equal(await scenario(new esm.Hippocampus(server), newUser()), "all holds");
  await new esm.Hippocampus(server).import(new esm.Hippocampus(server).export({ user_id: newUser() }));
});

it("the client runs as a CommonJS module", async () => {
  const cjs = createRequire(import.meta.url)("hippocampus-memory") as typeof esm;
  assert.notEqual(cjs.Hippocampus, esm.Hippocampus);
  assert.equal(await scenario(new cjs.Hippocampus(server), newUser()), "all holds");
});

it("the client and the middleware run in an edge runtime, which has no modules of Node", async () => {
  const contents = `
    export { Hippocampus } from "hippocampus-memory";
    export { memory } from "hippocampus-memory/ai-sdk";
    export { scenario } from "./test/scenario.js";`;
  const bundle = buildSync({
    stdin: { contents, resolveDir: join(packageFolder, "build") },
    bundle: true,
    format: "iife",
    write: false,
    platform: "neutral",
    mainFields: ["module", "main"],
    globalName: "bundle",
  });
  const vm = new EdgeVM({ initialCode: bundle.outputFiles[0]?.text ?? "" });
  const options = JSON.stringify(server);
  const answer = vm.evaluate<Promise<string>>(
    `bundle.scenario(new bundle.Hippocampus(${options}), ${JSON.stringify(newUser())})`,
  );
  assert.equal(await answer, "all holds");
  assert.equal(vm.evaluate<string>("typeof bundle.memory({ user_id: 'ada' }).wrapStream"), "function");
});
