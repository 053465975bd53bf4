import type { components } from "./generated/openapi.js";

type Problem = components["schemas"]["Problem"];

/** A field of a request that is not valid: its path, such as `messages[3].content`, and what is wrong with it. */
export type FieldError = components["schemas"]["FieldError"];

/** The kinds of the server's problem documents, and `unreachable`, `timeout` and `bad_answer` of the client. */
export type ErrorKind =
  | "invalid"
  | "unauthorized"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "too_large"
  | "too_fast"
  | "busy"
  | "unavailable"
  | "not_tried"
  | "internal"
  | "unreachable"
  | "timeout"
  | "bad_answer"
  | (string & {});

interface Details {
  status?: number | undefined;
  detail?: string | undefined;
  errors?: readonly FieldError[] | undefined;
  retryAfter?: number | undefined;
  requestId?: string | undefined;
  cause?: unknown;
}

/** What every failed call throws, except for a call whose own signal aborted it, which throws the signal's reason. */
export class HippocampusError extends Error {
  override readonly name = "HippocampusError";
  readonly kind: ErrorKind;
  /** The HTTP status; undefined if there was no answer. */
  readonly status: number | undefined;
  /** What happened and what to do. */
  readonly detail: string | undefined;
  /** The fields that are not valid. */
  readonly errors: readonly FieldError[];
  /** The seconds to wait before the next attempt, if the server states them. */
  readonly retryAfter: number | undefined;
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined;

  constructor(kind: ErrorKind, details: Details = {}) {
    const { status, detail, errors = [], retryAfter, requestId, cause } = details;
    const fields = errors.map((e) => `${e.path} ${e.message}`).join("; ");
    super([kind, detail, fields].filter(Boolean).join(": "), cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.status = status;
    this.detail = detail;
    this.errors = errors;
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }
}

const problemPrefix = "urn:hippocampus:problem:";

/** Returns the error of an answer that openapi.yaml does not state. */
export function badAnswer(detail: string, response?: Response, cause?: unknown): HippocampusError {
  const requestId = response?.headers.get("X-Request-Id") ?? undefined;
  return new HippocampusError("bad_answer", { status: response?.status, detail, requestId, cause });
}

const kindByStatus: Record<number, ErrorKind> = {
  401: "unauthorized",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  429: "too_fast",
  502: "unavailable",
  503: "unavailable",
  504: "unavailable",
};

/** Returns the error of an answer whose status is not 2xx. Browsers hide where a redirection leads, and its status. */
export function errorOf(response: Response, body: string): HippocampusError {
  if (response.status < 400) {
    const location = response.headers.get("Location") ?? "another address";
    return badAnswer(`the server redirects to ${location}: give that address`, response);
  }
  const problem = problemOf(body);
  const status = response.status;
  return new HippocampusError(
    problem?.type.slice(problemPrefix.length) ?? kindByStatus[status] ?? (status >= 500 ? "internal" : "invalid"),
    {
      status,
      detail: problem?.detail ?? problem?.title ?? `the answer has the status ${status}`,
      errors: problem?.errors,
      retryAfter: secondsOf(response.headers.get("Retry-After")),
      requestId: problem?.request_id,
    },
  );
}

function problemOf(body: string): Problem | undefined {
  try {
    const problem = JSON.parse(body) as Partial<Problem> | null;
    return problem?.type?.startsWith(problemPrefix) ? (problem as Problem) : undefined;
  } catch {
    return undefined;
  }
}

/** Reads Retry-After, which is a number of seconds or a date (RFC 9110, 10.2.3). */
function secondsOf(header: string | null): number | undefined {
  if (!header) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}
