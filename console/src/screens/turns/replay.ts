import { api, ask, type Schema } from "../../api/client";

/** tones are the colours of the statuses. */
export const tones = {
  accepted: "warn",
  processed: "good",
  failed: "danger",
  withdrawn: "plain",
} as const satisfies Record<Schema<"TurnStatus">, string>;

/** replay queues a failed turn again. */
export const replay = (id: string): Promise<Schema<"Turn">> =>
  ask(api.POST("/v1/turns/{id}/replay", { params: { path: { id } } }));
