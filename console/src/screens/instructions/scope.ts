import type { Schema } from "../../api/client";

/** Scope is for whom instructions are; the fields are those of queries and bodies. */
export interface Scope {
  scope: Schema<"ScopeKind">;
  agent_id?: string;
  user_id?: string;
}
