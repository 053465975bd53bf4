import { authorized, Problem, problemOf, root } from "./client";

/** ServerEvent is one event of a stream: its id, its kind and its data as text. */
export interface ServerEvent {
  id: string;
  kind: string;
  data: string;
}

/**
 * follow reads a stream of server-sent events until it ends or the signal aborts it. It goes on after the event `after`,
 * if that is not empty. `onid` gets every id to resume from, also those of comments. EventSource cannot send the key.
 */
export async function follow(
  path: string,
  after: string,
  signal: AbortSignal,
  on: { open: () => void; id: (id: string) => void; event: (event: ServerEvent) => void },
): Promise<void> {
  const headers = authorized({ Accept: "text/event-stream", ...(after && { "Last-Event-ID": after }) });
  const response = await fetch(root + path, { headers, signal, cache: "no-store" });
  if (!response.ok || !response.body) throw await refusal(response);
  on.open();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parsed(block);
      if (event.id) on.id(event.id);
      if (event.data) on.event(event);
    }
  }
}

async function refusal(response: Response): Promise<Problem> {
  const text = await response.text();
  try {
    return problemOf(response, JSON.parse(text));
  } catch {
    return problemOf(response, text);
  }
}

/** parsed reads the lines of one event. */
function parsed(block: string): ServerEvent {
  const fields: Record<string, string> = {};
  for (const line of block.split("\n")) {
    const colon = line.indexOf(":");
    if (colon <= 0) continue; // a comment
    const name = line.slice(0, colon);
    const value = line.slice(colon + 1).replace(/^ /, "");
    fields[name] = name === "data" && fields.data !== undefined ? `${fields.data}\n${value}` : value;
  }
  return { id: fields.id ?? "", kind: fields.event ?? "message", data: fields.data ?? "" };
}
