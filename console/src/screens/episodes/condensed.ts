import type { Schema } from "../../api/client";

/** Core is what the metadata of a summary say that stands for statements of an episode. */
interface Core {
  episode: string; // its id
  pattern?: boolean; // of the second stage: all that was left of the episode
}

/** coreOf returns what a memory says of the episode that it condenses, or undefined if it condenses none. */
export function coreOf({ type, metadata }: Schema<"Memory">): Core | undefined {
  return type === "summary" && typeof metadata?.episode === "string" ? (metadata as unknown as Core) : undefined;
}
