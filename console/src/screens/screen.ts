import type { Component } from "svelte";
import type { Texts } from "../texts/en";
import type { Key, Role } from "../state/session.svelte";
import type { Bilingual } from "../state/settings.svelte";

/** Screen is what `screens/NAME/index.ts` exports as its default. */
export interface Screen {
  path: string; // the first part of its address
  title: Bilingual<string>;
  group: keyof Texts["groups"]; // of the navigation
  order: number; // within the group
  component: Component;
  role: Role; // the weakest that may use it
  wholeApp?: boolean; // keys of one user may not use it
  pool?: boolean; // only keys that may read the shared pool may use it
  serverWide?: boolean; // keys that belong to no app may use it
}

/** serves reports whether a key may use a screen, apart from its role. */
export function serves(screen: Screen, key: Key): boolean {
  if (screen.pool && key.pool === "none") return false;
  return (key.app_id !== undefined || screen.serverWide === true) && (key.user_id === undefined || !screen.wholeApp);
}
