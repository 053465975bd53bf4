import type { Schema } from "../../api/client";
import type { Texts } from "./en";

type Parts = Schema<"ScoreParts">;

// The colours of the parts in style.css. Parts that rarely occur together share one.
const colours: Record<keyof Parts, number> = {
  similarity: 1, lexical: 2, neighbour: 3, speaker: 4, date: 5, when: 5, to_do: 5, routed: 6, message: 3, skill: 3, rerank: 6,
  decay: 7, importance: 8, question: 8, update: 5,
};

/** stacked lists the parts of a score that are not 0, as ScoreBar shows them. */
export function stacked(parts: Parts, names: Texts["parts"]): { name: string; value: number; colour: number }[] {
  return (Object.keys(colours) as (keyof Parts)[])
    .filter((part) => parts[part] !== 0)
    .map((part) => ({ name: names[part], value: parts[part], colour: colours[part] }));
}
