import { api, ask, type Schema } from "./client";

const atOnce = 100; // ids of one request

/** Report counts what became of memories; `reason` is that of the first one that could not be changed. */
export interface Report {
  done: string[];
  failed: number;
  reason: string;
}

/** OnProgress gets after each request how many of the memories it has been through. */
export type OnProgress = (through: number, all: number) => void;

type Send = (ids: string[]) => Promise<{ results: Schema<"ForgetMemoryResult">[] }>;

/** inParts throws only if nothing was changed; a request that fails later ends the work, and the report counts the rest. */
async function inParts(ids: string[], send: Send, onProgress?: OnProgress): Promise<Report> {
  const report: Report = { done: [], failed: 0, reason: "" };
  for (let at = 0; at < ids.length; at += atOnce) {
    try {
      for (const { id, error } of (await send(ids.slice(at, at + atOnce))).results) {
        if (!error) report.done.push(id);
        else if (report.failed++ === 0) report.reason = error.detail ?? error.title;
      }
    } catch (failure) {
      if (report.done.length === 0) throw failure;
      report.failed += ids.length - at;
      report.reason ||= failure instanceof Error ? failure.message : String(failure);
      return report;
    }
    onProgress?.(Math.min(at + atOnce, ids.length), ids.length);
  }
  return report;
}

/** forget soft-deletes memories. */
export const forget = (ids: string[], onProgress?: OnProgress): Promise<Report> =>
  inParts(ids, (ids) => ask(api.POST("/v1/memories/forget", { body: { ids } })), onProgress);

/** restore makes memories active again. */
export const restore = (ids: string[], onProgress?: OnProgress): Promise<Report> =>
  inParts(ids, (ids) => ask(api.POST("/v1/memories/restore", { body: { ids } })), onProgress);

/** pin sets whether a memory is pinned and returns it. */
export const pin = (id: string, pinned: boolean) =>
  ask(api.PATCH("/v1/memories/{id}", { params: { path: { id } }, body: { pinned } }));
