export const en = {
  list: "Skills",
  none: "This user has no skill. One begins with the first outcome of a workflow.",
  name: "Skill",
  workflows: "Workflows",
  rate: "Success rate",
  successes: "Successes",
  failures: "Failures",
  last: "Last outcome",
  workflowsOf: (name: string) => `Workflows of ${name}`,
  workflow: "Workflow",
  importance: "Expected rate",
  importanceHelp: "Expected rate: (successes + 1) / (outcomes + 2), which is the importance of the workflow's memory.",
  notes: "Notes",
  memory: "Memory",
  agent: "Agent",
  record: "Record an outcome",
  succeeded: "It worked",
  failed: "It failed",
  note: "Note, for people",
  recorded: (successes: number, failures: number) => `Recorded. Successes: ${successes}, failures: ${failures}.`,
};

export type Texts = typeof en;
