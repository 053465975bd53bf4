import { HippocampusError } from "./errors.js";

/** Ends one attempt when its time is over, or when the caller's signal aborts. */
export class Deadline {
  readonly #controller = new AbortController();
  readonly #callers: AbortSignal | undefined;
  readonly #abort = () => this.#controller.abort(this.#callers?.reason);
  #timer: ReturnType<typeof setTimeout> | undefined;
  #over = false;

  /** Begins with `milliseconds` left. Throws the caller's reason if the caller's signal has aborted already. */
  constructor(milliseconds: number, callers?: AbortSignal) {
    callers?.throwIfAborted();
    this.#callers = callers;
    callers?.addEventListener("abort", this.#abort, { once: true });
    this.renew(milliseconds);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Begins the time again. */
  renew(milliseconds: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#over = true;
      this.#controller.abort();
    }, milliseconds);
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#callers?.removeEventListener("abort", this.#abort);
  }

  /** Returns what the caller gets for an error of fetch or of the reading of an answer. */
  errorFor(error: unknown): unknown {
    if (this.#callers?.aborted) return this.#callers.reason;
    if (this.#over) return new HippocampusError("timeout", { detail: "no answer in time", cause: error });
    if (error instanceof HippocampusError) return error;
    return new HippocampusError("unreachable", { detail: "the connection failed or was cut", cause: error });
  }
}

/** Waits, or rejects with the signal's reason when the signal aborts. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener("abort", onAbort, { once: true });
  });
}
