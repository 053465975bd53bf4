import type { Screen } from "../screen";
import Gate from "./Gate.svelte";

export default {
  path: "gate",
  title: { en: "Gate review", zh: "门控审查" },
  group: "write",
  order: 30,
  component: Gate,
  role: "read",
} satisfies Screen as Screen;
