import { eventsOf, type ServerEvent } from "./events.js";
import { exportOf, type ImportSource, importBody } from "./exchange.js";
import { json, Requests } from "./requests.js";
import type { CallOptions } from "./transport.js";
import type * as t from "./types.js";

/**
 * A client of one Hippocampus server. Fields are named as the API names them. Every method throws a
 * HippocampusError, and takes a signal, a timeout and retries of its own as the last argument.
 */
export class Hippocampus extends Requests {
  /**
   * Reports a turn, under an id that is made here unless it has one. `wait` asks for what became of it; with `replaces`
   * it takes the place of an earlier turn, which is withdrawn.
   */
  async addTurn(turn: t.TurnRequest, options: CallOptions = {}): Promise<t.Turn> {
    const body = { ...turn, id: turn.id ?? randomId() };
    return data(await this.api.POST("/v1/turns", { body, ...this.with(options) }));
  }

  /** Stores a memory as it is given. With `dedup` it merges into a memory that says the same, and may be repeated. */
  async remember(memory: t.MemoryRequest, options: CallOptions = {}): Promise<t.WrittenMemory> {
    return data(await this.api.POST("/v1/memories", { body: memory, ...this.with(options) }));
  }

  /** Stores up to 1,000 memories, for an import. Each has a result of its own, in this order: look at `error`. */
  async rememberMany(memories: t.MemoryRequest[], options: CallOptions = {}): Promise<t.MemoryBatchResult[]> {
    const body = { memories };
    return data(await this.api.POST("/v1/memories/batch", { body, ...this.with(options) })).results;
  }

  /** Returns the memories that a query should remind of, best first, with the parts of each score. */
  async recall(request: t.RecallRequest, options: CallOptions = {}): Promise<t.RecallAnswer> {
    return data(await this.api.POST("/v1/recall", { body: request, ...this.with(options) }));
  }

  /** Returns what a model needs to know, as a text or messages within a budget. */
  async context(request: t.ContextRequest, options: CallOptions = {}): Promise<t.ContextAnswer> {
    return data(await this.api.POST("/v1/context", { body: request, ...this.with(options) }));
  }

  /** Yields a user's memories, newest first. */
  memories(query: t.Query<"/v1/memories">, options: CallOptions = {}): AsyncGenerator<t.Memory> {
    return this.list("/v1/memories", { query }, options);
  }

  /** Returns a memory in any status; with `as_of` as it was at that instant. */
  async memory(id: string, query: t.Query<"/v1/memories/{id}"> = {}, options: CallOptions = {}): Promise<t.Memory> {
    return data(await this.api.GET("/v1/memories/{id}", { params: { path: { id }, query }, ...this.with(options) }));
  }

  /** Changes the fields that are given. */
  async update(id: string, patch: t.MemoryPatch, options: CallOptions = {}): Promise<t.Memory> {
    const params = { path: { id } };
    return data(await this.api.PATCH("/v1/memories/{id}", { params, body: patch, ...this.with(options) }));
  }

  /** Forgets a memory with all that states the same; restore() takes it back until it is purged. */
  async forget(
    id: string,
    query: t.Query<"/v1/memories/{id}", "delete"> = {},
    options: CallOptions = {},
  ): Promise<t.ChangedMemory> {
    const params = { path: { id }, query };
    return data(await this.api.DELETE("/v1/memories/{id}", { params, ...this.with(options) }));
  }

  /** Makes a memory active again, with what was forgotten with it. */
  async restore(
    id: string,
    query: t.Query<"/v1/memories/{id}/restore", "post"> = {},
    options: CallOptions = {},
  ): Promise<t.ChangedMemory> {
    const params = { path: { id }, query };
    return data(await this.api.POST("/v1/memories/{id}/restore", { params, ...this.with(options) }));
  }

  /**
   * Forgets memories by `ids`, or what a user's turn, conversation or filter selects, up to 500: repeat the request
   * while the answer has `more`. With `dry_run` nothing is changed.
   */
  async forgetMany(request: t.ForgetMemoriesRequest, options: CallOptions = {}): Promise<t.ForgetMemoriesAnswer> {
    return data(await this.api.POST("/v1/memories/forget", { body: request, ...this.with(options) }));
  }

