import { api, ask, Problem, type Schema } from "../../api/client";

type Memory = Schema<"Memory">;

/** Link is another memory with all that connects it to the one that is shown. */
export interface Link {
  memory: Memory;
  relations: Schema<"Relation">[];
  superseded: boolean; // the other memory has superseded the one that is shown
  reasons: Schema<"RelatedReason">[];
}

/** Links are ordered: stated relations first. */
export interface Links {
  links: Link[];
  degraded: boolean;
}

const most = 14; // nodes around the centre

/** linksOf reads what is related to a memory, in any status. */
export async function linksOf(memory: Memory, signal: AbortSignal): Promise<Links> {
  const params = { path: { id: memory.id } };
  const [{ relations }, related] = await Promise.all([
    ask(api.GET("/v1/memories/{id}/relations", { params, signal })),
    ask(api.GET("/v1/memories/{id}/related", { params: { ...params, query: { limit: 8 } }, signal })),
  ]);
  const found = new Map(related.memories.map((m) => [m.memory.id, m]));
  const others = relations.map((r) => (r.from === memory.id ? r.to : r.from));
  const ids = new Set([...(memory.superseded_by ? [memory.superseded_by] : []), ...others, ...found.keys()]);
  const links = await Promise.all(
    [...ids].slice(0, most).map(async (id): Promise<Link | undefined> => {
      const other = found.get(id)?.memory ?? (await read(id, signal));
      return other && {
        memory: other,
        relations: relations.filter((r) => r.from === id || r.to === id),
        superseded: memory.superseded_by === id,
        reasons: found.get(id)?.reasons ?? [],
      };
    }),
  );
  return { links: links.filter((link) => link !== undefined), degraded: related.degraded.length > 0 };
}

/** read returns a memory, or undefined if it has been purged. */
async function read(id: string, signal: AbortSignal): Promise<Memory | undefined> {
  try {
    return await ask(api.GET("/v1/memories/{id}", { params: { path: { id } }, signal }));
  } catch (failure) {
    if (failure instanceof Problem && failure.status === 404) return undefined;
    throw failure;
  }
}
