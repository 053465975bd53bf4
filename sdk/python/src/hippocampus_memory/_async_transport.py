"""How requests are sent, and their answers read (asyncio)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel
from typing_extensions import Self

from . import errors
from ._policy import Policy, repeatable
from ._wire import Late, Server, decode, encode, failure, items_of, query, refusal, whole

T = TypeVar("T")


class AsyncTransport:
    """Sends requests with the key, the repetitions and the errors of a client (asyncio)."""

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float = 30.0,
        retries: int = 2,
        longest_wait: float = 60.0,
        http: httpx.AsyncClient | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._server = Server.of(url, key)
        self._policy = Policy(timeout, retries, longest_wait)
        self._http = http or httpx.AsyncClient()
        self._owner = http is None
        self._sleep = sleep

    def with_options(
        self, *, timeout: float | None = None, retries: int | None = None, longest_wait: float | None = None
    ) -> Self:
        """Returns a client with other options and the same connections, which the first one closes."""
        now = self._policy
        return type(self)(
            self._server.url,
            self._server.key,
            timeout=now.timeout if timeout is None else timeout,
            retries=now.retries if retries is None else retries,
            longest_wait=now.longest_wait if longest_wait is None else longest_wait,
            http=self._http,
            sleep=self._sleep,
        )

    async def aclose(self) -> None:
        """Closes the connections."""
        if self._owner:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    async def send(
        self,
        method: str,
        route: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> httpx.Response:
        """Sends a request to any route and returns the response, whose status is 2xx or 304.

        body is sent as JSON; content is sent as it is.
        """
        again = repeatable(method, route, body)
        attempt = 0
        while True:
            try:
                late = Late(self._policy.timeout)
                async with self._open(method, route, query, body, content, headers) as response:
                    pieces = []
                    async for piece in response.aiter_bytes():
                        late.check()
                        pieces.append(piece)
                    return whole(response, pieces)
            except errors.HippocampusError as error:
                wait = self._policy.wait(error, attempt) if again else None
                if wait is None:
                    raise
            await self._sleep(wait)
            attempt += 1

    async def request(
        self,
        answer: type[T],
        method: str,
        route: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: object = None,
    ) -> T:
        """Sends a request to any route and returns its answer, as one of `models`.

        Fields of the query and of the body are those of `requests`: `request(models.SkillPage, "GET", "/v1/skills",
        query={"user_id": "ada"})`. Fields of the query that are None are left out.
        """
        return decode(answer, await self.send(method, route, query=query, body=body))

    @asynccontextmanager
    async def _open(
        self,
        method: str,
        route: str,
        parameters: Mapping[str, Any] | None,
        body: object = None,
        content: bytes | AsyncIterator[bytes] | None = None,
        headers: Mapping[str, str] | None = None,
        read_timeout: float | None = None,
    ) -> AsyncIterator[httpx.Response]:
        """Makes one attempt, and yields the response before its body is read."""
        timeout = self._policy.timeout
        sent = self._server.headers() | dict(headers or {})
        if body is not None:
            content, sent["Content-Type"] = encode(body), "application/json"
        try:
            async with self._http.stream(
                method,
                self._server.url + route,
                params=query(parameters) if parameters else None,
                content=content,
                headers=sent,
                timeout=httpx.Timeout(timeout, read=max(timeout, read_timeout or 0)),
                follow_redirects=False,
            ) as response:
                if not response.is_success and response.status_code != 304:
                    await response.aread()
                    raise refusal(response)
                yield response
        except httpx.RequestError as error:
            raise failure(error) from error

    async def items(
        self, page: type[BaseModel], route: str, query: Mapping[str, Any] | None = None
    ) -> AsyncIterator[Any]:
        """Yields the items of all pages of any listing: `items(models.JobPage, "/v1/jobs", {"kind": "forgetting"})`.

        page is the model of one page; its only list has the items. The next page is read when the last item of a page
        has been taken.
        """
        parameters = dict(query or {})
        while True:
            answer = await self.request(page, "GET", route, query=parameters)
            for item in items_of(answer):
                yield item
            cursor = getattr(answer, "next_cursor", None)
            if not cursor:
                return
            parameters["cursor"] = cursor