  /** Makes memories active that were forgotten, superseded or consolidated. Each id has a result of its own. */
  async restoreMany(request: t.RestoreMemoriesRequest, options: CallOptions = {}): Promise<t.RestoreMemoriesAnswer> {
    return data(await this.api.POST("/v1/memories/restore", { body: request, ...this.with(options) }));
  }

  /** Takes back a reflection or summary, such as one that the user calls wrong: its sources are active again. */
  async undo(id: string, options: CallOptions = {}): Promise<t.UndoReport> {
    return data(await this.api.POST("/v1/memories/{id}/undo", { params: { path: { id } }, ...this.with(options) }));
  }

  /** Exempts a memory from forgetting. */
  pin(id: string, options: CallOptions = {}): Promise<t.Memory> {
    return this.update(id, { pinned: true }, options);
  }

  unpin(id: string, options: CallOptions = {}): Promise<t.Memory> {
    return this.update(id, { pinned: false }, options);
  }

  /** Returns the events of a memory, oldest first. */
  async history(id: string, options: CallOptions = {}): Promise<t.MemoryEvent[]> {
    const params = { path: { id } };
    return data(await this.api.GET("/v1/memories/{id}/history", { params, ...this.with(options) })).events;
  }

  /** Yields a user's facts that are valid now, or `at` an instant. */
  facts(query: t.Query<"/v1/facts">, options: CallOptions = {}): AsyncGenerator<t.Fact> {
    return this.list("/v1/facts", { query }, options);
  }

  /** Yields all that was stated of a type and key, accepted or not, oldest first: why a fact holds. */
  factHistory(query: t.Query<"/v1/facts/history">, options: CallOptions = {}): AsyncGenerator<t.Fact> {
    return this.list("/v1/facts/history", { query }, options);
  }

  /** States the value of a type and key of a user; the answer says what became of it. */
  async stateFact(fact: t.FactRequest, options: CallOptions = {}): Promise<t.FactOutcome> {
    return data(await this.api.PUT("/v1/facts", { body: fact, ...this.with(options) }));
  }

  async endFact(query: t.Query<"/v1/facts", "delete">, options: CallOptions = {}): Promise<t.Fact> {
    return data(await this.api.DELETE("/v1/facts", { params: { query }, ...this.with(options) }));
  }

  /** Returns a turn, with its messages and what became of each fact of it. */
  async turn(id: string, options: CallOptions = {}): Promise<t.Turn> {
    return data(await this.api.GET("/v1/turns/{id}", { params: { path: { id } }, ...this.with(options) }));
  }

  /** Yields turns, newest first. */
  turns(query: t.Query<"/v1/turns"> = {}, options: CallOptions = {}): AsyncGenerator<t.Turn> {
    return this.list("/v1/turns", { query }, options);
  }

  /**
   * Takes back a turn that the user has edited or deleted, or whose answer is generated again: what was remembered of
   * it is forgotten, and what it superseded is active again. No restore undoes that. An edited message needs no call of
   * its own: report it with `replaces`.
   */
  async withdrawTurn(id: string, options: CallOptions = {}): Promise<t.WithdrawnTurn> {
    return data(await this.api.DELETE("/v1/turns/{id}", { params: { path: { id } }, ...this.with(options) }));
  }

  /** Queues a failed turn again, for an operator who has removed the cause. */
  async replayTurn(id: string, options: CallOptions = {}): Promise<t.Turn> {
    return data(await this.api.POST("/v1/turns/{id}/replay", { params: { path: { id } }, ...this.with(options) }));
  }

  /** Yields a user's conversations, the latest first. */
  conversations(query: t.Query<"/v1/conversations">, options: CallOptions = {}): AsyncGenerator<t.Conversation> {
    return this.list("/v1/conversations", { query }, options);
  }

  /** Yields what was said in a conversation, oldest first, with the messages: to show a chat again. */
  conversationTurns(
    id: string,
    query: t.Query<"/v1/conversations/{id}"> = {},
    options: CallOptions = {},
  ): AsyncGenerator<t.Turn> {
    return this.list("/v1/conversations/{id}", { path: { id }, query }, options);
  }

  /** Gives a conversation a title, for a list of chats. */
  async renameConversation(
    id: string,
    title: string,
    query: t.Query<"/v1/conversations/{id}", "patch"> = {},
    options: CallOptions = {},
  ): Promise<t.Conversation> {
    const request = { params: { path: { id }, query }, body: { title } };
    return data(await this.api.PATCH("/v1/conversations/{id}", { ...request, ...this.with(options) }));
  }

