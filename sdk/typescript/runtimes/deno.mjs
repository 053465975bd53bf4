// Runs the scenario in Deno.
import { scenario } from "../build/test/scenario.js";
import { Hippocampus } from "../dist/esm/index.js";

const { COMPAT_URL: url, COMPAT_ADMIN_KEY: key } = Deno.env.toObject();
console.log(
  `Deno ${Deno.version.deno}: ${await scenario(new Hippocampus({ url, key }), `deno-${crypto.randomUUID()}`)}`,
);
