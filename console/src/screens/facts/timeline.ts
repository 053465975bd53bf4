import type { Schema } from "../../api/client";

export type Fact = Schema<"Fact">;

/** Timeline is what was and is valid of a type and key, the earliest first. */
export interface Timeline {
  name: string;
  type: string;
  key: string;
  facts: Fact[];
}

/** timelinesOf groups facts by type and key, in the order of their names. */
export function timelinesOf(facts: Fact[]): Timeline[] {
  const found = new Map<string, Timeline>();
  for (const fact of facts) {
    const name = `${fact.type} / ${fact.key}`;
    const line = found.get(name) ?? { name, type: fact.type, key: fact.key, facts: [] };
    line.facts.push(fact);
    found.set(name, line);
  }
  for (const line of found.values()) line.facts.sort((a, b) => time(a.valid_from) - time(b.valid_from));
  return [...found.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** valueText is a value as people read it: a text without its quotes. */
export const valueText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));

export const time = (at: string): number => new Date(at).getTime();

/** isValid reports whether a fact is valid at an instant, in milliseconds. */
export const isValid = (fact: Fact, at: number): boolean =>
  time(fact.valid_from) <= at && (fact.valid_until === undefined || time(fact.valid_until) > at);

/** spanOf is the time that the bars show: from the first fact to the last, and today. */
export function spanOf(facts: Fact[], now: number): [from: number, to: number] {
  const ends = facts.flatMap((f) => [time(f.valid_from), ...(f.valid_until ? [time(f.valid_until)] : [])]);
  const from = Math.min(now, ...ends);
  const to = Math.max(now, ...ends);
  return [from, to + Math.max((to - from) * 0.04, 60_000)]; // what is valid for good reaches beyond today
}
