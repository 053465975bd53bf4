import type { Screen } from "../screen";
import Conversations from "./Conversations.svelte";

export default {
  path: "conversations",
  title: { en: "Conversations", zh: "对话" },
  group: "write",
  order: 10,
  component: Conversations,
  role: "read",
} satisfies Screen as Screen;
