import type { Screen } from "../screen";
import Operations from "./Operations.svelte";

export default {
  path: "operations",
  title: { en: "Operations", zh: "运维" },
  group: "server",
  order: 10,
  component: Operations,
  role: "admin",
  wholeApp: true,
  serverWide: true,
} satisfies Screen as Screen;
