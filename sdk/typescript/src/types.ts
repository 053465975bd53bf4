import type { components, paths } from "./generated/openapi.js";

type Schemas = components["schemas"];

export type Announcement = Schemas["Announcement"];
export type Candidate = Schemas["Candidate"];
export type ChangedMemory = Schemas["ChangedMemory"];
export type CloneReceipt = Schemas["CloneReceipt"];
export type CloneRequest = Schemas["CloneRequest"];
export type CompressRequest = Schemas["CompressRequest"];
export type CompressionReport = Schemas["CompressionReport"];
export type ConsolidateRequest = Schemas["ConsolidateRequest"];
export type ContextAnswer = Schemas["ContextAnswer"];
export type ContextRequest = Schemas["ContextRequest"];
export type Conversation = Schemas["Conversation"];
export type ConversationRequest = Schemas["ConversationRequest"];
export type ConversationSettings = Schemas["ConversationSettings"];
export type DeletedConversation = Schemas["DeletedConversation"];
export type EndConversationRequest = Schemas["EndConversationRequest"];
export type EndedConversation = Schemas["EndedConversation"];
export type ErasureReceipt = Schemas["ErasureReceipt"];
export type MergeReceipt = Schemas["MergeReceipt"];
export type MergeRequest = Schemas["MergeRequest"];
export type RenameRequest = Schemas["RenameRequest"];
export type ExportLine = Schemas["ExportLine"];
export type Fact = Schemas["Fact"];
export type FactOutcome = Schemas["FactOutcome"];
export type FactRequest = Schemas["FactRequest"];
export type ForgetMemoriesAnswer = Schemas["ForgetMemoriesAnswer"];
export type ForgetMemoriesRequest = Schemas["ForgetMemoriesRequest"];
export type ForgetRequest = Schemas["ForgetRequest"];
export type ForgettingReport = Schemas["ForgettingReport"];
export type ImportReport = Schemas["ImportReport"];
export type Memory = Schemas["Memory"];
export type MemoryBatchResult = Schemas["MemoryBatchResult"];
export type MemoryEvent = Schemas["MemoryEvent"];
export type MemoryPatch = Schemas["MemoryPatch"];
export type MemoryRequest = Schemas["MemoryRequest"];
export type Profile = Schemas["Profile"];
export type PromoteRequest = Schemas["PromoteRequest"];
export type Promotion = Schemas["Promotion"];
export type Readiness = Schemas["Readiness"];
export type RecallAnswer = Schemas["RecallAnswer"];
export type RecallRequest = Schemas["RecallRequest"];
export type RecalledMemory = Schemas["RecalledMemory"];
export type ReflectRequest = Schemas["ReflectRequest"];
export type ReflectionReport = Schemas["ReflectionReport"];
export type RestoreMemoriesAnswer = Schemas["RestoreMemoriesAnswer"];
export type RestoreMemoriesRequest = Schemas["RestoreMemoriesRequest"];
export type Stats = Schemas["Stats"];
export type Turn = Schemas["Turn"];
export type TurnRequest = Schemas["TurnRequest"];
export type UndoReport = Schemas["UndoReport"];
export type UserHoldings = Schemas["UserHoldings"];
export type UserRequest = Schemas["UserRequest"];
export type UserSummary = Schemas["UserSummary"];
export type UserSettings = Schemas["UserSettings"];
export type WithdrawnTurn = Schemas["WithdrawnTurn"];
export type WrittenMemory = Schemas["WrittenMemory"];

/** The JSON of a part that has a content. */
type JsonOf<T> = T extends { content: { "application/json": infer J } } ? J : never;

/** The query of a request. */
export type Query<P extends keyof paths, M extends "get" | "delete" | "patch" | "post" = "get"> = paths[P][M] extends {
  parameters: { query?: infer Q };
}
  ? NonNullable<Q>
  : never;

type Page<P extends keyof paths> = paths[P]["get"] extends { responses: { 200: infer R } } ? JsonOf<R> : never;

/** A listing: a route whose answer has a `next_cursor`. */
export type PagePath = {
  [P in keyof paths]: [Page<P>] extends [never]
    ? never
    : [ItemsField<P>] extends [never]
      ? never
      : "next_cursor" extends keyof Page<P>
        ? P
        : never;
}[keyof paths];

/** The field of a page that has its items. */
export type ItemsField<P extends keyof paths> = {
  [K in keyof Page<P>]-?: NonNullable<Page<P>[K]> extends readonly unknown[] ? K : never;
}[keyof Page<P>];

/** What a listing lists. */
export type Item<P extends keyof paths> = {
  [K in keyof Page<P>]-?: NonNullable<Page<P>[K]> extends readonly (infer I)[] ? I : never;
}[keyof Page<P>];

/** The parameters of a listing. */
export type ListParameters<P extends keyof paths> = (paths[P]["get"] extends { parameters: { path: infer Path } }
  ? { path: Path }
  : { path?: never }) & { query?: Omit<Query<P>, "cursor"> };
