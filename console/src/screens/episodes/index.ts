import type { Screen } from "../screen";
import Episodes from "./Episodes.svelte";

export default {
  path: "episodes",
  title: { en: "Episodes", zh: "片段" },
  group: "memories",
  order: 30,
  component: Episodes,
  role: "read",
} satisfies Screen as Screen;
