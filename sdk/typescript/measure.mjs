// Prints the sizes of the client and of the middleware with all that they need, and the processor time of a cold import,
// which the load of the machine changes less than the time on the clock.
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { buildSync } from "esbuild";

const folder = fileURLToPath(new URL("dist/esm/", import.meta.url));
for (const entry of ["index.js", "ai-sdk/index.js"]) {
  const options = { entryPoints: [folder + entry], bundle: true, minify: true, format: "esm", write: false };
  const code = buildSync(options).outputFiles[0].contents;
  const program = `const start = process.cpuUsage(); await import("${folder}${entry}");
    const { user, system } = process.cpuUsage(start); console.log((user + system) / 1000)`;
  const times = Array.from({ length: 7 }, () =>
    Number(execFileSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" })),
  ).sort((a, b) => a - b);
  console.log(
    `${entry}: ${code.length} bytes, ${gzipSync(code, { level: 9 }).length} gzipped; ` +
      `cold import ${times[3].toFixed(1)} ms of the processor (median of 7, Node ${process.versions.node})`,
  );
}
