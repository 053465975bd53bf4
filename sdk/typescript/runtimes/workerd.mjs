// Starts workerd with the worker, asks it once, and prints its answer.
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildSync } from "esbuild";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
buildSync({ entryPoints: [path("worker.mjs")], bundle: true, format: "esm", outfile: path("../build/worker.js") });
const workerd = spawn("workerd", ["serve", "--control-fd=1", path("workerd.capnp")], {
  stdio: ["ignore", "pipe", "inherit"],
  detached: true, // a group of its own, as the command starts another process
});
let control = "";
for await (const piece of workerd.stdout.setEncoding("utf8")) {
  control += piece;
  const port = /"port":(\d+)/.exec(control)?.[1];
  if (!port) continue;
  const response = await fetch(`http://127.0.0.1:${port}`);
  console.log(`workerd: ${await response.text()}`);
  process.exitCode = response.ok ? 0 : 1;
  break;
}
process.kill(-workerd.pid);
