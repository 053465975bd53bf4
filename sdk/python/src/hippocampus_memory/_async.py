"""The client (asyncio)."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterable

from typing_extensions import Unpack

from . import models, requests
from ._async_streams import AsyncStreams
from ._wire import path, present


class AsyncHippocampus(AsyncStreams):
    """A client of a Hippocampus server (asyncio).

    url           of the server; else $HIPPOCAMPUS_URL, else http://127.0.0.1:8080
    key           API key; else $HIPPOCAMPUS_KEY
    timeout       seconds of one attempt; of a stream (events, export, import), to connect, and between two pieces of it
    retries       attempts after the first one of a request that may be repeated
    longest_wait  seconds; a longer Retry-After ends the attempts
    http          a client of your own, with proxies or certificates; it is not closed with this one
    sleep         waits between attempts; for tests

    Methods raise HippocampusError. Their arguments are the fields of openapi.yaml, under the same names. Times are
    datetimes with a time zone, or RFC 3339.
    """

    # --- Turns and conversations --------------------------------------------------

    async def add_turn(self, **turn: Unpack[requests.TurnRequest]) -> models.Turn:
        """Reports what was said. The server decides what of it to remember.

        Without `id`, the turn has a random one, so that a repetition after a fault adds no second turn. With `replaces`
        it takes the place of an earlier turn, which is withdrawn.
        """
        return await self.request(models.Turn, "POST", "/v1/turns", body={"id": str(uuid.uuid4()), **present(turn)})

    async def turn(self, id: str) -> models.Turn:
        """Returns a turn, with its messages and what became of each candidate fact."""
        return await self.request(models.Turn, "GET", path("/v1/turns/{}", id))

    def turns(self, **parameters: Unpack[requests.ListTurnsQuery]) -> AsyncIterator[models.Turn]:
        """Yields turns, newest first."""
        return self.items(models.TurnPage, "/v1/turns", {**parameters})

    async def withdraw_turn(self, id: str) -> models.WithdrawnTurn:
        """Takes back a turn that the user has edited or deleted, or whose answer is generated again.

        What was remembered of it is forgotten, and what it superseded is active again; no restore undoes that. An
        edited message needs no call of its own: report it with `replaces`.
        """
        return await self.request(models.WithdrawnTurn, "DELETE", path("/v1/turns/{}", id))

    async def replay_turn(self, id: str) -> models.Turn:
        """Queues a failed turn again, for an operator who has removed the cause."""
        return await self.request(models.Turn, "POST", path("/v1/turns/{}/replay", id))

    def conversations(
        self, **parameters: Unpack[requests.ListConversationsQuery]
    ) -> AsyncIterator[models.Conversation]:
        """Yields conversations of a user, the latest first."""
        return self.items(models.ConversationPage, "/v1/conversations", {**parameters})

    def conversation_turns(
        self, id: str, **parameters: Unpack[requests.GetConversationQuery]
    ) -> AsyncIterator[models.Turn]:
        """Yields what was said in a conversation, oldest first, with the messages: to show a chat again."""
        return self.items(models.ConversationTurns, path("/v1/conversations/{}", id), {**parameters})

    async def rename_conversation(
        self, id: str, title: str, **parameters: Unpack[requests.UpdateConversationQuery]
    ) -> models.Conversation:
        """Gives a conversation a title, for a list of chats."""
        url, body = path("/v1/conversations/{}", id), {"title": title}
        return await self.request(models.Conversation, "PATCH", url, query=parameters, body=body)

    async def set_conversation(
        self, user_id: str, id: str, **conversation: Unpack[requests.ConversationRequest]
    ) -> models.ConversationSettings:
        """Sets how much of memory is on for a conversation, which needs no turn yet, such as a temporary chat."""
        url, query = path("/v1/conversations/{}", id), {"user_id": user_id}
        return await self.request(models.ConversationSettings, "PUT", url, query=query, body=present(conversation))

    async def delete_conversation(
        self, id: str, **parameters: Unpack[requests.DeleteConversationQuery]
    ) -> models.DeletedConversation:
        """Deletes a conversation with its turns, for good, when the user deletes a chat.

        The memories of it stay, unless `memories` is "forget".
        """
        url = path("/v1/conversations/{}", id)
        return await self.request(models.DeletedConversation, "DELETE", url, query=parameters)

    async def end_conversation(
        self, id: str, **options: Unpack[requests.EndConversationRequest]
    ) -> models.EndedConversation:
        """Ends a conversation, which leaves a summary and, with a language model, facts and insights."""
        return await self.request(
            models.EndedConversation, "POST", path("/v1/conversations/{}/end", id), body=present(options)
        )

    async def consolidate(self, id: str, **options: Unpack[requests.ConsolidateRequest]) -> models.EndedConversation:
        """Consolidates a conversation, which stays open."""
        return await self.request(
            models.EndedConversation, "POST", path("/v1/conversations/{}/consolidate", id), body=present(options)
        )

    # --- Memories -----------------------------------------------------------------

    async def remember(self, **memory: Unpack[requests.MemoryRequest]) -> models.WrittenMemory:
        """Writes a memory as given. The next recall can find it."""
        return await self.request(models.WrittenMemory, "POST", "/v1/memories", body=present(memory))

    async def remember_many(self, memories: Iterable[requests.MemoryRequest]) -> list[models.MemoryBatchResult]:
        """Writes up to 1,000 memories, for an import. Each has a result of its own, in this order: look at `error`."""
        body = {"memories": [present(memory) for memory in memories]}
        return (await self.request(models.MemoryBatchAnswer, "POST", "/v1/memories/batch", body=body)).results

    async def memory(self, id: str, **parameters: Unpack[requests.GetMemoryQuery]) -> models.Memory:
        """Returns a memory in any status."""
        return await self.request(models.Memory, "GET", path("/v1/memories/{}", id), query=parameters)

    def memories(self, **parameters: Unpack[requests.ListMemoriesQuery]) -> AsyncIterator[models.Memory]:
        """Yields memories of a user, newest first; active ones unless `status` names others."""
        return self.items(models.MemoryPage, "/v1/memories", {**parameters})

    async def update(self, id: str, **changes: Unpack[requests.MemoryPatch]) -> models.Memory:
        """Changes a memory. `metadata` and `tags` replace the old ones."""
        return await self.request(models.Memory, "PATCH", path("/v1/memories/{}", id), body=present(changes))

    async def forget(self, id: str, **parameters: Unpack[requests.ForgetMemoryQuery]) -> models.ChangedMemory:
        """Forgets a memory with all that states the same, until `restore`; with `scope="item"` the memory alone."""
        return await self.request(models.ChangedMemory, "DELETE", path("/v1/memories/{}", id), query={**parameters})

    async def restore(self, id: str, **parameters: Unpack[requests.RestoreMemoryQuery]) -> models.ChangedMemory:
        """Makes a forgotten or superseded memory active again, with what was forgotten with it."""
        url = path("/v1/memories/{}/restore", id)
        return await self.request(models.ChangedMemory, "POST", url, query={**parameters})

    async def forget_many(self, **selection: Unpack[requests.ForgetMemoriesRequest]) -> models.ForgetMemoriesAnswer:
        """Forgets memories by `ids`, or what a user's turn, conversation or filter selects, up to 500.

        Repeat the request while the answer has `more`. With `dry_run` nothing is changed.
        """
        body = present(selection)
        return await self.request(models.ForgetMemoriesAnswer, "POST", "/v1/memories/forget", body=body)

    async def restore_many(self, **ids: Unpack[requests.RestoreMemoriesRequest]) -> models.RestoreMemoriesAnswer:
        """Makes memories active that were forgotten, superseded or consolidated. Each id has a result of its own."""
        return await self.request(models.RestoreMemoriesAnswer, "POST", "/v1/memories/restore", body=present(ids))

    async def undo(self, id: str) -> models.UndoReport:
        """Takes back a reflection or summary, such as one that the user calls wrong.

        It is forgotten, and what was condensed into it is active again.
        """
        return await self.request(models.UndoReport, "POST", path("/v1/memories/{}/undo", id))

    async def pin(self, id: str) -> models.Memory:
        """Exempts a memory from forgetting."""
        return await self.update(id, pinned=True)

    async def unpin(self, id: str) -> models.Memory:
        """Makes a memory subject to forgetting again."""
        return await self.update(id, pinned=False)

    async def history(self, id: str) -> list[models.MemoryEvent]:
        """Returns what happened to a memory, oldest first."""
        answer = await self.request(models.MemoryHistory, "GET", path("/v1/memories/{}/history", id))
        return answer.events

    # --- Recall -------------------------------------------------------------------

    async def recall(self, **recall: Unpack[requests.RecallRequest]) -> models.RecallAnswer:
        """Returns the memories that a query recalls, best first."""
        return await self.request(models.RecallAnswer, "POST", "/v1/recall", body=present(recall))

    async def context(self, **context: Unpack[requests.ContextRequest]) -> models.ContextAnswer:
        """Returns a text for the prompt, within a budget: instructions, facts, memories and the conversation."""
        return await self.request(models.ContextAnswer, "POST", "/v1/context", body=present(context))

    # --- Facts --------------------------------------------------------------------

    def facts(self, **parameters: Unpack[requests.ListFactsQuery]) -> AsyncIterator[models.Fact]:
        """Yields the timeline facts that are valid, or were valid `at` an instant."""
        return self.items(models.FactPage, "/v1/facts", {**parameters})

    def fact_history(self, **parameters: Unpack[requests.ListFactHistoryQuery]) -> AsyncIterator[models.Fact]:
        """Yields all that was stated of a type and key, accepted or not, oldest first: why a fact holds."""
        return self.items(models.FactPage, "/v1/facts/history", {**parameters})

    async def state_fact(self, **fact: Unpack[requests.FactRequest]) -> models.FactOutcome:
        """States what is valid of a user, and from when on."""
        return await self.request(models.FactOutcome, "PUT", "/v1/facts", body=present(fact, "value"))

    async def end_fact(self, **parameters: Unpack[requests.EndFactQuery]) -> models.Fact:
        """States that a fact is valid no more."""
        return await self.request(models.Fact, "DELETE", "/v1/facts", query=parameters)

    # --- Maintenance --------------------------------------------------------------

    async def reflect(self, **options: Unpack[requests.ReflectRequest]) -> models.ReflectionReport:
        """Condenses facts of a user into insights. A language model may take longer than the timeout."""
        return await self.request(models.ReflectionReport, "POST", "/v1/reflect", body=present(options))

    async def compress(self, **options: Unpack[requests.CompressRequest]) -> models.CompressionReport:
        """Condenses old memories of a user. A language model may take longer than the timeout."""
        return await self.request(models.CompressionReport, "POST", "/v1/compress", body=present(options))

    async def forget_preview(self, **options: Unpack[requests.ForgetRequest]) -> models.ForgettingReport:
        """Returns which memories of a user would be forgotten, and when the others fade."""
        return await self.request(
            models.ForgettingReport, "POST", "/v1/forget", body={**present(options), "dry_run": True}
        )

    async def forget_run(self, **options: Unpack[requests.ForgetRequest]) -> models.ForgettingReport:
        """Forgets the memories of a user that have faded."""
        return await self.request(
            models.ForgettingReport, "POST", "/v1/forget", body={**present(options), "dry_run": False}
        )

    def candidates(self, **parameters: Unpack[requests.ListCandidatesQuery]) -> AsyncIterator[models.Candidate]:
        """Yields proposed facts with their verdicts, newest first."""
        return self.items(models.CandidatePage, "/v1/candidates", {**parameters})

    async def promote(self, **request: Unpack[requests.PromoteRequest]) -> models.Promotion:
        """Makes memories of candidates that the gate refused."""
        return await self.request(models.Promotion, "POST", "/v1/candidates/promote", body=present(request))

    async def stats(self, **parameters: Unpack[requests.GetStatsQuery]) -> models.Stats:
        """Returns counts of what the app holds."""
        return await self.request(models.Stats, "GET", "/v1/stats", query=parameters)

    def users(self, **parameters: Unpack[requests.ListUsersQuery]) -> AsyncIterator[models.UserSummary]:
        """Yields the users of the app."""
        return self.items(models.UserPage, "/v1/users", {**parameters})

    async def user(self, user_id: str) -> models.UserHoldings:
        """Counts what is kept of a user, and returns the user's settings."""
        return await self.request(models.UserHoldings, "GET", path("/v1/users/{}", user_id))

    async def set_user(self, user_id: str, **user: Unpack[requests.UserRequest]) -> models.UserSettings:
        """Sets how much of memory is on for a user, and the time zone, without which the offset of the turns decides."""
        return await self.request(models.UserSettings, "PUT", path("/v1/users/{}", user_id), body=present(user))

    async def profile(self, user_id: str, **parameters: Unpack[requests.GetProfileQuery]) -> models.Profile:
        """Returns what holds about a user whatever is asked, the most important first.

        Use it where there is no query yet, such as at the start of a chat. It counts as no access.
        """
        return await self.request(models.Profile, "GET", path("/v1/users/{}/profile", user_id), query=parameters)

    async def erase_user(self, user_id: str) -> models.ErasureReceipt:
        """Erases a user from every store, for good."""
        return await self.request(models.ErasureReceipt, "DELETE", path("/v1/users/{}", user_id))

    async def merge_users(self, user_id: str, *, into: str) -> models.MergeReceipt:
        """Moves everything of a user to another one, such as what a visitor said before logging in."""
        return await self.request(
            models.MergeReceipt, "POST", path("/v1/users/{}/merge", user_id), body={"into": into}
        )

    async def rename_user(self, user_id: str, *, to: str) -> models.MergeReceipt:
        """Gives a user an id that no user has."""
        return await self.request(models.MergeReceipt, "POST", path("/v1/users/{}/rename", user_id), body={"to": to})

    async def clone_user(self, user_id: str, *, into: str) -> models.CloneReceipt:
        """Copies everything that an export of a user has to another one, who may be new.

        Another call copies what is new, and nothing twice: call again after an error.
        """
        return await self.request(
            models.CloneReceipt, "POST", path("/v1/users/{}/clone", user_id), body={"into": into}
        )

    async def ready(self) -> models.Readiness:
        """Returns which parts of the server are available. It fails (503) if the server cannot work."""
        return await self.request(models.Readiness, "GET", "/readyz")
