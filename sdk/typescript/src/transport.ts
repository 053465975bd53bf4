import { Deadline, sleep } from "./deadline.js";
import { badAnswer, errorOf, HippocampusError } from "./errors.js";

/** How a client reaches its server. */
export interface Options {
  /** The base URL; $HIPPOCAMPUS_URL or http://127.0.0.1:8080 by default. */
  url?: string;
  /** The API key; $HIPPOCAMPUS_KEY by default. */
  key?: string;
  /** The longest time of one attempt in milliseconds; of a stream, between two pieces of it. Default 30,000. */
  timeout?: number;
  /** How often a request that may be repeated is sent again. Default 2. */
  retries?: number;
  /** The longest wait before a repetition in milliseconds. A longer Retry-After ends the attempts. Default 60,000. */
  longestWait?: number;
  /** Sends the requests instead of the global fetch. */
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
  /** Waits before a repetition; for tests. */
  sleep?: (milliseconds: number, signal?: AbortSignal) => Promise<void>;
}

/** Options of one call; timeout and retries replace those of the client. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
  timeout?: number;
  retries?: number;
}

export type RequestBody = NonNullable<RequestInit["body"]>;

/** A request as the transport sends it. */
export interface Outgoing {
  method: string;
  url: string;
  headers: Headers;
  /** The body, or a function that makes it; `onPiece` renews the attempt's time. */
  body?: RequestBody | ((onPiece: () => void) => RequestBody) | undefined;
  repeatable: boolean;
}

/** Sends requests, and repeats them by the policy of sdk/testdata/faults.json. */
export class Transport {
  readonly url: string;
  readonly #key: string | undefined;
  readonly #fetch: NonNullable<Options["fetch"]>;
  readonly #sleep: NonNullable<Options["sleep"]>;
  readonly #timeout: number;
  readonly #retries: number;
  readonly #longestWait: number;

  constructor(options: Options) {
    this.url = (options.url ?? variable("HIPPOCAMPUS_URL") ?? "http://127.0.0.1:8080").replace(/\/+$/, "");
    this.#key = options.key ?? variable("HIPPOCAMPUS_KEY");
    this.#fetch = options.fetch ?? ((url, init) => globalThis.fetch(url, init));
    this.#sleep = options.sleep ?? sleep;
    this.#timeout = options.timeout ?? 30_000;
    this.#retries = options.retries ?? 2;
    this.#longestWait = options.longestWait ?? 60_000;
  }

  timeoutOf({ timeout = this.#timeout }: CallOptions): number {
    return timeout;
  }

  /** Sends a request and reads its whole answer. Throws a HippocampusError unless the status is 2xx. */
  async send(request: Outgoing, options: CallOptions = {}): Promise<Response> {
    const { response, deadline } = await this.open(request, options);
    deadline.end();
    return response;
  }

  /** Sends a request; with `streams` the answer's body is left to the caller, who has to end the deadline. */
  async open(request: Outgoing, options: CallOptions, streams = false): Promise<Opened> {
    for (let attempt = 0; ; attempt++) {
      const deadline = new Deadline(this.timeoutOf(options), options.signal);
      try {
        const renew = () => deadline.renew(this.timeoutOf(options));
        return { response: await this.#attempt(request, deadline.signal, renew, streams), deadline };
      } catch (error) {
        deadline.end();
        const failure = deadline.errorFor(error);
        if (!request.repeatable) throw failure;
        await this.pause(failure, attempt, options);
      }
    }
  }

  /** Waits before the repetition after an attempt, from 0; throws the failure if there is to be no repetition. */
  async pause(failure: unknown, attempt: number, { retries = this.#retries, signal }: CallOptions): Promise<void> {
    if (!isTransient(failure) || attempt >= retries) throw failure;
    const stated = failure.retryAfter === undefined ? undefined : failure.retryAfter * 1000;
    if (stated !== undefined && stated > this.#longestWait) throw failure;
    const wait = stated ?? Math.min(500 * 2 ** attempt, this.#longestWait);
    await this.#sleep(wait * (1 + Math.random() / 4), signal);
  }

  async #attempt(request: Outgoing, signal: AbortSignal, onPiece: () => void, streams: boolean): Promise<Response> {
    const { method, url } = request;
    const body = typeof request.body === "function" ? request.body(onPiece) : request.body;
    const headers = new Headers(request.headers);
    if (this.#key) headers.set("Authorization", `Bearer ${this.#key}`);
    // The key goes to no other address.
    const init: RequestInit & { duplex?: "half" } = { method, headers, signal, redirect: "manual" };
    if (body !== undefined) init.body = body;
    if (body instanceof ReadableStream) init.duplex = "half";
    const response = await this.#fetch(url, init);
    if (streams && response.ok) {
      const media = response.headers.get("Content-Type") ?? "no media type";
      const wanted = request.headers.get("Accept") ?? "";
      if (!media.startsWith(wanted)) throw badAnswer(`the answer is ${media} and not ${wanted}`, response);
      return response;
    }
    if (response.status === 204 || response.status === 304) return response; // has no body
    if (!response.ok) throw errorOf(response, await response.text());
    return new Response(await response.arrayBuffer(), response);
  }
}

/** An answer whose body is still to be read, and the deadline of its attempt. */
export interface Opened {
  response: Response;
  deadline: Deadline;
}

/** Reports whether a repetition of a request changes nothing more, by the rules of sdk/testdata/faults.json. */
export function isRepeatable(method: string, url: string, body: string | undefined): boolean {
  if (["GET", "HEAD", "PUT", "DELETE"].includes(method) || /\/v1\/(recall|context)$/.test(url)) return true;
  if (method !== "POST" || body === undefined) return false;
  try {
    const { id, dedup } = JSON.parse(body) as { id?: unknown; dedup?: unknown };
    return typeof id === "string" || dedup === true;
  } catch {
    return false; // another form, such as that of an import
  }
}

/** Reports whether a repetition may help. */
export function isTransient(error: unknown): error is HippocampusError {
  if (!(error instanceof HippocampusError)) return false;
  return error.status === undefined
    ? error.kind === "unreachable" || error.kind === "timeout"
    : [429, 502, 503, 504].includes(error.status);
}

/** Returns a variable of the environment; undefined where there is none, or where it must not be read. */
function variable(name: string): string | undefined {
  try {
    return (globalThis as { process?: { env?: Record<string, string> } }).process?.env?.[name];
  } catch {
    return undefined; // Deno without --allow-env
  }
}
