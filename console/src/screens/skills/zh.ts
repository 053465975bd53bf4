import type { Texts } from "./en";

export const zh: Texts = {
  list: "技能",
  none: "该用户没有技能。记录一个流程的首个结果即可创建。",
  name: "技能",
  workflows: "流程数",
  rate: "成功率",
  successes: "成功",
  failures: "失败",
  last: "最近结果",
  workflowsOf: (name) => `${name} 的流程`,
  workflow: "流程",
  importance: "预期成功率",
  importanceHelp: "预期成功率 =（成功 + 1）/（结果数 + 2），也是该流程记忆的重要性。",
  notes: "备注",
  memory: "记忆",
  agent: "智能体",
  record: "记录结果",
  succeeded: "成功",
  failed: "失败",
  note: "备注（供人阅读）",
  recorded: (successes, failures) => `已记录：成功 ${successes} 次，失败 ${failures} 次。`,
};
