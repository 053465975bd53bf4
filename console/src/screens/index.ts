import { session } from "../state/session.svelte";
import { type Screen, serves } from "./screen";

const modules = import.meta.glob<{ default: Screen }>("./*/index.ts", { eager: true });

/** groups is the order of the navigation. */
export const groups = ["memories", "trial", "write", "server"] as const;

const all = Object.values(modules)
  .map((module) => module.default)
  .sort((a, b) => groups.indexOf(a.group) - groups.indexOf(b.group) || a.order - b.order);

/** screens returns those that the session's key may use. */
export function screens(): Screen[] {
  const { key } = session;
  return key ? all.filter((screen) => session.may(screen.role) && serves(screen, key)) : [];
}
