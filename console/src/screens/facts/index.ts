import type { Screen } from "../screen";
import Facts from "./Facts.svelte";

export default {
  path: "facts",
  title: { en: "Facts timeline", zh: "事实时间线" },
  group: "write",
  order: 40,
  component: Facts,
  role: "read",
} satisfies Screen as Screen;
