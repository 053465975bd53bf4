import type { Texts } from "./en";

export const zh: Texts = {
  list: "应用共享的记忆，最新的在前",
  contributor: "贡献者",
  search: "搜索",
  none: "共享池为空。在一条记忆的页面上提升它，它就会进入共享池。",
  noneOf: "该用户没有贡献。",
  memory: "记忆",
  promoted: "提升于",
  by: "所用密钥",
  nobody: "团队",
  nobodyHint: "该用户已被抹除，或原记忆已被清除，而 pool.erase 保留了文本。",
  through: (agent) => `通过 ${agent}`,
  only: (agent) => `仅供 ${agent}`,
  actions: "操作",
  withdraw: "撤回",
  withdrawOf: (content) => `撤回：${content}`,
  withdrawTitle: "从共享池撤回？",
  withdrawWhat: "召回不再找到它，之后它会被清除。",
  withdrawKept: (user) => `${user} 的记忆保留不变，并可再次提升。`,
  withdrawLost: "原记忆已不存在，因此无法再次提升。",
  withdrawn: "已撤回。",
};
