import createClient, { type Client } from "openapi-fetch";
import { badAnswer } from "./errors.js";
import type { paths } from "./generated/openapi.js";
import { itemsOf } from "./pages.js";
import { type CallOptions, isRepeatable, type Options, Transport } from "./transport.js";
import type * as t from "./types.js";

/** Sends the requests of a client: any route, and any listing. */
export class Requests {
  /** Every route of openapi.yaml, by openapi-fetch, with the same key, retries and errors. */
  readonly api: Client<paths, `${string}/${string}`>;
  protected readonly transport: Transport;

  constructor(options: Options = {}) {
    this.transport = new Transport(options);
    this.api = createClient<paths>({ baseUrl: this.transport.url, fetch: this.#fetch({}) });
    this.api.use({
      onResponse: async ({ response, options: { parseAs } }) =>
        parseAs === "json" && response.body ? json(response) : undefined,
    });
  }

  /** Yields the items of any listing across its pages, such as `list("/v1/turns", { query: { status: "failed" } })`. */
  async *list<P extends t.PagePath>(
    path: P,
    parameters: t.ListParameters<P>,
    options: CallOptions = {},
  ): AsyncGenerator<t.Item<P>> {
    // The type of a path that is not known here is beyond openapi-fetch's.
    const get = this.api.GET as (path: string, init: unknown) => Promise<Page>;
    let cursor: unknown;
    do {
      const query = cursor === undefined ? parameters.query : { ...parameters.query, cursor };
      const { data: page, response } = await get(path, { params: { ...parameters, query }, ...this.with(options) });
      const items = page[itemsOf[path] as string];
      if (!Array.isArray(items)) throw badAnswer("the page has no list", response);
      yield* items as t.Item<P>[];
      cursor = page.next_cursor;
    } while (cursor !== undefined);
  }

  /** The part of openapi-fetch's options that carries the options of a call. */
  protected with(options: CallOptions) {
    return { fetch: this.#fetch(options) };
  }

  #fetch(options: CallOptions) {
    return async (request: Request): Promise<Response> => {
      const { method, url, headers } = request;
      const body = method === "GET" || method === "HEAD" ? undefined : (await request.text()) || undefined;
      const outgoing = { method, url, headers, body, repeatable: isRepeatable(method, url, body) };
      return this.transport.send(outgoing, { signal: request.signal, ...options });
    };
  }

  protected url(path: string, query: Record<string, unknown> = {}): string {
    const search = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) {
      for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
    }
    return `${this.transport.url}${path}${search.size > 0 ? `?${search}` : ""}`;
  }
}

interface Page {
  data: Record<string, unknown>;
  response: Response;
}

/** Returns the response after a look at its body, which has to be JSON. */
export async function json(response: Response): Promise<Response> {
  const text = await response.text();
  try {
    JSON.parse(text);
  } catch (cause) {
    throw badAnswer("the answer is not JSON", response, cause);
  }
  return new Response(text, response);
}
