import type { Screen } from "../screen";
import Rescoring from "./Rescoring.svelte";

export default {
  path: "rescoring",
  title: { en: "Score again", zh: "重新评分" },
  group: "write",
  order: 33,
  component: Rescoring,
  role: "read",
  wholeApp: true,
} satisfies Screen as Screen;
