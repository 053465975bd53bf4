import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { packageFolder, repository } from "./server.js";

it("src/generated is what server/api/openapi.yaml gives; run ./generate", () => {
  const folder = mkdtempSync(join(tmpdir(), "hippocampus-"));
  const file = join(folder, "openapi.ts");
  execFileSync(join(packageFolder, "generate"), [file], {
    env: { ...process.env, HIPPOCAMPUS_REPOSITORY: repository },
  });
  const given = readFileSync(file, "utf8");
  rmSync(folder, { recursive: true });
  assert.ok(given === readFileSync(join(packageFolder, "src/generated/openapi.ts"), "utf8"));
});
