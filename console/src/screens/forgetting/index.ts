import type { Screen } from "../screen";
import Forgetting from "./Forgetting.svelte";

export default {
  path: "forgetting",
  title: { en: "Forgetting preview", zh: "遗忘预览" },
  group: "memories",
  order: 40,
  component: Forgetting,
  role: "write",
} satisfies Screen as Screen;
