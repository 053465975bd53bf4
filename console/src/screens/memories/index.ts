import type { Screen } from "../screen";
import Memories from "./Memories.svelte";

export default {
  path: "memories",
  title: { en: "Memories", zh: "记忆" },
  group: "memories",
  order: 20,
  component: Memories,
  role: "read",
} satisfies Screen as Screen;
