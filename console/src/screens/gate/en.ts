export const en = {
  threshold: "Threshold",
  chart: (threshold: string) => `Candidates by importance; the threshold of the gate is ${threshold}`,
  passed: "passed",
  refused: "refused as below the threshold",
  slider: (chosen: string, present: string) => `Threshold to try: ${chosen} (the gate has ${present})`,
  same: (n: string) => `Candidates that the gate has refused: ${n}`,
  lower: (n: string) => `Refused candidates that would have become facts with this threshold: ${n}`,
  higher: (n: string) => `Facts that would have been refused with this threshold: ${n}`,
  reset: "Back to the gate's threshold",
  setting: "The slider changes nothing. The threshold of the server is its setting gate.threshold.",
  promote: "Promote",
  promoteOf: (content: string) => `Promote: ${content}`,
  promoteAll: (n: string) => `Promote these candidates (${n})`,
  promoting: "Promoting",
  consequence: (n: string, least: string) =>
    `The refused candidates with an importance of ${least} or more (${n}) become memories of the user. ` +
    "To undo it, forget the memories on the screen Memories.",
  promoted: (n: number) => `${n} ${n === 1 ? "candidate was" : "candidates were"} promoted.`,
  merged: "The candidate repeats a memory and was merged into it.",
  refusedList: "Refused candidates, the most important first",
  keptList: "Candidates that became facts, the most important first",
  importance: "Importance",
  candidate: "Candidate",
  reason: "Reason",
  said: "Said",
  action: "Action",
  none: "There is no such candidate.",
};

export type Texts = typeof en;
