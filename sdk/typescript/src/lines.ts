import type { Opened } from "./transport.js";

/**
 * Yields the lines of a stream without their ends, and at last what follows the last end if there is any.
 * Throws a HippocampusError when nothing comes for `silence` milliseconds, or when the connection is cut.
 */
export async function* linesOf({ response, deadline }: Opened, silence: number): AsyncGenerator<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    while (reader) {
      deadline.renew(silence);
      const { done, value } = await reader.read();
      const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
      const lines = text.split("\n");
      lines[0] = rest + (lines[0] ?? "");
      rest = lines.pop() ?? "";
      for (const line of lines) yield line.endsWith("\r") ? line.slice(0, -1) : line;
      if (done) break;
    }
    if (rest) yield rest;
  } catch (error) {
    throw deadline.errorFor(error);
  } finally {
    deadline.end();
    await reader?.cancel().catch(() => undefined); // the stream has failed or has ended
  }
}
