// Runs the scenario in workerd, the runtime of Cloudflare's workers.
import { scenario } from "../build/test/scenario.js";
import { Hippocampus } from "../dist/esm/index.js";

export default {
  async fetch(_, { url, key }) {
    return new Response(await scenario(new Hippocampus({ url, key }), `workerd-${crypto.randomUUID()}`));
  },
};
