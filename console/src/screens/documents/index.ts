import type { Screen } from "../screen";
import Documents from "./Documents.svelte";

export default {
  path: "documents",
  title: { en: "Documents", zh: "文档" },
  group: "write",
  order: 70,
  component: Documents,
  role: "read",
} satisfies Screen as Screen;
