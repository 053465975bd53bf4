import { Problem } from "../api/client";

/** asProblem makes any failure one that ErrorBox shows. */
export function asProblem(failure: unknown): Problem {
  return failure instanceof Problem ? failure : new Problem(0, "", failure instanceof Error ? failure.message : String(failure));
}

function isAbort(failure: unknown): boolean {
  return failure instanceof DOMException && failure.name === "AbortError";
}

/** Load is a value that comes from the server. A second `run` abandons the first. */
export class Load<T> {
  value = $state.raw<T>();
  problem = $state.raw<Problem>();
  busy = $state(false);
  private latest?: AbortController;

  async run(read: (signal: AbortSignal) => Promise<T>): Promise<T | undefined> {
    this.latest?.abort();
    const own = (this.latest = new AbortController());
    this.busy = true;
    this.problem = undefined;
    try {
      const value = await read(own.signal);
      if (this.latest === own) this.value = value;
      return value;
    } catch (failure) {
      if (this.latest === own && !isAbort(failure)) this.problem = asProblem(failure);
    } finally {
      if (this.latest === own) this.busy = false;
    }
  }

  clear(): void {
    this.latest?.abort();
    this.value = this.problem = undefined;
    this.busy = false;
  }
}

/**
 * Page is one page of a list: its rows, and the cursor of the next page if there is one. `examined` says how many rows
 * the server has compared if it ended the page for that reason, before the page was full.
 */
export interface Page<T> {
  rows: T[];
  next?: string;
  examined?: number;
}

type Read<T> = (cursor: string | undefined, signal: AbortSignal) => Promise<Page<T>>;

/** Pages is a list that comes page by page. It goes on by itself after a page that is not full. */
export class Pages<T> {
  rows = $state<T[]>([]);
  next = $state<string>();
  started = $state(false); // the first page has come at least once
  examined = $state(0); // rows that the server has compared, while the page is being filled
  load = new Load<Page<T>>();
  private read?: Read<T>;
  private at?: string; // the cursor of the page that was asked for last

  /** start reads the first page of another query. Rows of the former query are gone at once: they may be another user's. */
  async start(read: Read<T>): Promise<void> {
    this.clear();
    await this.replace(read);
  }

  /** replace reads the first page of another query of the same rows, which stay until it comes. */
  async replace(read: Read<T>): Promise<void> {
    this.read = read;
    this.next = undefined;
    await this.fill(read, undefined);
  }

  private async fill(read: Read<T>, cursor: string | undefined): Promise<void> {
    this.examined = 0;
    for (;;) {
      this.at = cursor;
      const page = await this.load.run((signal) => read(cursor, signal));
      if (this.read !== read) return;
      if (!page) break; // it failed, or was stopped
      this.rows = cursor === undefined ? page.rows : [...this.rows, ...page.rows];
      this.started = true;
      this.next = cursor = page.next;
      if (!page.examined || !cursor) break;
      this.examined += page.examined;
    }
    this.examined = 0;
  }

  /** stop ends what fills the page; `more` goes on. */
  stop(): void {
    this.load.clear();
    this.examined = 0;
  }

  /** retry reads again what failed. */
  retry(): Promise<void> {
    return this.read ? this.fill(this.read, this.at) : Promise.resolve();
  }

  /** reload reads the first page again; the rows stay until it comes. */
  reload(): Promise<void> {
    return this.read ? this.fill(this.read, undefined) : Promise.resolve();
  }

  clear(): void {
    this.stop();
    this.read = this.next = undefined;
    this.rows = [];
    this.started = false;
  }

  /** more reads the next page. */
  async more(): Promise<void> {
    const { read, next } = this;
    if (!read || !next) return;
    await this.fill(read, next);
  }
}
