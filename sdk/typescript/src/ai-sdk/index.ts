import type { LanguageModelMiddleware } from "ai";
import type { Hippocampus } from "../client.js";
import type { TurnRequest } from "../types.js";
import { answerOf, type PromptTurn, turnOf } from "./prompt.js";
import type { CallParameters, Content, FinishReason, StreamPart } from "./types.js";

/** Whose memory a model gets, and how. */
export interface MemoryOptions {
  client: Pick<Hippocampus, "context" | "addTurn">;
  user_id: string;
  /** The conversation that the turns belong to. */
  conversation_id?: string;
  /**
   * The id of the user's last message, such as UIMessage.id of useChat. A turn with the same id takes the place of the one
   * before, also on another day and if the user has edited the message. Default: the words of the messages decide.
   */
  message_id?: string;
  /** The agent that the memories of the turns are private to. */
  agent_id?: string;
  /** The most tokens of the context. Default 1,000. */
  max_tokens?: number;
  /** Whether turns are reported. Default true. */
  remember?: boolean;
  /** The longest time that the model waits for its context, in milliseconds. Default 1,000. */
  contextTimeout?: number;
  /** The longest time that the end of an answer waits for the report of its turn, in milliseconds. Default 5,000. */
  turnTimeout?: number;
  /** Takes the report of a turn, which the end of the answer then does not wait for, as Next's `after` does. */
  waitUntil?: (report: Promise<void>) => void;
  /** Gets the failures of memory, which never fail a model call. */
  onError?: (error: unknown, during: "context" | "turn") => void;
}

/** A call of the model that has a turn. */
interface Call {
  turn: PromptTurn;
  /** Names the turn and those that take its place: a hash of whose it is and of what asks for the answer. */
  key: string;
}

/** The contexts of the latest turns of each client, so that calls after tools get the text of the first call. */
const contexts = new WeakMap<object, Map<string, string>>();
const contextsKept = 1000;

/**
 * Returns a middleware for wrapLanguageModel of the AI SDK. Before a call it adds what is known of the user as one
 * system message after the caller's own; after a finished answer it reports the turn.
 */
export function memory(options: MemoryOptions): LanguageModelMiddleware {
  const calls = new WeakMap<CallParameters, Call>();
  return {
    specificationVersion: "v4",

    async transformParams({ params }) {
      try {
        const turn = turnOf(params.prompt);
        if (turn === undefined) return params;
        const call = { turn, key: await keyOf(options, turn) };
        const text = await contextOf(options, call, params.abortSignal);
        const added = text === "" ? [] : [{ role: "system" as const, content: text }];
        const prompt = params.prompt.toSpliced(turn.at, 0, ...added);
        const transformed = { ...params, prompt };
        calls.set(transformed, call);
        return transformed;
      } catch (error) {
        report(options, error, "context");
        return params;
      }
    },

    async wrapGenerate({ doGenerate, params }) {
      const answer = await doGenerate();
      const call = calls.get(params);
      if (call && isWhole(answer.finishReason)) await remember(options, call, answer.content);
      return answer;
    },

    async wrapStream({ doStream, params }) {
      const { stream, ...others } = await doStream();
      const call = calls.get(params);
      return { ...others, stream: call ? stream.pipeThrough(follow(options, call)) : stream };
    },
  };
}

/** Reads a stream along, and reports the turn before the stream ends. A stream that fails or is cancelled reports none. */
function follow(options: MemoryOptions, call: Call): TransformStream<StreamPart, StreamPart> {
  const content: Content[] = [];
  const texts = new Map<string, { type: "text"; text: string }>();
  let whole = false;
  let failed = false;
  return new TransformStream({
    transform(part, controller) {
      if (part.type === "text-start") {
        const text = { type: "text" as const, text: "" };
        texts.set(part.id, text);
        content.push(text);
      } else if (part.type === "text-delta") {
        const text = texts.get(part.id);
        if (text) text.text += part.delta;
      } else if (part.type === "tool-call") content.push(part);
      else if (part.type === "error") failed = true;
      else if (part.type === "finish") whole = isWhole(part.finishReason);
      controller.enqueue(part);
    },
    async flush() {
      if (whole && !failed) await remember(options, call, content);
    },
  });
}

