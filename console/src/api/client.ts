import createClient from "openapi-fetch";
import { session } from "../state/session.svelte";
import type { components, paths } from "./schema";

/** Schema is a type of openapi.yaml by its name. */
export type Schema<Name extends keyof components["schemas"]> = components["schemas"][Name];

/** Problem is the error of a request that was refused, or that did not reach the server (status 0). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly fields: { path: string; message: string }[] = [],
    readonly requestID = "",
    readonly retryAfter = 0,
  ) {
    super(detail || title);
  }
}

// The console is served at /console/ below the API.
export const root = new URL("..", document.baseURI).href.replace(/\/$/, "");

/** api has a method for each HTTP method, with the paths and types of openapi.yaml. */
export const api = createClient<paths>({
  baseUrl: root,
  fetch: (request) => fetch(request, { headers: authorized(request.headers), cache: "no-store" }),
});

/** authorized adds the key of the session to headers. */
export function authorized(headers?: HeadersInit): Headers {
  const all = new Headers(headers);
  if (session.secret) all.set("Authorization", `Bearer ${session.secret}`);
  return all;
}

interface Answered<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** ask returns the body of an answer and throws a Problem for an error. It signs out when the key is refused. */
export async function ask<T>(call: Promise<Answered<T>>): Promise<T> {
  let answered: Answered<T>;
  try {
    answered = await call;
  } catch (failure) {
    if (failure instanceof DOMException && failure.name === "AbortError") throw failure;
    throw new Problem(0, "", failure instanceof Error ? failure.message : String(failure));
  }
  if (answered.response.ok) return answered.data as T;
  const problem = problemOf(answered.response, answered.error);
  if (problem.status === 401) session.refuse(problem);
  throw problem;
}

/** problemOf reads the problem document of an answer. */
export function problemOf(response: Response, body: unknown): Problem {
  const document = (typeof body === "object" && body !== null ? body : {}) as Partial<Schema<"Problem">>;
  return new Problem(
    response.status,
    document.title ?? response.statusText,
    document.detail ?? (typeof body === "string" ? body.slice(0, 300) : ""),
    document.errors ?? [],
    document.request_id ?? response.headers.get("X-Request-Id") ?? "",
    Number(response.headers.get("Retry-After") ?? 0),
  );
}
