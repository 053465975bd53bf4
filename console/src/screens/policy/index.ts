import type { Screen } from "../screen";
import Policy from "./Policy.svelte";

export default {
  path: "policy",
  title: { en: "Policy", zh: "策略" },
  group: "write",
  order: 35,
  component: Policy,
  role: "admin",
  wholeApp: true,
} satisfies Screen as Screen;
