import type { Texts } from "./en";

export const zh: Texts = {
  version: "版本",
  serves: (version) => `${version}，现行`,
  none: "应用没有策略：保留门限所保留的内容。用 PUT /v1/policy 或 hippocampus policy set 存入。",
  published: "发布",
  by: "所用密钥",
  note: "备注",
  noModel: "未配置聊天模型：说明和描述不起作用。",
  keep: "保留",
  never: "绝不保留",
  categories: "类别",
  nothing: "没有规则。",
  instructions: "说明",
  types: "类型",
  domains: "领域",
  terms: "词语",
  patterns: "正则表达式",
};
