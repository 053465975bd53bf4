import type { Texts } from "./en";

export const zh: Texts = {
  list: "应用模式的字段",
  none: "应用没有档案模式：管理员用 PUT /v1/profile-schema 存入。",
  field: "字段",
  value: "值",
  unknown: "未知",
  confidence: "置信度",
  day: "说于",
  by: { rules: "由规则读出", model: "由模型读出" },
  sources: "依据",
  states: {
    complete: "这些值依据目前所知读出。",
    no_model: "未配置聊天模型：只填写规则认识的字段。",
    not_asked: "自聊天模型读取以来，陈述或模式已有变化。",
    model_unavailable: "聊天模型没有应答。这些值是之前读出的。",
  },
  ask: "询问模型",
  askWhat: "会消耗 token，最多需要 30 秒。",
};
