/** Piece is a run of text that both sides have, or only one. */
export interface Piece {
  text: string;
  side: "both" | "before" | "after";
}

const longest = 1500; // words: the comparison takes their product

/** words splits text for comparison: each CJK character, each word and each run of spaces is one. */
function words(text: string): string[] {
  return text.match(/[\u3040-\u30ff\u3400-\u9fff]|[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? [];
}

/** diffTexts compares two texts by words, by their longest common subsequence. */
export function diffTexts(before: string, after: string): Piece[] {
  const a = words(before);
  const b = words(after);
  if (a.length > longest || b.length > longest) {
    return [{ text: before, side: "before" }, { text: after, side: "after" }];
  }
  // common[i][j] is the length of the longest common subsequence of a from i and b from j.
  const common = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i]![j] = a[i] === b[j] ? common[i + 1]![j + 1]! + 1 : Math.max(common[i + 1]![j]!, common[i]![j + 1]!);
    }
  }
  const pieces: Piece[] = [];
  const add = (text: string, side: Piece["side"]) => {
    const last = pieces.at(-1);
    if (last?.side === side) last.text += text;
    else pieces.push({ text, side });
  };
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) add(a[i++]!, "both"), j++;
    else if (j === b.length || (i < a.length && common[i + 1]![j]! >= common[i]![j + 1]!)) add(a[i++]!, "before");
    else add(b[j++]!, "after");
  }
  return pieces;
}

/** Change is a field that differs between two objects. */
export interface Change {
  field: string;
  pieces: Piece[];
}

const textOf = (value: unknown): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 1);

/** diffObjects compares the fields of two JSON objects. */
export function diffObjects(before: Record<string, unknown>, after: Record<string, unknown>): Change[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return fields
    .filter((field) => JSON.stringify(before[field]) !== JSON.stringify(after[field]))
    .map((field) => ({ field, pieces: diffTexts(textOf(before[field]), textOf(after[field])) }));
}
