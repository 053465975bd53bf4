import type { Schema } from "../../api/client";

export type Request = Schema<"ContextRequest">;

/** Options are what is entered; an empty text leaves the server's default. */
export interface Options {
  query: string;
  conversation: string;
  agent: string;
  unit: "max_tokens" | "max_chars" | "model";
  size: string;
  model: string;
  preset: Schema<"ContextPreset">;
  format: "text" | "messages";
  condense: boolean;
}

export const standard = (query: string, conversation: string): Options => ({
  query, conversation, agent: "", unit: "max_tokens", size: "1000", model: "gpt-4o", preset: "default", format: "text",
  condense: false,
});

/** requestOf makes a request that counts no access. */
export function requestOf(user: string, o: Options): Request {
  const size = o.size === "" ? undefined : Number(o.size);
  return {
    user_id: user,
    query: o.query.trim() || undefined,
    conversation_id: o.conversation.trim() || undefined,
    agent_id: o.agent.trim() || undefined,
    max_tokens: o.unit === "max_tokens" ? size : undefined,
    max_chars: o.unit === "max_chars" ? size : undefined,
    model: o.unit === "model" ? o.model.trim() : undefined,
    budget: o.preset,
    format: o.format,
    condense: o.condense,
    touch: false,
  };
}