  /** Sets how much of memory is on for a conversation, which needs no turn yet, such as a temporary chat. */
  async setConversation(
    user_id: string,
    id: string,
    body: t.ConversationRequest,
    options: CallOptions = {},
  ): Promise<t.ConversationSettings> {
    const params = { path: { id }, query: { user_id } };
    return data(await this.api.PUT("/v1/conversations/{id}", { params, body, ...this.with(options) }));
  }

  /** Deletes a conversation with its turns, for good. Its memories stay, unless `memories` is "forget". */
  async deleteConversation(
    id: string,
    query: t.Query<"/v1/conversations/{id}", "delete"> = {},
    options: CallOptions = {},
  ): Promise<t.DeletedConversation> {
    const params = { path: { id }, query };
    return data(await this.api.DELETE("/v1/conversations/{id}", { params, ...this.with(options) }));
  }

  /** Ends a conversation and has it consolidated; with `wait` the answer comes afterwards. */
  async endConversation(
    id: string,
    body: t.EndConversationRequest = {},
    options: CallOptions = {},
  ): Promise<t.EndedConversation> {
    const params = { path: { id } };
    return data(await this.api.POST("/v1/conversations/{id}/end", { params, body, ...this.with(options) }));
  }

  /** Consolidates a conversation, which stays open. */
  async consolidate(id: string, body: t.ConsolidateRequest, options: CallOptions = {}): Promise<t.EndedConversation> {
    const params = { path: { id } };
    return data(await this.api.POST("/v1/conversations/{id}/consolidate", { params, body, ...this.with(options) }));
  }

  /** Condenses a user's latest facts into insights, with a model of the server. */
  async reflect(request: t.ReflectRequest, options: CallOptions = {}): Promise<t.ReflectionReport> {
    return data(await this.api.POST("/v1/reflect", { body: request, ...this.with(options) }));
  }

  /** Condenses a user's old memories into summaries, with a model of the server. */
  async compress(request: t.CompressRequest, options: CallOptions = {}): Promise<t.CompressionReport> {
    return data(await this.api.POST("/v1/compress", { body: request, ...this.with(options) }));
  }

  /** Returns what has faded and when the rest will, and changes nothing. */
  forgetPreview(request: Omit<t.ForgetRequest, "dry_run">, options: CallOptions = {}): Promise<t.ForgettingReport> {
    return this.#forget({ ...request, dry_run: true }, options);
  }

  /** Forgets the memories of a user that have faded. */
  forgetRun(
    request: Pick<t.ForgetRequest, "user_id" | "limit" | "whole">,
    options: CallOptions = {},
  ): Promise<t.ForgettingReport> {
    return this.#forget({ ...request, dry_run: false }, options);
  }

  /** Yields the facts that the scorer proposed, with their verdicts, newest first. */
  candidates(query: t.Query<"/v1/candidates"> = {}, options: CallOptions = {}): AsyncGenerator<t.Candidate> {
    return this.list("/v1/candidates", { query }, options);
  }

  /** Makes memories of candidates that the gate refused. */
  async promote(request: t.PromoteRequest, options: CallOptions = {}): Promise<t.Promotion> {
    return data(await this.api.POST("/v1/candidates/promote", { body: request, ...this.with(options) }));
  }

  async stats(query: t.Query<"/v1/stats"> = {}, options: CallOptions = {}): Promise<t.Stats> {
    return data(await this.api.GET("/v1/stats", { params: { query }, ...this.with(options) }));
  }

  /** Yields the users that have active memories. */
  users(options: CallOptions = {}): AsyncGenerator<t.UserSummary> {
    return this.list("/v1/users", {}, options);
  }

  /** Counts what is kept of a user, and returns the user's settings. */
  async user(user_id: string, options: CallOptions = {}): Promise<t.UserHoldings> {
    return data(await this.api.GET("/v1/users/{user_id}", { params: { path: { user_id } }, ...this.with(options) }));
  }

  /** Sets how much of memory is on for a user, and the time zone, without which the offset of the turns decides. */
  async setUser(user_id: string, body: t.UserRequest, options: CallOptions = {}): Promise<t.UserSettings> {
    const params = { path: { user_id } };
    return data(await this.api.PUT("/v1/users/{user_id}", { params, body, ...this.with(options) }));
  }

