import type { Screen } from "../screen";
import Users from "./Users.svelte";

export default {
  path: "users",
  title: { en: "Users", zh: "用户" },
  group: "memories",
  order: 10,
  component: Users,
  role: "read",
  wholeApp: true,
} satisfies Screen as Screen;
