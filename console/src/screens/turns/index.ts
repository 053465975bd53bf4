import type { Screen } from "../screen";
import Turns from "./Turns.svelte";

export default {
  path: "turns",
  title: { en: "Turns", zh: "轮次" },
  group: "write",
  order: 20,
  component: Turns,
  role: "read",
} satisfies Screen as Screen;
