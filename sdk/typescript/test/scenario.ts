// What every runtime must do. This file imports nothing, so that any runtime can load it.

import type { Hippocampus } from "hippocampus-memory";

/** Uses a client for a user that nothing is known of. Throws an error unless everything is as it should be. */
export async function scenario(client: Hippocampus, user_id: string): Promise<string> {
  const check = (what: string, holds: boolean) => {
    if (!holds) throw new Error(`it does not hold that ${what}`);
  };
  const content = "Lives in Lisbon. 住在里斯本。";
  const { id } = await client.remember({ user_id, content, tags: ["home"] });
  await client.addTurn({
    user_id,
    messages: [{ role: "user", content: "I prefer green tea over coffee." }],
    wait: true,
  });
  const { memories } = await client.recall({ user_id, query: "Where does she live?" });
  check("recall finds the memory", memories[0]?.content === content);
  const failure = await client.memory("nothing").catch((error: { kind?: string }) => error);
  check("an unknown memory is not found", "kind" in failure && failure.kind === "not_found");
  const reason = await client
    .stats({}, { signal: AbortSignal.abort(new Error("left")) })
    .catch((error: Error) => error);
  check("a call ends with the reason of its signal", reason instanceof Error && reason.message === "left");

  let count = 0;
  for await (const memory of client.memories({ user_id, limit: 1 })) count += memory.user_id === user_id ? 1 : 0;
  check("pages are joined", count >= 2);

  const lines = [];
  for await (const line of client.export({ user_id })) lines.push(line);
  check("the export is whole", lines.at(-1)?.end?.memories === count);
  const report = await client.import(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  check("an import changes nothing twice", report.complete && report.skipped === count);

  for await (const event of client.events({ user_id, after: "0" })) {
    if (event.kind === "memory.written" && event.data.memory_id === id) break;
  }
  return "all holds";
}
