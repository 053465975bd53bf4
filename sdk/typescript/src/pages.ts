import type { ItemsField, PagePath } from "./types.js";

/** The field of each listing's pages that has the items. The compiler checks the names and that no listing is missing. */
export const itemsOf: { readonly [P in PagePath]: ItemsField<P> } = {
  "/v1/turns": "turns",
  "/v1/reprocessings": "reprocessings",
  "/v1/conversations": "conversations",
  "/v1/conversations/{id}": "turns",
  "/v1/conversations/{id}/consolidations": "consolidations",
  "/v1/memories": "memories",
  "/v1/facts": "facts",
  "/v1/facts/history": "facts",
  "/v1/policy/versions": "versions",
  "/v1/instructions": "instructions",
  "/v1/instructions/{name}/versions": "versions",
  "/v1/pool": "memories",
  "/v1/documents": "documents",
  "/v1/skills": "skills",
  "/v1/memory-tool/versions": "versions",
  "/v1/candidates": "candidates",
  "/v1/recalls": "recalls",
  "/v1/proposals": "proposals",
  "/v1/forget/next": "users",
  "/v1/webhooks": "webhooks",
  "/v1/admin/keys": "keys",
  "/v1/jobs": "jobs",
  "/v1/users": "users",
  "/v1/users/{user_id}/episodes": "episodes",
};
