import { api, ask, type Schema } from "../../api/client";
import type { Page } from "../../state/load.svelte";

export type Counts = Schema<"CandidateCounts">;
export type Candidate = Schema<"Candidate">;

/** Review is what another threshold concerns: the candidates of a verdict with an importance in [low, high). */
export interface Review {
  verdict: "below_threshold" | "kept";
  low: number;
  high: number;
}

/** reviewOf returns what a threshold would change; at the present one, all that it refused. */
export function reviewOf(present: number, chosen: number): Review {
  if (chosen > present) return { verdict: "kept", low: present, high: chosen };
  return { verdict: "below_threshold", low: chosen < present ? chosen : 0, high: 2 };
}

const concerns = (review: Review) => (c: Counts["counts"][number]) =>
  c.verdict === review.verdict && c.importance >= review.low && c.importance < review.high;

/** sizeOf is the number of candidates that a review has. */
export const sizeOf = (counts: Counts, review: Review): number =>
  counts.counts.filter(concerns(review)).reduce((sum, c) => sum + c.count, 0);

const pageSize = 50;

/**
 * read returns a page of a review, the most important candidates first. The API lists candidates by time, so each
 * hundredth of importance that has candidates is read for itself. A cursor is such a hundredth and the API's cursor
 * within it.
 */
export async function read(
  user: string,
  counts: Counts,
  review: Review,
  cursor: string | undefined,
  signal: AbortSignal,
): Promise<Page<Candidate>> {
  const hundredths = counts.counts.filter(concerns(review)).map((c) => Math.round(c.importance * 100));
  const [from, within] = cursor?.split("/") ?? [];
  const rows: Candidate[] = [];
  let next = within;
  for (const hundredth of hundredths.sort((a, b) => b - a)) {
    if (from !== undefined && hundredth > Number(from)) continue;
    do {
      if (rows.length >= pageSize) return { rows, next: `${hundredth}/${next ?? ""}` };
      const query = {
        user_id: user,
        verdict: review.verdict,
        min_importance: hundredth / 100,
        max_importance: hundredth < 100 ? (hundredth + 1) / 100 : undefined,
        limit: pageSize,
        cursor: next || undefined,
      };
      const page = await ask(api.GET("/v1/candidates", { params: { query }, signal }));
      rows.push(...page.candidates);
      next = page.next_cursor;
    } while (next);
  }
  return { rows };
}

/** promote makes memories of candidates, and returns the result of each. */
export async function promote(ids: string[]): Promise<Schema<"PromotionResult">[]> {
  const answer = await ask(api.POST("/v1/candidates/promote", { body: { ids } }));
  return answer.results;
}

/** promoteFrom promotes all refused candidates of a user from an importance on, and reports how many were done. */
export async function promoteFrom(user: string, least: number, onProgress: (done: number) => void): Promise<void> {
  for (let done = 0, more = true; more; ) {
    const body = { user_id: user, min_importance: least };
    const answer = await ask(api.POST("/v1/candidates/promote", { body }));
    const failed = answer.results.find((result) => result.error);
    if (failed?.error) throw new Error(failed.error.detail ?? failed.error.title);
    done += answer.results.length;
    onProgress(done);
    more = answer.more;
  }
}
