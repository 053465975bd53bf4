export { Hippocampus } from "./client.js";
export { type ErrorKind, type FieldError, HippocampusError } from "./errors.js";
export type { ResetEvent, ServerEvent } from "./events.js";
export type { ImportSource } from "./exchange.js";
export type { components, paths } from "./generated/openapi.js";
export type { CallOptions, Options } from "./transport.js";
export type * from "./types.js";
