import { api, ask, type Schema } from "../../api/client";
import { Load } from "../../state/load.svelte";
import { type Options, requestOf, standard } from "./options";

/** Side is a recall with its own settings. */
export class Side {
  options = $state<Options>(standard());
  answer = new Load<Schema<"RecallAnswer">>();

  constructor(readonly name: "A" | "B") {}

  run(user: string, query: string): Promise<unknown> {
    return this.answer.run(async (signal) =>
      ask(api.POST("/v1/recall", { body: requestOf(user, query, this.options), signal })),
    );
  }
}
