import { settings } from "../state/settings.svelte";
import { en } from "./en";
import { zh } from "./zh";

/** common is the texts of the layout and the parts, in the present language. */
export const common = () => ({ en, zh })[settings.language];
