export const en = {
  list: "Recalls, newest first",
  about:
    "Each recall and context of the user, if the setting recall.log is true. An entry appears about a second after its answer, and is deleted after recall.log_keep.",
  none: "The log has no recall of this user. The server keeps the log if its setting recall.log is true.",
  reload: "Reload",
  at: "When",
  query: "Query",
  memories: "Memories",
  took: "Time",
  agent: "Agent",
  degraded: "Unavailable",
  returned: (n: number) => `${n} ${n === 1 ? "memory was" : "memories were"} returned`,
  nothing: "No memory was returned.",
  relevance: (place: number) => `Relevance of memory ${place}`,
  present: "The log keeps the relevance of each memory. The texts are those of today.",
  statuses: { active: "active", superseded: "superseded", consolidated: "consolidated", forgotten: "forgotten" },
  gone: "This memory no longer exists.",
  explain: "Explain: recall it again as of then",
  explainHelp: "The playground shows each score by parts, from what the user's memories were at that time.",
};

export type Texts = typeof en;
