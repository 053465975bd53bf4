import type { Texts } from "./en";

export const zh: Texts = {
  list: "召回，最新的在前",
  about: "设置 recall.log 为 true 时，这里列出该用户的每次召回和上下文。条目在应答约一秒后出现，超过 recall.log_keep 后删除。",
  none: "日志中没有该用户的召回。设置 recall.log 为 true 时，服务器才会保留日志。",
  reload: "重新加载",
  at: "时间",
  query: "查询",
  memories: "记忆数",
  took: "用时",
  agent: "智能体",
  degraded: "不可用",
  returned: (n) => `返回了 ${n} 条记忆`,
  nothing: "没有返回任何记忆。",
  relevance: (place) => `第 ${place} 条记忆的相关性`,
  present: "日志保留每条记忆的相关性，文本为当前内容。",
  statuses: { active: "有效", superseded: "已被取代", consolidated: "已整合", forgotten: "已遗忘" },
  gone: "该记忆已不存在。",
  explain: "解释：按当时的状态重新召回",
  explainHelp: "召回试验页依据该用户当时的记忆，显示每个得分的组成。",
};
