export const en = {
  version: "Version",
  serves: (version: number) => `${version}, which serves`,
  none: "The app has no policy: it keeps what the gate keeps. PUT /v1/policy or hippocampus policy set stores one.",
  published: "Published",
  by: "By the key",
  note: "Note",
  noModel: "No chat model is configured: instructions and descriptions have no effect.",
  keep: "Keeps",
  never: "Never keeps",
  categories: "Categories",
  nothing: "No rules.",
  instructions: "Instructions",
  types: "Types",
  domains: "Domains",
  terms: "Terms",
  patterns: "Patterns",
};

export type Texts = typeof en;
