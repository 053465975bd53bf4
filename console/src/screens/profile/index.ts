import type { Screen } from "../screen";
import Profile from "./Profile.svelte";

export default {
  path: "profile",
  title: { en: "Profile fields", zh: "档案字段" },
  group: "memories",
  order: 25,
  component: Profile,
  role: "read",
} satisfies Screen as Screen;
