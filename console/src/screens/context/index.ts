import type { Screen } from "../screen";
import Context from "./Context.svelte";

export default {
  path: "context",
  title: { en: "Context playground", zh: "上下文试验" },
  group: "trial",
  order: 20,
  component: Context,
  role: "read",
} satisfies Screen as Screen;
