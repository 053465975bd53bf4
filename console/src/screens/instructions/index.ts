import type { Screen } from "../screen";
import Instructions from "./Instructions.svelte";

export default {
  path: "instructions",
  title: { en: "Instructions", zh: "指令" },
  group: "write",
  order: 50,
  component: Instructions,
  role: "read",
} satisfies Screen as Screen;
