import { badAnswer, HippocampusError } from "./errors.js";
import { linesOf } from "./lines.js";
import { type CallOptions, isTransient, type Transport } from "./transport.js";
import type { Announcement } from "./types.js";

/** What happened to the memories, conversations and turns of an app. */
export type ServerEvent = Announcement | ResetEvent;

/** Events after the one that was received last may be missing: read again what depends on them. */
export interface ResetEvent {
  kind: "reset";
  /** The id of the last event that was received. */
  after: string;
}

/** The server sends something every 15 seconds. */
const silence = 45_000;

/**
 * Follows the server-sent events at a URL. After a cut the stream resumes after the last event. It fails when as many
 * streams in a row bring nothing as a request may have attempts.
 */
export async function* eventsOf(
  transport: Transport,
  url: string,
  after: string | undefined,
  options: CallOptions,
): AsyncGenerator<ServerEvent> {
  let last = after;
  for (let failures = 0; ; ) {
    let anything = false;
    const headers = new Headers({ Accept: "text/event-stream" });
    if (last) headers.set("Last-Event-ID", last);
    const opened = await transport.open({ method: "GET", url, headers, repeatable: true }, options, true);
    let failure: unknown = new HippocampusError("unreachable", { detail: "the stream of events has ended" });
    try {
      for await (const block of blocksOf(linesOf(opened, silence))) {
        anything ||= block.id !== undefined || block.data !== "";
        last = block.id ?? last;
        if (block.data) yield eventOf(block, opened.response);
      }
    } catch (error) {
      if (!isTransient(error)) throw error;
      failure = error;
    }
    await transport.pause(failure, anything ? 0 : failures, options);
    failures = anything ? 0 : failures + 1;
  }
}

interface Block {
  id?: string;
  event?: string;
  data: string;
}

/**
 * Yields the blocks of a stream of events. One that has no data is not an event, but its id counts
 * (https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation).
 */
async function* blocksOf(lines: AsyncIterable<string>): AsyncGenerator<Block> {
  let block: Block = { data: "" };
  for await (const line of lines) {
    if (line === "") {
      yield block;
      block = { data: "" };
      continue;
    }
    const [, name, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (name === "data") block.data += block.data ? `\n${value}` : value;
    else if (name === "id" || name === "event") block[name] = value;
  }
}

function eventOf({ event, data }: Block, response: Response): ServerEvent {
  try {
    const value = JSON.parse(data) as ServerEvent;
    return event === "reset" ? ({ ...value, kind: event } as ResetEvent) : value;
  } catch (cause) {
    throw badAnswer("an event is not JSON", response, cause);
  }
}
