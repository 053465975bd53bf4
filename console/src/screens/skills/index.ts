import type { Screen } from "../screen";
import Skills from "./Skills.svelte";

export default {
  path: "skills",
  title: { en: "Skills", zh: "技能" },
  group: "write",
  order: 60,
  component: Skills,
  role: "read",
} satisfies Screen as Screen;
