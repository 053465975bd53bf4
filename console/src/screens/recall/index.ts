import type { Screen } from "../screen";
import Recall from "./Recall.svelte";

export default {
  path: "recall",
  title: { en: "Recall playground", zh: "召回试验" },
  group: "trial",
  order: 10,
  component: Recall,
  role: "read",
} satisfies Screen as Screen;
