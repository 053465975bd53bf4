import type { Screen } from "../screen";
import Pool from "./Pool.svelte";

export default {
  path: "pool",
  title: { en: "Shared pool", zh: "共享池" },
  group: "memories",
  order: 50,
  component: Pool,
  role: "read",
  pool: true,
} satisfies Screen as Screen;
