export const en = {
  list: "Memories that the app shares, the newest first",
  contributor: "Contributed by",
  search: "Search",
  none: "The pool is empty. A memory gets there when it is promoted, on its own page.",
  noneOf: "This user has contributed nothing.",
  memory: "Memory",
  promoted: "Promoted",
  by: "By the key",
  nobody: "the team",
  nobodyHint: "The user was erased or the original purged, and pool.erase keeps the text.",
  through: (agent: string) => `through ${agent}`,
  only: (agent: string) => `only for ${agent}`,
  actions: "Actions",
  withdraw: "Withdraw",
  withdrawOf: (content: string) => `Withdraw: ${content}`,
  withdrawTitle: "Withdraw from the pool?",
  withdrawWhat: "No recall finds it any more, and it is purged later.",
  withdrawKept: (user: string) => `The memory of ${user} stays, and can be promoted again.`,
  withdrawLost: "The original is gone, so that it cannot be promoted again.",
  withdrawn: "Withdrawn.",
};

export type Texts = typeof en;