/** Reports whether an answer ends its turn. After calls of tools another answer follows, which reports the turn. */
function isWhole({ unified }: FinishReason): boolean {
  return unified !== "tool-calls" && unified !== "error" && unified !== "interrupted";
}

async function contextOf(
  options: MemoryOptions,
  { turn, key }: Call,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { client, user_id, agent_id, max_tokens = 1000, contextTimeout: timeout = 1000 } = options;
  const known = contexts.get(client) ?? new Map<string, string>();
  contexts.set(client, known);
  const found = turn.continues ? known.get(key) : undefined;
  if (found !== undefined) return found;
  let text = "";
  try {
    ({ text } = await client.context(
      {
        user_id,
        ...(agent_id !== undefined && { agent_id }),
        ...(turn.query !== undefined && { query: turn.query }),
        max_tokens,
        present: turn.present,
        condense: false,
        touch: !turn.continues,
      },
      { signal, timeout, retries: 0 },
    ));
  } catch (error) {
    if (!signal?.aborted) report(options, error, "context");
  }
  known.delete(key);
  known.set(key, text);
  for (const oldest of known.keys()) {
    if (known.size <= contextsKept) break;
    known.delete(oldest);
  }
  return text;
}

/** The most answers to one message of the user that are told apart. */
const mostAnswers = 100;

/**
 * Reports a turn. An answer that is generated again, or to an edited message, takes the place of the turn before. The ids of
 * these turns are numbered, so that every process finds the last one, and a repeated report finds itself.
 */
async function remember(options: MemoryOptions, call: Call, content: readonly Content[]): Promise<void> {
  const { client, user_id, conversation_id, agent_id, turnTimeout: timeout = 5000, waitUntil } = options;
  if (options.remember === false) return;
  const answer = answerOf(content);
  if (answer === undefined || call.turn.messages.length === 0) return;
  const turn = {
    user_id,
    ...(conversation_id !== undefined && { conversation_id }),
    ...(agent_id !== undefined && { agent_id }),
    messages: [...identified(call.turn.messages, options.message_id), answer],
  };
  const signal = AbortSignal.timeout(timeout);
  const reported = replaceLast(client, turn, `ai-sdk-${call.key}`, signal).catch((error: unknown) =>
    report(options, error, "turn"),
  );
  if (waitUntil) waitUntil(reported);
  else await reported;
}

/** Reports a turn under the first id that no other turn has, in place of the turn with the id before. */
async function replaceLast(
  client: MemoryOptions["client"],
  turn: Omit<TurnRequest, "id">,
  key: string,
  signal: AbortSignal,
): Promise<void> {
  let before: string | undefined;
  let conflict: unknown;
  for (let number = 1; number <= mostAnswers; number++) {
    const id = number === 1 ? key : `${key}-${number}`;
    try {
      const place = before !== undefined && { replaces: before };
      const { status } = await client.addTurn({ ...turn, id, ...place }, { signal });
      if (status !== "withdrawn") return;
    } catch (error) {
      const { kind } = error as { kind?: unknown };
      // The conflict was not about the id of the turn, but about that of the message.
      if (kind === "not_found" && conflict !== undefined) break;
      if (kind !== "conflict") throw error;
      conflict = error;
    }
    before = id; // another answer has the id
  }
  throw conflict;
}

/** Returns messages of which the user's last one has an id. */
function identified(messages: PromptTurn["messages"], id: string | undefined): PromptTurn["messages"] {
  const last = messages.findLastIndex((m) => m.role === "user");
  return id === undefined ? messages : messages.map((m, i) => (i === last ? { ...m, id } : m));
}

function report({ onError }: MemoryOptions, error: unknown, during: "context" | "turn"): void {
  try {
    onError?.(error, during);
  } catch {
    // A failing callback must not fail the model call either.
  }
}

/**
 * Returns a hash of whose turn it is, and of the id of the user's last message. Without an id it is of the day and the
 * messages, so that the same words of another day are a turn of their own.
 */
async function keyOf(options: MemoryOptions, turn: PromptTurn): Promise<string> {
  const { user_id, conversation_id, agent_id, message_id } = options;
  const what = message_id === undefined ? [new Date().toISOString().slice(0, 10), turn.prefix] : [message_id];
  const parts = [user_id, conversation_id, agent_id, ...what];
  const text = JSON.stringify(parts, (_, value: unknown) => (value instanceof Uint8Array ? value.length : value));
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(hash).subarray(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
