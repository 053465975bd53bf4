import type { Screen } from "../screen";
import Recalls from "./Recalls.svelte";

export default {
  path: "recalls",
  title: { en: "Past recalls", zh: "过往召回" },
  group: "trial",
  order: 15,
  component: Recalls,
  role: "read",
} satisfies Screen as Screen;
