import type { TurnRequest } from "../types.js";
import type { Content, Message, Prompt, ToolResult } from "./types.js";

type Said = TurnRequest["messages"][number];

/** What the API takes at most, and less where all of it must fit into a body of 1 MiB. */
const limits = { query: 65536, present: 100, presentLength: 250_000, messages: 50, bytes: 65536, toolBytes: 8192 };

/** What a prompt says about the turn that is going on. */
export interface PromptTurn {
  /** Where a system message goes: after the caller's own. */
  at: number;
  /** The user's last words; undefined if the user has said none. */
  query: string | undefined;
  /** What the messages say. */
  present: string[];
  /** The messages up to the user's last one, without those of the system: what makes the turn this turn. */
  prefix: Message[];
  /** The user's messages since the assistant's answer before, and what tools have done about them. */
  messages: Said[];
  /** Whether the user's last message is not the last: tools have answered. */
  continues: boolean;
}

/** Reads a prompt. Returns undefined if the user has not said anything. */
export function turnOf(prompt: Prompt): PromptTurn | undefined {
  const last = prompt.findLastIndex((m) => m.role === "user");
  if (last < 0) return undefined;
  const first = prompt.findLastIndex((m, i) => i < last && m.role !== "user" && m.role !== "system") + 1;
  const at = prompt.findIndex((m) => m.role !== "system");
  const words = wordsOf(prompt[last]).trim();
  return {
    at,
    query: words === "" ? undefined : cut(words, limits.query),
    present: presentOf(prompt),
    prefix: prompt.slice(0, last + 1).filter((m) => m.role !== "system"),
    messages: prompt.slice(first).flatMap(said).slice(-limits.messages),
    continues: last < prompt.length - 1,
  };
}

/** Returns the assistant's message of an answer; undefined if it says and does nothing. */
export function answerOf(content: readonly Content[]): Said | undefined {
  const parts = content.filter((part) => part.type === "text" || part.type === "tool-call");
  return said({ role: "assistant", content: parts })[0];
}

/** Returns the messages of a turn, in the form of the API, that a message of a prompt becomes. */
function said(message: Message): Said[] {
  switch (message.role) {
    case "system":
      return [];
    case "tool":
      return message.content
        .filter((part) => part.type === "tool-result")
        .map((part) => ({
          role: "tool",
          tool_call_id: part.toolCallId,
          content: cut(outputOf(part), limits.toolBytes),
        }));
    case "assistant": {
      const calls = message.content
        .filter((part) => part.type === "tool-call")
        .map((part) => ({
          id: part.toolCallId,
          type: "function",
          function: { name: part.toolName, arguments: cut(textOf(part.input), limits.toolBytes) },
        }));
      const content = cut(wordsOf(message));
      if (content === "" && calls.length === 0) return [];
      return [{ role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) }];
    }
    case "user": {
      const content = cut(wordsOf(message));
      return content === "" ? [] : [{ role: "user", content }];
    }
  }
}

/** Returns what the latest messages say. */
function presentOf(prompt: Prompt): string[] {
  const texts: string[] = [];
  let room = limits.presentLength;
  for (const message of prompt.toReversed()) {
    const text = cut(wordsOf(message));
    room -= text.length;
    if (room < 0 || texts.length === limits.present) break;
    if (text !== "") texts.unshift(text);
  }
  return texts;
}

function wordsOf(message: Message | undefined): string {
  if (message === undefined || message.role === "tool") return "";
  if (message.role === "system") return message.content;
  const parts: readonly { type: string; text?: string }[] = message.content;
  return parts.flatMap((part) => (part.type === "text" && part.text ? [part.text] : [])).join("\n");
}

function outputOf({ output }: ToolResult): string {
  if (output.type === "execution-denied") return output.reason ?? "denied";
  return textOf(output.value);
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Returns the beginning of a text that fits into a number of bytes, without NUL, which the API refuses. */
function cut(text: string, bytes = limits.bytes): string {
  const clean = text.replaceAll("\0", "");
  if (clean.length * 3 <= bytes) return clean;
  const encoded = new TextEncoder().encode(clean);
  // A character that is cut in the middle is left out.
  return new TextDecoder().decode(encoded.subarray(0, bytes), { stream: true });
}
