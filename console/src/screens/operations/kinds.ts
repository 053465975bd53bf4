import type { Schema } from "../../api/client";

/** names lists the members of a union of texts; leaving one out, or adding another, fails the build. */
const names = <Name extends string>(all: Record<Name, true>): Name[] => Object.keys(all) as Name[];

export const jobKinds = names<Schema<"JobKind">>({
  compact_conversation: true,
  compression: true,
  consolidate_conversation: true,
  consolidation: true,
  episodes: true,
  erase_user: true,
  events: true,
  evolution: true,
  facts: true,
  forgetting: true,
  idle_conversations: true,
  judge_again: true,
  make_episodes: true,
  past_messages: true,
  purge: true,
  rebuild: true,
  recall_log: true,
  reembedding: true,
  reflect_user: true,
  reflection: true,
  repair: true,
  reprocess_turns: true,
  verification: true,
});

export const eventKinds = names<Schema<"EventKind">>({
  "memory.written": true,
  "memory.forgotten": true,
  "reflection.created": true,
  "conversation.ended": true,
  "turn.failed": true,
});