  /**
   * Returns what holds about a user whatever is asked, the most important first. Use it where there is no query yet,
   * such as at the start of a chat. It counts as no access.
   */
  async profile(
    user_id: string,
    query: t.Query<"/v1/users/{user_id}/profile"> = {},
    options: CallOptions = {},
  ): Promise<t.Profile> {
    const params = { path: { user_id }, query };
    return data(await this.api.GET("/v1/users/{user_id}/profile", { params, ...this.with(options) }));
  }

  /** Removes a user from every store and returns the receipt. Needs a key of the role admin. */
  async eraseUser(user_id: string, options: CallOptions = {}): Promise<t.ErasureReceipt> {
    const params = { path: { user_id } };
    return data(await this.api.DELETE("/v1/users/{user_id}", { params, ...this.with(options) }));
  }

  /**
   * Moves everything of a user to another one, such as what a visitor said before logging in, and returns the receipt.
   * Needs a key of the role admin.
   */
  async mergeUsers(
    user_id: string,
    body: t.MergeRequest,
    options: CallOptions = {},
  ): Promise<t.MergeReceipt> {
    const params = { path: { user_id } };
    return data(await this.api.POST("/v1/users/{user_id}/merge", { params, body, ...this.with(options) }));
  }

  /** Gives a user an id that no user has, and returns the receipt. Needs a key of the role admin. */
  async renameUser(
    user_id: string,
    body: t.RenameRequest,
    options: CallOptions = {},
  ): Promise<t.MergeReceipt> {
    const params = { path: { user_id } };
    return data(await this.api.POST("/v1/users/{user_id}/rename", { params, body, ...this.with(options) }));
  }

  /**
   * Copies everything that an export of a user has to another one, who may be new, and returns the receipt. Another call
   * copies what is new, and nothing twice: call again after an error. Needs a key of the role admin.
   */
  async cloneUser(
    user_id: string,
    body: t.CloneRequest,
    options: CallOptions = {},
  ): Promise<t.CloneReceipt> {
    const params = { path: { user_id } };
    return data(await this.api.POST("/v1/users/{user_id}/clone", { params, body, ...this.with(options) }));
  }

  /** Returns which parts of the server are available. Throws an error of the kind `unavailable` if it cannot work. */
  async ready(options: CallOptions = {}): Promise<t.Readiness> {
    return data(await this.api.GET("/readyz", this.with(options)));
  }

  /** Yields the lines of an export of one user, or of all. */
  export(query: t.Query<"/v1/export"> = {}, options: CallOptions = {}): AsyncGenerator<t.ExportLine> {
    return exportOf(this.transport, this.url("/v1/export", query), options);
  }

  /** Reads an export in. It is not repeated by itself, but repeating it is safe. Needs a key of the role admin. */
  async import(source: ImportSource, options: CallOptions = {}): Promise<t.ImportReport> {
    const headers = new Headers({ "Content-Type": "application/x-ndjson" });
    let failure: unknown;
    const body = (onPiece: () => void) =>
      importBody(source, onPiece, (error) => {
        failure = error;
      });
    const request = { method: "POST", url: this.url("/v1/import"), headers, body, repeatable: false };
    const response = await this.transport.send(request, options).catch((error: unknown) => {
      throw failure ?? error;
    });
    return (await json(response)).json() as Promise<t.ImportReport>;
  }

  /** Follows what happens from now on, or after the event whose id is `after`, across cut connections. */
  events(query: t.Query<"/v1/events"> = {}, options: CallOptions = {}): AsyncGenerator<ServerEvent> {
    const { after, ...others } = query;
    return eventsOf(this.transport, this.url("/v1/events", others), after, options);
  }

  async #forget(body: t.ForgetRequest, options: CallOptions): Promise<t.ForgettingReport> {
    return data(await this.api.POST("/v1/forget", { body, ...this.with(options) }));
  }
}

/** Returns a UUID. Browsers have randomUUID only on pages of HTTPS and of localhost. */
function randomId(): string {
  if (typeof crypto.randomUUID === "function") return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40; // version 4
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80; // variant of RFC 9562
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Returns the data of an answer: errors have been thrown by the transport. */
function data<T>(answer: { data?: T }): T {
  return answer.data as T;
}
