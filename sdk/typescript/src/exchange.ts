import { badAnswer } from "./errors.js";
import { linesOf } from "./lines.js";
import type { CallOptions, RequestBody, Transport } from "./transport.js";
import type { ExportLine } from "./types.js";

/** Lines of an export, or an export as a text or bytes. Browsers cannot stream requests: give them a text or bytes. */
export type ImportSource =
  | Iterable<ExportLine>
  | AsyncIterable<ExportLine>
  | ReadableStream<Uint8Array>
  | Blob
  | Uint8Array<ArrayBuffer>
  | string;

/** Yields the lines of an export. Throws a HippocampusError if the export breaks off. */
export async function* exportOf(transport: Transport, url: string, options: CallOptions): AsyncGenerator<ExportLine> {
  const headers = new Headers({ Accept: "application/x-ndjson" });
  const opened = await transport.open({ method: "GET", url, headers, repeatable: true }, options, true);
  let ended = false;
  const broken = (detail: string, cause?: unknown) => badAnswer(detail, opened.response, cause);
  for await (const text of linesOf(opened, transport.timeoutOf(options))) {
    if (text === "") continue;
    const line = lineOf(text, broken);
    if (line.error !== undefined) throw broken(`the export breaks off: ${line.error}`);
    ended = line.end !== undefined;
    yield line;
  }
  if (!ended) throw broken("the export has no end");
}

function lineOf(text: string, broken: (detail: string, cause: unknown) => Error): ExportLine {
  try {
    return JSON.parse(text) as ExportLine;
  } catch (cause) {
    throw broken("a line of the export is not JSON", cause);
  }
}

/** Returns the body of an import. `onPiece` is called before a piece is taken, and `onFailure` if the source fails. */
export function importBody(
  source: ImportSource,
  onPiece: () => void,
  onFailure: (error: unknown) => void,
): RequestBody {
  if (typeof source === "string" || source instanceof Blob || source instanceof Uint8Array) return source;
  const encoder = new TextEncoder();
  const pieces = iteratorOf(source);
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      onPiece();
      try {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else if (value instanceof Uint8Array) controller.enqueue(value);
        else controller.enqueue(encoder.encode(`${JSON.stringify(value)}\n`));
      } catch (error) {
        onFailure(error);
        controller.error(error);
      }
    },
    async cancel() {
      await pieces.return?.(undefined);
    },
  });
}

function iteratorOf(source: Exclude<ImportSource, string | Blob | Uint8Array>) {
  if (source instanceof ReadableStream) return piecesOf(source);
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]();
}

/** Yields the pieces of a stream, which not every runtime iterates over by itself. */
async function* piecesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) yield piece.value;
  } finally {
    await reader.cancel().catch(() => undefined); // the stream has failed or has ended
  }
}
