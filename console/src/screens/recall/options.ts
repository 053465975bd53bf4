import type { Schema } from "../../api/client";

export type Request = Schema<"RecallRequest">;

/** Options are the settings of one recall as they are entered; an empty text leaves the server's default. */
export interface Options {
  limit: string;
  kinds: "" | "facts" | "messages";
  mode: "" | Schema<"RankingMode">;
  relevance: string;
  decay: string;
  importance: string;
  decayRate: string;
  candidates: string;
  minConfidence: string;
  minSimilarity: string;
  agent: string;
  asOf: string; // RFC 3339
  route: boolean;
  filter: string; // JSON
}

export const standard = (): Options => ({
  limit: "", kinds: "", mode: "", relevance: "", decay: "", importance: "", decayRate: "", candidates: "",
  minConfidence: "", minSimilarity: "", agent: "", asOf: "", route: true, filter: "",
});

const given = (text: string) => (text.trim() === "" ? undefined : Number(text));

/**
 * requestOf makes a request that counts no access. With `asOf`, freshness is of that time, too. It throws a SyntaxError if
 * the filter is not JSON.
 */
export function requestOf(user: string, query: string, o: Options): Request {
  const weighted = [o.relevance, o.decay, o.importance].some((text) => text.trim() !== "");
  return {
    user_id: user,
    query,
    explain: true,
    touch: false,
    limit: given(o.limit),
    include: o.kinds ? [o.kinds] : undefined,
    mode: o.mode || undefined,
    weights: weighted
      ? { relevance: Number(o.relevance), decay: Number(o.decay), importance: Number(o.importance) }
      : undefined,
    decay_rate: given(o.decayRate),
    candidates: given(o.candidates),
    min_confidence: given(o.minConfidence),
    min_similarity: given(o.minSimilarity),
    agent_id: o.agent.trim() || undefined,
    at: o.asOf.trim() || undefined,
    as_of: o.asOf.trim() || undefined,
    route: o.route ? undefined : false,
    filter: o.filter.trim() ? (JSON.parse(o.filter) as Request["filter"]) : undefined,
  };
}
